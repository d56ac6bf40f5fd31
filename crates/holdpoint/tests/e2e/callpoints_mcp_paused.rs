//! Paused calls over MCP: listed, decided about, and looked into while they wait.

use holdpoint_testkit::{
    calls::{Shop, Wire, item, merge},
    http::post,
    listen::{Hears as _, Listener},
    rpc::Rpc,
    until,
};
use serde_json::{Value, json};

use crate::callpoints_mcp::{BIN, Stage};

#[test]
fn paused_calls_are_listed_and_decided() {
    let mut stage = Stage::new();
    assert_eq!(stage.ok("breakpoint_list_paused", json!({})), json!({ "paused": [] }));
    let id = stage.pause("f", &[json!("pen"), json!(3)]);
    let paused = stage.ok("breakpoint_list_paused", json!({}))["paused"][0].clone();
    assert_eq!(paused["id"], json!(id));
    assert_eq!(paused["call_data"]["method_name"], "f");
    assert_eq!(paused["call_data"]["pretty_args"], json!(["pen", 3]));
    assert!(paused["paused_at"].is_f64());
    let session = stage.wire.ok("/api/repl/start", json!({ "pause_id": id }));
    let paused = stage.ok("breakpoint_list_paused", json!({}))["paused"][0].clone();
    assert_eq!(paused["repl_sessions"], json!([session["session_id"]]));
    let mut decide = |arguments: Value| {
        let id = stage.pause("f", &[json!(1)]);
        let mut with = json!({ "pause_id": id });
        merge(&mut with, arguments);
        let answer = stage.ok("breakpoint_continue", with);
        assert_eq!((&answer["status"], &answer["pause_id"]), (&json!("ok"), &json!(id)));
        stage.polled(&id)
    };
    assert_eq!(decide(json!({})), json!({ "action": "continue" }));
    let skip = decide(json!({ "action": "skip", "fake_result": { "a": 1 } }));
    assert_eq!(skip["fake_result"], json!({ "a": 1 }));
    assert_eq!(skip["fake_result_data"], "{\"a\": 1}");
    assert_eq!(
        decide(json!({ "action": "skip", "fake_result": null }))["fake_result_data"],
        "null"
    );
    let raise =
        json!({ "action": "raise", "exception_type": "KeyError", "exception_message": "x" });
    assert_eq!(decide(raise.clone()), raise);
    let modify = decide(json!({ "modified_args": [5] }));
    assert_eq!(
        (&modify["action"], &modify["modified_args"]),
        (&json!("modify"), &json!([item(&json!(5))]))
    );
    let modify = decide(json!({ "modified_kwargs": { "k": 5 } }));
    assert_eq!(modify["modified_kwargs"], json!({ "k": item(&json!(5)) }));
    let replace = json!({ "action": "skip", "replacement_function": "g" });
    assert_eq!(decide(replace), json!({ "action": "replace", "function_name": "g" }));
}

/// As many as there are, the newest too.
#[test]
fn all_paused_calls_are_listed() {
    let mut stage = Stage::new();
    let ids: Vec<String> = (0..25).map(|number| stage.pause("f", &[json!(number)])).collect();
    let listed = stage.ok("breakpoint_list_paused", json!({}));
    let shown: Vec<&str> = listed["paused"].as_array().unwrap().iter().map(id_of).collect();
    assert_eq!(shown, ids);
    assert!(listed.get("left_out").is_none() && listed.get("hint").is_none());
    assert!(listed.to_string().len() < 25 * 400, "{}", listed.to_string().len());
    let few = stage.ok("breakpoint_list_paused", json!({ "budget_tokens": 500 }));
    let shown = few["paused"].as_array().unwrap().len();
    assert_eq!((&few["total_count"], &few["left_out"]), (&json!(25), &json!(25 - shown)));
    let hint = format!("{shown} of 25, the oldest; all without `budget_tokens`");
    assert_eq!(few["hint"], json!(hint));
    let full = stage.ok("breakpoint_list_paused", json!({ "full": true }));
    let call = &full["paused"][24]["call_data"];
    assert_eq!(call["args"][0]["cid"].as_str().unwrap().len(), 128);
    assert!(call["call_site"]["stack_trace"].is_array(), "{call}");
}

fn id_of(pause: &Value) -> &str {
    pause["id"].as_str().unwrap()
}

