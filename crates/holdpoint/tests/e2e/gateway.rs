//! Other MCP servers, used from here: the contract of REST and of the tools, against a server under our control.

use std::path::Path;

use holdpoint_testkit::{
    http::{get, post},
    process::Process,
    rpc::{Rpc, text},
    servers::{fixture, inline},
    until,
};
use serde_json::{Value, json};

pub(crate) const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A Holdpoint with other servers, spoken to over REST.
pub(crate) struct Hub {
    pub(crate) process: Process,
    pub(crate) port: u16,
    _folder: Option<tempfile::TempDir>,
}

impl Hub {
    pub(crate) fn start(args: &[&str]) -> Hub {
        let mut all = vec!["serve", "--port", "0"];
        all.extend(args);
        let mut process = Process::start(BIN, &all);
        let port = process.port();
        Hub { process, port, _folder: None }
    }

    /// With these servers in a file of its own.
    pub(crate) fn with(servers: &Value) -> Hub {
        Hub::with_args(servers, &[])
    }

    pub(crate) fn with_args(servers: &Value, args: &[&str]) -> Hub {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("clients.json");
        write(&file, servers);
        let mut all = vec!["--mcp-clients-config", file.to_str().unwrap()];
        all.extend(args);
        let mut hub = Hub::start(&all);
        hub._folder = Some(folder);
        hub
    }

    /// One that was started otherwise, with the folder that goes with it.
    pub(crate) fn of(mut process: Process, folder: tempfile::TempDir) -> Hub {
        let port = process.port();
        Hub { process, port, _folder: Some(folder) }
    }

    /// With one server `fs`, connected.
    pub(crate) fn one(flags: &[&str]) -> Hub {
        let hub = Hub::with(&json!({ "fs": fixture(flags) }));
        hub.connected("fs");
        hub
    }

    pub(crate) fn file(&self) -> std::path::PathBuf {
        self._folder.as_ref().unwrap().path().join("clients.json")
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        get(self.port, path).send().json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = post(self.port, path, &body.to_string());
        let response = request.header("Content-Type", "application/json").send();
        (response.status, response.json())
    }

    pub(crate) fn client(&self, name: &str) -> Value {
        self.get("/api/mcp-clients")["clients"][name].clone()
    }

    #[track_caller]
    pub(crate) fn status(&self, name: &str, status: &str) -> Value {
        until(&format!("`{name}` to be {status}"), || {
            let client = self.client(name);
            (client["status"] == status).then_some(client)
        })
    }

    #[track_caller]
    pub(crate) fn connected(&self, name: &str) -> Value {
        self.status(name, "connected")
    }

    /// Calls a tool; the status and what came.
    pub(crate) fn try_call(&self, tool: &str, arguments: &Value) -> (u16, Value) {
        self.post("/api/mcp-tools/call", &json!({ "tool": tool, "arguments": arguments }))
    }

    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let (status, answer) = self.try_call(tool, &arguments);
        assert_eq!(status, 200, "{answer}");
        answer["result"].clone()
    }

    /// The newest records.
    pub(crate) fn records(&self) -> Vec<Value> {
        let calls = self.get("/api/calls")["calls"].clone();
        calls.as_array().unwrap().clone()
    }
}

pub(crate) fn write(file: &Path, servers: &Value) {
    std::fs::write(file, json!({ "servers": servers }).to_string()).unwrap();
}

/// An agent with these arguments.
pub(crate) fn agent(args: &[&str]) -> Rpc {
    let mut all = vec!["mcp", "--port", "0"];
    all.extend(args);
    Rpc::connect(BIN, &all, "2025-11-25")
}

/// A tool's answer as JSON: one block of text.
#[track_caller]
pub(crate) fn json_of(result: &Value) -> Value {
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    serde_json::from_str(&text(result)).unwrap()
}

#[track_caller]
fn ask(rpc: &mut Rpc, tool: &str, arguments: Value) -> Value {
    json_of(&rpc.call(tool, arguments))
}

/// With its server connected.
fn agent_with(name: &str, flags: &[&str]) -> Rpc {
    let mut rpc = agent(&["--mcp-client", &inline(name, flags)]);
    until("the connection", || {
        let servers = ask(&mut rpc, "external_list_servers", json!({}));
        (servers["servers"][name]["status"] == "connected").then_some(())
    });
    rpc
}

