//! A paused, resumed or ended call is told to every client of every transport, as the contract of calls writes it.

use holdpoint_testkit::{
    calls::Wire,
    listen::{Hears, Listener},
    rpc::Rpc,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

struct Stage {
    agent: Rpc,
    sse: Listener,
    http: Listener,
    wire: Wire,
}

impl Stage {
    fn new() -> Stage {
        let args = ["serve", "--mcp", "--mcp-sse", "--port", "0"];
        let mut agent = Rpc::connect(BIN, &args, "2025-11-25");
        let port = agent.process.port();
        agent.request("ping", json!({}));
        let (sse, http) = (Listener::sse(port), Listener::http(port));
        Stage { agent, sse, http, wire: Wire::new(port) }
    }

    /// What everybody hears of one kind, which is the same.
    #[track_caller]
    fn all_hear(&mut self, what: &str, wanted: &dyn Fn(&Value) -> bool) -> Value {
        let method = format!("notifications/breakpoint/{what}");
        let everyone: [&mut dyn Hears; 3] = [&mut self.agent, &mut self.sse, &mut self.http];
        let heard: Vec<Value> =
            everyone.into_iter().map(|it| it.notified(&method, wanted)).collect();
        assert!(heard.iter().all(|it| *it == heard[0]), "{heard:?}");
        heard.into_iter().next().unwrap()
    }
}

fn pause_of(started: &Value) -> String {
    started["poll_url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

#[test]
fn everybody_hears_of_a_pause_its_end_and_the_call() {
    let mut stage = Stage::new();
    stage.wire.add("f", "stop");
    stage.wire.ok("/api/breakpoints/f/after_behavior", json!({ "behavior": "exception" }));
    let started = stage.wire.start("f", &[json!(1)]);
    let id = pause_of(&started);
    let paused = stage.all_hear("execution_paused", &|_| true);
    assert_eq!((&paused["pause_id"], &paused["method_name"]), (&json!(id), &json!("f")));
    assert_eq!(paused["pause_reason"], "breakpoint");
    assert!(paused["paused_at"].as_f64().unwrap() > 1e9);
    // Whoever is told can look at once.
    let listed = stage.agent.call("breakpoint_list_paused", json!({}));
    assert!(listed["content"][0]["text"].as_str().unwrap().contains(&id), "{listed}");
    stage.wire.ok(&format!("/api/paused/{id}/continue"), json!({ "action": "skip" }));
    let resumed = stage.all_hear("execution_resumed", &|_| true);
    assert_eq!((&resumed["pause_id"], &resumed["action"]), (&json!(id), &json!("skip")));
    assert_eq!(resumed["method_name"], "f");
    stage.wire.complete(&started["call_id"], &json!(1));
    let completed = stage.all_hear("call_completed", &|_| true);
    assert_eq!(completed["call_id"], started["call_id"]);
    assert_eq!((&completed["method_name"], &completed["status"]), (&json!("f"), &json!("success")));
    // After an exception, with its own reason.
    let started = stage.wire.start("f", &[]);
    let ended = json!({
        "call_id": started["call_id"], "status": "exception", "exception_type": "ValueError",
    });
    stage.wire.ok("/api/call/complete", ended);
    let paused = stage.all_hear("execution_paused", &|it| it["pause_reason"] == "exception");
    assert_eq!(paused["method_name"], "f");
    assert_eq!(
        stage.all_hear("call_completed", &|it| it["status"] == "exception")["method_name"],
        "f"
    );
}

/// A transport that goes takes nobody else along, and what one does the others see.
#[test]
fn transports_share_one_state_and_outlive_each_other() {
    let Stage { mut agent, mut sse, mut http, wire } = Stage::new();
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let add = |name: &str| call("breakpoint_add", json!({ "function_name": name }));
    agent.request("tools/call", add("by_stdio"));
    sse.ask("tools/call", add("by_sse"));
    http.ask("tools/call", add("by_http"));
    let list = call("breakpoint_list_breakpoints", json!({}));
    for client in [&mut agent as &mut dyn Hears, &mut sse, &mut http] {
        let answer = client.ask("tools/call", list.clone());
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let names = serde_json::from_str::<Value>(text).unwrap()["breakpoints"].clone();
        assert_eq!(names, json!(["by_http", "by_sse", "by_stdio"]), "{}", client.way());
    }
    drop(sse);
    agent.close_stdin();
    wire.add("later", "stop");
    let started = wire.start("later", &[]);
    let paused = http.notified("notifications/breakpoint/execution_paused", &|_| true);
    assert_eq!(paused["pause_id"], json!(pause_of(&started)));
    assert_eq!(wire.get("/api/breakpoints")["breakpoints"].as_array().unwrap().len(), 4);
}

/// Up to a thousand a second each is told; past that, those that failed and those that were paused.
#[test]
fn what_failed_or_was_paused_is_told_in_any_flood() {
    let mut stage = Stage::new();
    stage.wire.add("held", "stop");
    stage.wire.ok("/api/breakpoints/held/after_behavior", json!({ "behavior": "go" }));
    let held = stage.wire.start("held", &[]);
    let id = pause_of(&held);
    stage.wire.ok(&format!("/api/paused/{id}/continue"), json!({}));
    let flood = |name: &str, calls: usize| {
        let record = |number: usize| {
            let failed = number == calls - 1;
            json!({
                "method_name": name, "status": if failed { "exception" } else { "success" },
                "started_at": number, "completed_at": number,
            })
        };
        let calls: Vec<Value> = (0..calls).map(record).collect();
        let batch = json!({
            "process_pid": stage.wire.pid, "process_start_time": stage.wire.start,
            "calls": calls, "values": [],
        });
        stage.wire.ok("/api/call/batch", batch);
    };
    flood("few", 900);
    let completed = "notifications/breakpoint/call_completed";
    for _ in 0..900 {
        stage.agent.notified(completed, &|it| it["method_name"] == "few");
    }
    flood("many", 3_000);
    stage.wire.complete(&held["call_id"], &json!(1));
    let failed = |it: &Value| it["method_name"] == "many" && it["status"] == "exception";
    stage.agent.notified(completed, &failed);
    let told = stage.agent.notified(completed, &|it| it["call_id"] == held["call_id"]);
    assert_eq!(told["status"], "success");
}

/// Nobody listening is no trouble, and a flood is told by its number.
#[test]
fn a_flood_is_told_by_its_number() {
    let mut stage = Stage::new();
    let record = |number: usize| {
        json!({
            "method_name": "f", "args": [], "kwargs": {}, "status": "success",
            "started_at": number, "completed_at": number,
        })
    };
    let calls: Vec<Value> = (0..5_000).map(record).collect();
    let batch = json!({
        "process_pid": stage.wire.pid, "process_start_time": stage.wire.start, "calls": calls,
        "values": [], "dropped": 7,
    });
    assert_eq!(stage.wire.ok("/api/call/batch", batch)["accepted"], 5_000);
    let many = |it: &Value| it["data"]["calls"].as_u64().unwrap() > 1_000;
    assert_eq!(stage.all_hear("calls_completed", &many)["data"]["last"], "f");
    assert_eq!(stage.wire.get("/api/calls?limit=1")["total_count"], 5_000);
}
