//! A program under the stand-in of the cideldill client: a new connection for each request, `localhost`,
//! and its end on any status of 400 or more. Every row of the action table, decided by a person over
//! REST and by an agent over MCP on the same pause.

use holdpoint_testkit::{
    calls::{Shop, Wire},
    process::Process,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A server at which nothing pauses, and a program with its functions registered.
fn serve() -> (Process, Wire, Shop) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let wire = Wire::new(process.port());
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    let shop = Shop::start(wire.port);
    (process, wire, shop)
}

fn behave(wire: &Wire, name: &str, behavior: &str) {
    wire.ok(&format!("/api/breakpoints/{name}/behavior"), json!({ "behavior": behavior }));
}

fn decide(wire: &Wire, decision: Value) -> Value {
    let paused = wire.paused();
    let path = format!("/api/paused/{}/continue", paused["id"].as_str().unwrap());
    assert_eq!(wire.ok(&path, decision)["resumed"], true);
    paused["call_data"].clone()
}

#[test]
fn calls_run_and_are_recorded() {
    let (_process, wire, mut shop) = serve();
    assert_eq!(shop.run("add(2, 3)"), "= 5");
    assert_eq!(shop.run("identity([1] * 3)"), "= [1, 1, 1]");
    // The same fresh object twice.
    assert_eq!(shop.run("(lambda x: add(x, x))([7])"), "= [7, 7]");
    assert_eq!(shop.run("fail('no pens')"), "raised ValueError no pens");
    assert_eq!(shop.run("greet('you', greeting='hi')"), "= 'hi, you'");
    let calls = wire.get("/api/calls?kind=call")["calls"].clone();
    let lines: Vec<&str> =
        calls.as_array().unwrap().iter().map(|call| call["line"].as_str().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "greet('you', greeting='hi') → 'hi, you'",
            "fail('no pens') ✗ ValueError: no pens",
            "add([7], [7]) → [7, 7]",
            "identity([1, 1, 1]) → [1, 1, 1]",
            "add(2, 3) → 5",
        ]
    );
    // The exception was read from its pickle; nothing was executed to do so.
    let failed = &calls[1];
    assert_eq!(failed["exception"]["args"], json!(["no pens"]));
    assert!(failed["exception"]["traceback"].as_str().unwrap().contains("raise ValueError"));
    // Neither the registrations' phantoms nor the calls' own are there.
    let events = wire.get("/api/calls?kind=event");
    assert_eq!(events["total_count"], 7, "{events}");
    assert_eq!(shop.end(), Some(0));
}

#[test]
fn every_action_of_the_table_reaches_the_program() {
    let (_process, wire, mut shop) = serve();
    behave(&wire, "multiply", "stop");
    let mut run = |decision: Value| {
        shop.begin("multiply(6, b=7)");
        let data = decide(&wire, decision);
        assert_eq!(data["pretty_args"], json!(["6"]));
        assert_eq!(data["pretty_kwargs"], json!({ "b": "7" }));
        shop.line()
    };
    assert_eq!(run(json!({ "action": "continue" })), "= 42");
    assert_eq!(run(json!({ "action": "modify", "modified_args": [10] })), "= 70");
    assert_eq!(
        run(json!({ "modified_kwargs": { "b": [1, "x"] } })),
        "= [1, 'x', 1, 'x', 1, 'x', 1, 'x', 1, 'x', 1, 'x']"
    );
    assert_eq!(
        run(json!({ "action": "skip", "fake_result": { "a": [1.5, null] } })),
        "= {'a': [1.5, None]}"
    );
    assert_eq!(run(json!({ "action": "skip" })), "= None");
    let raise =
        json!({ "action": "raise", "exception_type": "KeyError", "exception_message": "gone" });
    assert_eq!(run(raise), "raised KeyError 'gone'");
    assert_eq!(run(json!({ "replacement_function": "add" })), "= 13");
    // One that is set beforehand, for calls that do not pause.
    behave(&wire, "multiply", "go");
    wire.ok("/api/breakpoints/multiply/replacement", json!({ "replacement_function": "add" }));
    assert_eq!(shop.run("multiply(6, 7)"), "= 13");
    assert_eq!(shop.end(), Some(0));
}

/// The default of the wire: every wrapped function pauses before and after.
#[test]
fn a_program_pauses_before_and_after() {
    let (_process, wire, mut shop) = serve();
    wire.ok("/api/behavior", json!({ "behavior": "stop_exception" }));
    shop.begin("inner(4)");
    assert_eq!(decide(&wire, json!({}))["pause_reason"], "breakpoint");
    let after = wire.paused();
    assert_eq!(after["call_data"]["pretty_result"], "40");
    decide(&wire, json!({ "action": "skip", "fake_result": 1 }));
    assert_eq!(shop.line(), "= 40");
    // The exception propagates at once, the pause is there to be looked at.
    shop.begin("fail('x')");
    decide(&wire, json!({}));
    assert_eq!(shop.line(), "raised ValueError x");
    assert_eq!(wire.paused()["call_data"]["exception"]["summary"], "ValueError: x");
    decide(&wire, json!({}));
    assert_eq!(shop.end(), Some(0));
}

