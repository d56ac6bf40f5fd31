//! The HTTP face: sockets, gate, event stream, port files, shutdown.

use std::{
    fs,
    net::{IpAddr, Ipv6Addr},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    http::{Events, get, post, request},
    process::{Process, run},
    rpc::Rpc,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, u16) {
    serve_with(&[], |_| {})
}

fn serve_with(more: &[&str], change: impl FnOnce(&mut Command)) -> (Process, u16) {
    let args = [&["serve", "--port", "0"], more].concat();
    let mut process = Process::start_with(BIN, &args, change);
    let port = process.port();
    (process, port)
}

fn note(port: u16, text: &str) {
    let arguments = json!({ "text": text }).to_string();
    let home = tempfile::tempdir().unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let (code, _, stderr) =
        run(BIN, &["tool", "timeline_note", &arguments, "--url", &url], home.path());
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn both_families_of_loopback_answer() {
    let (_process, port) = serve();
    for address in [IpAddr::from([127, 0, 0, 1]), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        let health = get(port, "/healthz").at(address).send();
        assert_eq!((health.status, &health.json()["ok"]), (200, &json!(true)), "{address}");
    }
    let index = get(port, "/").send();
    assert!(index.body.contains(&format!("http://127.0.0.1:{port}/mcp")), "{}", index.body);
    let nothing = get(port, "/nothing").send();
    assert_eq!(nothing.status, 404);
    assert!(nothing.json()["error"].as_str().unwrap().contains("GET / lists"));
}

/// Every route that the document names, each with its method, and those of MCP, which it does not.
fn routes(port: u16) -> Vec<(String, String)> {
    let document = get(port, "/openapi.json").send().json();
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().keys().map(|it| it.to_uppercase());
        routes.extend(methods.map(|method| (method, path.clone())));
    }
    for (method, path) in BESIDE {
        routes.push(((*method).to_owned(), (*path).to_owned()));
    }
    routes
}

/// Routes of MCP and of the document itself.
const BESIDE: &[(&str, &str)] = &[
    ("GET", "/openapi.json"),
    ("GET", "/api/openapi.json"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/mcp/sse"),
    ("POST", "/mcp/messages"),
];

#[test]
fn a_rebound_name_or_a_foreign_page_gets_403_on_every_route() {
    let (_process, port) =
        serve_with(&["--mcp-sse", "--allow-origin", "https://ok.example"], |_| {});
    let routes = routes(port);
    // What apps ask goes past the router, so it is among those that must be tried.
    for (method, path) in [("POST", "/api/call/start"), ("POST", "/api/call/complete")] {
        assert!(routes.contains(&(method.to_owned(), path.to_owned())), "{path}");
    }
    let nothing = ("GET".to_owned(), "/nothing".to_owned());
    for (method, path) in routes.iter().chain([&nothing]) {
        let ask = || request(port, method, path, "{}").header("Content-Type", "application/json");
        let rebound = ask().header("Host", "evil.example").send();
        assert_eq!(rebound.status, 403, "{method} {path}");
        let foreign = ask().header("Origin", "https://evil.example").send();
        assert_eq!(foreign.status, 403, "{method} {path}");
        assert_eq!(foreign.header("access-control-allow-origin"), None, "{method} {path}");
    }
    for (origin, path) in
        [("https://ok.example", "/healthz"), ("http://localhost:3000", "/api/functions")]
    {
        let trusted = get(port, path).header("Origin", origin).send();
        assert_eq!(trusted.status, 200);
        assert_eq!(trusted.header("access-control-allow-origin"), Some(origin));
    }
}

/// Bytes of one body; a body beyond is sent whole, and read no further.
const BODY: usize = 16 * 1024 * 1024;

#[test]
fn a_body_is_bounded() {
    let (process, port) = serve_with(&["--mcp-sse"], |_| {});
    let mut events = get(port, "/mcp/sse").stream();
    let messages = events.next_data().unwrap().data;
    let before = process.rss_kb();
    for path in ["/mcp", messages.as_str()] {
        let ask = |length: usize| {
            let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping""#;
            let body = format!("{ping}{}}}", " ".repeat(length - ping.len() - 1));
            let ask = post(port, path, &body).header("Content-Type", "application/json");
            ask.header("Accept", "application/json, text/event-stream").send().status
        };
        assert_ne!(ask(BODY / 2), 413, "{path}");
        assert_eq!(ask(BODY + 2 * 1024 * 1024), 413, "{path}");
    }
    let grown = process.rss_kb().saturating_sub(before);
    assert!(grown < 4 * u64::try_from(BODY / 1024).unwrap(), "{grown} kB");
    assert_eq!(get(port, "/healthz").send().status, 200);
}

#[test]
fn a_token_is_asked_for() {
    let (_process, port) = serve_with(&["--token", "secret"], |_| {});
    assert_eq!(get(port, "/healthz").send().status, 200);
    assert_eq!(get(port, "/openapi.json").send().status, 401);
    let known = get(port, "/openapi.json").header("Authorization", "Bearer secret").send();
    assert_eq!(known.status, 200);
    let home = tempfile::tempdir().unwrap();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let call = ["tool", "server_status", "--url", url.as_str()];
    assert_eq!(run(BIN, &call, home.path()).0, 1);
    assert_eq!(run(BIN, &[&call[..], &["--token", "secret"]].concat(), home.path()).0, 0);
}

#[test]
fn another_address_needs_a_token() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, stderr) = run(BIN, &["serve", "--host", "0.0.0.0", "--port", "0"], home.path());
    assert_eq!(code, 1);
    assert!(
        stderr.contains("refusing to listen on 0.0.0.0") && stderr.contains("hint: add --token")
    );
    let (_process, port) = serve_with(&["--host", "0.0.0.0", "--token", "secret"], |_| {});
    let known =
        get(port, "/").header("Host", "box.example").header("Authorization", "Bearer secret");
    assert_eq!(known.send().status, 200);
}

