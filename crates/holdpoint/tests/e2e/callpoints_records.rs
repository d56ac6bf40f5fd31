//! What was recorded: pages, filters, search, objects, and what outlives the server.

use std::sync::{Arc, Mutex};

use holdpoint_testkit::{
    calls::{Wire, cid, item, merge, now},
    process::{Process, run},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, Wire) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    (process, Wire::new(port))
}

fn names(page: &Value) -> Vec<String> {
    let calls = page["calls"].as_array().unwrap();
    calls.iter().map(|call| call["line"].as_str().unwrap().to_owned()).collect()
}

/// The newest first.
#[test]
fn pages_filters_and_search() {
    let (_process, wire) = serve();
    let began = now();
    for number in 0..5 {
        wire.call("f", &[json!(number)], &json!(number * 10));
    }
    let middle = now();
    wire.call("g", &[json!("a pen")], &json!({ "price": 7 }));
    let all = wire.get("/api/calls");
    assert_eq!((&all["total_count"], &all["truncated"]), (&json!(6), &json!(false)));
    assert_eq!(names(&all)[..2], ["g(\"a pen\") → {\"price\":7}", "f(4) → 40"]);
    let first = wire.get("/api/calls?function_name=f&limit=2");
    assert_eq!(names(&first), ["f(4) → 40", "f(3) → 30"]);
    assert_eq!((&first["total_count"], &first["truncated"]), (&json!(5), &json!(true)));
    let next = first["next"].as_i64().unwrap();
    let second = wire.get(&format!("/api/calls?function_name=f&limit=3&before={next}"));
    assert_eq!(names(&second), ["f(2) → 20", "f(1) → 10", "f(0) → 0"]);
    // A full page that is the last one leads nowhere.
    assert_eq!((&second["total_count"], &second["truncated"]), (&json!(5), &json!(false)));
    assert_eq!(second["next"], json!(null));
    assert_eq!(names(&wire.get("/api/calls?search=PRICE+pen")).len(), 1);
    assert_eq!(names(&wire.get("/api/calls?search=100%25")).len(), 0);
    assert_eq!(names(&wire.get(&format!("/api/calls?since={middle}"))).len(), 1);
    assert_eq!(names(&wire.get(&format!("/api/calls?since={began}&until={middle}"))).len(), 5);
    assert_eq!(names(&wire.get("/api/calls?status=exception")).len(), 0);
    assert_eq!(wire.send("GET", "/api/calls/none", None).status, 404);
    let history = wire.get("/api/breakpoints/f/history?limit=1");
    let entry = &history["history"][0];
    assert_eq!(
        (&entry["function_name"], &entry["call_data"]["pretty_result"]),
        (&json!("f"), &json!(40))
    );
    assert!(entry["id"].is_string() && entry["completed_at"].is_f64());
    assert_eq!(wire.get("/api/breakpoints/none/history")["history"], json!([]));
}

/// A number is shown as the program had it, to its last digit.
#[test]
fn numbers_keep_their_last_digit() {
    let (_process, wire) = serve();
    let numbers = json!([0.1 + 0.2, 1_794_794_192.152_562_9, 5e-324, 2.2250738585072014e-308]);
    wire.call("f", std::slice::from_ref(&numbers), &json!(1));
    let body = wire.send("GET", "/api/calls", None).body;
    assert!(
        body.contains("[0.30000000000000004,1794794192.1525629,5e-324,2.2250738585072014e-308]"),
        "{body}"
    );
}

