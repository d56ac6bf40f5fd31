//! The wire of intercepted calls, route by route: fields, status codes, and the server's share of the
//! bugs that the original has (`B…` as its description numbers them).

use holdpoint_testkit::{
    calls::{Wire, cid, item, merge, now, prefixed},
    http::{get, post},
    process::Process,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, Wire) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    (process, Wire::new(port))
}

fn reference(value: &Value) -> Value {
    let mut item = item(value);
    item.as_object_mut().unwrap().remove("data");
    item
}

#[test]
fn breakpoints_are_listed_with_their_behaviors() {
    let (_process, wire) = serve();
    assert_eq!(
        wire.get("/api/breakpoints"),
        json!({
            "breakpoints": [], "breakpoint_behaviors": {}, "breakpoint_after_behaviors": {},
            "breakpoint_replacements": {},
        })
    );
    let added = wire.ok("/api/breakpoints", json!({ "function_name": "f", "timestamp": 1.5 }));
    assert_eq!(added, json!({ "status": "ok", "function_name": "f" }));
    wire.ok("/api/breakpoints", json!({ "function_name": "g", "behavior": "stop" }));
    // Unknown behaviors are passed over; adding again keeps what is there.
    wire.ok("/api/breakpoints", json!({ "function_name": "g", "behavior": "sometimes" }));
    wire.ok("/api/breakpoints", json!({ "function_name": "g" }));
    assert_eq!(
        wire.get("/api/breakpoints"),
        json!({
            "breakpoints": ["f", "g"], "breakpoint_behaviors": { "f": "yield", "g": "stop" },
            "breakpoint_after_behaviors": { "f": "yield", "g": "yield" },
            "breakpoint_replacements": {},
        })
    );
    let (status, refused) = wire.post("/api/breakpoints", json!({ "behavior": "stop" }));
    assert_eq!((status, refused), (400, json!({ "error": "function_name required" })));
    let removed = wire.send("DELETE", "/api/breakpoints/g", None).json();
    assert_eq!(removed["status"], "ok");
    assert_eq!(wire.send("DELETE", "/api/breakpoints/never", None).json()["status"], "ok");
    assert_eq!(wire.get("/api/breakpoints")["breakpoints"], json!(["f"]));
}

#[test]
fn behaviors_are_normalised_and_checked() {
    let (_process, wire) = serve();
    wire.add("f", "yield");
    for (given, kept) in [("stop", "stop"), ("go", "go"), ("yield", "yield"), ("continue", "go")] {
        let answer = wire.ok("/api/breakpoints/f/behavior", json!({ "behavior": given }));
        assert_eq!(answer, json!({ "status": "ok", "function_name": "f", "behavior": kept }));
    }
    for bad in ["exception", "defer", "", "nonsense"] {
        let (status, answer) = wire.post("/api/breakpoints/f/behavior", json!({ "behavior": bad }));
        assert_eq!(status, 400);
        assert_eq!(answer["error"], "behavior must be 'stop', 'go', or 'yield'");
    }
    for (given, kept) in [("both", "stop_exception"), ("exceptions", "exception"), ("go", "go")] {
        let answer = wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": given }));
        assert_eq!(answer, json!({ "status": "ok", "function_name": "f", "behavior": kept }));
    }
    assert_eq!(wire.post("/api/breakpoints/f/after_behavior", json!({ "behavior": 5 })).0, 400);
    for route in ["behavior", "after_behavior"] {
        let path = format!("/api/breakpoints/none/{route}");
        let (status, answer) = wire.post(&path, json!({ "behavior": "stop" }));
        assert_eq!((status, answer), (404, json!({ "error": "breakpoint_not_found" })));
    }
    assert_eq!(wire.get("/api/behavior"), json!({ "behavior": "stop" }));
    let set = wire.ok("/api/behavior", json!({ "behavior": "stop_at_exceptions" }));
    assert_eq!(set, json!({ "status": "ok", "behavior": "exception" }));
    assert_eq!(wire.post("/api/behavior", json!({ "behavior": "yield" })).0, 400);
    assert_eq!(wire.get("/api/behavior"), json!({ "behavior": "exception" }));
}

