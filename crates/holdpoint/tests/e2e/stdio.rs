//! MCP on stdin and stdout, byte by byte.

use std::{
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    debug, http,
    process::{self, Process},
    rpc::{Rpc, text},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const MCP: &[&str] = &["mcp", "--port", "0"];
const NEWEST_WITH_INITIALIZE: &str = "2025-11-25";

fn connect() -> Rpc {
    Rpc::connect(BIN, MCP, NEWEST_WITH_INITIALIZE)
}

/// What a 2026-07-28 client sends with every request instead of initializing.
fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn every_revision_with_initialize_is_spoken() {
    for protocol in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut rpc = Rpc::start(BIN, MCP);
        let answer = rpc.initialize(protocol);
        assert_eq!(answer["result"]["protocolVersion"], protocol);
        assert_eq!(answer["result"]["serverInfo"]["name"], "holdpoint");
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("debug_launch") && instructions.len() < 1_000);
        assert!(rpc.text("server_status", json!({})).contains(protocol));
    }
}

#[test]
fn the_stateless_revision_is_spoken_without_initialize() {
    let mut rpc = Rpc::start(BIN, MCP);
    let found = rpc.request("server/discover", json!({ "_meta": modern_meta() }));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert_eq!(versions.len(), 5, "{found}");
    let answer = rpc.request(
        "tools/call",
        json!({ "name": "server_status", "arguments": {}, "_meta": modern_meta() }),
    );
    assert!(text(&answer["result"]).contains("modern over stdio (MCP 2026-07-28)"), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    let removed =
        rpc.request("logging/setLevel", json!({ "level": "debug", "_meta": modern_meta() }));
    assert_eq!(removed["error"]["code"], -32601);
}

#[test]
fn a_stateless_client_is_told_of_changes_by_listening() {
    let mut rpc = Rpc::start(BIN, MCP);
    let filter =
        json!({ "resourceSubscriptions": ["holdpoint://timeline", "holdpoint://nothing"] });
    let params = json!({ "notifications": filter, "_meta": modern_meta() });
    let listening = rpc.ask("subscriptions/listen", params);
    let is = |method: &'static str| move |message: &Value| message["method"] == method;
    let accepted =
        rpc.wait_for("an acknowledgement", is("notifications/subscriptions/acknowledged"));
    assert_eq!(
        accepted["params"]["notifications"]["resourceSubscriptions"],
        json!(["holdpoint://timeline"])
    );
    let note =
        json!({ "name": "timeline_note", "arguments": { "text": "hi" }, "_meta": modern_meta() });
    rpc.request("tools/call", note);
    let updated = rpc.wait_for("an update", is("notifications/resources/updated"));
    assert_eq!(updated["params"]["uri"], "holdpoint://timeline");
    rpc.notify("notifications/cancelled", json!({ "requestId": listening }));
    let again = json!({ "name": "server_status", "_meta": modern_meta() });
    assert!(rpc.request("tools/call", again).get("result").is_some());
}

/// Bar: every byte of stdout is JSON-RPC, whatever tool is called.
#[test]
fn stdout_is_pure_for_every_tool() {
    let mut debug = debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start();
    let tools = debug.rpc.request("tools/list", json!({}));
    let names: Vec<String> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.len() >= 3);
    for name in &names {
        // Once with nothing, once with something wrong: both must stay on the wire.
        debug.rpc.call(name, json!({}));
        debug.rpc.call(name, json!({ "no_such_parameter": 1 }));
    }
    // A debugged program prints too, and its own stdout must not become ours.
    let (_folder, program) =
        debug::program("import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr)\n");
    debug.launch(&program, json!({ "stop_on_entry": false })).ended(json!({ "code": 0 }));
    debug.ok("debug_output", json!({})).has(&["out", "err"]);
    debug.ok("timeline_note", json!({ "text": "line one\nline two" }));
    debug.rpc.close_stdin();
    let (status, stderr) = debug.rpc.process.end();
    assert!(status.success(), "{stderr}");
    assert_eq!(stderr, "", "an agent shows its user what we write to stderr");
}

/// Bar: 10,000 malformed lines leave the server answering.
#[test]
fn ten_thousand_malformed_lines_leave_the_server_answering() {
    let mut rpc = connect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let valid = br#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"server_status","arguments":{}}}"#;
    for round in 0..10_000_u64 {
        let mut line: Vec<u8> = match round % 5 {
            // Valid bytes with one changed, cut short, doubled, of the wrong shape, and noise.
            0 => {
                let mut line = valid.to_vec();
                let at = usize::try_from(random(line.len() as u64)).unwrap();
                line[at] = u8::try_from(random(256)).unwrap();
                line
            }
            1 => valid[..usize::try_from(random(valid.len() as u64)).unwrap()].to_vec(),
            2 => [&valid[..], &valid[..]].concat(),
            3 => br#"{"jsonrpc":"2.0","id":{},"method":7}"#.to_vec(),
            _ => (0..random(200)).map(|_| u8::try_from(random(256)).unwrap()).collect(),
        };
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        rpc.send_bytes(&line);
    }
    assert!(rpc.text("server_status", json!({})).starts_with("holdpoint "));
}

