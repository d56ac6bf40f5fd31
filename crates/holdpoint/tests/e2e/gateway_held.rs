//! Breakpoints on the tools of other servers: held before and after, changed, skipped, made to fail, replaced.

use holdpoint_testkit::{calls::Wire, rpc::Rpc, servers::fixture, until};
use serde_json::{Value, json};

use crate::gateway::{Hub, json_of};

struct Held {
    hub: Hub,
    wire: Wire,
}

impl Held {
    fn at(point: &str) -> Held {
        let hub = Hub::with(&json!({ "fs": fixture(&[]), "other": fixture(&[]) }));
        hub.connected("fs");
        hub.connected("other");
        let wire = Wire::new(hub.port);
        wire.ok("/api/breakpoints", json!({ "function_name": point, "behavior": "stop" }));
        wire.ok(
            &format!("/api/breakpoints/{}/after_behavior", point.replace('/', "%2F")),
            json!({ "behavior": "go" }),
        );
        Held { hub, wire }
    }

    /// Calls, and decides about it once it is paused.
    fn decided(&self, tool: &str, arguments: &Value, decision: &Value) -> (u16, Value) {
        std::thread::scope(|scope| {
            let call = scope.spawn(|| self.hub.try_call(tool, arguments));
            let pause = self.paused();
            assert_eq!(pause["call_data"]["method_name"], tool);
            assert_eq!(pause["call_data"]["pretty_kwargs"], *arguments);
            let id = pause["id"].as_str().unwrap();
            let (status, answer) = self.hub.post(&format!("/api/paused/{id}/continue"), decision);
            assert_eq!(status, 200, "{answer}");
            call.join().unwrap()
        })
    }

    fn paused(&self) -> Value {
        self.wire.paused()
    }
}

#[test]
fn a_held_call_is_continued_changed_skipped_failed_and_replaced() {
    let held = Held::at("fs/echo");
    let given = json!({ "text": "given" });
    let decide = |decision: Value| held.decided("fs/echo", &given, &decision).1["result"].clone();
    let says = |result: &Value| result["content"][0]["text"].clone();
    assert_eq!(says(&decide(json!({}))), "given");
    assert_eq!(says(&decide(json!({ "modified_kwargs": { "text": "changed" } }))), "changed");
    assert_eq!(says(&decide(json!({ "modified_args": [{ "text": "all" }] }))), "all");
    let skipped = decide(
        json!({ "action": "skip", "fake_result": { "content": [{ "type": "text", "text": "made up" }] } }),
    );
    assert_eq!(says(&skipped), "made up");
    assert_eq!(says(&decide(json!({ "action": "skip", "fake_result": "plain" }))), "plain");
    let raised = decide(
        json!({ "action": "raise", "exception_type": "OSError", "exception_message": "disk full" }),
    );
    assert_eq!((&says(&raised), &raised["isError"]), (&json!("OSError: disk full"), &json!(true)));
    let replaced = decide(json!({ "replacement_function": "other/anything" }));
    assert_eq!(says(&replaced), "{\"text\": \"given\"}");
    let (status, wrong) =
        held.decided("fs/echo", &given, &json!({ "modified_kwargs": { "text": 5 } }));
    assert_eq!((status, &wrong["error"]), (400, &json!("invalid_arguments")));
    let records = until("the records", || Some(held.hub.records()).filter(|it| it.len() == 8));
    let decisions: Vec<&str> =
        records.iter().filter_map(|it| it["decision"]["action"].as_str()).collect();
    for word in ["modify", "skip", "raise", "replace"] {
        assert!(decisions.contains(&word), "{decisions:?}");
    }
}

/// One callpoint for all of a server's tools; its own wins.
#[test]
fn a_whole_server_is_held_by_its_star() {
    let held = Held::at("fs/*");
    assert_eq!(
        held.hub.call("other/echo", json!({ "text": "free" }))["content"][0]["text"],
        "free"
    );
    let (status, _) = held.decided("fs/add", &json!({ "a": 1, "b": 2 }), &json!({}));
    assert_eq!(status, 200);
    held.wire.ok("/api/breakpoints", json!({ "function_name": "fs/echo", "behavior": "go" }));
    held.wire.ok("/api/breakpoints/fs%2Fecho/after_behavior", json!({ "behavior": "go" }));
    assert_eq!(held.hub.call("fs/echo", json!({ "text": "free" }))["content"][0]["text"], "free");
}

