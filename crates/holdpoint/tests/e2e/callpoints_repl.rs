//! Expressions in a paused app, on the wire: every route of the relay, its shapes and its refusals, with the
//! app's side of it played by hand. Real apps answer in `callpoints_cideldill.rs` and beside the clients.

use std::thread::JoinHandle;

use holdpoint_testkit::{
    calls::{Wire, cid, item, merge, prefixed},
    http::get,
    process::Process,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A call that is paused, and a session in it.
struct Paused {
    _process: Process,
    wire: Wire,
    id: String,
    session: String,
}

impl Paused {
    fn new() -> Paused {
        let mut process = Process::start(BIN, &["serve", "--port", "0"]);
        let wire = Wire::new(process.port());
        wire.add("f", "stop");
        let started = wire.start("f", &[json!(1)]);
        let id = started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let opened = wire.ok("/api/repl/start", json!({ "pause_id": id }));
        let session = opened["session_id"].as_str().unwrap().to_owned();
        Paused { _process: process, wire, id, session }
    }

    /// Somebody asks; the app fetches the question. The answer is still to come.
    fn ask(&self, expr: &str) -> (JoinHandle<(u16, Value)>, Value) {
        let (wire, path) = (self.wire.clone(), format!("/api/repl/{}/eval", self.session));
        let body = json!({ "expr": expr });
        let asked = std::thread::spawn(move || wire.post(&path, body));
        let question = until("the question", || {
            let found = self.wire.get(&format!("/api/poll-repl/{}", self.id));
            found["eval_id"].is_string().then_some(found)
        });
        assert_eq!(question["expr"], expr);
        assert_eq!(question["session_id"], json!(self.session));
        assert_eq!(question["pause_id"], json!(self.id));
        (asked, question)
    }

    /// What the app posts, and what whoever asked is told.
    fn answered(&self, expr: &str, with: Value) -> Value {
        let (asked, question) = self.ask(expr);
        let answer = self.report(&question, with);
        assert_eq!(answer, (200, json!({ "status": "ok" })));
        let (status, answer) = asked.join().unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    }

    fn report(&self, question: &Value, with: Value) -> (u16, Value) {
        let mut body = json!({ "session_id": self.session, "pause_id": self.id });
        merge(&mut body, json!({ "eval_id": question["eval_id"] }));
        merge(&mut body, with);
        self.wire.post("/api/call/repl-result", body)
    }

    fn transcript(&self) -> Vec<Value> {
        let session = self.wire.get(&format!("/api/repl/{}", self.session))["session"].clone();
        session["transcript"].as_array().unwrap().clone()
    }
}

#[test]
fn a_session_has_the_shape_of_the_wire() {
    let paused = Paused::new();
    let session = paused.wire.get(&format!("/api/repl/{}", paused.session))["session"].clone();
    let expected = json!({
        "session_id": paused.session, "pause_id": paused.id, "pid": paused.wire.pid,
        "closed_at": null, "function_name": "f", "process_key": paused.wire.process_key(),
        "pretty_args": [1], "pretty_kwargs": {}, "transcript": [],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&session[name], value, "{name} of {session}");
    }
    assert!(session["started_at"].is_f64() && session["call_id"].is_string(), "{session}");
    // Several may look into one call.
    let other = paused.wire.ok("/api/repl/start", json!({ "pause_id": paused.id }));
    assert_ne!(other["session_id"], json!(paused.session));
    let listed = paused.wire.get("/api/repl/sessions?status=active")["sessions"].clone();
    assert_eq!(listed[0]["session_id"], other["session_id"], "the newest first");
    assert_eq!(listed.as_array().unwrap().len(), 2);
}

#[test]
fn an_answer_is_told_and_written_down() {
    let paused = Paused::new();
    let told = paused.answered("1 + 1", json!({ "result": "2", "stdout": "counting\n" }));
    let expected = json!({
        "output": "2", "stdout": "counting\n", "is_error": false, "result_cid": null,
    });
    assert_eq!(told, expected);
    // A captured value is shown as it is; a string without quotes.
    let value = item(&json!({ "a": [1] }));
    let mut with = json!({ "result": "[object Object]" });
    merge(&mut with, prefixed("result", &value));
    let told = paused.answered("thing", with);
    assert_eq!((&told["output"], &told["result_cid"]), (&json!("{\"a\":[1]}"), &value["cid"]));
    let told = paused.answered("name", prefixed("result", &item(&json!("pen"))));
    assert_eq!(told["output"], "pen");
    // An error that a page describes is no Python dict.
    let error = json!({ "name": "ReferenceError", "message": "x is not defined" });
    let told = paused.answered("x", json!({ "error": error }));
    assert_eq!(
        (&told["output"], &told["is_error"]),
        (&json!("ReferenceError: x is not defined"), &json!(true))
    );
    let told = paused.answered("y", json!({ "error": "NameError: y" }));
    assert_eq!(told["output"], "NameError: y");
    let transcript = paused.transcript();
    let first = &transcript[0];
    for (name, value) in [
        ("index", json!(0)),
        ("input", json!("1 + 1")),
        ("output", json!("2")),
        ("stdout", json!("counting\n")),
        ("is_error", json!(false)),
        ("result_cid", json!(null)),
    ] {
        assert_eq!(first[name], value, "{name} of {first}");
    }
    assert!(first["timestamp"].is_f64());
    assert_eq!(transcript.len(), 5);
}

#[test]
fn questions_are_refused_with_their_reasons() {
    let paused = Paused::new();
    let wire = &paused.wire;
    let refused = |path: &str, body: Value, status: u16, code: &str| {
        let (found, answer) = wire.post(path, body);
        assert_eq!((found, &answer["error"]), (status, &json!(code)), "POST {path}");
    };
    refused("/api/repl/start", json!({}), 400, "missing_pause_id");
    refused("/api/repl/start", json!({ "pause_id": "none" }), 404, "pause_not_found");
    let eval = format!("/api/repl/{}/eval", paused.session);
    refused(&eval, json!({}), 400, "missing_expr");
    refused(&eval, json!({ "expr": "  " }), 400, "missing_expr");
    refused("/api/repl/none/eval", json!({ "expr": "1" }), 404, "session_not_found");
    refused("/api/repl/none/close", json!({}), 404, "session_not_found");
    assert_eq!(wire.send("GET", "/api/repl/none", None).status, 404);
    for (query, code) in [("from=x", "invalid_timestamp"), ("status=odd", "invalid_status")] {
        let answer = wire.send("GET", &format!("/api/repl/sessions?{query}"), None);
        assert_eq!((answer.status, &answer.json()["error"]), (400, &json!(code)));
    }
    // Closed while somebody waits, and closing twice is as good as once.
    let (asked, _) = paused.ask("1");
    let close = format!("/api/repl/{}/close", paused.session);
    assert_eq!(wire.ok(&close, json!({})), json!({ "status": "ok" }));
    assert_eq!(asked.join().unwrap(), (409, json!({ "error": "session_closed" })));
    assert_eq!(wire.ok(&close, json!({})), json!({ "status": "ok" }));
    refused(&eval, json!({ "expr": "1" }), 409, "session_closed");
    wire.ok(&format!("/api/paused/{}/continue", paused.id), json!({}));
    refused("/api/repl/start", json!({ "pause_id": paused.id }), 409, "pause_resumed");
}

#[test]
fn answers_are_refused_with_their_reasons() {
    let paused = Paused::new();
    let (asked, question) = paused.ask("1");
    let refused = |with: Value, status: u16, code: &str| {
        let (found, answer) = paused.report(&question, with);
        assert_eq!((found, &answer["error"]), (status, &json!(code)), "{answer}");
    };
    refused(json!({ "eval_id": null }), 400, "missing_fields");
    refused(json!({ "session_id": "none", "result": "1" }), 404, "session_not_found");
    refused(json!({ "eval_id": "none", "result": "1" }), 404, "eval_not_found");
    let wrong = json!({
        "result_cid": cid(b"other"), "result_data": "1", "result_serialization_format": "json",
    });
    refused(wrong, 400, "cid_mismatch");
    // None of these was the answer.
    assert_eq!(paused.report(&question, json!({ "result": "1" })).0, 200);
    assert_eq!(asked.join().unwrap().1["output"], "1");
    refused(json!({ "result": "1" }), 404, "eval_not_found");
    assert_eq!(paused.transcript().len(), 1);
    assert_eq!(
        paused.wire.get(&format!("/api/poll-repl/{}", paused.id)),
        json!({ "eval_id": null })
    );
}

/// What pages and tools load from the server.
#[test]
fn the_client_and_the_document_are_served() {
    let paused = Paused::new();
    let port = paused.wire.port;
    let script = get(port, "/api/debug-client.js").send();
    assert_eq!(script.status, 200);
    assert_eq!(script.header("content-type"), Some("application/javascript"));
    let first = format!("const SERVER_URL = \"http://localhost:{port}\";");
    assert_eq!(script.body.lines().next(), Some(first.as_str()));
    assert!(script.body.contains("window.cideldill") && script.body.contains("export"));
    // One file: whoever saves it has all of it.
    let asks = |line: &str| line.starts_with("import") || line.contains("import(");
    assert!(!script.body.lines().any(asks));
    assert!(script.body.contains("export { client as default, client as cideldill"));
    let plain = get(port, "/api/debug-client.cjs").send();
    assert_eq!(plain.status, 200);
    assert!(plain.body.contains(&first) && !plain.body.lines().any(|it| it.starts_with("export")));
    assert!(get(port, "/api/debug-client.d.ts").send().body.contains("export function withDebug"));
    let document = get(port, "/openapi.json").send().json();
    assert_eq!(get(port, "/api/openapi.json").send().json(), document);
}