#[test]
fn a_huge_line_is_dropped_and_the_next_one_answered() {
    let mut rpc = connect();
    let before = rpc.process.rss_kb();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        rpc.send_bytes(&chunk);
    }
    rpc.send_bytes(b"\n");
    assert!(rpc.text("server_status", json!({})).starts_with("holdpoint "));
    let grown = rpc.process.rss_kb().saturating_sub(before);
    assert!(grown < 48 * 1024, "64 MB of one line took {grown} kB");
}

/// Whoever sent a request waits for its answer, whatever is wrong with it.
#[test]
fn a_request_that_cannot_be_read_is_answered_by_its_id() {
    let mut rpc = connect();
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    rpc.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{{"name":"server_status","arguments":{{"a":{deep}}}}}}}"#
    ));
    let answer = rpc.answer(900);
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("nested"), "{answer}");
    rpc.send_line(r#"{"jsonrpc":"1.0","id":901,"method":"ping"}"#);
    assert_eq!(rpc.answer(901)["error"]["code"], -32600);
}

#[test]
fn a_garbage_line_is_a_parse_error() {
    let mut rpc = connect();
    rpc.send_line("garbage");
    let answer = rpc.wait_for("a parse error", |it| it["error"]["code"] == -32700);
    assert_eq!(answer.get("id"), None, "{answer}");
    // What comes back is not answered, or two servers would go on for ever.
    rpc.send_line(&answer.to_string());
    rpc.send_line("");
    rpc.request("ping", json!({}));
    assert!(rpc.heard.is_empty(), "{:?}", rpc.heard);
}

#[test]
fn of_two_requests_with_one_id_both_are_answered() {
    let mut rpc = connect();
    let wait = json!({ "name": "timeline_query", "arguments": { "kinds": ["note"], "since": 0, "timeout_s": 30 } });
    let request =
        json!({ "jsonrpc": "2.0", "id": "twice", "method": "tools/call", "params": wait });
    rpc.send_line(&request.to_string());
    rpc.send_line(&request.to_string());
    let is_twice = |it: &Value| it["id"] == "twice";
    let refused = rpc.wait_for("a refusal", is_twice);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("in use"), "{refused}");
    rpc.call("timeline_note", json!({ "text": "go on" }));
    let answer = rpc.wait_for("the answer", is_twice);
    assert!(text(&answer["result"]).contains("go on"), "{answer}");
    // An id that has its answer is free again.
    let again = json!({ "jsonrpc": "2.0", "id": "twice", "method": "ping" });
    rpc.send_line(&again.to_string());
    assert_eq!(rpc.wait_for("a pong", is_twice)["result"], json!({}));
}

/// Cline starts a server again that way when it did not answer in time.
#[test]
fn a_frame_is_refused_at_once() {
    let mut rpc = Rpc::start(BIN, MCP);
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": NEWEST_WITH_INITIALIZE, "capabilities": {},
        "clientInfo": { "name": "framed", "version": "0" } } })
    .to_string();
    rpc.send_bytes(format!("Content-Length: {}\r\n\r\n{hello}", hello.len()).as_bytes());
    let refused = rpc.answer(0);
    assert!(refused["error"]["message"].as_str().unwrap().contains("Content-Length"), "{refused}");
    rpc.initialize(NEWEST_WITH_INITIALIZE);
}

