//! Other servers over HTTP: which transport they speak, sessions that they forget, what must not be told.

use holdpoint_testkit::{
    http::{get, post},
    process::run,
    servers::Listening,
    until,
};
use serde_json::{Value, json};

use crate::gateway::{BIN, Hub, agent, json_of};

fn web(server: &Listening) -> Value {
    json!({ "web": { "url": server.url("/mcp"), "transport": "http" } })
}

/// A call that the server refused unseen is sent again, and no other: nothing runs twice.
#[test]
fn a_forgotten_session_is_begun_anew_and_nothing_runs_twice() {
    for forgets in ["404", "32001", "32600"] {
        let server = Listening::fixture(&["--forgets", forgets]);
        let hub = Hub::with(&web(&server));
        hub.connected("web");
        assert_eq!(hub.call("web/count", json!({}))["content"][0]["text"], "1");
        post(server.port, "/forget", "{}").send();
        assert_eq!(hub.call("web/count", json!({}))["content"][0]["text"], "2", "{forgets}");
        assert_eq!(hub.client("web")["status"], "connected");
        assert_eq!(get(server.port, "/calls").send().json(), json!({ "count": 2 }));
    }
}

/// It may have run: nobody can know, so it is not sent again.
/// As JSON, by events, and by events with something before it: what no type of ours knows is in it every time.
#[test]
fn however_an_answer_comes_it_is_passed_on_whole() {
    for flag in [None, Some("--stream"), Some("--notes")] {
        let flags: Vec<&str> = flag.into_iter().collect();
        let server = Listening::fixture(&flags);
        let hub = Hub::with(&web(&server));
        hub.connected("web");
        let result = hub.call("web/echo", json!({ "text": "x" }));
        let whole = json!({ "content": [{ "type": "text", "text": "x", "later": 7 }] });
        assert_eq!(result, whole, "{flag:?}");
    }
}

#[test]
fn a_call_whose_answer_was_lost_is_not_sent_again() {
    let server = Listening::fixture(&[]);
    let hub = Hub::with(&web(&server));
    hub.connected("web");
    let (status, error) = hub.try_call("web/drop", &json!({}));
    assert_eq!((status, &error["error"]), (502, &json!("call_failed")), "{error}");
    assert_eq!(get(server.port, "/calls").send().json(), json!({ "drop": 1 }));
    until("it to be connected", || (hub.try_call("web/count", &json!({})).0 == 200).then_some(()));
}

#[test]
fn what_an_address_speaks_is_found_out() {
    let (sse, http) = (Listening::everything("sse"), Listening::everything("streamableHttp"));
    let hub = Hub::start(&[
        "--mcp-client",
        &format!("old:{}", sse.url("/sse")),
        "--mcp-client",
        &format!("new:{}", http.url("/mcp")),
        "--mcp-client",
        "gone:http://127.0.0.1:9/mcp",
    ]);
    assert_eq!(hub.connected("old")["transport"], "sse");
    assert_eq!(hub.connected("new")["transport"], "http");
    for name in ["old", "new"] {
        let said = hub.call(&format!("{name}/echo"), json!({ "message": "hi" }));
        assert_eq!(said["content"][0]["text"], "Echo: hi", "{name}");
    }
    let gone = hub.status("gone", "error");
    assert!(gone["error"].as_str().unwrap().contains("refused"), "{gone}");
}

/// As the contract has it: with a slash at the end and without.
#[test]
fn a_server_over_sse_is_connected_and_disconnected() {
    let server = Listening::everything("sse");
    let entry = |path: &str| json!({ "url": server.url(path), "transport": "sse" });
    let hub = Hub::with(&json!({ "plain": entry("/sse"), "slash": entry("/sse/") }));
    for name in ["plain", "slash"] {
        assert_eq!(hub.connected(name)["transport"], "sse");
        assert_eq!(
            hub.call(&format!("{name}/echo"), json!({ "message": "x" }))["content"][0]["text"],
            "Echo: x"
        );
        assert_eq!(hub.post(&format!("/api/mcp-clients/{name}/disconnect"), &json!({})).0, 200);
        assert_eq!(hub.client(name)["status"], "disconnected");
    }
}

