//! Intercepted functions over MCP: every tool about calls, the resources and prompts, and REST and MCP seeing the
//! same. What each tool does is beside this, by its subject: points, paused calls, values.

use std::collections::BTreeSet;

use holdpoint_testkit::{calls::Wire, rpc::Rpc};
use serde_json::{Value, json};

pub(crate) const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

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
pub(crate) struct Stage {
    pub(crate) agent: Rpc,
    pub(crate) wire: Wire,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let mut agent = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
        let wire = Wire::new(agent.process.port());
        Stage { agent, wire }
    }

    /// What a tool answers: one text, which is JSON, and whether it is an error.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
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
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, answer) = self.call(tool, arguments);
        assert!(!is_error, "{tool}: {answer}");
        answer
    }

    #[track_caller]
    pub(crate) fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, answer) = self.call(tool, arguments);
        assert!(is_error, "{tool}: {answer}");
        answer
    }

    /// A call that pauses; its pause.
    pub(crate) fn pause(&mut self, name: &str, args: &[Value]) -> String {
        self.ok("breakpoint_add", json!({ "function_name": name, "behavior": "stop" }));
        let started = self.wire.start(name, args);
        started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    }

    /// What its app is told.
    pub(crate) fn polled(&self, pause_id: &str) -> Value {
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
