//! Other servers that do everything wrong: each hurts itself alone, and what went wrong is said.

use std::time::{Duration, Instant};

use holdpoint_engine::limits;
use holdpoint_testkit::{
    servers::{Listening, fixture, python_server},
    until,
};
use serde_json::{Value, json};

use crate::gateway::Hub;

/// Beside one that works.
fn beside(flags: &[&str]) -> Hub {
    let hub = Hub::with(&json!({ "good": fixture(&[]), "bad": fixture(flags) }));
    hub.connected("good");
    hub
}

#[track_caller]
fn good_works(hub: &Hub) {
    let started = Instant::now();
    assert_eq!(hub.call("good/echo", json!({ "text": "x" }))["content"][0]["text"], "x");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_server_that_exits_at_once_is_an_error_with_its_last_words() {
    let hub = beside(&["--exit-at-once"]);
    let bad = hub.status("bad", "error");
    let error = bad["error"].as_str().unwrap();
    assert!(error.contains("exit code 7") && error.contains("nothing to do"), "{error}");
    good_works(&hub);
}

/// As it installs today it breaks on the SDK that the others bring.
#[test]
fn a_real_server_that_breaks_at_its_start_says_why() {
    let command = python_server("mcp-server-sqlite");
    let entry =
        json!({ "command": command, "args": ["--db-path", ":memory:"], "transport": "stdio" });
    let hub = Hub::with(&json!({ "sqlite": entry }));
    let bad = hub.status("sqlite", "error");
    assert!(bad["error"].as_str().unwrap().contains("list_resources"), "{bad}");
}

#[test]
fn a_server_that_never_answers_is_an_error_after_thirty_seconds() {
    let started = Instant::now();
    let hub = Hub::with(&json!({
        "good": fixture(&[]), "silent": fixture(&["--silent"]), "garbage": fixture(&["--garbage"]),
    }));
    hub.connected("good");
    for name in ["silent", "garbage"] {
        let bad = hub.status(name, "error");
        assert!(bad["error"].as_str().unwrap().contains("did not answer within 30 s"), "{bad}");
    }
    let waited = started.elapsed();
    assert!(waited >= Duration::from_secs(30) && waited < Duration::from_secs(40), "{waited:?}");
    good_works(&hub);
}

#[test]
fn a_server_that_refuses_to_be_initialised_is_an_error() {
    let hub = beside(&["--refuse"]);
    let bad = hub.status("bad", "error");
    assert!(bad["error"].as_str().unwrap().contains("not to be initialised"), "{bad}");
    good_works(&hub);
}

/// Of the stateless revision alone: it has no handshake.
#[test]
fn a_server_of_the_stateless_revision_is_connected() {
    let hub = Hub::one(&["--stateless"]);
    assert_eq!(hub.call("fs/echo", json!({ "text": "x" }))["content"][0]["text"], "x");
}

#[test]
fn noise_on_stdout_and_a_flood_on_stderr_are_passed_over() {
    let hub =
        Hub::with(&json!({ "noise": fixture(&["--noise"]), "loud": fixture(&["--flood-stderr"]) }));
    for name in ["noise", "loud"] {
        hub.connected(name);
        assert_eq!(
            hub.call(&format!("{name}/echo"), json!({ "text": "x" }))["content"][0]["text"],
            "x"
        );
    }
    let shown = hub.client("loud")["stderr"].as_str().unwrap().len();
    assert!(shown <= limits::EXTERNAL_STDERR, "{shown} bytes of 100 MB");
    assert!(hub.process.rss_kb() < 80_000, "{} kB", hub.process.rss_kb());
}

#[test]
fn a_server_that_dies_in_a_call_fails_it_and_comes_back() {
    let hub = beside(&[]);
    hub.connected("bad");
    let (status, error) = hub.try_call("bad/dies", &json!({}));
    assert_eq!((status, &error["error"]), (502, &json!("call_failed")));
    until("it to be back", || {
        let (status, _) = hub.try_call("bad/echo", &json!({ "text": "x" }));
        (status == 200).then_some(())
    });
    let records = hub.records();
    let died: Vec<&Value> = records.iter().filter(|it| it["method_name"] == "bad/dies").collect();
    assert_eq!(died.len(), 1, "it was sent once");
    assert_eq!(died[0]["status"], "exception");
    good_works(&hub);
}

#[test]
fn a_flood_of_notifications_hurts_nobody() {
    let hub = beside(&["--flood"]);
    hub.connected("bad");
    for _ in 0..20 {
        good_works(&hub);
    }
    let before = hub.process.rss_kb();
    std::thread::sleep(Duration::from_secs(3));
    good_works(&hub);
    let after = hub.process.rss_kb();
    assert!(after < before + 60_000, "{before} kB, then {after} kB");
}

#[test]
fn a_schema_that_refers_to_itself_is_no_trouble() {
    let hub = Hub::one(&["--cyclic"]);
    let nested = json!({ "node": { "next": { "next": {} } } });
    assert_eq!(hub.call("fs/cyclic", nested)["content"][0]["text"], "cyclic was called");
}

/// A server that goes on after it heard that nobody waits keeps nobody waiting.
#[test]
fn a_server_that_ignores_a_cancellation_keeps_nobody() {
    let mut entry = fixture(&[]);
    entry["timeout_s"] = json!(0.5);
    let hub = Hub::with(&json!({ "fs": entry }));
    hub.connected("fs");
    let started = Instant::now();
    // `steps` never looks whether it was cancelled; its steps are too far apart to extend its time.
    let (_, error) = hub.try_call("fs/steps", &json!({ "steps": 1, "every": 20 }));
    assert_eq!(error["reason"], "call_timeout");
    assert!(started.elapsed() < Duration::from_secs(5));
    hub.call("fs/echo", json!({ "text": "x" }));
}

#[test]
fn fifty_megabytes_pass_whole() {
    let hub = Hub::one(&[]);
    let result = hub.call("fs/big", json!({ "bytes": 50_000_000 }));
    assert_eq!(result["content"][0]["text"].as_str().unwrap().len(), 50_000_000);
    let text = "ä".repeat(5_000_000);
    assert_eq!(hub.call("fs/length", json!({ "text": text }))["content"][0]["text"], "5000000");
}

/// Just above the bound, over each transport: the call fails at once and says why, and the connection lives.
#[test]
fn what_is_too_long_fails_its_call_alone() {
    let (json_server, events) = (Listening::fixture(&[]), Listening::fixture(&["--stream"]));
    let hub = Hub::with(&json!({
        "pipe": fixture(&[]),
        "json": { "url": json_server.url("/mcp"), "transport": "http" },
        "events": { "url": events.url("/mcp"), "transport": "http" },
    }));
    for name in ["pipe", "json", "events"] {
        hub.connected(name);
        let started = Instant::now();
        let (status, error) =
            hub.try_call(&format!("{name}/big"), &json!({ "bytes": limits::EXTERNAL_MESSAGE + 1 }));
        assert_eq!((status, &error["error"]), (502, &json!("call_failed")), "{name}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("67108864 are read"), "{name}: {message}");
        assert!(started.elapsed() < Duration::from_secs(25), "{name}: not by its timeout");
        let fits = hub.call(&format!("{name}/big"), json!({ "bytes": 1_000 }));
        assert_eq!(fits["content"][0]["text"].as_str().unwrap().len(), 1_000, "{name}");
    }
}

#[test]
fn twenty_servers_are_connected_though_one_hangs() {
    let mut servers = serde_json::Map::new();
    for at in 0..19 {
        servers.insert(format!("s{at}"), fixture(&[]));
    }
    servers.insert("hung".to_owned(), fixture(&["--silent"]));
    let hub = Hub::with(&Value::Object(servers));
    for at in 0..19 {
        hub.connected(&format!("s{at}"));
    }
    assert_eq!(hub.client("hung")["status"], "connecting");
    assert_eq!(hub.call("s7/echo", json!({ "text": "x" }))["content"][0]["text"], "x");
}