#[test]
fn a_server_s_tools_are_listed_with_its_name_before_theirs() {
    let hub = Hub::with(&json!({ "server_a": fixture(&[]), "server_b": fixture(&[]) }));
    hub.connected("server_a");
    let client = hub.connected("server_b");
    assert_eq!(client["transport"], "stdio");
    assert!(client["connected_at"].as_f64().unwrap() > 1.7e9);
    assert!(client["tools"].as_array().unwrap().contains(&json!("server_b/echo")));
    let tools = hub.get("/api/mcp-tools")["tools"].as_array().unwrap().clone();
    let echo = |server: &str| tools.iter().find(|it| it["name"] == format!("{server}/echo"));
    let echo_b = echo("server_b").unwrap();
    assert_eq!((&echo_b["server"], &echo_b["original_name"]), (&json!("server_b"), &json!("echo")));
    assert_eq!(echo_b["description"], "The tool echo. It is of a fixture.");
    assert_eq!(echo_b["input_schema"]["properties"]["text"]["description"], "What to say");
    assert!(echo("server_a").is_some());
    assert_eq!(hub.call("server_a/add", json!({ "a": 1, "b": 2 }))["content"][0]["text"], "3");
    assert_eq!(hub.call("server_b/echo", json!({ "text": "b" }))["content"][0]["text"], "b");
}

#[test]
fn what_a_tool_returns_is_passed_on_whole() {
    let hub = Hub::one(&[]);
    let sum = hub.call("fs/add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }));
    let many = hub.call("fs/many", json!({}));
    let kinds: Vec<&str> =
        many["content"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "hologram"]);
    assert_eq!(many["content"][5]["depth"], 3);
    assert_eq!(many["_meta"]["fixture/kept"], json!([1, 2]));
    let failed = hub.call("fs/fails", json!({}));
    assert_eq!(
        failed,
        json!({ "content": [{ "type": "text", "text": "it went wrong" }], "isError": true })
    );
    assert_eq!(hub.call("fs/echo", json!({ "text": "ß🙂\n" }))["content"][0]["text"], "ß🙂\n");
    assert_eq!(hub.call("fs/größe 🙂", json!({ "wert": "ü" }))["content"][0]["text"], "ü");
    assert_eq!(hub.call("fs/anything", json!({}))["content"][0]["text"], "{}");
    assert_eq!(hub.call("fs/anything", json!({ "a": [1] }))["content"][0]["text"], "{\"a\": [1]}");
}

#[test]
fn what_cannot_be_called_says_why() {
    let hub = Hub::one(&[]);
    let refused = |tool: &str, arguments: Value| hub.try_call(tool, &arguments);
    let (status, error) = hub.post("/api/mcp-tools/call", &json!({ "arguments": {} }));
    assert_eq!((status, &error["error"]), (400, &json!("missing_field")));
    let (status, error) = refused("nosuch/tool", json!({}));
    assert_eq!(
        (status, &error["error"], &error["server"]),
        (404, &json!("server_not_found"), &json!("nosuch"))
    );
    let (status, error) = refused("fs/ecko", json!({}));
    assert_eq!(
        (status, &error["error"], &error["tool"]),
        (404, &json!("tool_not_found"), &json!("fs/ecko"))
    );
    assert!(error["message"].as_str().unwrap().contains("did you mean `fs/echo`?"), "{error}");
    let (status, error) = refused("echo", json!({}));
    assert_eq!((status, &error["error"]), (400, &json!("invalid_tool_name")));
    assert!(error["hint"].as_str().unwrap().contains(r#"{"tool":"fs/echo""#), "{error}");
    let (status, error) = refused("fs/errs", json!({}));
    assert_eq!(
        (status, &error["error"], &error["code"]),
        (502, &json!("call_failed"), &json!(-32602))
    );
    assert_eq!(
        (&error["message"], &error["data"]["kind"]),
        (&json!("a protocol error"), &json!("ValueError"))
    );
}

/// Nothing is sent that the tool's own schema does not admit.
#[test]
fn wrong_arguments_are_named_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let hub = Hub::one(&["--log", log.to_str().unwrap()]);
    let (status, error) = hub.try_call("fs/echo", &json!({}));
    assert_eq!((status, &error["error"]), (400, &json!("invalid_arguments")));
    assert!(error["message"].as_str().unwrap().contains("missing parameter `text`"), "{error}");
    let (_, error) = hub.try_call("fs/echo", &json!({ "txt": "x" }));
    assert!(error["hint"].as_str().unwrap().contains("did you mean `text`?"), "{error}");
    let (_, error) = hub.try_call("fs/add", &json!({ "a": "one", "b": 2 }));
    assert!(error["message"].as_str().unwrap().contains("parameter `a`"), "{error}");
    assert!(error["message"].as_str().unwrap().contains("not a number"), "{error}");
    assert!(!log.exists(), "the server was asked");
    hub.call("fs/echo", json!({ "text": "x" }));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "echo\n");
}

