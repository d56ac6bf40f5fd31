//! Other servers, as the start names them: flags, files, which wins, and what is wrong in them.

use holdpoint_testkit::{
    process::{Process, home, run},
    servers::{fixture, inline},
    until,
};
use serde_json::{Value, json};

use crate::gateway::{BIN, Hub, write};

fn serve_at(home: &std::path::Path, args: &[&str], env: &[(&str, &str)]) -> (Process, u16) {
    let mut all = vec!["serve", "--port", "0"];
    all.extend(args);
    let mut process = Process::start_at(BIN, &all, home, |command| {
        command.envs(env.iter().copied());
    });
    let port = process.port();
    (process, port)
}

fn names(port: u16) -> Vec<String> {
    let clients = holdpoint_testkit::http::get(port, "/api/mcp-clients").send().json();
    clients["clients"].as_object().unwrap().keys().cloned().collect()
}

#[track_caller]
fn refused(args: &[&str], words: &[&str]) {
    let folder = home();
    let mut all = vec!["serve", "--port", "0"];
    all.extend(args);
    let (code, _, error) = run(BIN, &all, folder.path());
    assert_ne!(code, 0, "{error}");
    for word in words {
        assert!(error.contains(word), "no {word}: {error}");
    }
}

#[test]
fn servers_of_the_file_and_of_the_command_line_are_merged() {
    let line = inline("both", &[]);
    let hub = Hub::with_args(
        &json!({ "file": fixture(&[]), "both": fixture(&["--exit-at-once"]) }),
        &["--mcp-client", &line, "--mcp-client", &inline("third", &[])],
    );
    for name in ["file", "both", "third"] {
        hub.connected(name);
    }
    assert_eq!(names(hub.port), ["both", "file", "third"]);
}

#[test]
fn the_file_of_the_home_is_the_usual_one() {
    let folder = home();
    let empty =
        json!({ "usual": { "command": "true", "transport": "stdio", "auto_reconnect": false } });
    write(&folder.path().join("mcp_clients.json"), &empty);
    let (_process, port) = serve_at(folder.path(), &["--mcp-clients"], &[]);
    assert_eq!(names(port), ["usual"]);
}

/// Whoever comes from cideldill has it there.
#[test]
fn the_names_of_cideldill_are_honoured() {
    let entry = |name: &str| json!({ name: { "command": "true", "transport": "stdio" } });
    let (folder, other) = (home(), tempfile::tempdir().unwrap());
    std::fs::create_dir(folder.path().join(".cideldill")).unwrap();
    write(&folder.path().join(".cideldill/mcp_clients.json"), &entry("default"));
    write(&other.path().join("mcp_clients.json"), &entry("home"));
    write(&other.path().join("named.json"), &entry("named"));
    let of = |env: &[(&str, &str)]| {
        let (mut process, port) = serve_at(folder.path(), &["--mcp-clients"], env);
        let names = names(port);
        process.signal("TERM");
        process.end();
        names
    };
    assert_eq!(of(&[]), ["default"]);
    let other = other.path().to_str().unwrap();
    assert_eq!(of(&[("CIDELDILL_HOME", other)]), ["home"]);
    let named = format!("{other}/named.json");
    assert_eq!(
        of(&[("CIDELDILL_HOME", other), ("CIDELDILL_MCP_CLIENTS_CONFIG", &named)]),
        ["named"]
    );
    assert_eq!(of(&[("HOLDPOINT_MCP_CLIENTS_CONFIG", &named)]), ["named"]);
}