/// What the document names is there, and what `GET /` lists is in the document.
#[test]
fn the_openapi_document_names_every_route() {
    let (_process, port) = serve();
    let document = get(port, "/openapi.json").send().json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let routes = routes(port);
    for (method, path) in &routes {
        if path.starts_with("/mcp") || path.contains("/poll") || path.ends_with("/watch") {
            continue;
        }
        let ask = request(port, method, path, "{}").header("Content-Type", "application/json");
        let said = if path == "/api/events" { ask.stream().status } else { ask.send().status };
        assert_ne!(said, 405, "{method} {path}");
    }
    // A method that a path does not have is refused: the paths above were found, not the fallback.
    let refused = request(port, "PUT", "/api/breakpoints", "{}").send();
    assert_eq!(refused.status, 405);
    let text = get(port, "/").send().body;
    let listed = text.split_whitespace().filter_map(|word| {
        let path =
            word.trim_matches(|it: char| !it.is_ascii_alphanumeric() && !"/{}_-.".contains(it));
        path.starts_with("/").then(|| path.to_owned())
    });
    let unknown: Vec<String> =
        listed.filter(|path| !routes.iter().any(|(_, known)| known == path)).collect();
    assert!(unknown.is_empty(), "{unknown:?} of `GET /` are in no document");
    for path in CONTRACT {
        assert!(document["paths"][path].is_object(), "{path}");
    }
}

/// The call protocol's, which clients of others rely on.
const CONTRACT: &[&str] = &[
    "/api/call/start",
    "/api/call/complete",
    "/api/call/event",
    "/api/call/repl-result",
    "/api/poll/{pause_id}",
    "/api/poll-repl/{pause_id}",
    "/api/paused",
    "/api/paused/{pause_id}/continue",
    "/api/breakpoints",
    "/api/breakpoints/{name}",
    "/api/breakpoints/{name}/behavior",
    "/api/breakpoints/{name}/after_behavior",
    "/api/breakpoints/{name}/replacement",
    "/api/breakpoints/{name}/history",
    "/api/behavior",
    "/api/functions",
    "/api/report-com-error",
    "/api/com-errors",
    "/api/call-tree",
    "/api/call-tree/{process_key}",
    "/api/repl/start",
    "/api/repl/sessions",
    "/api/repl/{session_id}",
    "/api/repl/{session_id}/eval",
    "/api/repl/{session_id}/close",
];

fn kinds(events: &mut Events, count: usize) -> Vec<(String, String)> {
    let next = |_| events.next_data().map(|event| (event.id, event.event));
    (0..count).filter_map(next).collect()
}

#[test]
fn the_event_stream_resumes_where_it_broke_off() {
    let (_process, port) = serve();
    note(port, "one");
    let mut all = get(port, "/api/events?since=0").stream();
    assert_eq!(all.status, 200);
    // That a shell came for its call is no news.
    let seen = kinds(&mut all, 2);
    let names: Vec<&str> = seen.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(names, ["server_started", "note"]);
    let ids: Vec<&str> = seen.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["1", "2"]);
    drop(all);
    let mut rest = get(port, "/api/events?since=0").header("Last-Event-ID", "1").stream();
    let event = rest.next_data().unwrap();
    let data: Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!((event.id.as_str(), &data["data"]["text"]), ("2", &json!("one")));
    // Without a place to begin, only what is new.
    let mut new = get(port, "/api/events").stream();
    note(port, "two");
    assert_eq!(kinds(&mut new, 1).last().unwrap().1, "note");
    assert_eq!(get(port, "/api/events").header("Last-Event-ID", "x").send().status, 400);
}

