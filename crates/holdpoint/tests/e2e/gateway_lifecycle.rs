//! How connections to other servers come, go and come back, and that calls of many at once are answered each.

use std::time::{Duration, Instant};

use holdpoint_testkit::{
    process::run,
    servers::{Listening, fixture},
    until,
};
use serde_json::{Value, json};

use crate::gateway::{BIN, Hub};

/// The processes of the fixture below a Holdpoint.
fn pids(hub: &Hub) -> Vec<u32> {
    below(hub.process.id())
}

pub(crate) fn below(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", found[at]));
        found.extend(
            children.unwrap_or_default().split_whitespace().filter_map(|it| it.parse::<u32>().ok()),
        );
        at += 1;
    }
    found.split_off(1)
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn kill_server(hub: &Hub) {
    let pids = pids(hub);
    let server = *pids.last().expect("a process of the server");
    std::process::Command::new("kill").args(["-9", &server.to_string()]).status().unwrap();
}

#[test]
fn a_disconnected_server_keeps_its_configuration() {
    let hub = Hub::one(&[]);
    let before = pids(&hub);
    assert!(!before.is_empty());
    let disconnected = hub.post("/api/mcp-clients/fs/disconnect", &json!({}));
    assert_eq!(disconnected, (200, json!({ "status": "ok", "name": "fs" })));
    assert!(before.iter().all(|pid| !is_alive(*pid)), "its process ends with it");
    let client = hub.client("fs");
    assert_eq!((&client["status"], &client["tools"]), (&json!("disconnected"), &json!([])));
    let (status, error) = hub.try_call("fs/echo", &json!({ "text": "x" }));
    assert_eq!((status, &error["error"]), (409, &json!("server_not_connected")));
    assert_eq!(error["server"], "fs");
    let (status, back) = hub.post("/api/mcp-clients/fs/reconnect", &json!({}));
    assert_eq!((status, &back["status"], &back["name"]), (200, &json!("ok"), &json!("fs")));
    assert!(back["tools"].as_array().unwrap().contains(&json!("fs/echo")));
    hub.call("fs/echo", json!({ "text": "again" }));
    for verb in ["disconnect", "reconnect"] {
        let (status, error) = hub.post(&format!("/api/mcp-clients/nosuch/{verb}"), &json!({}));
        assert_eq!(
            (status, error),
            (404, json!({ "error": "server_not_found", "name": "nosuch" }))
        );
    }
}

#[test]
fn a_server_is_connected_while_running() {
    let hub = Hub::start(&["--mcp-clients"]);
    let mut entry = fixture(&[]);
    entry["name"] = json!("late");
    let (status, answer) = hub.post("/api/mcp-clients/connect", &entry);
    assert_eq!((status, &answer["status"], &answer["name"]), (200, &json!("ok"), &json!("late")));
    assert!(answer["tools"].as_array().unwrap().contains(&json!("late/echo")));
    hub.call("late/echo", json!({ "text": "x" }));
    let (status, answer) = hub.post("/api/mcp-clients/connect", &entry);
    assert_eq!((status, answer), (409, json!({ "error": "duplicate_name", "name": "late" })));
    let (status, answer) =
        hub.post("/api/mcp-clients/connect", &json!({ "name": "a/b", "command": "x" }));
    assert_eq!((status, &answer["error"]), (400, &json!("invalid_config")));
    let nowhere = json!({ "name": "none", "command": "/no/such/program", "transport": "stdio" });
    let (status, answer) = hub.post("/api/mcp-clients/connect", &nowhere);
    assert_eq!((status, &answer["error"]), (502, &json!("connect_failed")));
    assert!(answer["message"].as_str().unwrap().contains("/no/such/program"), "{answer}");
    assert_eq!(hub.client("none")["status"], "error");
    hub.post("/api/mcp-clients/late/disconnect", &json!({}));
    assert_eq!(hub.get("/api/mcp-tools")["tools"], json!([]));
}