/// Our own binary, an external server of itself, over each transport that it serves.
#[test]
fn holdpoint_is_a_server_like_any_other() {
    let other = Hub::start(&["--mcp-sse"]);
    let entry = |path: &str, transport: &str| json!({ "url": format!("http://127.0.0.1:{}{path}", other.port), "transport": transport });
    let hub = Hub::with(&json!({
        "http": entry("/mcp", "http"), "sse": entry("/mcp/sse", "sse"),
        "stdio": { "command": BIN, "args": ["mcp", "--port", "0", "--db", ":memory:"], "transport": "stdio" },
    }));
    for name in ["http", "sse", "stdio"] {
        hub.connected(name);
        let said = hub.call(&format!("{name}/server_status"), json!({}));
        assert!(said["content"][0]["text"].as_str().unwrap().contains("holdpoint"), "{said}");
    }
}

/// The header's value is in no answer, record, event, log or error, whatever the server does with it.
#[test]
fn a_header_s_value_is_told_to_nobody() {
    const VALUE: &str = "k-9f83jd02kd9wlq";
    let (echoes, refuses) =
        (Listening::fixture(&["--echo-headers"]), Listening::fixture(&["--need", "another"]));
    let entry = |server: &Listening| json!({ "url": server.url("/mcp?key=q7w8e9r0t1"), "transport": "http", "headers": { "X-Key": "${GATEWAY_KEY}" } });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.json");
    let servers = json!({ "servers": { "echoes": entry(&echoes), "refuses": entry(&refuses) } });
    std::fs::write(&file, servers.to_string()).unwrap();
    let args = [
        "serve",
        "--port",
        "0",
        "--log-level",
        "trace",
        "--mcp-clients-config",
        file.to_str().unwrap(),
    ];
    let mut process = holdpoint_testkit::process::Process::start_with(BIN, &args, |command| {
        command.env("GATEWAY_KEY", VALUE);
    });
    let port = process.port();
    let mut said = String::new();
    until("both to be tried", || {
        let clients = get(port, "/api/mcp-clients").send().body;
        said += &clients;
        (clients.contains("\"connected\"") && clients.contains("\"error\"")).then_some(())
    });
    let body = json!({ "tool": "echoes/count", "arguments": {} }).to_string();
    said += &post(port, "/api/mcp-tools/call", &body)
        .header("Content-Type", "application/json")
        .send()
        .body;
    assert!(said.contains("‹secret›"), "the server told it: {said}");
    said += &post(port, "/api/mcp-clients/refuses/reconnect", "{}")
        .header("Content-Type", "application/json")
        .send()
        .body;
    let records = until("a record", || {
        let records = get(port, "/api/calls").send().body;
        records.contains("echoes/count").then_some(records)
    });
    said += &records;
    for tool in [
        vec!["timeline_query"],
        vec!["server_status"],
        vec!["breakpoint_get_call_records", "full=true"],
    ] {
        let mut args = vec!["tool"];
        args.extend(tool);
        let (_, out, error) = run(BIN, &args, &process.home);
        said += &(out + &error);
    }
    process.signal("TERM");
    let (_, log) = process.end();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the log is a full one");
    for secret in [VALUE, "q7w8e9r0t1"] {
        assert!(!said.contains(secret), "{said}");
        let line = log.lines().find(|it| it.contains(secret));
        assert_eq!(line, None);
    }
}

/// An agent's context is not filled: what is cut is found by its CID.
#[test]
fn a_long_result_is_cut_for_agents_alone() {
    let line = holdpoint_testkit::servers::inline("fs", &[]);
    let big = json!({ "tool": "fs/big", "arguments": { "bytes": 200_000 } });
    let mut rpc =
        holdpoint_testkit::rpc::Rpc::start(BIN, &["mcp", "--port", "0", "--mcp-client", &line]);
    rpc.initialize_as("claude-code", "2025-11-25");
    until("the connection", || {
        rpc.text("external_list_servers", json!({})).contains("connected").then_some(())
    });
    let cut = json_of(&rpc.call("external_call_tool", big.clone()));
    assert!(cut.to_string().len() < 40_000);
    let cid = cut["cut"]["cid"].as_str().unwrap().to_owned();
    assert!(cut["cut"]["rest"].as_str().unwrap().contains(&cid));
    let rest = rpc.text("breakpoint_inspect_object", json!({ "cid": cid }));
    assert!(rest.contains("xxxx"), "{rest}");
    let mut other = agent(&["--mcp-client", &line]);
    until("the connection", || {
        other.text("external_list_servers", json!({})).contains("connected").then_some(())
    });
    let whole = json_of(&other.call("external_call_tool", big));
    assert_eq!(whole["content"][0]["text"].as_str().unwrap().len(), 200_000);
}
