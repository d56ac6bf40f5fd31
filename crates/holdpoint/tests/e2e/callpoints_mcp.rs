//! Intercepted functions over MCP: the tools about calls with their parameters, results and errors, the
//! resources and prompts, and REST and MCP seeing the same.

use std::collections::BTreeSet;

use holdpoint_testkit::{
    calls::{Shop, Wire, cid, item, merge, now, prefixed},
    http::post,
    listen::{Hears as _, Listener},
    rpc::Rpc,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

const TOOLS: [&str; 14] = [
    "breakpoint_list_breakpoints",
    "breakpoint_add",
    "breakpoint_remove",
    "breakpoint_set_behavior",
    "breakpoint_set_after_behavior",
    "breakpoint_set_replacement",
    "breakpoint_get_default_behavior",
    "breakpoint_set_default_behavior",
    "breakpoint_list_paused",
    "breakpoint_continue",
    "breakpoint_list_functions",
    "breakpoint_get_call_records",
    "breakpoint_repl_eval",
    "breakpoint_inspect_object",
];

/// An agent over stdio, and the wire of the same server.
struct Stage {
    agent: Rpc,
    wire: Wire,
}

impl Stage {
    fn new() -> Stage {
        let mut agent = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
        let wire = Wire::new(agent.process.port());
        Stage { agent, wire }
    }

    /// What a tool answers: one text, which is JSON, and whether it is an error.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let result = self.agent.call(tool, arguments);
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{result}");
        assert_eq!(content[0]["type"], "text");
        let text = content[0]["text"].as_str().unwrap();
        let mut json: Value =
            serde_json::from_str(text).unwrap_or_else(|_| panic!("not JSON: {text}"));
        // What happened elsewhere meanwhile is no part of the answer.
        json.as_object_mut().and_then(|answer| answer.remove("news"));
        (result["isError"] == true, json)
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, answer) = self.call(tool, arguments);
        assert!(!is_error, "{tool}: {answer}");
        answer
    }

    #[track_caller]
    fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, answer) = self.call(tool, arguments);
        assert!(is_error, "{tool}: {answer}");
        answer
    }

    /// A call that pauses; its pause.
    fn pause(&mut self, name: &str, args: &[Value]) -> String {
        self.ok("breakpoint_add", json!({ "function_name": name, "behavior": "stop" }));
        let started = self.wire.start(name, args);
        started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    }

    /// What its app is told.
    fn polled(&self, pause_id: &str) -> Value {
        self.wire.get(&format!("/api/poll/{pause_id}"))["action"].clone()
    }

    fn resource(&mut self, uri: &str) -> Value {
        let answer = self.agent.request("resources/read", json!({ "uri": uri }));
        let contents = &answer["result"]["contents"][0];
        assert_eq!(contents["mimeType"], "application/json", "{answer}");
        serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
    }
}

#[test]
fn every_tool_is_listed_once_with_a_schema() {
    let mut stage = Stage::new();
    let list = stage.agent.request("tools/list", json!({}))["result"]["tools"].clone();
    let list = list.as_array().unwrap();
    let names: Vec<&str> = list.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for tool in TOOLS {
        let found = list.iter().find(|it| it["name"] == tool).unwrap_or_else(|| panic!("{tool}"));
        assert_eq!(found["inputSchema"]["type"], "object", "{tool}");
    }
    let required = |tool: &str| {
        let found = list.iter().find(|it| it["name"] == tool).unwrap();
        found["inputSchema"].get("required").cloned().unwrap_or(json!([]))
    };
    assert_eq!(required("breakpoint_add"), json!(["function_name"]));
    assert_eq!(required("breakpoint_set_behavior"), json!(["function_name", "behavior"]));
    assert_eq!(required("breakpoint_continue"), json!(["pause_id"]));
    assert_eq!(required("breakpoint_repl_eval"), json!(["pause_id", "expression"]));
    assert_eq!(required("breakpoint_get_call_records"), json!([]));
}