#[test]
fn objects_are_followed_through_calls() {
    let (_process, wire) = serve();
    let live = |value: &Value| {
        let mut item = item(value);
        merge(&mut item, json!({ "client_ref": 12 }));
        item
    };
    for value in [json!({ "stock": 1 }), json!({ "stock": 0 })] {
        let body = wire.start_body("sell", &[], json!({ "kwargs": { "pen": live(&value) } }));
        let started = wire.ok("/api/call/start", body);
        wire.complete(&started["call_id"], &json!(true));
    }
    let path = format!("/api/objects/{}/12/history", wire.process_key());
    let history = wire.get(&path)["history"].clone();
    let seen: Vec<&Value> = history.as_array().unwrap().iter().map(|it| &it["pretty"]).collect();
    assert_eq!(seen, [&json!({ "stock": 1 }), &json!({ "stock": 0 })]);
    let last = &history[1];
    assert_eq!((&last["role"], &last["key"]), (&json!("kwarg"), &json!("pen")));
    assert_eq!(last["method_name"], "sell");
    let objects = wire.get("/api/objects")["objects"].clone();
    assert_eq!(objects.as_array().unwrap().len(), 1);
    let id = cid(json!({ "stock": 0 }).to_string().as_bytes());
    let inspected = wire.get(&format!("/api/objects/{id}?path=.stock"));
    assert_eq!((&inspected["type"], &inspected["repr"]), (&json!("int"), &json!("0")));
    assert_eq!(wire.send("GET", &format!("/api/objects/{id}?path=.x"), None).status, 404);
    assert_eq!(wire.send("GET", "/api/objects/abc", None).status, 404);
}

/// Everything outlives the server: callpoints, functions, records, values.
#[test]
fn a_restarted_server_knows_everything() {
    let home = tempfile::tempdir().unwrap();
    let start = || Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let mut process = start();
    let wire = Wire::new(process.port());
    wire.add("f", "stop");
    wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "exception" }));
    wire.ok("/api/functions", json!({ "function_name": "f", "signature": "(a)" }));
    wire.ok("/api/behavior", json!({ "behavior": "exception" }));
    let large = json!("x".repeat(300_000));
    wire.call("g", &[json!({ "kept": true }), large.clone()], &json!("done"));
    process.signal("TERM");
    process.end();
    let mut process = start();
    let wire = Wire::new(process.port());
    let points = wire.get("/api/breakpoints");
    assert_eq!(points["breakpoint_behaviors"], json!({ "f": "stop" }));
    assert_eq!(points["breakpoint_after_behaviors"], json!({ "f": "exception" }));
    assert_eq!(wire.get("/api/behavior")["behavior"], "exception");
    assert_eq!(wire.get("/api/functions")["function_signatures"], json!({ "f": "(a)" }));
    let call = wire.get("/api/calls")["calls"][0].clone();
    assert_eq!(call["pretty_args"][0], json!({ "kept": true }));
    // A large value is in a file of its own, and is not in the record.
    assert!(call["pretty_args"][1].as_str().unwrap().starts_with("<300002 bytes"));
    let id = cid(large.to_string().as_bytes());
    let file = home.path().join("holdpoint.db.values").join(id.get(..2).unwrap()).join(&id);
    assert_eq!(file.metadata().unwrap().len(), 300_002);
    assert_eq!(wire.get(&format!("/api/objects/{id}"))["size"], 300_002);
    // A value that was sent to the server before is known to this one.
    let mut reference = item(&json!({ "kept": true }));
    reference.as_object_mut().unwrap().remove("data");
    let body = wire.start_body("g", &[], json!({ "args": [reference] }));
    assert_eq!(wire.post("/api/call/start", body).0, 200);
}

/// Acknowledged this long before the end, a record is on the disk. The flush interval is 100 ms; a machine
/// that is loaded writes a moment later.
const OLD_S: f64 = 2.0;

/// kill -9 in the middle of eight clients: the file opens, and every record older than a flush is there.
#[test]
fn a_killed_server_loses_no_more_than_a_flush() {
    let home = tempfile::tempdir().unwrap();
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let port = process.port();
    let acknowledged: Arc<Mutex<Vec<(f64, String)>>> = Arc::default();
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let acknowledged = Arc::clone(&acknowledged);
            std::thread::spawn(move || {
                let wire = Wire { start: f64::from(client) + 0.5, ..Wire::new(port) };
                for number in 0_u64.. {
                    let args = [json!([client, number])];
                    match wire.try_call("f", &args, &json!(number)) {
                        Some(id) => acknowledged.lock().unwrap().push((now(), id)),
                        None => break,
                    }
                }
            })
        })
        .collect();
    // Until there is something old: of what was just acknowledged nothing is promised.
    let old = |killed: f64| -> Vec<String> {
        let all = acknowledged.lock().unwrap();
        all.iter().filter(|(at, _)| *at < killed - OLD_S).map(|(_, id)| id.clone()).collect()
    };
    until("some hundred old calls", || (old(now()).len() > 300).then_some(()));
    let killed = now();
    process.signal("KILL");
    process.end();
    clients.into_iter().for_each(|it| it.join().unwrap());
    // What it could not take away itself.
    std::fs::remove_file(home.path().join("port")).unwrap();
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let wire = Wire::new(process.port());
    for id in old(killed) {
        assert_eq!(wire.send("GET", &format!("/api/calls/{id}"), None).status, 200, "{id}");
    }
    assert!(wire.get("/api/calls?limit=1")["total_count"].as_u64().unwrap() > 300);
}