#[test]
fn expressions_are_evaluated_in_the_paused_program() {
    let (_process, wire, mut shop) = serve();
    behave(&wire, "add", "stop");
    shop.begin("add(1, 2)");
    let paused = wire.paused();
    let opened = wire.ok("/api/repl/start", json!({ "pause_id": paused["id"] }));
    let session = opened["session_id"].as_str().unwrap().to_owned();
    assert!(session.starts_with(&format!("{}-", shop.id())), "{session}");
    let eval =
        |expr: &str| wire.post(&format!("/api/repl/{session}/eval"), json!({ "expr": expr }));
    let (status, answer) = eval("[1, 2] * 2");
    assert_eq!((status, &answer["output"]), (200, &json!("[1, 2, 1, 2]")), "{answer}");
    assert_eq!((&answer["is_error"], &answer["stdout"]), (&json!(false), &json!("")));
    let inspected = wire.get(&format!("/api/objects/{}", answer["result_cid"].as_str().unwrap()));
    assert_eq!(inspected["type"], "list");
    let (_, failed) = eval("1 / 0");
    assert_eq!(failed["output"], "ZeroDivisionError: division by zero");
    assert_eq!((&failed["is_error"], &failed["result_cid"]), (&json!(true), &json!(null)));
    let (_, printed) = eval("print('seen')");
    assert_eq!((&printed["stdout"], &printed["output"]), (&json!("seen\n"), &json!("None")));
    assert_eq!(eval("  ").1["error"], "missing_expr");
    assert_eq!(wire.paused()["repl_sessions"], json!([session]));
    decide(&wire, json!({}));
    assert_eq!(shop.line(), "= 3");
    // Going on closed it; its transcript stays.
    assert_eq!(eval("1"), (409, json!({ "error": "session_closed" })));
    let kept = wire.get(&format!("/api/repl/{session}"))["session"].clone();
    assert!(kept["closed_at"].is_f64());
    let inputs: Vec<&Value> =
        kept["transcript"].as_array().unwrap().iter().map(|entry| &entry["input"]).collect();
    assert_eq!(inputs, ["[1, 2] * 2", "1 / 0", "print('seen')"]);
    let record = wire.get("/api/calls?function_name=add")["calls"][0].clone();
    assert_eq!(record["repl_sessions"], json!([session]));
    let found = |query: &str| {
        wire.get(&format!("/api/repl/sessions?{query}"))["sessions"].as_array().unwrap().len()
    };
    assert_eq!((found("search=ZeroDivision"), found("search=nothing")), (1, 0));
    assert_eq!((found("status=closed"), found("status=active")), (1, 0));
    assert_eq!((found("from=0&to=9999999999"), found("to=5")), (1, 0));
    for bad in ["status=odd", "from=x"] {
        assert_eq!(wire.send("GET", &format!("/api/repl/sessions?{bad}"), None).status, 400);
    }
    assert_eq!(shop.end(), Some(0));
}

/// The description that the cideldill client sends in place of an object is read, not called.
#[test]
fn an_object_that_does_not_pickle_is_described() {
    let (_process, wire, mut shop) = serve();
    assert!(shop.run("identity(client.Unpicklable('socket'))").starts_with("= <"));
    let call = wire.get("/api/calls?function_name=identity")["calls"][0].clone();
    let shown = &call["pretty_args"][0];
    assert_eq!(shown["__cideldill_placeholder__"], true, "{shown}");
    assert_eq!(
        shown["summary"],
        "<Unpicklable socket shop.net.Socket attrs=1 failed=1 error=TypeError: cannot pickle>"
    );
    assert_eq!((&shown["type_name"], &shown["attributes"]["port"]), (&json!("Socket"), &json!(80)));
    let cid = call["args"][0]["cid"].as_str().unwrap();
    assert!(wire.get(&format!("/api/objects/{cid}"))["repr"].as_str().unwrap().contains("Socket"));
}

/// Calls made again from the same line are each inside their own caller.
#[test]
fn the_tree_knows_who_called_whom() {
    let (_process, wire, mut shop) = serve();
    for _ in 0..3 {
        assert_eq!(shop.run("nested(1)"), "= 11");
    }
    let process = wire.get("/api/call-tree")["processes"][0]["process_key"].clone();
    let tree = wire.get(&format!("/api/call-tree/{}", process.as_str().unwrap()));
    let calls = tree["calls"].as_array().unwrap();
    let nested: Vec<usize> = (0..calls.len()).filter(|at| calls[*at]["name"] == "nested").collect();
    let parents: Vec<usize> = calls
        .iter()
        .filter(|call| call["name"] == "inner")
        .map(|call| usize::try_from(call["parent"].as_u64().unwrap()).unwrap())
        .collect();
    assert_eq!((nested.len(), &parents), (3, &nested));
    assert_eq!(wire.send("GET", "/api/call-tree/none", None).status, 404);
}

/// A program that was killed at a pause leaves nothing behind; the server serves the next.
#[test]
fn a_program_killed_at_a_pause_is_dropped() {
    let (_process, wire, mut shop) = serve();
    behave(&wire, "add", "stop");
    shop.begin("add(1, 2)");
    wire.paused();
    shop.kill();
    holdpoint_testkit::until("the pause is dropped", || {
        wire.get("/api/paused")["paused"].as_array().filter(|it| it.is_empty()).map(|_| ())
    });
    let mut next = Shop::start(wire.port);
    assert_eq!(next.run("multiply(2, 3)"), "= 6");
}