#[test]
fn what_is_wrong_stops_the_start_and_is_named() {
    refused(
        &["--mcp-clients-config", "/nonexistent/clients.json"],
        &["cannot read `/nonexistent/clients.json`"],
    );
    for wrong in ["no-colon", ":command", "name:", "a b:c"] {
        refused(&["--mcp-client", wrong], &["mcp-client"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.json");
    std::fs::write(&file, "{\"servers\": {\n  \"a\": {\n    \"transport\": \"stdio\"\n  }\n}}")
        .unwrap();
    refused(
        &["--mcp-clients-config", file.to_str().unwrap()],
        &["c.json:2:", "`a`: `command` is missing"],
    );
    std::fs::write(&file, "{\n  // mine\n  \"servers\": {}\n}").unwrap();
    refused(&["--mcp-clients-config", file.to_str().unwrap()], &["c.json:2:", "no comments"]);
}

/// A cloned repository starts no programs.
#[test]
fn a_workspace_names_no_servers() {
    let (folder, project) = (home(), tempfile::tempdir().unwrap());
    std::fs::create_dir(project.path().join(".holdpoint")).unwrap();
    let config = project.path().join(".holdpoint/config.toml");
    std::fs::write(&config, "mcp_client = [\"x:true\"]\n").unwrap();
    let mut command =
        holdpoint_testkit::process::command(BIN, &["serve", "--port", "0"], folder.path());
    let output = command.current_dir(project.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("not taken from a workspace"), "{error}");
}

#[test]
fn the_environment_s_values_stand_in_an_agent_s_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let mut entry = fixture(&[]);
    entry.as_object_mut().unwrap().remove("transport");
    entry["env"] = json!({ "GREETING": "${GATEWAY_GREETING:-hello} ${GATEWAY_NAME}" });
    std::fs::write(&file, json!({ "mcpServers": { "own": entry } }).to_string()).unwrap();
    let home = home();
    let args = ["--mcp-clients-config", file.to_str().unwrap()];
    let (_process, port) = serve_at(home.path(), &args, &[("GATEWAY_NAME", "you")]);
    let call =
        json!({ "tool": "own/environment", "arguments": { "name": "GREETING" } }).to_string();
    let said = until("a greeting", || {
        let request = holdpoint_testkit::http::post(port, "/api/mcp-tools/call", &call);
        let answer = request.header("Content-Type", "application/json").send().json();
        answer["result"]["content"][0]["text"].as_str().map(str::to_owned)
    });
    assert_eq!(said, "hello you");
}

/// What changed is connected anew; the rest keeps its connection.
#[test]
fn an_edit_of_the_file_is_noticed() {
    let hub =
        Hub::with(&json!({ "stays": fixture(&[]), "goes": fixture(&[]), "changes": fixture(&[]) }));
    for name in ["stays", "goes", "changes"] {
        hub.connected(name);
    }
    let since = hub.client("stays")["connected_at"].clone();
    let edited =
        json!({ "stays": fixture(&[]), "changes": fixture(&["--empty"]), "comes": fixture(&[]) });
    write(&hub.file(), &edited);
    until("the edit", || {
        let all = hub.get("/api/mcp-clients")["clients"].clone();
        let changed =
            all["changes"]["status"] == "connected" && all["changes"]["tools"] == json!([]);
        (changed && all["goes"].is_null() && all["comes"]["status"] == "connected").then_some(())
    });
    assert_eq!(hub.client("stays")["connected_at"], since);
    std::fs::write(hub.file(), "{\"servers\": {").unwrap();
    let told = || {
        let events = holdpoint_testkit::process::run(
            BIN,
            &["tool", "timeline_query", "kinds=external_server"],
            &hub.process.home,
        );
        events.1.contains("not JSON").then_some(())
    };
    until("the broken edit to be told", told);
    hub.connected("stays");
}

#[test]
fn what_was_added_while_running_is_not_kept() {
    let folder = home();
    let file = folder.path().join("mcp_clients.json");
    write(&file, &json!({}));
    let before = std::fs::read(&file).unwrap();
    let (mut process, port) = serve_at(folder.path(), &["--mcp-clients"], &[]);
    let mut added = fixture(&[]);
    added["name"] = json!("added");
    let body: Value = added;
    let request =
        holdpoint_testkit::http::post(port, "/api/mcp-clients/connect", &body.to_string());
    let answer = request.header("Content-Type", "application/json").send();
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(names(port), ["added"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    process.signal("TERM");
    process.end();
    let (_process, port) = serve_at(folder.path(), &["--mcp-clients"], &[]);
    assert_eq!(names(port), Vec::<String>::new());
}