#[test]
fn a_killed_server_is_connected_again() {
    let hub = Hub::one(&[]);
    let first = hub.client("fs")["connected_at"].as_f64().unwrap();
    kill_server(&hub);
    let lost = until("the loss", || {
        let client = hub.client("fs");
        (client["status"] != "connected").then_some(client)
    });
    assert!(lost["error"].as_str().is_none_or(|it| it.contains("SIGKILL")), "{lost}");
    let again = until("the connection", || {
        hub.client("fs")["connected_at"].as_f64().filter(|at| *at > first)
    });
    assert!(again - first >= 1.0, "a second is waited first");
    hub.call("fs/echo", json!({ "text": "x" }));
}

#[test]
fn without_auto_reconnect_a_lost_server_stays_away() {
    let mut entry = fixture(&[]);
    entry["auto_reconnect"] = json!(false);
    let hub = Hub::with(&json!({ "fs": entry }));
    hub.connected("fs");
    kill_server(&hub);
    hub.status("fs", "disconnected");
    std::thread::sleep(Duration::from_millis(2_500));
    let client = hub.client("fs");
    assert_eq!((&client["status"], &client["attempts"]), (&json!("disconnected"), &Value::Null));
    let (status, error) = hub.try_call("fs/echo", &json!({ "text": "x" }));
    assert_eq!((status, &error["error"]), (409, &json!("server_not_connected")));
    assert_eq!(hub.post("/api/mcp-clients/fs/reconnect", &json!({})).0, 200);
}

/// 1, 2, 4, 8 and 16 seconds; then it is given up, until somebody asks for it.
#[test]
fn after_five_attempts_a_server_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("starts");
    let script = format!("date +%s.%N >> {}; exit 1", log.display());
    let entry = json!({ "command": "sh", "args": ["-c", script], "transport": "stdio" });
    let started = Instant::now();
    let hub = Hub::with(&json!({ "fs": entry }));
    let failed = until("it to fail", || {
        std::thread::sleep(Duration::from_millis(200));
        let client = hub.client("fs");
        (client["status"] == "failed").then_some(client)
    });
    assert!(failed["error"].as_str().unwrap().contains("exit code 1"), "{failed}");
    assert!(started.elapsed() >= Duration::from_secs(31));
    let times = || -> Vec<f64> {
        let text = std::fs::read_to_string(&log).unwrap();
        text.lines().map(|it| it.parse().unwrap()).collect()
    };
    let starts = times();
    assert_eq!(starts.len(), 6, "one, and five attempts");
    for (pair, wanted) in starts.windows(2).zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
        let waited = pair[1] - pair[0];
        assert!(waited >= wanted && waited < wanted + 5.0, "{waited} s in place of {wanted}");
    }
    // Asked for by hand, the attempts are counted anew.
    assert_eq!(hub.post("/api/mcp-clients/fs/reconnect", &json!({})).0, 502);
    assert_eq!(hub.client("fs")["status"], "error");
    until("another attempt", || (times().len() >= 8).then_some(()));
}

#[test]
fn the_list_of_tools_follows_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools");
    std::fs::write(&file, "first").unwrap();
    let hub = Hub::one(&["--tools", file.to_str().unwrap()]);
    assert!(hub.client("fs")["tools"].to_string().contains("fs/first"));
    std::fs::write(&file, "second").unwrap();
    hub.post("/api/mcp-clients/fs/reconnect", &json!({}));
    let tools = hub.client("fs")["tools"].to_string();
    assert!(tools.contains("fs/second") && !tools.contains("fs/first"), "{tools}");
    assert_eq!(hub.call("fs/second", json!({}))["content"][0]["text"], "second was called");
}

#[test]
fn calls_of_many_at_once_are_answered_each() {
    let hub = Hub::with(&json!({ "a": fixture(&[]), "b": fixture(&[]) }));
    hub.connected("a");
    hub.connected("b");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..40)
            .map(|at| {
                let (hub, server) = (&hub, if at % 2 == 0 { "a" } else { "b" });
                scope.spawn(move || {
                    let said = format!("{server} {at}");
                    let result = hub.call(&format!("{server}/echo"), json!({ "text": said }));
                    assert_eq!(result["content"][0]["text"], said);
                })
            })
            .collect();
        calls.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// A server that comes or goes disturbs no call of another; a call of one that goes fails at once.