#[test]
fn a_call_is_held_after_it_ran() {
    let held = Held::at("fs/fails");
    held.wire.ok("/api/breakpoints", json!({ "function_name": "fs/fails", "behavior": "go" }));
    held.wire.ok("/api/breakpoints/fs%2Ffails/after_behavior", json!({ "behavior": "exception" }));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| held.hub.call("fs/fails", json!({})));
        let pause = held.paused();
        assert_eq!(pause["call_data"]["pretty_result"]["isError"], true, "{pause}");
        let id = pause["id"].as_str().unwrap();
        held.hub.post(&format!("/api/paused/{id}/continue"), &json!({}));
        assert_eq!(call.join().unwrap()["isError"], true);
    });
}

/// An agent holds its own tool's call, hears that it waits, and gives it up in its own time.
#[test]
fn an_agent_s_held_call_shows_progress_and_keeps_its_deadline() {
    let line = holdpoint_testkit::servers::inline("fs", &[]);
    let mut rpc = Rpc::connect(
        crate::gateway::BIN,
        &["mcp", "--port", "0", "--mcp-client", &line],
        "2025-11-25",
    );
    until("the connection", || {
        rpc.text("external_list_servers", json!({})).contains("connected").then_some(())
    });
    let added = json_of(
        &rpc.call("breakpoint_add", json!({ "function_name": "fs/echo", "behavior": "stop" })),
    );
    assert_eq!(added["status"], "ok");
    assert!(added["note"].is_null(), "it is there: {added}");
    let arguments = json!({ "tool": "fs/echo", "arguments": { "text": "x" }, "timeout_s": 14 });
    let call = json!({ "name": "external_call_tool", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let id = rpc.ask("tools/call", call);
    let progress = rpc.wait_for("a sign of life", |it| it["method"] == "notifications/progress");
    assert!(progress["params"]["message"].as_str().unwrap().contains("callpoint"), "{progress}");
    let late = rpc.answer(id);
    assert!(late.to_string().contains("timeout"), "{late}");
    until("the pause to be gone", || {
        let paused = json_of(&rpc.call("breakpoint_list_paused", json!({})));
        (paused["paused"] == json!([])).then_some(())
    });
}

/// An agent behind us: the tools are in its own list, and each call is recorded and can be held.
#[test]
fn exposed_tools_are_ours_and_held_like_any_other() {
    let line = holdpoint_testkit::servers::inline("fs", &[]);
    let args = [
        "mcp",
        "--port",
        "0",
        "--toolset",
        "agent",
        "--mcp-client",
        &line,
        "--expose",
        "fs/echo",
        "--expose",
        "fs/fails",
        "--expose",
        "fs/größe 🙂",
    ];
    let mut rpc = Rpc::connect(crate::gateway::BIN, &args, "2025-11-25");
    let listed = rpc.request("tools/list", json!({}))["result"]["tools"].clone();
    let echo = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "fs_echo")
        .cloned()
        .expect("it is listed");
    assert_eq!(echo["inputSchema"]["properties"]["text"]["description"], "What to say");
    assert!(listed.to_string().contains("\"fs_gr__e__\""), "{listed}");
    assert!(!listed.to_string().contains("\"fs_add\""));
    let said = rpc.call("fs_echo", json!({ "text": "x" }));
    assert_eq!(said["content"], json!([{ "type": "text", "text": "x" }]));
    assert_eq!(rpc.call("fs_fails", json!({}))["isError"], true);
    let wrong = rpc.call("fs_echo", json!({}));
    assert!(wrong.to_string().contains("missing parameter `text`"), "{wrong}");
    let point = json!({ "function_name": "fs/echo", "behavior": "stop", "after": "go" });
    let by = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    assert_eq!(json_of(&rpc.call("more_tools", by("breakpoint_add", point)))["status"], "ok");
    let id = rpc.ask("tools/call", json!({ "name": "fs_echo", "arguments": { "text": "held" } }));
    let pause = until("the pause", || {
        let paused = json_of(&rpc.call("more_tools", by("breakpoint_list_paused", json!({}))));
        paused["paused"][0]["id"].as_str().map(str::to_owned)
    });
    let changed = json!({ "pause_id": pause, "modified_kwargs": { "text": "changed" } });
    rpc.call("more_tools", by("breakpoint_continue", changed));
    assert_eq!(rpc.answer(id)["result"]["content"][0]["text"], "changed");
    let asked = by("breakpoint_get_call_records", json!({ "function_name": "fs/echo" }));
    let records = json_of(&rpc.call("more_tools", asked));
    assert_eq!(records["total_count"], 2, "{records}");
}
