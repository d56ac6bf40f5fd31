//! One server behind `holdpoint wrap`, and the servers of agents' own files.

use std::process::Stdio;

use holdpoint_testkit::{
    http::{get, post},
    process::{command, home, run},
    rpc::Rpc,
    servers::{fixture, node_server},
    until,
};
use serde_json::{Value, json};

use crate::gateway::BIN;

/// The fixture behind us.
fn wrapped(flags: &[&str]) -> Rpc {
    let entry = fixture(flags);
    let mut words = vec![entry["command"].as_str().unwrap().to_owned()];
    words
        .extend(entry["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()));
    let mut args = vec!["wrap", "--port", "0", "--name", "fs", "--"];
    args.extend(words.iter().map(String::as_str));
    Rpc::connect(BIN, &args, "2025-11-25")
}

fn json_post(port: u16, path: &str, body: &Value) -> Value {
    let request = post(port, path, &body.to_string());
    request.header("Content-Type", "application/json").send().json()
}

#[test]
fn a_wrapped_server_is_as_it_is() {
    let mut rpc = wrapped(&[]);
    let tools = rpc.request("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 19, "nothing is added, nothing taken");
    assert_eq!(tools[0]["description"], "The tool echo. It is of a fixture.");
    let said = rpc.call("echo", json!({ "text": "ß🙂" }));
    assert_eq!(said, json!({ "content": [{ "type": "text", "text": "ß🙂" }] }));
    assert_eq!(rpc.call("fails", json!({}))["isError"], true);
    assert_eq!(
        rpc.request("tools/call", json!({ "name": "errs", "arguments": {} }))["error"]["code"],
        -32602
    );
    let port = rpc.process.port();
    let calls = until("the records", || {
        let calls = get(port, "/api/calls").send().json()["calls"].clone();
        (calls.as_array().unwrap().len() == 3).then_some(calls)
    });
    let names: Vec<&str> =
        calls.as_array().unwrap().iter().map(|it| it["method_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fs/errs", "fs/fails", "fs/echo"]);
    assert_eq!((&calls[2]["source"], &calls[2]["server"]), (&json!("mcp_client"), &json!("fs")));
    assert_eq!(
        (&calls[0]["status"], &calls[1]["status"]),
        (&json!("exception"), &json!("exception"))
    );
    let big = rpc.call("big", json!({ "bytes": 3_000_000 }));
    assert_eq!(big["content"][0]["text"].as_str().unwrap().len(), 3_000_000);
    let (status, _) = rpc.finish();
    assert!(status.success(), "it ends with its client");
}

#[test]
fn a_wrapped_server_s_calls_are_held() {
    let mut rpc = wrapped(&[]);
    rpc.request("tools/list", json!({}));
    let port = rpc.process.port();
    json_post(port, "/api/breakpoints", &json!({ "function_name": "fs/echo", "behavior": "stop" }));
    json_post(port, "/api/breakpoints/fs%2Fecho/after_behavior", &json!({ "behavior": "go" }));
    let mut held = |decision: Value| {
        let id = rpc.ask("tools/call", json!({ "name": "echo", "arguments": { "text": "given" } }));
        let pause = until("the pause", || {
            get(port, "/api/paused").send().json()["paused"][0]["id"].as_str().map(str::to_owned)
        });
        // Nothing else waits for it.
        assert_eq!(rpc.call("add", json!({ "a": 1, "b": 1 }))["content"][0]["text"], "2");
        json_post(port, &format!("/api/paused/{pause}/continue"), &decision);
        rpc.answer(id)["result"].clone()
    };
    assert_eq!(held(json!({}))["content"][0]["text"], "given");
    assert_eq!(
        held(json!({ "modified_kwargs": { "text": "changed" } }))["content"][0]["text"],
        "changed"
    );
    assert_eq!(
        held(json!({ "action": "skip", "fake_result": "made up" }))["content"][0]["text"],
        "made up"
    );
    let raised = held(
        json!({ "action": "raise", "exception_type": "OSError", "exception_message": "full" }),
    );
    assert_eq!(
        (&raised["isError"], &raised["content"][0]["text"]),
        (&json!(true), &json!("OSError: full"))
    );
    assert_eq!(
        held(json!({ "replacement_function": "fs/anything" }))["content"][0]["text"],
        "{\"text\": \"given\"}"
    );
    let id = rpc.ask("tools/call", json!({ "name": "echo", "arguments": { "text": "given up" } }));
    until("the pause", || get(port, "/api/paused").send().body.contains("given up").then_some(()));
    rpc.notify("notifications/cancelled", json!({ "requestId": id }));
    until("the pause to be gone", || {
        (get(port, "/api/paused").send().json()["paused"] == json!([])).then_some(())
    });
    rpc.call("add", json!({ "a": 1, "b": 1 }));
}

#[test]
fn a_real_server_is_wrapped() {
    let server = node_server("server-everything");
    let mut rpc = Rpc::connect(BIN, &["wrap", "--port", "0", "--", "node", &server], "2025-11-25");
    let said = rpc.call("echo", json!({ "message": "x" }));
    assert_eq!(said["content"][0]["text"], "Echo: x");
    assert!(rpc.finish().0.success());
}

#[test]
fn the_servers_of_an_agent_s_own_file_are_imported() {
    let (folder, project) = (home(), tempfile::tempdir().unwrap());
    let file = json!({ "mcpServers": {
        "holdpoint": { "command": "/usr/bin/holdpoint", "args": ["mcp"] },
        "files": { "command": "npx", "args": ["x"], "env": { "API_TOKEN": "t0k3nt0k3nt0k3n" }, "alwaysAllow": [] },
        "web": { "type": "http", "url": "http://h/mcp", "headers": { "Authorization": "Bearer abcdefgh" } },
    } });
    std::fs::write(project.path().join(".mcp.json"), file.to_string()).unwrap();
    let import = |more: &[&str]| {
        let mut args = vec!["gateway", "import", "claude-code"];
        args.extend(more);
        let mut command = command(BIN, &args, folder.path());
        let output = command.current_dir(project.path()).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    let shown = import(&[]);
    assert!(!shown.contains("abcdefgh") && !shown.contains("t0k3n"), "{shown}");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["servers"].as_object().unwrap().len(), 2);
    assert_eq!(shown["servers"]["files"]["transport"], "stdio");
    let kept = folder.path().join("mcp_clients.json");
    assert!(!kept.exists(), "it is only shown");
    assert!(import(&["--write"]).contains("2 servers"));
    let text = std::fs::read_to_string(&kept).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["servers"]["web"]["headers"]["Authorization"], "Bearer abcdefgh");
    assert!(import(&["--write"]).contains("0 servers"));
    let (code, _, error) = run(BIN, &["gateway", "import", "cursor"], folder.path());
    assert!(code != 0 && error.contains("names no other servers"), "{error}");
}

/// An agent's entry, put behind us, works as before; and back it is what it was.
#[test]
fn setup_puts_an_agent_s_server_behind_us_and_back() {
    let (folder, project) = (home(), tempfile::tempdir().unwrap());
    let file = project.path().join(".mcp.json");
    let mut entry = fixture(&[]);
    entry.as_object_mut().unwrap().remove("transport");
    let text = serde_json::to_string_pretty(&json!({ "mcpServers": { "fs": entry } })).unwrap();
    std::fs::write(&file, &text).unwrap();
    let setup = |flag: &str| {
        let mut command = command(BIN, &["setup", "claude-code", flag, "fs"], folder.path());
        let output = command.current_dir(project.path()).stdin(Stdio::null()).output().unwrap();
        let said =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    };
    assert!(setup("--wrap").contains("behind Holdpoint now; the old text is in"));
    assert!(setup("--wrap").contains("so already"));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &written["mcpServers"]["fs"];
    let args: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let mut rpc = Rpc::connect(entry["command"].as_str().unwrap(), &args, "2025-11-25");
    assert_eq!(rpc.call("echo", json!({ "text": "x" }))["content"][0]["text"], "x");
    setup("--unwrap");
    let back: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(back, serde_json::from_str::<Value>(&text).unwrap());
}