#[test]
fn a_replacement_needs_equal_known_signatures() {
    let (_process, wire) = serve();
    let register = |name: &str, signature: Value| {
        wire.ok("/api/functions", json!({ "function_name": name, "signature": signature }))
    };
    let answer = register("f", json!("(a, b)"));
    assert_eq!(answer, json!({ "status": "ok", "function_name": "f", "signature": "(a, b)" }));
    register("g", json!("(a, b)"));
    register("h", json!("(a)"));
    register("js", json!(0));
    let path = "/api/breakpoints/f/replacement";
    let set = |to: Value| wire.post(path, json!({ "replacement_function": to }));
    // Which is checked first.
    assert_eq!(set(json!("h")), (400, json!({ "error": "signature_mismatch" })));
    assert_eq!(set(json!("g")), (404, json!({ "error": "breakpoint_not_found" })));
    wire.add("f", "go");
    for bad in ["h", "unknown", "js"] {
        assert_eq!(set(json!(bad)), (400, json!({ "error": "signature_mismatch" })), "{bad}");
    }
    assert_eq!(
        set(json!("g")).1,
        json!({ "status": "ok", "function_name": "f", "replacement_function": "g" })
    );
    assert_eq!(wire.get("/api/breakpoints")["breakpoint_replacements"], json!({ "f": "g" }));
    // A call that does not pause is replaced.
    let started = wire.start("f", &[]);
    assert_eq!((&started["action"], &started["function_name"]), (&json!("replace"), &json!("g")));
    for clear in [json!(""), json!(null), json!("f")] {
        set(json!("g"));
        assert_eq!(set(clear.clone()).1["replacement_function"], clear);
        assert_eq!(wire.get("/api/breakpoints")["breakpoint_replacements"], json!({}));
    }
}

#[test]
fn functions_keep_what_they_said_before() {
    let (_process, wire) = serve();
    assert_eq!(
        wire.get("/api/functions"),
        json!({ "functions": [], "function_signatures": {}, "function_metadata": {} })
    );
    wire.ok(
        "/api/functions",
        json!({ "function_name": "f", "signature": "(a)", "function_client_ref": 7 }),
    );
    // A breakpoint without a signature leaves the known one.
    wire.ok("/api/breakpoints", json!({ "function_name": "f", "signature": null }));
    let functions = wire.get("/api/functions");
    assert_eq!(functions["functions"], json!(["f"]));
    assert_eq!(functions["function_signatures"], json!({ "f": "(a)" }));
    assert_eq!(functions["function_metadata"]["f"]["client_ref"], 7);
    assert!(functions["function_metadata"]["f"]["registered_at"].as_f64().unwrap() > 1e9);
    let source = item(&json!({ "name": "g", "source": "function g() {}" }));
    let mut body = json!({ "function_name": "g", "signature": 2 });
    merge(&mut body, prefixed("function", &source));
    wire.ok("/api/functions", body);
    assert!(wire.get("/api/functions")["function_metadata"]["g"]["summary"].is_string());
    let (status, answer) = wire.post("/api/functions", json!({}));
    assert_eq!((status, answer), (400, json!({ "error": "function_name required" })));
    // A registration names the process, also for what is no function.
    wire.ok(
        "/api/call/event",
        json!({
            "method_name": "with_debug.register", "process_pid": wire.pid,
            "process_start_time": wire.start, "status": "registered",
            "pretty_result": { "function_name": "Calc" },
        }),
    );
    let functions = wire.get("/api/functions");
    assert_eq!(functions["functions"], json!(["f", "g"]));
    assert_eq!(functions["function_metadata"]["Calc"]["last_process_key"], wire.process_key());
}

