//! Many calls of one client at once: none is refused, none is lost, and what is ours is not held up by them.

use std::collections::BTreeMap;

use holdpoint_testkit::{
    rpc::{Rpc, text},
    servers::{Listening, fixture, inline},
    until,
};
use serde_json::{Value, json};

use crate::gateway::{agent, json_of, write};

/// As many as one client has under way at other servers.
const TURNS: usize = 64;

fn called(tool: &str, arguments: &Value) -> Value {
    json!({ "name": "external_call_tool", "arguments": { "tool": tool, "arguments": arguments } })
}

fn one(flags: &[&str]) -> Rpc {
    agent(&["--mcp-client", &inline("fs", flags), "--expose", "fs"])
}

#[test]
fn a_thousand_calls_of_one_client_at_once_are_answered_each() {
    let web = [Listening::fixture(&[]), Listening::fixture(&["--stream"])];
    let remote = |it: &Listening| json!({ "transport": "http", "url": it.url("/mcp") });
    let servers = json!({
        "a": fixture(&[]), "b": fixture(&[]), "c": remote(&web[0]), "d": remote(&web[1]),
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clients.json");
    write(&file, &servers);
    let names = ["a", "b", "c", "d"];
    let mut args = vec!["--mcp-clients-config", file.to_str().unwrap()];
    names.iter().for_each(|name| args.extend(["--expose", name]));
    let mut rpc = agent(&args);
    let mut said = BTreeMap::new();
    for at in 0..1_000 {
        let (name, text) = (names[at % 4], format!("the text of call {at}"));
        let arguments = json!({ "text": text });
        // Both ways to the same tools.
        let params = match at % 3 {
            0 => json!({ "name": format!("{name}_echo"), "arguments": arguments }),
            _ => called(&format!("{name}/echo"), &arguments),
        };
        said.insert(rpc.ask("tools/call", params), (at % 3 == 0, text));
    }
    for (id, (exposed, expected)) in said {
        let result = rpc.answer(id)["result"].clone();
        assert_ne!(result["isError"], true, "{result}");
        let result = if exposed { result } else { json_of(&result) };
        assert_eq!(result["content"][0]["text"], expected);
    }
}

#[test]
fn calls_that_wait_for_their_turn_are_in_nobody_s_way() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("ran");
    let mut rpc = one(&["--log", log.to_str().unwrap()]);
    let ran = |tool: &str| {
        let ran = std::fs::read_to_string(&log).unwrap_or_default();
        ran.lines().filter(|it| *it == tool).count()
    };
    let slow = called("fs/slow", &json!({ "seconds": 600 }));
    let running: Vec<u64> = (0..TURNS).map(|_| rpc.ask("tools/call", slow.clone())).collect();
    until("all of them to run", || (ran("slow") == TURNS).then_some(()));
    let given_up = rpc.ask("tools/call", called("fs/add", &json!({ "a": 1, "b": 2 })));
    let waits =
        rpc.ask("tools/call", json!({ "name": "fs_echo", "arguments": { "text": "late" } }));
    // Ours are answered meanwhile, more of them than there are turns.
    for _ in 0..=TURNS {
        let status = rpc.call("server_status", json!({}));
        assert_ne!(status["isError"], true, "{}", text(&status));
    }
    assert_eq!(ran("echo"), 0, "there is no turn for it");
    rpc.notify("notifications/cancelled", json!({ "requestId": given_up }));
    rpc.notify("notifications/cancelled", json!({ "requestId": running[0] }));
    assert_eq!(rpc.answer(waits)["result"]["content"][0]["text"], "late");
    assert_eq!(ran("add"), 0, "what was given up before its turn is not sent");
}
