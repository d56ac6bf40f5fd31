//! Servers that nobody here wrote, as they install: the official ones of npm and PyPI.

use std::process::Command;

use holdpoint_testkit::servers::{node_server, python_server};
use serde_json::{Value, json};

use crate::gateway::Hub;

fn node(name: &str, args: &[&str]) -> Value {
    let mut all = vec![node_server(name)];
    all.extend(args.iter().map(|it| (*it).to_owned()));
    json!({ "command": "node", "args": all, "transport": "stdio" })
}

#[test]
fn the_reference_server_is_used_whole() {
    let hub = Hub::with(&json!({ "everything": node("server-everything", &[]) }));
    let client = hub.connected("everything");
    assert!(client["tools"].as_array().unwrap().len() >= 10, "{client}");
    let sum = hub.call("everything/get-sum", json!({ "a": 2, "b": 3 }));
    assert!(sum["content"][0]["text"].as_str().unwrap().contains('5'), "{sum}");
    let image = hub.call("everything/get-tiny-image", json!({}));
    let kinds: Vec<&Value> =
        image["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert!(kinds.contains(&&json!("image")), "{kinds:?}");
    let resources = hub.get("/api/mcp-resources")["resources"].as_array().unwrap().clone();
    let first = resources.first().expect("it has resources");
    let read = hub
        .post("/api/mcp-resources/read", &json!({ "server": "everything", "uri": first["uri"] }));
    assert_eq!(read.0, 200, "{}", read.1);
    let long =
        hub.call("everything/trigger-long-running-operation", json!({ "duration": 1, "steps": 2 }));
    assert!(long["content"][0]["text"].as_str().unwrap().contains("completed"), "{long}");
}

#[test]
fn files_are_written_and_read_through_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let hub =
        Hub::with(&json!({ "files": node("server-filesystem", &[folder.to_str().unwrap()]) }));
    hub.connected("files");
    let path = folder.join("a.txt");
    let path = path.to_str().unwrap();
    hub.call(
        "files/write_file",
        json!({ "path": path, "content": "password = \"hunter2hunter2\"\nß" }),
    );
    let read = hub.call("files/read_text_file", json!({ "path": path }));
    assert_eq!(read["content"][0]["text"], "password = \"hunter2hunter2\"\nß");
    assert!(read["structuredContent"].is_object(), "{read}");
    let outside = hub.call("files/read_text_file", json!({ "path": "/etc/passwd" }));
    assert_eq!(outside["isError"], true);
}

#[test]
fn the_python_servers_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let mut all = vec!["-c", "user.name=t", "-c", "user.email=t@t"];
        all.extend(args);
        assert!(
            Command::new("git").args(all).current_dir(folder.path()).status().unwrap().success()
        );
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "the first one"]);
    let python = |name: &str| json!({ "command": python_server(name), "transport": "stdio" });
    let hub =
        Hub::with(&json!({ "git": python("mcp-server-git"), "time": python("mcp-server-time") }));
    hub.connected("git");
    hub.connected("time");
    let log = hub.call("git/git_log", json!({ "repo_path": folder.path() }));
    assert!(log["content"][0]["text"].as_str().unwrap().contains("the first one"), "{log}");
    let time = hub.call("time/get_current_time", json!({ "timezone": "UTC" }));
    assert!(time["content"][0]["text"].as_str().unwrap().contains("UTC"), "{time}");
    let (status, wrong) = hub.try_call("time/get_current_time", &json!({ "zone": "UTC" }));
    assert_eq!((status, &wrong["error"]), (400, &json!("invalid_arguments")), "{wrong}");
}