#[test]
fn a_start_is_checked_in_the_order_of_the_wire() {
    let (_process, wire) = serve();
    let start = |more: Value| {
        let mut body = wire.start_body("f", &[json!(1)], json!({}));
        merge(&mut body, more);
        wire.post("/api/call/start", body)
    };
    let good = start(json!({}));
    assert_eq!((good.0, &good.1["action"]), (200, &json!("continue")));
    let id = good.1["call_id"].as_str().unwrap();
    let (time, number) = id.split_once('-').unwrap();
    assert_eq!((time.split_once('.').unwrap().1.len(), number), (6, "001"), "{id}");
    // Numbers may come as text.
    assert_eq!(start(json!({ "process_pid": "12", "process_start_time": "1.5" })).0, 200);
    let fresh = json!({ "never": "seen" });
    let missing = reference(&fresh);
    for absent in ["process_pid", "process_start_time"] {
        let answer = start(json!({ absent: null, "args": [missing] }));
        assert_eq!(
            answer,
            (
                400,
                json!({
                    "error": "missing_process_identity",
                    "message": "process_pid and process_start_time are required",
                })
            )
        );
    }
    let other = reference(&json!("other"));
    let answer = start(json!({
        "target": other, "args": [missing], "kwargs": { "k": missing }, "preferred_format": "xml",
    }));
    assert_eq!(answer.0, 400);
    assert_eq!(answer.1["error"], "cid_not_found");
    assert_eq!(answer.1["missing_cids"], json!([other["cid"], missing["cid"]]));
    assert_eq!(answer.1["message"], "Resend with full data");
    let bad = start(json!({ "preferred_format": "xml" }));
    assert_eq!((bad.0, &bad.1["error"]), (400, &json!("invalid_preferred_format")));
}

#[test]
fn items_are_checked_against_their_cid() {
    let (_process, wire) = serve();
    let with = |item: Value| {
        let body = wire.start_body("f", &[], json!({ "args": [item] }));
        wire.post("/api/call/start", body)
    };
    let good = item(&json!([1, 2]));
    let change = |more: Value| {
        let mut item = good.clone();
        merge(&mut item, more);
        item
    };
    let wrong = with(change(json!({ "cid": "ab" })));
    assert_eq!(
        wrong,
        (
            400,
            json!({
                "error": "cid_mismatch",
                "message": "Provided CID does not match SHA-512 hash of data",
                "expected_cid": good["cid"], "provided_cid": "ab",
            })
        )
    );
    let format = with(change(json!({ "serialization_format": "xml" })));
    assert_eq!(format.1["error"], "invalid_serialization_format");
    assert_eq!(with(change(json!({ "data": "{" }))).1["error"], "invalid_json");
    assert_eq!(with(change(json!({ "data": 5 }))).1["error"], "invalid_json");
    let dill = |data: Value| with(change(json!({ "data": data, "serialization_format": "dill" })));
    assert_eq!(dill(json!(5)).1["error"], "invalid_dill");
    assert_eq!(dill(json!("gARLBS4")).1["error"], "invalid_dill");
    // Items that are none, and without a CID, are passed over.
    assert_eq!(with(json!(5)).0, 200);
    assert_eq!(with(json!("x")).0, 200);
    assert_eq!(with(json!({ "data": "1" })).0, 200);
    // A pickle that is none is kept all the same.
    let broken = json!({ "cid": cid(b"nonsense"), "data": "bm9uc2Vuc2U=" });
    assert_eq!(with(broken).0, 200);
}

/// The second of two references to one fresh value is not missing.
#[test]
fn a_value_that_comes_with_the_request_is_there() {
    let (_process, wire) = serve();
    let value = json!({ "fresh": 1 });
    let args = json!([item(&value), reference(&value)]);
    let body = wire.start_body("f", &[], json!({ "args": args, "target": reference(&value) }));
    assert_eq!(wire.post("/api/call/start", body).0, 200);
    // And from then on, for everybody, also by another process.
    let other = Wire { pid: wire.pid, start: 5.5, port: wire.port };
    let body = other.start_body("g", &[], json!({ "args": [reference(&value)] }));
    assert_eq!(other.post("/api/call/start", body).0, 200);
}