#[test]
fn a_decision_that_cannot_be_is_refused() {
    let mut stage = Stage::new();
    let unknown = stage.error("breakpoint_continue", json!({ "pause_id": "none" }));
    assert_eq!(
        (&unknown["error"], &unknown["pause_id"]),
        (&json!("pause_not_found"), &json!("none"))
    );
    assert!(unknown["hint"].as_str().unwrap().contains("breakpoint_list_paused"));
    let id = stage.pause("f", &[]);
    stage.ok("breakpoint_continue", json!({ "pause_id": id }));
    let again = stage.error("breakpoint_continue", json!({ "pause_id": id }));
    assert_eq!(
        (&again["error"], &again["pause_id"]),
        (&json!("pause_already_resumed"), &json!(id))
    );
    // Also when the call has ended meanwhile: somebody was faster, and the pause was no mistake.
    let started = stage.wire.start("f", &[]);
    let id = started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    stage.ok("breakpoint_continue", json!({ "pause_id": id }));
    stage.wire.complete(&started["call_id"], &json!(1));
    let again = stage.error("breakpoint_continue", json!({ "pause_id": id }));
    assert_eq!(
        (&again["error"], &again["pause_id"]),
        (&json!("pause_already_resumed"), &json!(id))
    );
    let id = stage.pause("f", &[]);
    let odd = stage.error("breakpoint_continue", json!({ "pause_id": id, "action": "explode" }));
    assert_eq!(odd["error"], "invalid_action");
    let wrong = stage.error("breakpoint_continue", json!({ "pause_id": id, "modified_args": 5 }));
    assert_eq!(
        (&wrong["error"], &wrong["parameter"]),
        (&json!("invalid_parameter"), &json!("modified_args"))
    );
    let missing = stage.error("breakpoint_continue", json!({}));
    assert_eq!(missing["error"], "missing_parameter");
    // What is nearly a parameter is a slip: the call would run as it was not meant to.
    let slip = stage.error("breakpoint_continue", json!({ "pause_id": id, "modifed_args": [1] }));
    assert_eq!(
        (&slip["error"], &slip["parameter"]),
        (&json!("invalid_parameter"), &json!("modifed_args"))
    );
    assert!(slip["hint"].as_str().unwrap().starts_with("did you mean `modified_args`?"), "{slip}");
    let paused = stage.ok("breakpoint_list_paused", json!({ "budget_tokens": 50_000 }));
    assert!(paused.to_string().contains(&id), "it has not run: {paused}");
    // What it does not know is passed over, and said.
    let done = stage.ok("breakpoint_continue", json!({ "pause_id": id, "verbose": true }));
    assert_eq!(done["note"], "ignored unknown `verbose`");
    let nothing = stage.agent.call("breakpoint_no_such", json!({}));
    assert_eq!(nothing["isError"], true);
}

/// The answer says what the app will do, and does not let it come to harm by a slip.
#[test]
fn a_replacement_that_nobody_has_is_said() {
    let mut stage = Stage::new();
    // An app that registered nothing may have it all the same.
    for (more, does) in [
        (json!({ "preferred_format": "json" }), "the call runs as written"),
        (json!({ "preferred_format": "dill" }), "raises DebugProtocolError"),
        (json!({ "preferred_format": "dill", "client": "holdpoint-python/0.1" }), "as written"),
    ] {
        stage.ok("breakpoint_add", json!({ "function_name": "f", "behavior": "stop" }));
        let started = stage.wire.ok("/api/call/start", stage.wire.start_body("f", &[], more));
        let id = started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let replace = json!({ "pause_id": id, "replacement_function": "nowhere" });
        let answer = stage.ok("breakpoint_continue", replace);
        assert_eq!(answer["action"], "replace");
        let warning = answer["warning"].as_str().unwrap();
        assert!(warning.starts_with("no app has registered `nowhere`"), "{warning}");
        assert!(warning.contains(does), "{warning}");
    }
    stage.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(stage.wire.port);
    stage.ok("breakpoint_set_behavior", json!({ "function_name": "add", "behavior": "stop" }));
    shop.begin("add(1, 2)");
    let id = stage.wire.paused()["id"].clone();
    let slip = json!({ "pause_id": id, "replacement_function": "multply" });
    let refused = stage.error("breakpoint_continue", slip);
    assert_eq!(
        (&refused["error"], &refused["did_you_mean"]),
        (&json!("function_not_found"), &json!("multiply"))
    );
    assert!(refused["functions"].as_array().unwrap().contains(&json!("add")), "{refused}");
    assert!(refused["message"].as_str().unwrap().ends_with("still paused"), "{refused}");
    stage.ok("breakpoint_continue", json!({ "pause_id": id, "replacement_function": "multiply" }));
    assert_eq!(shop.line(), "= 2");
}