/// Also when they have nothing to say, or are told too little: `call` looks at the form.
#[test]
fn every_tool_answers_with_one_text_that_is_json() {
    let mut stage = Stage::new();
    for tool in TOOLS.into_iter().chain(["breakpoint_no_such", "breakpoint_"]) {
        let (is_error, answer) = stage.call(tool, json!({}));
        assert!(answer.is_object(), "{tool}: {answer}");
        assert_eq!(is_error, answer.get("error").is_some(), "{tool}: {answer}");
    }
    let unknown = stage.error("breakpoint_list_pausd", json!({}));
    assert_eq!(
        (&unknown["error"], &unknown["tool"]),
        (&json!("unknown_tool"), &json!("breakpoint_list_pausd"))
    );
    assert_eq!(unknown["hint"], "did you mean `breakpoint_list_paused`?");
}

/// One tool for both kinds: by a name it is that of functions, by a place that of lines.
#[test]
fn a_breakpoint_is_removed_in_the_words_of_its_kind() {
    let mut stage = Stage::new();
    let missing = stage.error("breakpoint_remove", json!({}));
    assert_eq!(
        (&missing["error"], &missing["parameter"]),
        (&json!("missing_parameter"), &json!("function_name"))
    );
    assert!(missing["message"].as_str().unwrap().contains("`file` and `line`"), "{missing}");
    let wrong = stage.error("breakpoint_remove", json!({ "function_name": 5 }));
    assert_eq!(
        (&wrong["error"], &wrong["parameter"]),
        (&json!("invalid_parameter"), &json!("function_name"))
    );
    let extra = json!({ "function_name": "f", "verbose": true, "id": null });
    assert_eq!(stage.ok("breakpoint_remove", extra)["status"], "ok");
    for line in [json!({ "id": 7 }), json!({ "file": "a.py", "line": 3, "verbose": true })] {
        let answer = stage.agent.call("breakpoint_remove", line);
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(answer["isError"] == true && text.contains("E_"), "{text}");
    }
}

#[test]
fn breakpoints_are_added_listed_and_removed() {
    let mut stage = Stage::new();
    let empty =
        json!({ "breakpoints": [], "behaviors": {}, "after_behaviors": {}, "replacements": {} });
    assert_eq!(stage.ok("breakpoint_list_breakpoints", json!({})), empty);
    let added = stage.ok("breakpoint_add", json!({ "function_name": "f" }));
    // Nobody has such a function: that it is set is not that it works.
    let note = "no app has registered `f` yet; its calls pause when one does";
    let pauses = "before, after";
    assert_eq!(
        added,
        json!({ "status": "ok", "function_name": "f", "pauses": pauses, "note": note })
    );
    let known = json!({ "function_name": "shop.cart:charge", "signature": "(a)" });
    stage.wire.ok("/api/functions", known);
    let charge = |name: &str| json!({ "function_name": name });
    let bound = stage.ok("breakpoint_add", charge("shop.cart:charge"));
    assert_eq!(
        bound,
        json!({ "status": "ok", "function_name": "shop.cart:charge", "pauses": pauses })
    );
    let near = stage.ok("breakpoint_add", charge("chrge"))["note"].clone();
    assert!(near.as_str().unwrap().ends_with("did you mean `shop.cart:charge`?"), "{near}");
    for name in ["shop.cart:charge", "chrge"] {
        stage.ok("breakpoint_remove", charge(name));
    }
    stage.ok("breakpoint_add", json!({ "function_name": "g", "behavior": "stop" }));
    // Again, it is what it was.
    stage.ok("breakpoint_add", json!({ "function_name": "g" }));
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["breakpoints"], json!(["f", "g"]));
    assert_eq!(listed["behaviors"], json!({ "f": "yield", "g": "stop" }));
    assert_eq!(listed["after_behaviors"], json!({ "f": "yield", "g": "yield" }));
    let missing = stage.error("breakpoint_add", json!({}));
    assert_eq!(
        (&missing["error"], &missing["parameter"]),
        (&json!("missing_parameter"), &json!("function_name"))
    );
    let bad = stage.error("breakpoint_add", json!({ "function_name": "h", "behavior": "odd" }));
    assert_eq!(bad["error"], "invalid_behavior");
    assert_eq!(bad["message"], "it is stop, go or yield");
    stage.ok("breakpoint_set_after_behavior", json!({ "function_name": "g", "behavior": "stop" }));
    for name in ["g", "never"] {
        let removed = stage.ok("breakpoint_remove", json!({ "function_name": name }));
        assert_eq!(removed, json!({ "status": "ok", "function_name": name }));
    }
    stage.ok("breakpoint_add", json!({ "function_name": "g" }));
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["behaviors"], json!({ "f": "yield", "g": "yield" }));
    assert_eq!(listed["after_behaviors"]["g"], "yield");
    // `breakpoint_list` has every kind.
    let all = stage.agent.call("breakpoint_list", json!({}));
    let rows = all["structuredContent"]["data"]["breakpoints"].as_array().unwrap().clone();
    assert_eq!(rows.iter().filter(|row| row["type"] == "callpoint").count(), 2);
}