#[test]
fn giant_names_are_refused_in_few_words() {
    let mut rpc = connect();
    let giant = "x".repeat(4 << 20);
    let started = Instant::now();
    let id = rpc.ask(&giant, json!({}));
    let answer = rpc.answer(id);
    assert_eq!(answer["error"]["code"], -32601);
    assert!(answer.to_string().len() < 300, "{} bytes", answer.to_string().len());
    for (method, params) in [
        ("resources/read", json!({ "uri": giant })),
        ("prompts/get", json!({ "name": giant })),
        ("resources/subscribe", json!({ "uri": giant })),
    ] {
        let answer = rpc.request(method, params);
        let size = answer["error"]["message"].as_str().unwrap().chars().count();
        assert!(size < 100, "{method}: {size} characters");
    }
    let request = json!({ "jsonrpc": "2.0", "id": giant, "method": "ping" });
    rpc.send_line(&request.to_string());
    let refused = rpc.wait_for("a refusal", |it| it["error"]["code"] == -32600);
    // The id is the client's own: without all of it the answer would be nobody's.
    assert_eq!(refused["id"], giant);
    assert!(refused["error"].to_string().len() < 200, "{}", refused["error"]);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_message_before_the_first_request_does_no_harm() {
    let mut rpc = Rpc::start(BIN, MCP);
    rpc.notify("notifications/cancelled", json!({ "requestId": 1 }));
    rpc.notify("notifications/whatever", json!({}));
    rpc.send_line(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    let answer = rpc.initialize(NEWEST_WITH_INITIALIZE);
    assert_eq!(answer["result"]["serverInfo"]["name"], "holdpoint");
}

#[test]
fn a_client_has_so_many_calls_and_no_more() {
    let mut rpc = connect();
    let wait = json!({ "name": "timeline_query", "arguments": { "kinds": ["note"], "since": 0, "timeout_s": 60 } });
    let waiting: Vec<u64> = (0..64).map(|_| rpc.ask("tools/call", wait.clone())).collect();
    // Requests begin in no fixed order; soon all 64 are under way.
    let refused = until("a refusal", || {
        let answer = rpc.call("server_status", json!({}));
        (answer["isError"] == true).then_some(answer)
    });
    assert!(text(&refused).starts_with("[E_BUSY] 64 calls are under way already"), "{refused}");
    // A cancelled call makes room, and one that ends makes room for the rest.
    rpc.notify("notifications/cancelled", json!({ "requestId": waiting[0] }));
    until("room for a call", || {
        let answer = rpc.call("timeline_note", json!({ "text": "wake up" }));
        (answer["isError"] != true).then_some(())
    });
    for id in &waiting[1..] {
        assert!(text(&rpc.answer(*id)["result"]).contains("wake up"));
    }
}

/// More than any pipe and any queue of ours holds.
const ASKED: u64 = 200_000;

/// A client that asks and never reads must cost us nothing.
#[test]
fn a_client_that_does_not_read_is_not_read() {
    let mut process = Process::start(BIN, MCP);
    let mut stdin = process.child().stdin.take().unwrap();
    let _unread = process.child().stdout.take().unwrap();
    let port = process.port();
    let written = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&written);
    let writer = std::thread::spawn(move || {
        use std::io::Write as _;
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": NEWEST_WITH_INITIALIZE, "capabilities": {},
            "clientInfo": { "name": "deaf", "version": "0" } } });
        writeln!(stdin, "{hello}").unwrap();
        for id in 1..=ASKED {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
            // The pipe fills up, because nobody reads the other end, and breaks at the end of the test.
            if writeln!(stdin, "{line}").is_err() {
                return;
            }
            counts.store(id, Ordering::Relaxed);
        }
    });
    // Others are served meanwhile; and when nothing more was taken for so long, nothing more is.
    let taken = until("a pipe that is full", || {
        let before = written.load(Ordering::Relaxed);
        for _ in 0..50 {
            assert_eq!(http::get(port, "/healthz").send().status, 200);
        }
        (before > 0 && written.load(Ordering::Relaxed) == before).then_some(before)
    });
    assert!(taken < ASKED, "all of {taken} requests were taken");
    let held = held_kb(process.child().id());
    assert!(held < 48 * 1024, "{held} kB for a client that does not read");
    drop(process);
    writer.join().unwrap();
}

/// What a process holds without the pages of its program's file, which are many where it was built to be debugged.
fn held_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Nor does it keep us when it goes: its pipe is full, and nobody will empty it.
#[test]
fn a_client_that_leaves_without_reading_keeps_nobody() {
    use std::io::Write as _;
    let mut process = Process::start(BIN, MCP);
    let mut stdin = process.child().stdin.take().unwrap();
    let _unread = process.child().stdout.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": NEWEST_WITH_INITIALIZE, "capabilities": {},
        "clientInfo": { "name": "deaf", "version": "0" } } });
    writeln!(stdin, "{hello}").unwrap();
    for id in 1..20 {
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }))
            .unwrap();
    }
    drop(stdin);
    let (status, stderr) = process.end();
    assert!(status.success(), "{stderr}");
}

#[test]
fn mcp_ends_with_stdin_and_answers_what_it_was_asked() {
    let mut rpc = connect();
    let port = rpc.process.port();
    assert_eq!(http::get(port, "/healthz").send().status, 200);
    let id = rpc.ask("tools/call", json!({ "name": "server_status", "arguments": {} }));
    rpc.close_stdin();
    assert!(text(&rpc.answer(id)["result"]).starts_with("holdpoint "));
    let (status, stderr) = rpc.process.end();
    assert!(status.success(), "{stderr}");
    assert!(!rpc.process.home.join("port").exists());
}