#[test]
fn every_page_of_a_list_is_read() {
    let hub = Hub::one(&["--pages"]);
    let tools = hub.client("fs")["tools"].as_array().unwrap().len();
    assert_eq!(tools, 19);
}

#[test]
fn a_server_without_tools_is_connected_and_has_none() {
    let hub = Hub::one(&["--empty"]);
    assert_eq!(hub.get("/api/mcp-tools"), json!({ "tools": [] }));
    assert_eq!(hub.try_call("fs/echo", &json!({})).1["error"], "tool_not_found");
}

#[test]
fn resources_are_listed_and_read() {
    let hub = Hub::one(&[]);
    let one = json!({
        "uri": "fixture://one", "server": "fs", "name": "One", "description": "The first",
        "mime_type": "text/plain",
    });
    assert_eq!(hub.get("/api/mcp-resources"), json!({ "resources": [one] }));
    let read = |server: &str, uri: &str| {
        hub.post("/api/mcp-resources/read", &json!({ "server": server, "uri": uri }))
    };
    assert_eq!(
        read("fs", "fixture://one"),
        (200, json!({ "content": "first", "mime_type": "text/plain" }))
    );
    let (status, error) = read("fs", "fixture://none");
    assert_eq!((status, &error["error"]), (404, &json!("resource_not_found")));
    assert_eq!(read("nosuch", "x").1["error"], "server_not_found");
    hub.post("/api/mcp-clients/fs/disconnect", &json!({}));
    assert_eq!(read("fs", "fixture://one").1["error"], "server_not_connected");
    assert_eq!(hub.get("/api/mcp-resources"), json!({ "resources": [] }));
}

/// Without a manager nothing is there, and what to do about it is said.
#[test]
fn without_other_servers_all_of_it_is_unavailable() {
    let hub = Hub::start(&[]);
    let posts = [
        "tools/call",
        "resources/read",
        "clients/connect",
        "clients/x/disconnect",
        "clients/x/reconnect",
    ];
    for path in ["clients", "tools", "resources"] {
        let response = get(hub.port, &format!("/api/mcp-{path}")).send();
        assert_eq!(response.status, 503, "{path}");
        assert!(response.json()["hint"].as_str().unwrap().contains("--mcp-clients"));
    }
    for path in posts {
        let (status, error) = hub.post(&format!("/api/mcp-{path}"), &json!({}));
        assert_eq!((status, &error["error"]), (503, &json!("no_client_manager")), "{path}");
    }
    let mut rpc = agent(&[]);
    let tools = rpc.request("tools/list", json!({}));
    assert!(!tools.to_string().contains("external_"), "nobody pays for what is not there");
    let refused = rpc.call("external_call_tool", json!({ "tool": "a/b" }));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("--mcp-client"), "{refused}");
}

#[test]
fn a_manager_without_servers_has_empty_lists() {
    let hub = Hub::start(&["--mcp-clients"]);
    assert_eq!(hub.get("/api/mcp-clients"), json!({ "clients": {} }));
    assert_eq!(hub.get("/api/mcp-tools"), json!({ "tools": [] }));
    assert_eq!(hub.get("/api/mcp-resources"), json!({ "resources": [] }));
    let mut rpc = agent(&["--mcp-clients"]);
    assert_eq!(ask(&mut rpc, "external_list_servers", json!({}))["servers"], json!({}));
    assert_eq!(ask(&mut rpc, "external_list_tools", json!({}))["tools"], json!([]));
    assert_eq!(ask(&mut rpc, "external_list_resources", json!({}))["resources"], json!([]));
}