#[test]
fn calls_go_on_while_others_come_and_go() {
    let hub = Hub::with(&json!({ "a": fixture(&[]), "b": fixture(&[]) }));
    hub.connected("a");
    hub.connected("b");
    std::thread::scope(|scope| {
        let stays = scope.spawn(|| hub.call("a/slow", json!({ "seconds": 2 })));
        let goes = scope.spawn(|| hub.try_call("b/slow", &json!({ "seconds": 30 })));
        until("both to be under way", || {
            let flying = hub.get("/api/calls/in-flight").to_string();
            (flying.contains("a/slow") && flying.contains("b/slow")).then_some(())
        });
        let started = Instant::now();
        let mut entry = fixture(&[]);
        entry["name"] = json!("c");
        assert_eq!(hub.post("/api/mcp-clients/connect", &entry).0, 200);
        hub.post("/api/mcp-clients/b/disconnect", &json!({}));
        let (status, error) = goes.join().unwrap();
        assert_eq!((status, &error["error"]), (502, &json!("call_failed")));
        assert!(started.elapsed() < Duration::from_secs(20), "{error}");
        assert_eq!(stays.join().unwrap()["content"][0]["text"], "done");
    });
}

#[test]
fn connecting_and_disconnecting_at_once_ends_somewhere() {
    let hub = Hub::one(&[]);
    std::thread::scope(|scope| {
        for at in 0..8 {
            let hub = &hub;
            let verb = if at % 2 == 0 { "disconnect" } else { "reconnect" };
            scope.spawn(move || hub.post(&format!("/api/mcp-clients/fs/{verb}"), &json!({})));
        }
    });
    let (status, back) = hub.post("/api/mcp-clients/fs/reconnect", &json!({}));
    assert_eq!(status, 200, "{back}");
    hub.call("fs/echo", json!({ "text": "x" }));
    until("one process", || (pids(&hub).len() <= 3).then_some(()));
}

#[test]
fn a_call_that_takes_too_long_is_a_timeout_and_the_server_hears_it() {
    let mut entry = fixture(&[]);
    entry["timeout_s"] = json!(0.5);
    let hub = Hub::with(&json!({ "fs": entry }));
    hub.connected("fs");
    let (status, error) = hub.try_call("fs/slow", &json!({ "seconds": 30 }));
    assert_eq!(
        (status, &error["error"], &error["reason"]),
        (504, &json!("call_failed"), &json!("call_timeout"))
    );
    assert_eq!(error["message"], "timeout after 0.5s");
    until("the server to hear it", || {
        (hub.call("fs/cancelled", json!({}))["content"][0]["text"] == "1").then_some(())
    });
    let told = hub.call("fs/steps", json!({ "steps": 6, "every": 0.2 }));
    assert_eq!(told["content"][0]["text"], "done", "progress extends its time");
}

/// Whoever gives a call up lets its server know.
#[test]
fn cancelling_ours_cancels_theirs() {
    let mut rpc =
        crate::gateway::agent(&["--mcp-client", &holdpoint_testkit::servers::inline("fs", &[])]);
    let call = |tool: &str, arguments: Value| json!({ "name": "external_call_tool", "arguments": { "tool": tool, "arguments": arguments } });
    until("the connection", || {
        let said = rpc.call("external_list_servers", json!({}));
        said.to_string().contains("connected").then_some(())
    });
    let id = rpc.ask("tools/call", call("fs/slow", json!({ "seconds": 30 })));
    until("the call", || {
        let said = rpc.request("tools/call", call("fs/echo", json!({ "text": "x" })));
        said.get("result").map(|_| ())
    });
    rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    until("the server to hear it", || {
        let said = rpc.request("tools/call", call("fs/cancelled", json!({})));
        said.to_string().contains("\\\"1\\\"").then_some(())
    });
}