/// An object that changed before it was sent again does not end the program.
#[test]
fn a_resent_value_may_have_changed() {
    let (_process, wire) = serve();
    let before = json!([1]);
    let mut body = wire.start_body("f", &[], json!({ "args": [reference(&before)] }));
    assert_eq!(wire.post("/api/call/start", body.clone()).0, 400);
    let mut changed = item(&json!([1, 2]));
    changed["cid"] = reference(&before)["cid"].clone();
    merge(&mut body, json!({ "args": [changed] }));
    let (status, answer) = wire.post("/api/call/start", body.clone());
    assert_eq!((status, &answer["action"]), (200, &json!("continue")), "{answer}");
    wire.complete(&answer["call_id"], &json!(null));
    let record = wire.get(&format!("/api/calls/{}", answer["call_id"].as_str().unwrap()));
    assert_eq!(record["call"]["pretty_args"], json!([[1, 2]]));
    // Only then: a wrong CID that nobody asked for is refused.
    merge(&mut body, json!({ "call_site": { "timestamp": now() } }));
    assert_eq!(wire.post("/api/call/start", body).1["error"], "cid_mismatch");
}

/// A request that is sent again after a timeout begins no second call.
#[test]
fn a_start_sent_twice_is_one_call() {
    let (_process, wire) = serve();
    wire.add("f", "stop");
    let body = wire.start_body("f", &[json!(1)], json!({}));
    let first = wire.ok("/api/call/start", body.clone());
    let second = wire.ok("/api/call/start", body);
    assert_eq!(first, second);
    assert_eq!(wire.get("/api/paused")["paused"].as_array().unwrap().len(), 1);
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 1);
    let keyed = |key: &str| {
        let body = wire.start_body("g", &[], json!({ "idempotency_key": key }));
        wire.ok("/api/call/start", body)["call_id"].clone()
    };
    assert_eq!(keyed("a"), keyed("a"));
    assert_ne!(keyed("a"), keyed("b"));
}

#[test]
fn a_completion_is_recorded_once() {
    let (_process, wire) = serve();
    let started = wire.start("f", &[json!(2)]);
    let id = started["call_id"].as_str().unwrap();
    let mut bad = wire.complete_body(id, &json!(4));
    merge(&mut bad, json!({ "result_cid": "ab" }));
    assert_eq!(wire.post("/api/call/complete", bad).1["error"], "cid_mismatch");
    // It is still under way, and can be completed.
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 1);
    for _ in 0..2 {
        let body = wire.complete_body(id, &json!(4));
        assert_eq!(wire.ok("/api/call/complete", body), json!({ "status": "ok" }));
    }
    for unknown in [json!({ "call_id": "x" }), json!({})] {
        assert_eq!(wire.ok("/api/call/complete", unknown), json!({ "status": "ok" }));
    }
    let calls = wire.get("/api/calls");
    assert_eq!(calls["total_count"], 1);
    let call = &calls["calls"][0];
    assert_eq!((&call["status"], &call["pretty_result"]), (&json!("success"), &json!(4)));
    // A result that nobody sent is named as missing.
    let started = wire.start("f", &[]);
    let missing = cid(b"nobody");
    wire.ok("/api/call/complete", json!({ "call_id": started["call_id"], "result_cid": missing }));
    let call = wire.get("/api/calls")["calls"][0].clone();
    assert_eq!(call["pretty_result"], json!(format!("<cid:{missing} missing>")));
}

