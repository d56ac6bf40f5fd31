//! Bursts: many thousand hits, clients that do not read, programs, clients and servers that end in the middle.
//! Nothing hangs, nobody is held up, and what was told is on the timeline.

use holdpoint_testkit::{
    http::{Events, get, post},
    listen::Hears as _,
    stage::{BOTH, Language, Program, Stage},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const HIT: &str = "notifications/breakpoint/hit";
const GAP: &str = "notifications/timeline/gap";

/// A loop of so many passes, or without end; with a second argument it leaves in the middle.
const PROGRAM: Program = Program {
    python: "\
import os
import sys

count = int(sys.argv[1])
leave = int(sys.argv[2]) if len(sys.argv) > 2 else -1


def work():
    i = 0
    while i != count:
        i += 1  # BP: loop
        if i == leave:
            os._exit(3)


work()
print('done')
",
    node: "\
const [count, leave = -1] = process.argv.slice(2).map(Number);

function work() {
  let i = 0;
  while (i !== count) {
    i += 1; // BP: loop
    if (i === leave) process.reallyExit(3);
  }
}

work();
console.log('done');
",
};

fn stage(language: Language) -> Stage {
    let mut stage = Stage::new(BIN, env!("CARGO_TARGET_TMPDIR"), language, PROGRAM);
    // Half the messages are enough to read.
    for client in stage.everyone() {
        client.ask("logging/setLevel", json!({ "level": "warning" }));
    }
    stage.trace("loop", json!({ "log_message": "{i}" }));
    stage
}

/// A client that asks to be told and never reads.
fn deaf(port: u16) -> Events {
    let mut events = get(port, "/mcp/sse").stream();
    let endpoint = events.next_data().unwrap().data;
    let client = json!({ "name": "deaf", "version": "0" });
    let hello =
        json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client });
    let first = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let second = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for message in [first, second] {
        assert_eq!(post(port, &endpoint, &message.to_string()).send().status, 202);
    }
    events
}

/// The counts of what one client heard, each of which must be the next, or be named as lost.
#[track_caller]
fn accounted(hits: &[Value], gaps: &[Value]) -> (u64, u64) {
    let of = |value: &Value| value.as_u64().unwrap();
    let gaps: Vec<(u64, u64)> =
        gaps.iter().map(|gap| (of(&gap["first"]), of(&gap["last"]))).collect();
    let mut last: Option<(u64, u64)> = None;
    for hit in hits {
        let (seq, count) = (of(&hit["seq"]), of(&hit["hit_count"]));
        if let Some((before, counted)) = last {
            assert!(before < seq, "{before} before {seq}");
            let is_named = gaps.iter().any(|(first, last)| before < *first && *last < seq);
            assert!(count == counted + 1 || is_named, "{counted} then {count}, gaps {gaps:?}");
        }
        last = Some((seq, count));
    }
    last.unwrap_or_default()
}

/// Every hit that this server's timeline has, page by page.
#[track_caller]
fn on_timeline(stage: &mut Stage, run: Option<i64>) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut since = json!(0);
    loop {
        let mut arguments = json!({
            "since": since, "kinds": ["tracepoint_hit"], "limit": 1_000, "budget_tokens": 50_000,
        });
        if let Some(run) = run {
            arguments["run"] = json!(run);
        }
        let answer = stage.debug.rpc.call("timeline_query", arguments);
        let data = &answer["structuredContent"]["data"];
        assert_eq!(data["gap"], Value::Null, "{data}");
        for event in data["events"].as_array().unwrap() {
            assert_eq!(event["kind"], "tracepoint_hit", "{event}");
            counts.push(event["data"]["hit_count"].as_u64().unwrap());
        }
        if data["more"] == 0 {
            return counts;
        }
        since = data["next_since"].clone();
    }
}

/// Bar 3: exact counts in the exact order for those who read, a gap for who does not, memory bounded, and
/// all of it on the timeline, far more than the log's ring holds.
#[test]
fn a_hundred_thousand_hits_and_a_client_that_does_not_read() {
    a_hundred_thousand(Language::Python);
}

#[test]
fn a_hundred_thousand_hits_of_node_and_a_client_that_does_not_read() {
    a_hundred_thousand(Language::Node);
}