/// 2**70 + 1 is no float: a program gets what an agent wrote, over every transport.
#[test]
fn integers_of_any_size_reach_the_program() {
    let mut agent =
        Rpc::connect(BIN, &["serve", "--mcp", "--mcp-sse", "--port", "0"], "2025-11-25");
    let wire = Wire::new(agent.process.port());
    let (mut sse, http) = (Listener::sse(wire.port), Listener::http(wire.port));
    wire.ok("/api/behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(wire.port);
    wire.ok("/api/breakpoints/identity/behavior", json!({ "behavior": "stop" }));
    let large = "1180591620717411303425";
    for (number, wish) in [
        r#""action": "skip", "fake_result": N"#,
        r#""modified_args": [N]"#,
        r#""action": "skip", "fake_result": {"deep": [N, -N, 1.5, "N"]}"#,
    ]
    .into_iter()
    .enumerate()
    {
        for way in ["stdio", "http", "sse"] {
            shop.begin("identity(1)");
            let pause = wire.paused()["id"].clone();
            let wish = wish.replace('N', large);
            let body = format!(
                r#"{{"jsonrpc": "2.0", "id": {}, "method": "tools/call", "params": {{
                "name": "breakpoint_continue", "arguments": {{"pause_id": {pause}, {wish}}}}}}}"#,
                900 + number
            );
            let body = body.replace('\n', " ");
            match way {
                "stdio" => {
                    agent.send_line(&body);
                    agent.answer(900 + number as u64);
                }
                "http" => {
                    let post = post(wire.port, "/mcp", &body)
                        .header("content-type", "application/json")
                        .header("accept", "application/json, text/event-stream")
                        .header("mcp-session-id", http.session.as_deref().unwrap());
                    assert_eq!(post.send().status, 200);
                }
                _ => {
                    assert_eq!(post(wire.port, &sse.path, &body).send().status, 202);
                    sse.hear("the answer", &|it| it["id"] == 900 + number);
                }
            }
            let expected = match number {
                2 => format!("= {{'deep': [{large}, -{large}, 1.5, '{large}']}}"),
                _ => format!("= {large}"),
            };
            assert_eq!(shop.line(), expected, "{way}: {wish}");
        }
    }
}

/// What cannot be changed any more is said, not answered as if it were done.
#[test]
fn after_a_call_a_change_is_a_warning() {
    let mut stage = Stage::new();
    stage.ok("breakpoint_add", json!({ "function_name": "f", "behavior": "go" }));
    let started = stage.wire.start("f", &[json!(1)]);
    let ended = stage.wire.complete(&started["call_id"], &json!(2));
    assert_eq!(ended["action"], "poll");
    let waited = stage.agent.call("breakpoint_wait", json!({}));
    let text = waited["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Call paused after it ran: f(1) → 2\npause_id: "), "{text}");
    let id = waited["structuredContent"]["data"]["pause_id"].clone();
    let skip = json!({ "pause_id": id, "action": "skip", "fake_result": 9 });
    let answer = stage.ok("breakpoint_continue", skip);
    assert_eq!(answer["action"], "continue");
    assert!(answer["warning"].as_str().unwrap().contains("nothing was changed"), "{answer}");
}