/// Every field of a record; an exception that cannot be read is told in its own words.
#[test]
fn a_record_has_the_fields_of_the_wire() {
    let (_process, wire) = serve();
    let frame = json!({
        "filename": "app.py", "lineno": 3, "function": "main", "code_context": "f(1)",
    });
    let at = now();
    let mut argument = item(&json!(1));
    merge(&mut argument, json!({ "client_ref": "a1" }));
    let body = wire.start_body(
        "f",
        &[],
        json!({
            "target": item(&json!("f")), "args": [argument], "kwargs": { "k": item(&json!(2)) },
            "call_site": { "timestamp": at, "target_cid": "t", "stack_trace": [frame] },
            "signature": "(a, k)", "call_type": "proxy", "page_url": "http://localhost/x",
            "thread_id": 7, "thread_name": "main",
        }),
    );
    let started = wire.ok("/api/call/start", body);
    wire.ok(
        "/api/call/complete",
        json!({
            "call_id": started["call_id"], "status": "exception", "timestamp": at + 1.0,
            "exception_type": "shop.Empty", "exception_message": "no pens",
            "exception_traceback": "Traceback", "exception_cid": cid(b"lost"),
            "exception_client_ref": 9,
        }),
    );
    let id = started["call_id"].as_str().unwrap();
    let call = wire.get(&format!("/api/calls/{id}"))["call"].clone();
    let expected = json!({
        "call_id": id, "method_name": "f", "pretty_target": "f", "pretty_args": [1],
        "pretty_kwargs": { "k": 2 }, "signature": "(a, k)", "page_url": "http://localhost/x",
        "preferred_format": "json", "process_pid": wire.pid, "process_start_time": wire.start,
        "process_key": wire.process_key(), "call_type": "proxy", "status": "exception",
        "started_at": at, "completed_at": at + 1.0, "pretty_result": null,
        "exception_cid": cid(b"lost"), "exception_client_ref": 9, "exception_type": "shop.Empty",
        "exception_message": "no pens", "exception_traceback": "Traceback", "repl_sessions": [],
        "thread_id": 7, "thread_name": "main",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&call[name], value, "{name} of {call}");
    }
    assert_eq!(call["args"][0]["cid"], argument["cid"]);
    assert_eq!(call["args"][0]["client_ref"], "a1");
    // What was captured is not sent again with every record.
    assert!(call["args"][0].get("data").is_none());
    assert_eq!(call["call_site"]["stack_trace"], json!([frame]));
    let exception = &call["exception"];
    assert_eq!(exception["__cideldill_exception__"], true);
    assert_eq!(exception["summary"], "shop.Empty: no pens");
    assert_eq!(exception["traceback"], "Traceback");
}

/// The exception that the cideldill client invents for every call is not recorded.
#[test]
fn events_are_recorded_and_phantoms_are_not() {
    let (_process, wire) = serve();
    let event = |more: Value| {
        let mut body = json!({ "process_pid": wire.pid, "process_start_time": wire.start });
        merge(&mut body, more);
        wire.post("/api/call/event", body)
    };
    let phantom = json!({
        "method_name": "__getattr__('_cideldill_alias_name')", "status": "exception",
        "exception": { "type": "AttributeError", "message": "x" },
    });
    assert_eq!(event(phantom), (200, json!({ "status": "ok" })));
    assert_eq!(wire.get("/api/calls")["total_count"], 0);
    assert_eq!(event(json!({ "event_type": "note", "event_id": "e-1", "timestamp": 5.5 })).0, 200);
    let pickle_error = json!({
        "method_name": "pickle_error", "status": "serialization_error",
        "pretty_kwargs": { "object_type": "socket" }, "exception": { "error": "cannot pickle" },
    });
    assert_eq!(event(pickle_error).0, 200);
    let calls = wire.get("/api/calls?kind=event");
    assert_eq!(calls["total_count"], 2);
    let (error, note) = (&calls["calls"][0], &calls["calls"][1]);
    assert_eq!((&note["call_id"], &note["method_name"]), (&json!("e-1"), &json!("note")));
    assert_eq!((&note["started_at"], &note["completed_at"]), (&json!(5.5), &json!(5.5)));
    assert_eq!(error["pretty_kwargs"], json!({ "object_type": "socket" }));
    assert_eq!(error["exception"]["error"], "cannot pickle");
    let (status, answer) = wire.post("/api/call/event", json!({ "method_name": "x" }));
    assert_eq!((status, &answer["error"]), (400, &json!("missing_process_identity")));
}