#[test]
fn a_waiting_call_does_not_keep_the_process_when_stdin_ends() {
    let mut rpc = connect();
    rpc.ask(
        "tools/call",
        json!({ "name": "timeline_query", "arguments": { "since": 999, "timeout_s": 600 } }),
    );
    let started = Instant::now();
    let (status, _) = rpc.finish();
    assert!(status.success());
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn serve_and_keep_alive_outlive_stdin() {
    for args in [&["serve", "--mcp", "--port", "0"][..], &["mcp", "--keep-alive", "--port", "0"]] {
        let mut rpc = Rpc::connect(BIN, args, NEWEST_WITH_INITIALIZE);
        let port = rpc.process.port();
        rpc.call("server_status", json!({}));
        rpc.close_stdin();
        // The client is gone; HTTP is not.
        until("the client to leave", || {
            let page = http::get(port, "/api/events?since=0").stream();
            let mut events = page;
            let left =
                (0..3).filter_map(|_| events.next_data()).any(|it| it.event == "client_left");
            left.then_some(())
        });
        assert_eq!(http::get(port, "/healthz").send().status, 200);
        rpc.process.signal("TERM");
        assert!(rpc.process.end().0.success());
    }
}

/// Without `--mcp` stdin is nobody's, also beside SSE, and stdout stays empty.
#[test]
fn without_the_flag_there_is_no_mcp_on_stdio() {
    for args in [&["serve", "--port", "0"][..], &["serve", "--mcp-sse", "--port", "0"]] {
        let mut server = Process::start(BIN, args);
        let port = server.port();
        let mut stdin = server.child().stdin.take().unwrap();
        let hello = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "nobody", "version": "1" } },
        });
        // Nobody may be there to take it.
        writeln!(stdin, "{hello}").ok();
        drop(stdin);
        let status = http::get(port, "/mcp/sse").stream().status;
        assert_eq!(status == 200, args.contains(&"--mcp-sse"), "{args:?}: {status}");
        assert_eq!(http::get(port, "/healthz").send().status, 200);
        server.signal("TERM");
        let mut said = String::new();
        server.child().stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{args:?}");
        assert!(server.end().0.success());
    }
}

#[test]
fn http_is_on_the_port_that_was_asked_for() {
    // A port that was free a moment ago may be taken by now: one of a few is.
    let found = (0..5).any(|_| {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let args = ["serve", "--mcp", "--port", &free.to_string()];
        let mut rpc = Rpc::connect(BIN, &args, NEWEST_WITH_INITIALIZE);
        let port = rpc.process.port();
        assert_eq!(http::get(port, "/healthz").send().status, 200);
        port == free
    });
    assert!(found);
}

/// Node-based clients hand out socket pairs instead of pipes.
#[test]
fn a_socket_pair_works_like_pipes() {
    let (near_in, far_in) = UnixStream::pair().unwrap();
    let (near_out, far_out) = UnixStream::pair().unwrap();
    let process = Process::start_with(BIN, MCP, |command| {
        command.stdin(Stdio::from(OwnedFd::from(far_in)));
        command.stdout(Stdio::from(OwnedFd::from(far_out)));
    });
    let mut rpc = Rpc::over(process, Box::new(near_in), Box::new(near_out));
    rpc.initialize(NEWEST_WITH_INITIALIZE);
    for _ in 0..100 {
        rpc.call("server_status", json!({}));
    }
    assert!(rpc.finish().0.success());
}

#[test]
fn a_second_server_takes_the_next_port() {
    let home = tempfile::tempdir().unwrap();
    let mut first = Process::start(BIN, &["serve", "--port", "0"]);
    let port = first.port();
    let mut second =
        Process::start_at(BIN, &["serve", "--port", &port.to_string()], home.path(), |_| {});
    assert!(second.port() > port);
    let (code, text, _) = process::run(BIN, &["tool", "server_status"], home.path());
    assert_eq!(code, 0);
    assert!(text.contains(&second.port().to_string()), "{text}");
}

#[test]
fn progress_shows_that_a_waiting_call_is_alive() {
    let mut rpc = connect();
    let params = json!({
        "name": "timeline_query", "arguments": { "since": 999, "timeout_s": 11 },
        "_meta": { "progressToken": "t1" },
    });
    let id = rpc.ask("tools/call", params);
    let answer = rpc.answer(id);
    assert_eq!(text(&answer["result"]), "no event after seq 999");
    let signs: Vec<&Value> =
        rpc.heard.iter().filter(|it| it["method"] == "notifications/progress").collect();
    assert_eq!(signs.len(), 1, "one every ten seconds");
    assert_eq!(signs[0]["params"]["progressToken"], "t1");
    assert_eq!(signs[0]["params"]["message"], "waiting for an event after seq 999");
}