/// Everything about a function in one call, or nothing of it.
#[test]
fn a_breakpoint_is_added_whole_or_not_at_all() {
    let mut stage = Stage::new();
    for (name, signature) in [("f", "(a)"), ("g", "(a)"), ("h", "(a, b)")] {
        stage.wire.ok("/api/functions", json!({ "function_name": name, "signature": signature }));
    }
    let whole =
        json!({ "function_name": "f", "behavior": "go", "after": "exception", "replacement": "g" });
    assert_eq!(stage.ok("breakpoint_add", whole)["pauses"], "when it raises");
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["behaviors"], json!({ "f": "go" }));
    assert_eq!(listed["after_behaviors"], json!({ "f": "exception" }));
    assert_eq!(listed["replacements"], json!({ "f": "g" }));
    let odd = stage.error("breakpoint_add", json!({ "function_name": "g", "after": "odd" }));
    assert_eq!(odd["error"], "invalid_behavior");
    let other = stage.error("breakpoint_add", json!({ "function_name": "g", "replacement": "h" }));
    assert_eq!(other["error"], "signature_mismatch");
    assert_eq!(stage.ok("breakpoint_list_breakpoints", json!({}))["breakpoints"], json!(["f"]));
    // What yields is as the default says, and the answer says what that is.
    stage.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    let yields = stage.ok("breakpoint_add", json!({ "function_name": "g" }));
    assert_eq!(yields["pauses"], "never; the default is go");
}

#[test]
fn behaviors_are_set_and_checked() {
    let mut stage = Stage::new();
    stage.ok("breakpoint_add", json!({ "function_name": "f" }));
    let mut set = |tool: &str, behavior: &str| {
        stage.call(tool, json!({ "function_name": "f", "behavior": behavior }))
    };
    for (given, kept) in
        [("stop", "stop"), ("go", "go"), ("yield", "yield"), ("continue", "go"), ("defer", "yield")]
    {
        let answer = json!({ "status": "ok", "function_name": "f", "behavior": kept });
        assert_eq!(set("breakpoint_set_behavior", given), (false, answer));
    }
    for (given, kept) in [
        ("stop", "stop"),
        ("go", "go"),
        ("exception", "exception"),
        ("stop_exception", "stop_exception"),
        ("yield", "yield"),
        ("both", "stop_exception"),
    ] {
        let answer = json!({ "status": "ok", "function_name": "f", "behavior": kept });
        assert_eq!(set("breakpoint_set_after_behavior", given), (false, answer));
    }
    for tool in ["breakpoint_set_behavior", "breakpoint_set_after_behavior"] {
        let (is_error, answer) = set(tool, "odd");
        assert_eq!((is_error, &answer["error"]), (true, &json!("invalid_behavior")));
    }
    for tool in ["breakpoint_set_behavior", "breakpoint_set_after_behavior"] {
        let none = stage.error(tool, json!({ "function_name": "none", "behavior": "stop" }));
        assert_eq!(none["error"], "breakpoint_not_found");
    }
    let get = |stage: &mut Stage| stage.ok("breakpoint_get_default_behavior", json!({}));
    assert_eq!(get(&mut stage), json!({ "behavior": "stop" }));
    for behavior in ["go", "exception", "stop_exception", "stop"] {
        let set = stage.ok("breakpoint_set_default_behavior", json!({ "behavior": behavior }));
        assert_eq!(set, json!({ "status": "ok", "behavior": behavior }));
        assert_eq!(get(&mut stage), json!({ "behavior": behavior }));
    }
    let bad = stage.error("breakpoint_set_default_behavior", json!({ "behavior": "yield" }));
    assert_eq!(bad["error"], "invalid_behavior");
}