#[test]
fn errors_of_connections_are_kept() {
    let (_process, wire) = serve();
    for number in 0..3 {
        let error = json!({ "summary": "refused", "number": number });
        assert_eq!(wire.ok("/api/report-com-error", error), json!({ "status": "ok" }));
    }
    let errors = wire.get("/api/com-errors")["errors"].clone();
    let errors = errors.as_array().unwrap();
    assert_eq!(errors.len(), 3);
    assert_eq!((&errors[0]["number"], &errors[2]["number"]), (&json!(0), &json!(2)));
    assert!(errors[0]["timestamp"].is_f64() && errors[0]["received_at"].is_f64());
}

#[test]
fn names_may_hold_anything() {
    let (_process, wire) = serve();
    for (name, path) in [
        ("pkg/mod:f", "pkg%2Fmod%3Af"),
        ("outer.<locals>.inner", "outer.%3Clocals%3E.inner"),
        ("größe", "gr%C3%B6%C3%9Fe"),
    ] {
        wire.add(name, "go");
        let answer =
            wire.ok(&format!("/api/breakpoints/{path}/behavior"), json!({ "behavior": "stop" }));
        assert_eq!(answer["function_name"], name);
        assert_eq!(wire.start(name, &[])["action"], "poll", "{name}");
        let removed = wire.send("DELETE", &format!("/api/breakpoints/{path}"), None).json();
        assert_eq!(removed["function_name"], name);
    }
    assert_eq!(wire.get("/api/breakpoints")["breakpoints"], json!([]));
}

#[test]
fn bodies_that_are_no_objects() {
    let (_process, wire) = serve();
    let json = |body: &str| {
        post(wire.port, "/api/breakpoints", body).header("Content-Type", "application/json").send()
    };
    for falsy in ["[]", "null", "0", "{}"] {
        let answer = json(falsy);
        assert_eq!(
            (answer.status, &answer.json()["error"]),
            (400, &json!("function_name required"))
        );
    }
    for bad in ["{", "[1]", "\"x\"", "nonsense", "{\"function_name\": }"] {
        assert_eq!(json(bad).status, 400, "{bad}");
    }
    let untyped = post(wire.port, "/api/breakpoints", "{}").send();
    assert_eq!(untyped.status, 415);
    let form = post(wire.port, "/api/breakpoints", "a=b")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .send();
    assert_eq!(form.status, 415);
    assert_eq!(get(wire.port, "/api/nothing").send().status, 404);
}

/// As narrow as the guard: pages of loopback may ask, others are told to the one who may allow them.
#[test]
fn pages_of_loopback_may_ask() {
    let (_process, wire) = serve();
    let page = |origin: &str, method: &str| {
        let mut request = get(wire.port, "/api/call/start").header("Origin", origin);
        request.method = if method == "OPTIONS" { "OPTIONS" } else { "GET" };
        request
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "content-type")
            .send()
    };
    let allowed = page("http://localhost:3000", "OPTIONS");
    assert_eq!(allowed.status, 200);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("http://localhost:3000"));
    let headers = allowed.header("access-control-allow-headers").unwrap();
    assert!(headers.to_lowercase().contains("content-type"));
    let methods = allowed.header("access-control-allow-methods").unwrap();
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        assert!(methods.contains(method), "{methods}");
    }
    assert_eq!(page("https://evil.example", "OPTIONS").status, 403);
}

