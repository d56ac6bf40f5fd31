//! Who did it: what clients, persons and apps decide and change carries their name, on the timeline and in
//! notifications.

use holdpoint_testkit::{
    calls::{Wire, now},
    debug::{self, line, program},
    listen::Hears as _,
    rpc::Rpc,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// Who did what, of the events of one kind, oldest first.
#[track_caller]
fn doers(answer: &Value, about: &str) -> Vec<(Value, Value)> {
    let events = answer["events"].as_array().unwrap();
    events.iter().map(|it| (it["data"][about].clone(), it["data"]["by"].clone())).collect()
}

fn pause_of(started: &Value) -> String {
    started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

#[test]
fn a_callpoint_and_a_decision_name_the_client_the_person_or_the_app() {
    let mut agent = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
    let wire = Wire::new(agent.process.port());
    agent.call("breakpoint_add", json!({ "function_name": "f", "behavior": "stop" }));
    wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "go" }));
    // As existing clients register their own functions.
    wire.ok("/api/breakpoints", json!({ "function_name": "g", "timestamp": now() }));
    // Whoever says who they are is believed.
    wire.ok("/api/breakpoints", json!({ "function_name": "h", "by": "app" }));
    wire.ok(
        "/api/breakpoints",
        json!({ "function_name": "i", "timestamp": now(), "by": "person" }),
    );
    let answer = agent.call("timeline_query", json!({ "kinds": ["callpoint_changed"] }));
    let data = &answer["structuredContent"]["data"];
    let client = data["events"][0]["data"]["by"].clone();
    assert_eq!((&client["kind"], &client["id"]), (&json!("client"), &json!(1)), "{data}");
    let changed = doers(data, "function_name");
    let expected = [
        (json!("f"), client.clone()),
        (json!("f"), json!({ "kind": "person" })),
        (json!("g"), json!({ "kind": "app" })),
        (json!("h"), json!({ "kind": "app" })),
        (json!("i"), json!({ "kind": "person" })),
    ];
    assert_eq!(changed, expected);
    // A decision, by both doors; the notification names whoever made it.
    let first = pause_of(&wire.start("f", &[json!(1)]));
    agent.call("breakpoint_continue", json!({ "pause_id": first }));
    let told = agent.notified("notifications/breakpoint/execution_resumed", &|_| true);
    assert_eq!((&told["pause_id"], &told["by"]), (&json!(first), &client));
    let second = pause_of(&wire.start("f", &[json!(2)]));
    wire.ok(&format!("/api/paused/{second}/continue"), json!({ "action": "skip" }));
    let answer = agent.call("timeline_query", json!({ "kinds": ["call_resumed"] }));
    let resumed = doers(&answer["structuredContent"]["data"], "pause_id");
    let expected = [(json!(first), client), (json!(second), json!({ "kind": "person" }))];
    assert_eq!(resumed, expected);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("by a person") && text.contains("(c1)"), "{text}");
}

#[test]
fn a_breakpoint_a_step_and_a_resume_name_the_client() {
    let mut debug = debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start();
    let (_folder, file) =
        program("a = 1  # BP: first\nb = 2  # BP: second\nc = 3\nprint(a, b, c)\n");
    debug.launch(&file, json!({}));
    let point = json!({ "file": file, "line": line(&file, "second") });
    let id = debug.ok("breakpoint_set", point.clone()).data["breakpoint_id"].clone();
    debug.ok("tracepoint_set", json!({ "file": file, "line": 3, "log_message": "c" }));
    debug.ok("breakpoint_enable", json!({ "id": id, "enabled": false }));
    debug.ok("debug_step", json!({ "action": "next" }));
    debug.ok("breakpoint_remove", json!({ "id": id }));
    debug.go();
    let changes = debug.ok("timeline_query", json!({ "kinds": ["breakpoint_changed"] }));
    let said: Vec<(Value, Value)> = changes.data["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["data"]["what"].clone(), it["data"]["change"].clone()))
        .collect();
    let expected = [
        ("breakpoint", "set"),
        ("tracepoint", "set"),
        ("breakpoint", "disabled"),
        ("breakpoint", "removed"),
    ];
    assert_eq!(said, expected.map(|(what, change)| (json!(what), json!(change))));
    let by = |it: &(Value, Value)| it.1["kind"] == "client" && it.1["id"] == 1;
    assert!(doers(&changes.data, "breakpoint").iter().all(by), "{}", changes.text);
    let resumed = debug.ok("timeline_query", json!({ "kinds": ["resumed"] }));
    let movers: Vec<Value> = doers(&resumed.data, "session").into_iter().map(|it| it.1).collect();
    // Nobody started it but its launch; the step and the last run are this client's.
    assert_eq!(movers.iter().filter(|it| it["kind"] == "client").count(), 2, "{}", resumed.text);
    assert_eq!(movers.last().unwrap()["id"], 1, "{}", resumed.text);
}