#[test]
fn a_replacement_needs_equal_signatures() {
    let mut stage = Stage::new();
    let none = json!({ "functions": [], "signatures": {}, "metadata": {} });
    assert_eq!(stage.ok("breakpoint_list_functions", json!({})), none);
    let set = |stage: &mut Stage, to: &str| {
        let arguments = json!({ "function_name": "f", "replacement_function": to });
        stage.call("breakpoint_set_replacement", arguments)
    };
    let unknown = set(&mut stage, "g");
    assert_eq!((unknown.0, &unknown.1["error"]), (true, &json!("signature_mismatch")));
    for (name, signature) in [("f", "(a)"), ("g", "(a)"), ("h", "(a, b)")] {
        stage.wire.ok("/api/functions", json!({ "function_name": name, "signature": signature }));
    }
    assert_eq!(set(&mut stage, "g").1["error"], "breakpoint_not_found");
    stage.ok("breakpoint_add", json!({ "function_name": "f" }));
    assert_eq!(set(&mut stage, "h").1["error"], "signature_mismatch");
    let done = json!({ "status": "ok", "function_name": "f", "replacement_function": "g" });
    assert_eq!(set(&mut stage, "g"), (false, done));
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["replacements"], json!({ "f": "g" }));
    assert!(!set(&mut stage, "").0);
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}));
    assert_eq!(listed["replacements"], json!({}));
    let functions = stage.ok("breakpoint_list_functions", json!({}));
    assert_eq!(functions["functions"], json!(["f", "g", "h"]));
    assert_eq!(functions["signatures"]["h"], "(a, b)");
    assert_eq!(functions["metadata"], json!({}));
    let more = json!({ "function_name": "k", "function_metadata": { "module": "shop" } });
    stage.wire.ok("/api/functions", more);
    let functions = stage.ok("breakpoint_list_functions", json!({}));
    assert_eq!(functions["metadata"]["k"]["module"], "shop");
}

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