#[test]
fn the_watch_answers_at_once_or_at_the_next_change() {
    let (_process, wire) = serve();
    let first = wire.get("/api/callpoints/watch");
    assert_eq!(first["default_behavior"], "stop");
    assert_eq!(first["callpoints"], json!({}));
    let version = first["version"].as_u64().unwrap();
    let held = {
        let wire = wire.clone();
        std::thread::spawn(move || {
            wire.get(&format!("/api/callpoints/watch?version={version}&wait_s=20"))
        })
    };
    wire.add("f", "stop");
    let changed = held.join().unwrap();
    assert!(changed["version"].as_u64().unwrap() > version);
    assert_eq!(changed["server"], first["server"]);
    let point = json!({ "before": "stop", "after": "yield", "replacement": null });
    assert_eq!(changed["callpoints"], json!({ "f": point }));
    // What changes nothing is no change; nothing is answered after the wait, with the same version.
    wire.add("f", "stop");
    let version = changed["version"].as_u64().unwrap();
    let same = wire.get(&format!("/api/callpoints/watch?version={version}&wait_s=0.05"));
    assert_eq!(same["version"], version);
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    let other = wire.get(&format!("/api/callpoints/watch?version={version}&wait_s=20"));
    assert_eq!(other["default_behavior"], "go");
}

#[test]
fn a_batch_is_taken_as_far_as_it_goes() {
    let (_process, wire) = serve();
    let (one, two) = (item(&json!(1)), item(&json!("two")));
    let record = |name: &str, more: Value| {
        let mut record = json!({
            "method_name": name, "args": [one["cid"]], "kwargs": { "k": two["cid"] },
            "result_cid": two["cid"], "status": "success", "started_at": now(),
            "completed_at": now(), "thread_id": 1,
        });
        merge(&mut record, more);
        record
    };
    let missing = cid(b"missing");
    let batch = json!({
        "process_pid": wire.pid, "process_start_time": wire.start, "batch_id": "b1",
        "process": { "argv": ["app.py"] }, "preferred_format": "json", "dropped": 3,
        "values": [one, two, { "cid": "ab", "data": "1", "serialization_format": "json" }],
        "calls": [
            record("f", json!({ "client_refs": { "args": { "0": 5 } } })),
            record("g", json!({ "args": [missing] })),
            { "method_name": "no times" },
            7,
        ],
    });
    let answer = wire.ok("/api/call/batch", batch.clone());
    assert_eq!(
        answer,
        json!({ "status": "ok", "accepted": 2, "rejected": 3, "missing_cids": [missing] })
    );
    // Sent again, it counts once.
    wire.ok("/api/call/batch", batch);
    let calls = wire.get("/api/calls");
    assert_eq!(calls["total_count"], 2);
    let f = &calls["calls"][1];
    assert_eq!((&f["pretty_args"], &f["pretty_result"]), (&json!([1]), &json!("two")));
    assert_eq!(f["line"], "f(1, k=\"two\") → \"two\"");
    let history = wire.get(&format!("/api/objects/{}/5/history", wire.process_key()));
    assert_eq!(history["history"][0]["pretty"], 1);
    assert_eq!(wire.get("/api/call-tree")["processes"][0]["about"], json!({ "argv": ["app.py"] }));
    let late = json!({
        "process_pid": wire.pid, "process_start_time": wire.start, "calls": [],
        "values": [{ "cid": missing, "data": "bWlzc2luZw==" }],
    });
    assert_eq!(wire.ok("/api/call/batch", late)["missing_cids"], json!([]));
    // What came late is shown where it was missing, and both calls were told of, once.
    let late = wire.get("/api/calls?function_name=g")["calls"][0]["pretty_args"][0].clone();
    assert!(late.as_str().unwrap().starts_with("<unavailable: "), "{late}");
    let mut events = get(wire.port, "/api/events?since=0").stream();
    let told = std::iter::from_fn(|| events.next_data()).filter(|it| it.event == "call_completed");
    let told = told.take(2).map(|it| {
        let event: Value = serde_json::from_str(&it.data).unwrap();
        event["data"]["method_name"].clone()
    });
    assert_eq!(told.collect::<Vec<_>>(), ["f", "g"]);
}