#[test]
fn stopping_with_calls_under_way_ends_within_five_seconds() {
    let mut hub = Hub::with(&json!({ "fs": fixture(&[]), "deaf": fixture(&["--deaf"]) }));
    hub.connected("fs");
    let forked: u32 =
        hub.call("fs/forks", json!({}))["content"][0]["text"].as_str().unwrap().parse().unwrap();
    let all = pids(&hub);
    let port = hub.port;
    let call = std::thread::spawn(move || {
        let body = json!({ "tool": "fs/slow", "arguments": { "seconds": 60 } }).to_string();
        let request = holdpoint_testkit::http::post(port, "/api/mcp-tools/call", &body);
        request.header("Content-Type", "application/json").try_send().map(|it| it.status).ok()
    });
    until("the call", || {
        hub.get("/api/calls/in-flight").to_string().contains("fs/slow").then_some(())
    });
    let started = Instant::now();
    hub.process.signal("TERM");
    let (status, error) = hub.process.end();
    assert!(status.success(), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    call.join().unwrap();
    assert!(all.into_iter().chain([forked]).all(|pid| !is_alive(pid)), "nothing is left");
}

/// Whatever ends us, nothing of theirs is left.
#[test]
fn killing_us_leaves_none_of_their_processes() {
    let mut hub = Hub::one(&[]);
    let forked: u32 =
        hub.call("fs/forks", json!({}))["content"][0]["text"].as_str().unwrap().parse().unwrap();
    let all = pids(&hub);
    hub.process.signal("KILL");
    hub.process.end();
    let killed = Instant::now();
    until("the end of all", || {
        all.iter().chain([&forked]).all(|pid| !is_alive(*pid)).then_some(())
    });
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
}

/// It hangs: a call runs out of time, a ping finds nobody.
#[test]
fn a_server_that_does_not_answer_a_ping_is_lost() {
    let mut entry = fixture(&[]);
    entry["timeout_s"] = json!(0.3);
    let hub = Hub::with(&json!({ "fs": entry, "other": fixture(&[]) }));
    hub.connected("fs");
    hub.connected("other");
    let (_, error) = hub.try_call("fs/slow", &json!({ "seconds": 1 }));
    assert_eq!(error["reason"], "call_timeout");
    assert_eq!(hub.client("fs")["status"], "connected", "it answers a ping");
    let pid = hub.call("fs/process", json!({}))["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(std::process::Command::new("kill").args(["-STOP", &pid]).status().unwrap().success());
    let (_, error) = hub.try_call("fs/echo", &json!({ "text": "x" }));
    assert_eq!(error["reason"], "call_timeout");
    hub.call("other/echo", json!({ "text": "x" }));
    until("the loss", || (hub.client("fs")["status"] != "connected").then_some(()));
    let (code, said, _) =
        run(BIN, &["tool", "timeline_query", "kinds=external_server"], &hub.process.home);
    assert!(code == 0 && said.contains("does not answer"), "{said}");
}

/// A server over HTTP that goes is noticed when it is asked, and found again when it is back.
#[test]
fn a_server_over_http_that_is_gone_is_noticed() {
    let mut server = Listening::fixture(&[]);
    let hub = Hub::with(&json!({ "web": { "url": server.url("/mcp"), "transport": "http" } }));
    hub.connected("web");
    server.kill();
    let (status, error) = hub.try_call("web/count", &json!({}));
    assert_eq!((status, &error["error"]), (502, &json!("call_failed")), "{error}");
    until("the loss", || (hub.client("web")["status"] != "connected").then_some(()));
    let (code, said, _) =
        run(BIN, &["tool", "timeline_query", "kinds=external_server"], &hub.process.home);
    assert!(code == 0 && said.contains("web: disconnected"), "{said}");
}

/// A hundred at once, ten times.
#[test]
fn a_thousand_calls_to_four_servers_lose_none() {
    let names = ["a", "b", "c", "d"];
    let servers: serde_json::Map<String, Value> =
        names.iter().map(|it| ((*it).to_owned(), fixture(&[]))).collect();
    let hub = Hub::with(&Value::Object(servers));
    for name in names {
        hub.connected(name);
    }
    std::thread::scope(|scope| {
        for at in 0..100 {
            let (hub, server) = (&hub, names[at % 4]);
            scope.spawn(move || {
                for round in 0..10 {
                    let said = format!("{server}-{at}-{round}");
                    let result = hub.call(&format!("{server}/echo"), json!({ "text": said }));
                    assert_eq!(result["content"][0]["text"], said);
                }
            });
        }
    });
    let total = until("all records", || {
        let total = hub.get("/api/calls?limit=1")["total_count"].as_u64().unwrap();
        (total == 1_000).then_some(total)
    });
    assert_eq!(total, 1_000);
}