#[test]
fn a_server_without_a_file_records_too() {
    let mut process = Process::start(BIN, &["serve", "--port", "0", "--db", ":memory:"]);
    let wire = Wire::new(process.port());
    let large = json!("y".repeat(5_000_000));
    wire.call("f", std::slice::from_ref(&large), &json!(1));
    assert_eq!(wire.get("/api/calls")["total_count"], 1);
    let id = cid(large.to_string().as_bytes());
    assert_eq!(wire.get(&format!("/api/objects/{id}"))["size"], 5_000_002);
}

#[test]
fn what_is_kept_is_counted_dropped_and_exported() {
    let home = tempfile::tempdir().unwrap();
    let none = run(BIN, &["store", "stats"], home.path());
    assert_eq!(none.0, 1);
    assert!(none.2.contains("nothing is kept") && none.2.contains("hint:"), "{}", none.2);
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let wire = Wire::new(process.port());
    for number in 0..3 {
        wire.call("f", &[json!(number)], &json!(number * 10));
    }
    wire.call("g", &[], &json!(null));
    assert_eq!(wire.get("/api/calls")["total_count"], 4);
    // Beside the server that runs.
    let (code, stats, _) = run(BIN, &["store", "stats", "--json"], home.path());
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((code, &stats["calls"]), (0, &json!(4)));
    assert!(run(BIN, &["store", "stats"], home.path()).1.contains("calls       4"));
    let (_, lines, _) = run(BIN, &["store", "export", "--function", "f"], home.path());
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["pretty_args"], &lines[0]["pretty_result"]), (&json!([2]), &json!(20)));
    assert_eq!(run(BIN, &["store", "export", "--limit", "1"], home.path()).1.lines().count(), 1);
    let (_, pruned, _) = run(BIN, &["store", "prune", "--megabytes", "0"], home.path());
    assert!(pruned.starts_with("4 calls"), "{pruned}");
    assert_eq!(wire.get("/api/calls")["total_count"], 0);
}

/// Apps that name no threads are told apart by their stacks: calls that overlap are not inside each other.
#[test]
fn the_tree_tells_overlapping_calls_apart_by_their_stacks() {
    let (_process, wire) = serve();
    let frame = |function: &str| json!({ "filename": "app.js", "lineno": 1, "function": function });
    let begin = |name: &str, frames: Vec<Value>, at: f64| {
        let site = json!({ "call_site": { "timestamp": at, "stack_trace": frames } });
        wire.ok("/api/call/start", wire.start_body(name, &[json!(name)], site))["call_id"].clone()
    };
    let end = |id: &Value, at: f64| {
        let mut body = wire.complete_body(id.as_str().unwrap(), &json!("done"));
        merge(&mut body, json!({ "timestamp": at }));
        wire.ok("/api/call/complete", body);
    };
    let one = begin("one", vec![frame("first"), frame("main")], 10.0);
    let two = begin("two", vec![frame("second"), frame("main")], 11.0);
    let inner = begin("inner", vec![frame("one"), frame("first"), frame("main")], 12.0);
    end(&inner, 13.0);
    end(&two, 14.0);
    end(&one, 15.0);
    let tree = wire.get(&format!("/api/call-tree/{}", wire.process_key()))["calls"].clone();
    let rows: Vec<(&str, Option<u64>)> = tree
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["parent"].as_u64()))
        .collect();
    assert_eq!(rows, [("one", None), ("two", None), ("inner", Some(0))]);
}