/// With a real program: an agent evaluates in it, and sees what a person sees.
#[test]
fn an_agent_evaluates_in_a_paused_program() {
    let mut stage = Stage::new();
    stage.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(stage.wire.port);
    stage.ok("breakpoint_set_behavior", json!({ "function_name": "add", "behavior": "stop" }));
    shop.begin("add(1, 2)");
    // The wait ends with the pause.
    let waited = stage.agent.call("breakpoint_wait", json!({ "timeout_s": 20 }));
    let data = &waited["structuredContent"]["data"];
    assert_eq!((&data["hit"], &data["type"]), (&json!(true), &json!("paused_call")), "{waited}");
    let id = data["pause_id"].as_str().unwrap().to_owned();
    let eval = |stage: &mut Stage, more: Value| {
        let mut arguments = json!({ "pause_id": id });
        merge(&mut arguments, more);
        stage.call("breakpoint_repl_eval", arguments)
    };
    let (is_error, first) = eval(&mut stage, json!({ "expression": "2 + 2" }));
    assert!(!is_error, "{first}");
    assert_eq!((&first["output"], &first["is_error"]), (&json!("4"), &json!(false)));
    assert_eq!(first["stdout"], "");
    let session = first["session_id"].clone();
    let (_, printed) = eval(&mut stage, json!({ "expression": "print('hello')" }));
    assert_eq!((&printed["stdout"], &printed["is_error"]), (&json!("hello\n"), &json!(false)));
    let (_, second) = eval(&mut stage, json!({ "expression": "1/0", "session_id": session }));
    assert_eq!(second["session_id"], session);
    assert_eq!(
        (&second["is_error"], &second["output"]),
        (&json!(true), &json!("ZeroDivisionError: division by zero"))
    );
    let object = stage.ok("breakpoint_inspect_object", json!({ "cid": first["result_cid"] }));
    assert_eq!((&object["type"], &object["repr"]), (&json!("int"), &json!("4")));
    assert_eq!(eval(&mut stage, json!({ "expression": "  " })).1["error"], "missing_expression");
    let odd = eval(&mut stage, json!({ "expression": "1", "session_id": "none" }));
    assert_eq!((odd.0, &odd.1["error"]), (true, &json!("session_not_found")));
    stage.wire.ok(&format!("/api/repl/{}/close", session.as_str().unwrap()), json!({}));
    let closed = eval(&mut stage, json!({ "expression": "1", "session_id": session }));
    assert_eq!(closed.1["error"], "session_closed");
    // The agent decides; the program has it.
    stage.ok("breakpoint_continue", json!({ "pause_id": id, "modified_args": [40, 2] }));
    assert_eq!(shop.line(), "= 42");
    let never = json!({ "pause_id": "none", "expression": "1" });
    assert_eq!(stage.error("breakpoint_repl_eval", never)["error"], "pause_not_found");
    let gone = eval(&mut stage, json!({ "expression": "1" }));
    assert_eq!((gone.0, &gone.1["error"]), (true, &json!("pause_not_found")));
    let record = stage.ok("breakpoint_get_call_records", json!({ "function_name": "add" }));
    assert_eq!(record["calls"][0]["pretty_result"], "42");
}

/// An app that does not answer is not waited for longer than was asked, nor asked later.
#[test]
fn an_evaluation_times_out_and_is_taken_back() {
    let mut stage = Stage::new();
    let id = stage.pause("f", &[]);
    let (is_error, answer) = stage.call(
        "breakpoint_repl_eval",
        json!({ "pause_id": id, "expression": "1", "timeout_s": 0.2 }),
    );
    assert_eq!((is_error, &answer["error"]), (true, &json!("eval_timeout")));
    assert_eq!(answer["message"], "Debug client did not respond within 0.2s");
    assert_eq!(stage.wire.get(&format!("/api/poll-repl/{id}")), json!({ "eval_id": null }));
    // Going on while one waits ends the wait.
    let asked = stage.agent.ask(
        "tools/call",
        json!({ "name": "breakpoint_repl_eval", "arguments": { "pause_id": id, "expression": "1" } }),
    );
    let wanted = until("the expression is queued", || {
        let wanted = stage.wire.get(&format!("/api/poll-repl/{id}"));
        wanted["eval_id"].as_str().map(str::to_owned).map(|_| wanted.clone())
    });
    assert_eq!((&wanted["expr"], &wanted["pause_id"]), (&json!("1"), &json!(id)));
    stage.wire.ok(&format!("/api/paused/{id}/continue"), json!({}));
    let answer = stage.agent.answer(asked);
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("session_closed"));
    // A late answer is told that it is late.
    let late = json!({
        "eval_id": wanted["eval_id"], "session_id": wanted["session_id"], "pause_id": id,
        "result": "1",
    });
    let (status, answer) = stage.wire.post("/api/call/repl-result", late);
    assert_eq!((status, &answer["error"]), (409, &json!("session_closed")));
    let (status, answer) = stage.wire.post("/api/call/repl-result", json!({}));
    assert_eq!((status, &answer["error"]), (400, &json!("missing_fields")));
}