#[test]
fn signals_stop_in_good_order() {
    for signal in ["INT", "TERM", "HUP"] {
        let mut rpc = Rpc::connect(BIN, &["serve", "--mcp", "--port", "0"], "2025-11-25");
        let port = rpc.process.port();
        let mut events = get(port, "/api/events").stream();
        let id = rpc.ask(
            "tools/call",
            json!({ "name": "timeline_query", "arguments": { "since": 999, "timeout_s": 600 } }),
        );
        // Answered after the call above was read, so that it is under way.
        rpc.request("ping", json!({}));
        let started = Instant::now();
        rpc.process.signal(signal);
        let (status, stderr) = rpc.process.end();
        assert!(status.success(), "{signal}: {status} {stderr}");
        assert!(started.elapsed() < Duration::from_secs(5), "{signal}");
        // The clients leave after it, in time for this stream or not; then the stream ends.
        assert_eq!(events.next_data().unwrap().event, "server_stopping");
        while let Some(event) = events.next_data() {
            assert_eq!(event.event, "client_left");
        }
        let told = rpc.wait_for("a farewell", |it| it["method"] == "notifications/server/stopping");
        assert!(told["params"]["data"]["reason"].as_str().unwrap().contains(signal));
        let answer = rpc.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "E_SHUTTING_DOWN");
        assert!(!rpc.process.home.join("port").exists());
    }
}

#[test]
fn the_port_is_left_where_existing_clients_look() {
    let theirs = tempfile::tempdir().unwrap();
    let file = theirs.path().join("sub").join("their-port");
    let (mut process, port) = serve_with(&[], |command| {
        command.env("CIDELDILL_PORT_FILE", &file);
    });
    named(&file, port);
    process.signal("TERM");
    process.end();
    assert!(!file.exists());

    let (mut process, port) = serve_with(&[], |command| {
        command.env("CIDELDILL_HOME", theirs.path());
    });
    let file = theirs.path().join("port");
    named(&file, port);
    // Another server has taken the file over: it is not ours to remove.
    fs::write(&file, "1").unwrap();
    process.signal("TERM");
    process.end();
    assert_eq!(fs::read_to_string(&file).unwrap(), "1");

    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cideldill")).unwrap();
    let mut process = Process::start_at(BIN, &["serve", "--port", "0"], home.path(), |_| {});
    let port = process.port();
    named(&home.path().join(".cideldill").join("port"), port);
}

/// Waits until the file names this server: it is written after the line that says where it listens.
#[track_caller]
fn named(file: &Path, port: u16) {
    let port = port.to_string();
    until("the port file", || (fs::read_to_string(file).ok()? == port).then_some(()));
}

#[test]
fn idle_connections_do_not_stop_the_next() {
    let (process, port) = serve();
    let open = || std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let idle: Vec<_> = (0..300).map(|_| open()).collect();
    assert_eq!(get(port, "/healthz").send().status, 200);
    let rss = process.rss_kb();
    assert!(rss < 64 * 1024, "{rss} kB with {} idle connections", idle.len());
}

/// A session of MCP by HTTP; its id.
fn initialized(port: u16) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "by hand", "version": "0" } } });
    let answer = mcp(port, "", &hello.to_string()).send();
    assert_eq!(answer.status, 200, "{}", answer.body);
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(mcp(port, &session, &done.to_string()).send().status, 202);
    session
}

fn mcp<'a>(port: u16, session: &str, body: &str) -> holdpoint_testkit::http::Request<'a> {
    let request = post(port, "/mcp", body)
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream");
    if session.is_empty() { request } else { request.header("Mcp-Session-Id", session) }
}

#[test]
fn a_message_that_cannot_be_read_is_refused_by_its_id() {
    let (_process, port) = serve();
    let session = initialized(port);
    let garbage = mcp(port, &session, "garbage").send();
    assert_eq!((garbage.status, &garbage.json()["error"]["code"]), (400, &json!(-32700)));
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{deep}}}}}"#);
    let nested = mcp(port, &session, &body).send();
    assert_eq!((nested.status, &nested.json()["id"]), (400, &json!(7)), "{}", nested.body);
    let giant = json!({ "jsonrpc": "2.0", "id": 8, "method": "x".repeat(4 << 20) }).to_string();
    let unknown = mcp(port, &session, &giant).send();
    assert!(unknown.body.contains("-32601") && unknown.body.len() < 500, "{}", unknown.body.len());
}

#[test]
fn of_two_requests_with_one_id_both_are_answered() {
    let (_process, port) = serve();
    let session = initialized(port);
    let call = |name: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": "twice", "method": "tools/call",
            "params": { "name": name, "arguments": arguments } })
        .to_string()
    };
    let wait = call("timeline_query", json!({ "kinds": ["note"], "since": 0, "timeout_s": 30 }));
    let mut first = mcp(port, &session, &wait).stream();
    let second = mcp(port, &session, &wait).send();
    assert_eq!(second.status, 400, "{}", second.body);
    assert_eq!(second.json()["error"]["code"], -32600, "{}", second.body);
    note(port, "go on");
    // The first event says only how to come back.
    let answer = (0..2).filter_map(|_| first.next_data()).find(|it| !it.data.is_empty()).unwrap();
    assert!(answer.data.contains("go on"), "{}", answer.data);
}