/// The newest, with how many there are.
#[test]
fn records_are_the_newest_with_their_number() {
    let mut stage = Stage::new();
    let get =
        |stage: &mut Stage, arguments: Value| stage.ok("breakpoint_get_call_records", arguments);
    let empty = get(&mut stage, json!({}));
    assert_eq!(empty, json!({ "calls": [], "total_count": 0, "truncated": false }));
    for number in 0..120 {
        stage.wire.call("f", &[json!(number)], &json!(number));
    }
    let started = stage.wire.start("g", &[]);
    let middle = now();
    let mut ended = json!({
        "call_id": started["call_id"], "status": "exception", "exception_type": "ValueError",
        "exception_message": "bad", "timestamp": now(),
    });
    merge(&mut ended, prefixed("exception", &item(&json!({ "name": "ValueError" }))));
    stage.wire.ok("/api/call/complete", ended);
    let all = get(&mut stage, json!({}));
    assert_eq!(all["calls"].as_array().unwrap().len(), 100);
    assert_eq!((&all["total_count"], &all["truncated"]), (&json!(121), &json!(true)));
    let newest = &all["calls"][0];
    assert_eq!((&newest["method_name"], &newest["status"]), (&json!("g"), &json!("exception")));
    assert_eq!(newest["exception"]["summary"], "ValueError: bad");
    let two = get(&mut stage, json!({ "function_name": "f", "limit": 2 }));
    assert_eq!((&two["total_count"], &two["truncated"]), (&json!(120), &json!(true)));
    assert_eq!(two["calls"][0]["pretty_result"], 119);
    let next = get(&mut stage, json!({ "function_name": "f", "limit": 2, "before": two["next"] }));
    assert_eq!(next["calls"][0]["pretty_result"], 117);
    let one = get(&mut stage, json!({ "since": middle }));
    assert_eq!(
        get(&mut stage, json!({ "completed_after": middle })),
        one,
        "`since` is its old name"
    );
    assert_eq!((&one["total_count"], &one["truncated"]), (&json!(1), &json!(false)));
    assert_eq!(get(&mut stage, json!({ "until": middle }))["total_count"], 120);
    // The contract's number of them is about 60 tokens each; less is shown only to whoever asks for less.
    assert!(all.to_string().len() < 100 * 60 * 36 / 10, "{}", all.to_string().len());
    let hint = format!("100 of 121, the newest; older ones: `before: {}`", all["next"]);
    assert_eq!(all["hint"], json!(hint));
    let mut seen = Vec::new();
    let mut page = get(&mut stage, json!({ "budget_tokens": 1_000 }));
    assert_eq!((&page["truncated"], &page["total_count"]), (&json!(true), &json!(121)));
    loop {
        let calls = page["calls"].as_array().unwrap().clone();
        let left_out = page["left_out"].as_u64().unwrap_or_default();
        assert!(left_out == 0 || calls.len() as u64 + left_out == 100.min(121 - seen.len() as u64));
        seen.extend(calls.iter().map(|it| it["call_id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_i64() else { break };
        page = get(&mut stage, json!({ "budget_tokens": 1_000, "before": next }));
    }
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (121, 121));
    let full = get(&mut stage, json!({ "limit": 1, "function_name": "f", "full": true }));
    let full = &full["calls"][0];
    assert_eq!(full["args"][0]["cid"].as_str().unwrap().len(), 128);
    assert!(full["call_site"]["stack_trace"].is_array() && full["process_key"].is_string());
    let zero = stage.error("breakpoint_get_call_records", json!({ "limit": 0 }));
    assert_eq!(zero["error"], "invalid_limit");
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

/// 128 digits are more than anybody copies: 8 are enough, as long as they name one value.
#[test]
fn a_value_is_named_by_the_beginning_of_its_cid() {
    let mut stage = Stage::new();
    // The CIDs of these two begin with the same eight digits.
    let (one, two) = (json!(14_183), json!(93_656));
    let (whole, other) = (cid(b"14183"), cid(b"93656"));
    let both = whole.get(..8).unwrap();
    assert!(other.starts_with(both));
    stage.wire.call("f", &[one], &json!(0));
    let found = stage.ok("breakpoint_inspect_object", json!({ "cid": both }));
    assert_eq!((&found["repr"], &found["cid"]), (&json!("14183"), &json!(whole.get(..16))));
    let full = stage.ok("breakpoint_inspect_object", json!({ "cid": both, "full": true }));
    assert_eq!(full["cid"], json!(whole));
    let upper = both.to_uppercase();
    assert_eq!(stage.wire.get(&format!("/api/objects/{upper}"))["cid"], json!(whole));
    // The app is sent the whole of it.
    let id = stage.pause("f", &[json!(1)]);
    let wish = json!({ "pause_id": id, "modified_args": [{ "cid": both }] });
    stage.ok("breakpoint_continue", wish);
    assert_eq!(stage.polled(&id)["modified_args"], json!([{ "cid": whole }]));
    stage.wire.call("g", &[two], &json!(0));
    let several = stage.error("breakpoint_inspect_object", json!({ "cid": both }));
    assert_eq!((&several["error"], &several["matches"]), (&json!("cid_ambiguous"), &json!(2)));
    let (status, body) = {
        let response = stage.wire.send("GET", &format!("/api/objects/{both}"), None);
        (response.status, response.json())
    };
    assert_eq!((status, &body["matches"]), (400, &json!(2)));
    let nine = whole.get(..9).unwrap();
    assert_eq!(stage.ok("breakpoint_inspect_object", json!({ "cid": nine }))["repr"], "14183");
    for (cid, error) in [(both, "cid_ambiguous"), ("0123456789", "cid_not_found")] {
        let id = stage.pause("f", &[]);
        let wish = json!({ "pause_id": id, "modified_args": [{ "cid": cid }] });
        assert_eq!(stage.error("breakpoint_continue", wish)["error"], error);
        stage.ok("breakpoint_continue", json!({ "pause_id": id }));
    }
    let seven = stage.error("breakpoint_inspect_object", json!({ "cid": whole.get(..7) }));
    assert_eq!(seven["error"], "cid_not_found");
    assert!(seven["hint"].as_str().unwrap().contains("8 digits"), "{seven}");
}

/// Whatever format it came in.
#[test]
fn a_list_is_a_list_without_attributes() {
    let mut stage = Stage::new();
    let list = json!([1, 2, 3]);
    // pickle.dumps([1, 2, 3], 4), pickle.dumps((1, 2), 4)
    let pickled = b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02K\x03e.";
    let dill = json!({ "cid": cid(pickled), "data": "gASVCwAAAAAAAABdlChLAUsCSwNlLg==" });
    let args = json!({ "args": [item(&list), dill] });
    let started = stage.wire.ok("/api/call/start", stage.wire.start_body("f", &[], args));
    stage.wire.complete(&started["call_id"], &json!(0));
    for id in [item(&list)["cid"].clone(), json!(cid(pickled))] {
        let found = stage.ok("breakpoint_inspect_object", json!({ "cid": id }));
        assert_eq!((&found["type"], &found["attributes"]), (&json!("list"), &json!({})));
        assert_eq!((&found["repr"], &found["length"]), (&json!("[1, 2, 3]"), &json!(3)), "{found}");
        assert_eq!(found["cid"], id);
        let inside = stage.ok("breakpoint_inspect_object", json!({ "cid": id, "path": "[1]" }));
        assert_eq!((&inside["type"], &inside["repr"]), (&json!("int"), &json!("2")));
    }
}

#[test]
fn captured_values_are_looked_into() {
    let mut stage = Stage::new();
    let value = json!({ "items": [{ "name": "pen" }, 2], "total": 7 });
    stage.wire.call("f", std::slice::from_ref(&value), &json!(1));
    let id = item(&value)["cid"].clone();
    let found = stage.ok("breakpoint_inspect_object", json!({ "cid": id }));
    assert_eq!((&found["cid"], &found["type"]), (&id, &json!("dict")));
    assert!(found["repr"].as_str().unwrap().contains("pen"));
    assert_eq!(found["attributes"]["['total']"], 7);
    let inside =
        stage.ok("breakpoint_inspect_object", json!({ "cid": id, "path": "['items'][0].name" }));
    assert_eq!((&inside["type"], &inside["repr"]), (&json!("str"), &json!("'pen'")));
    let lost = stage.error("breakpoint_inspect_object", json!({ "cid": id, "path": ".price" }));
    assert_eq!(lost["error"], "path_not_found");
    let none = stage.error("breakpoint_inspect_object", json!({ "cid": "abc" }));
    assert_eq!((&none["error"], &none["cid"]), (&json!("cid_not_found"), &json!("abc")));
    let broken = json!({ "cid": cid(b"nonsense"), "data": "bm9uc2Vuc2U=" });
    let body = stage.wire.start_body("f", &[], json!({ "args": [broken] }));
    stage.wire.ok("/api/call/start", body);
    let failed = stage.error("breakpoint_inspect_object", json!({ "cid": cid(b"nonsense") }));
    assert_eq!(
        (&failed["error"], &failed["type"]),
        (&json!("deserialization_failed"), &json!("unknown"))
    );
    assert_eq!(failed["attributes"], json!({}));
}

/// What the cideldill client sends in place of an object that does not pickle.
#[test]
fn an_object_that_does_not_pickle_can_be_looked_into() {
    let mut stage = Stage::new();
    stage.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    let mut shop = Shop::start(stage.wire.port);
    shop.run("identity(client.Unpicklable('socket'))");
    let records = stage.ok("breakpoint_get_call_records", json!({ "function_name": "identity" }));
    let cid = records["calls"][0]["args"][0]["cid"].clone();
    let found = stage.ok("breakpoint_inspect_object", json!({ "cid": cid }));
    assert_eq!(found["cid"], cid);
    assert!(found["repr"].as_str().unwrap().contains("Socket"), "{found}");
    assert!(found["attributes"].to_string().contains("80"), "{found}");
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

#[test]
fn resources_say_what_the_tools_say() {
    let mut stage = Stage::new();
    let list = stage.agent.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> =
        list.as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap()).collect();
    for name in ["status", "breakpoints", "paused", "call-history", "functions"] {
        assert!(uris.contains(&format!("breakpoint://{name}").as_str()), "{uris:?}");
    }
    let status = stage.resource("breakpoint://status");
    assert_eq!((&status["breakpoints"], &status["paused"]), (&json!(0), &json!(0)));
    stage.agent.request("resources/subscribe", json!({ "uri": "breakpoint://breakpoints" }));
    for number in 0..60 {
        stage.wire.call("g", &[json!(number)], &json!(number));
    }
    stage.wire.ok("/api/functions", json!({ "function_name": "f", "signature": "(a)" }));
    stage.pause("f", &[]);
    let status = stage.resource("breakpoint://status");
    assert_eq!(status["breakpoints"], 1);
    assert_eq!((&status["paused"], &status["total_calls"]), (&json!(1), &json!(60)));
    let updated =
        stage.agent.wait_for("an update", |it| it["method"] == "notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "breakpoint://breakpoints");
    for (uri, tool) in [
        ("breakpoint://breakpoints", "breakpoint_list_breakpoints"),
        ("breakpoint://functions", "breakpoint_list_functions"),
    ] {
        assert_eq!(stage.resource(uri), stage.ok(tool, json!({})));
    }
    let shown = stage.resource("breakpoint://paused");
    assert_eq!(shown, stage.ok("breakpoint_list_paused", json!({})));
    let history = stage.resource("breakpoint://call-history");
    assert_eq!(history["calls"].as_array().unwrap().len(), 50);
    assert_eq!(history["calls"][0]["pretty_args"], json!([59]));
    // Existing clients add slashes and queries.
    assert_eq!(stage.resource("breakpoint://status/?x=1")["breakpoints"], 1);
    let unknown = stage.agent.request("resources/read", json!({ "uri": "breakpoint://nothing" }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no resource"));
}

#[test]
fn prompts_hold_the_session_and_the_paused_call() {
    let mut stage = Stage::new();
    let id = stage.pause("f", &[json!(1)]);
    let get = |stage: &mut Stage, name: &str, arguments: Value| {
        stage.agent.request("prompts/get", json!({ "name": name, "arguments": arguments }))
    };
    let text = |answer: &Value| -> Value {
        let message = &answer["result"]["messages"][0];
        assert_eq!(message["role"], "user", "{answer}");
        serde_json::from_str(message["content"]["text"].as_str().unwrap()).unwrap()
    };
    let start = text(&get(&mut stage, "debug-session-start", json!({})));
    assert_eq!(start["breakpoints"]["breakpoints"], json!(["f"]));
    assert_eq!(start["paused"][0]["id"], json!(id));
    assert_eq!(start["recent_calls"], json!([]));
    assert!(start["functions"].get("signatures").is_some());
    let call = text(&get(&mut stage, "inspect-paused-call", json!({ "pause_id": id })));
    assert_eq!((&call["pause_id"], &call["call_data"]["method_name"]), (&json!(id), &json!("f")));
    assert_eq!(call["repl_sessions"], json!([]));
    assert_eq!(call["call_data"]["pretty_args"], json!([1]));
    assert!(call["call_data"]["call_site"]["stack_trace"].is_array());
    let none = get(&mut stage, "inspect-paused-call", json!({ "pause_id": "none" }));
    assert!(none["error"]["message"].as_str().unwrap().contains("pause_not_found"));
    assert!(get(&mut stage, "inspect-paused-call", json!({})).get("error").is_some());
    assert!(get(&mut stage, "no-such-prompt", json!({})).get("error").is_some());
}

/// Agents and REST change the same breakpoints at once, and both see what the other did.
#[test]
fn agents_and_rest_see_the_same_at_once() {
    let mut stage = Stage::new();
    let wire = stage.wire.clone();
    let rest = std::thread::spawn(move || {
        for number in 0..50 {
            wire.add(&format!("rest{number}"), "go");
            if number % 2 == 1 {
                wire.send("DELETE", &format!("/api/breakpoints/rest{number}"), None);
            }
        }
    });
    for number in 0..50 {
        let name = json!({ "function_name": format!("mcp{number}") });
        stage.ok("breakpoint_add", name.clone());
        if number % 2 == 1 {
            stage.ok("breakpoint_remove", name);
        }
    }
    rest.join().unwrap();
    let listed = stage.ok("breakpoint_list_breakpoints", json!({}))["breakpoints"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 50);
    assert_eq!(stage.wire.get("/api/breakpoints")["breakpoints"], listed);
}