fn a_hundred_thousand(language: Language) {
    let mut stage = stage(language);
    let port = stage.debug.rpc.process.port();
    let mut silent = deaf(port);
    let arguments = stage.launching(json!({ "args": ["100000"], "timeout_s": 600 }));
    let launched = stage.debug.ask("debug_launch", arguments);
    let said = until_answered(&mut stage, launched);
    assert_eq!(said["structuredContent"]["data"]["exit"], json!({ "code": 0 }), "{said}");
    let rss = stage.debug.rpc.process.rss_kb();
    assert!(rss < 300 * 1024, "{rss} kB");
    let read = |client: &mut dyn holdpoint_testkit::listen::Hears| {
        let last = client.notified(HIT, &|hit| hit["hit_count"] == 100_000);
        let mut hits = client.take(HIT);
        hits.push(last);
        (hits, client.take(GAP))
    };
    let (hits, gaps) = read(&mut stage.debug.rpc);
    assert_eq!((hits.len(), gaps.len()), (100_000, 0), "over stdio");
    assert_eq!(accounted(&hits, &gaps).1, 100_000);
    for client in [&mut stage.sse, &mut stage.http] {
        let (hits, gaps) = read(client);
        assert_eq!(accounted(&hits, &gaps).1, 100_000, "over {}", client.way());
    }
    // It reads at last, and hears what it missed.
    let mut numbers = Vec::new();
    let gap = loop {
        let message: Value = serde_json::from_str(&silent.next_data().unwrap().data).unwrap();
        match message["method"].as_str() {
            Some(HIT) => numbers.push(message["params"]["seq"].as_u64().unwrap()),
            Some(GAP) => break message["params"].clone(),
            _ => {}
        }
    };
    assert!(numbers.is_sorted_by(|a, b| a < b));
    assert!(numbers.last().unwrap() < &gap["first"].as_u64().unwrap(), "{gap}");
    drop(silent);
    assert!(on_timeline(&mut stage, None).into_iter().eq(1..=100_000));
}

/// A long call: signs of life keep it from its deadline, and this test from giving up.
fn until_answered(stage: &mut Stage, id: u64) -> Value {
    loop {
        let is = |message: &Value| {
            message["method"] == "notifications/progress"
                || (message["id"] == id && message.get("method").is_none())
        };
        let message = stage.debug.rpc.wait_for("the answer or a sign of life", is);
        if message["id"] == id {
            return message["result"].clone();
        }
    }
}

/// Bar 4, and the edge case of a debuggee that exits while hits are pending.
#[test]
fn the_program_exits_in_the_middle() {
    for language in BOTH {
        let mut stage = stage(language);
        let said = stage.launch(json!({ "args": ["100000", "3000"], "timeout_s": 120 }));
        said.ended(json!({ "code": 3 }));
        let hits = stage.all_heard(HIT);
        let (_, told) = accounted(&hits, &[]);
        // What was under way when it left may be lost, and no more than that.
        assert!((1_000..=3_000).contains(&told), "{told}");
        assert_eq!(hits.len() as u64, told, "from the first on");
        assert!(on_timeline(&mut stage, None).into_iter().eq(1..=told));
        stage.all_hear("notifications/debug/session_state", &|state| state["new"] == "ended");
    }
}

/// Bar 4, and the edge case of a connection that is lost.
#[test]
fn clients_leave_in_the_middle() {
    for language in BOTH {
        let mut stage = stage(language);
        let arguments = stage.launching(json!({ "args": ["10000"], "timeout_s": 600 }));
        let launched = stage.debug.ask("debug_launch", arguments);
        stage.sse.notified(HIT, &|hit| hit["hit_count"] == 500);
        stage.http.notified(HIT, &|hit| hit["hit_count"] == 500);
        stage.sse.leave();
        stage.http.leave();
        let said = stage.debug.answer(launched);
        said.ended(json!({ "code": 0 }));
        let last = stage.debug.rpc.notified(HIT, &|hit| hit["hit_count"] == 10_000);
        let mut hits = stage.debug.rpc.take(HIT);
        hits.push(last);
        assert_eq!((hits.len(), accounted(&hits, &[]).1), (10_000, 10_000));
        // They are gone, and a new one is welcome.
        let left = json!({ "since": 0, "kinds": ["client_left"], "timeout_s": 20 });
        stage.debug.ok("timeline_query", left).has(&["over sse"]);
    }
}

/// Bar 4: what anybody was told is there when the next server reads.
#[test]
fn the_server_is_told_to_stop_in_the_middle() {
    for language in BOTH {
        let mut stage = stage(language);
        stage.launch(json!({ "args": ["-1"], "timeout_s": 0 }));
        stage.debug.rpc.notified(HIT, &|hit| hit["hit_count"] == 1_000);
        // It must end by itself, within the deadline of every test.
        stage.debug.replace_server(BIN, "TERM");
        // What the other clients heard up to the end of their streams.
        let heard = |client: &mut holdpoint_testkit::listen::Listener| {
            client.rest();
            let (hits, gaps) = (client.take(HIT), client.take(GAP));
            accounted(&hits, &gaps).1
        };
        let (by_sse, by_http) = (heard(&mut stage.sse), heard(&mut stage.http));
        assert!(by_sse > 0 && by_http > 0, "{by_sse} by SSE, {by_http} by HTTP");
        // The client by stdio heard of this many before the server was told to stop.
        let told = by_sse.max(by_http).max(1_000);
        let run = until("the earlier run", || {
            let said = stage.debug.ok("timeline_query", json!({ "since": 0 }));
            said.data["earlier_runs"][0].as_i64()
        });
        let kept = on_timeline(&mut stage, Some(run));
        assert!(kept.iter().copied().eq(1..=kept.len() as u64), "from the first on, none missing");
        assert!(told <= kept.len() as u64, "{told} were told, {} are kept", kept.len());
        let end = json!({ "run": run, "kinds": ["server_stopping"] });
        stage.debug.ok("timeline_query", end).has(&["told to end (SIGTERM)"]);
    }
}