#[test]
fn agents_have_five_tools_for_other_servers() {
    let mut rpc = agent_with("fs", &[]);
    let listed = rpc.request("tools/list", json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    let external: Vec<&&str> = names.iter().filter(|it| it.starts_with("external_")).collect();
    assert_eq!(external.len(), 5, "{external:?}");
    let servers = ask(&mut rpc, "external_list_servers", json!({}));
    assert_eq!(servers["servers"], json!({ "fs": { "status": "connected", "tool_count": 19 } }));
    let tools = ask(&mut rpc, "external_list_tools", json!({}))["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 19);
    let echo = tools.as_array().unwrap().iter().find(|it| it["name"] == "fs/echo").unwrap();
    assert_eq!(
        *echo,
        json!({ "name": "fs/echo", "server": "fs", "description": "The tool echo." })
    );
    let found = ask(&mut rpc, "external_list_tools", json!({ "search": "tool ECHO" }));
    assert_eq!(found["tools"].as_array().unwrap().len(), 1);
    let whole = ask(&mut rpc, "external_list_tools", json!({ "search": "fs/add" }));
    assert_eq!(whole["tools"][0]["input_schema"]["required"], json!(["a", "b"]));
    let full = ask(&mut rpc, "external_list_tools", json!({ "server": "fs", "full": true }));
    assert!(full["tools"].as_array().unwrap().iter().all(|it| it["input_schema"].is_object()));
    let none = rpc.call("external_list_tools", json!({ "server": "f" }));
    assert_eq!(
        (&none["isError"], &json_of(&none)["error"]),
        (&json!(true), &json!("server_not_found"))
    );
    let called =
        rpc.call("external_call_tool", json!({ "tool": "fs/echo", "arguments": { "text": "x" } }));
    assert_eq!(json_of(&called), json!({ "content": [{ "type": "text", "text": "x" }] }));
    assert_ne!(called["isError"], true);
    let failed = rpc.call("external_call_tool", json!({ "tool": "fs/fails" }));
    assert_eq!((&failed["isError"], &json_of(&failed)["isError"]), (&json!(true), &json!(true)));
    for (tool, error) in [
        ("nosuch/x", "server_not_found"),
        ("fs/nosuch", "tool_not_found"),
        ("fs/errs", "call_failed"),
    ] {
        let refused = rpc.call("external_call_tool", json!({ "tool": tool }));
        assert_eq!(
            (&refused["isError"], &json_of(&refused)["error"]),
            (&json!(true), &json!(error))
        );
    }
    let listed = ask(&mut rpc, "external_list_resources", json!({ "server": "fs" }));
    assert_eq!(listed["resources"][0]["uri"], "fixture://one");
    let read =
        ask(&mut rpc, "external_read_resource", json!({ "server": "fs", "uri": "fixture://one" }));
    assert_eq!(read, json!({ "content": "first", "mime_type": "text/plain" }));
    for (server, uri, error) in [("no", "x", "server_not_found"), ("fs", "x", "resource_not_found")]
    {
        let refused = rpc.call("external_read_resource", json!({ "server": server, "uri": uri }));
        assert_eq!(
            (&refused["isError"], &json_of(&refused)["error"]),
            (&json!(true), &json!(error))
        );
    }
}

#[test]
fn calls_are_recorded_with_their_results() {
    let mut hub = Hub::one(&[]);
    let (_, answer) = hub.try_call("fs/echo", &json!({ "text": "kept" }));
    hub.call("fs/fails", json!({}));
    hub.try_call("fs/errs", &json!({}));
    let records = until("three records", || Some(hub.records()).filter(|it| it.len() == 3));
    let of = |name: &str| records.iter().find(|it| it["method_name"] == name).unwrap();
    let echo = of("fs/echo");
    assert_eq!(
        (&echo["source"], &echo["server"], &echo["kind"]),
        (&json!("mcp_client"), &json!("fs"), &json!("tool"))
    );
    assert_eq!(echo["pretty_kwargs"], json!({ "text": "kept" }));
    assert_eq!((&echo["status"], &echo["result_cid"]), (&json!("success"), &answer["cid"]));
    assert!(echo["completed_at"].as_f64() >= echo["started_at"].as_f64());
    let failed = of("fs/fails");
    assert_eq!(
        (&failed["status"], &failed["exception_message"]),
        (&json!("exception"), &json!("it went wrong"))
    );
    assert!(failed["result_cid"].is_string());
    let erred = of("fs/errs");
    assert_eq!(
        (&erred["exception_type"], &erred["exception_message"]),
        (&json!("call_failed"), &json!("a protocol error"))
    );
    let shell = ["tool", "breakpoint_inspect_object", &json!({ "cid": answer["cid"] }).to_string()];
    let (_, said, error) = holdpoint_testkit::process::run(BIN, &shell, &hub.process.home);
    assert!(said.contains("kept"), "{said}{error}");
    assert!(hub.process.is_running());
}

/// A server's log messages, and how it stands, are on the timeline.
#[test]
fn the_timeline_has_what_other_servers_do() {
    let mut rpc = agent_with("fs", &[]);
    rpc.call("external_call_tool", json!({ "tool": "fs/logs", "arguments": { "count": 300 } }));
    let told = until("the log messages", || {
        let told =
            rpc.text("timeline_query", json!({ "kinds": ["external_log", "external_server"] }));
        told.contains("line 19").then_some(told)
    });
    assert!(told.contains("fs: connected, 19 tools"), "{told}");
    assert!(!told.contains("line 299"), "a flood is told by its number: {told}");
}

#[test]
fn sampling_is_refused_and_the_connection_lives() {
    let hub = Hub::one(&[]);
    let said = hub.call("fs/samples", json!({}))["content"][0]["text"].as_str().unwrap().to_owned();
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["error"]["code"], -32601, "{said}");
    hub.call("fs/echo", json!({ "text": "alive" }));
}

/// A server called as our own tools begin takes nothing from them.
#[test]
fn a_server_called_breakpoint_collides_with_nothing() {
    let mut rpc = agent_with("breakpoint", &[]);
    let called = rpc.call(
        "external_call_tool",
        json!({ "tool": "breakpoint/echo", "arguments": { "text": "x" } }),
    );
    assert_eq!(json_of(&called)["content"][0]["text"], "x");
    assert_eq!(json_of(&rpc.call("breakpoint_list_paused", json!({})))["paused"], json!([]));
}

/// What starts programs is offered to whoever asks for it by name.
#[test]
fn servers_are_connected_by_an_agent_that_may() {
    let mut rpc = agent(&["--mcp-clients", "--toolset", "all,external-admin"]);
    let listed = rpc.request("tools/list", json!({})).to_string();
    assert_eq!(listed.matches("\"external_").count(), 8, "{listed}");
    let entry = fixture(&[]);
    let connect = json!({ "name": "fs", "command": entry["command"], "args": entry["args"] });
    let up = ask(&mut rpc, "external_connect", connect.clone());
    assert_eq!((&up["status"], &up["name"]), (&json!("ok"), &json!("fs")));
    let again = rpc.call("external_connect", connect);
    assert_eq!(
        (&again["isError"], &json_of(&again)["error"]),
        (&json!(true), &json!("duplicate_name"))
    );
    assert_eq!(ask(&mut rpc, "external_disconnect", json!({ "name": "fs" }))["status"], "ok");
    let refused =
        rpc.call("external_call_tool", json!({ "tool": "fs/echo", "arguments": { "text": "x" } }));
    assert_eq!(json_of(&refused)["error"], "server_not_connected");
    let back = ask(&mut rpc, "external_reconnect", json!({ "name": "fs" }));
    assert!(back["tools"].as_array().unwrap().contains(&json!("fs/echo")), "{back}");
    let mut plain = agent(&["--mcp-clients"]);
    let listed = plain.request("tools/list", json!({})).to_string();
    assert_eq!(listed.matches("\"external_").count(), 5);
}

/// Without a new connection.
#[test]
fn a_changed_list_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools");
    std::fs::write(&file, "first").unwrap();
    let hub = Hub::one(&["--tools", file.to_str().unwrap()]);
    let since = hub.client("fs")["connected_at"].clone();
    std::fs::write(&file, "second").unwrap();
    hub.call("fs/changes", json!({}));
    until("the new list", || {
        let tools = hub.client("fs")["tools"].to_string();
        (tools.contains("fs/second") && !tools.contains("fs/first")).then_some(())
    });
    assert_eq!(hub.client("fs")["connected_at"], since);
}
