//! Requests on sockets: request lines, headers and bodies on every route, and over each transport of MCP.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use holdpoint_testkit::{
    calls::Wire,
    http::get,
    listen::{Hears as _, Listener},
    process::Process,
};
use serde_json::{Value, json};

use super::{
    ANSWER, BIN, LOOK_EVERY, Plan, Watch, corpus,
    mutate::{self, Random},
};

/// Connections at once.
const LANES: u64 = 6;
/// How long an answer is waited for before our end of the connection is closed, which ends every wait.
const PATIENCE: Duration = Duration::from_millis(25);

#[test]
fn mutated_requests_are_answered_or_refused() {
    let plan = Plan::read();
    let mut server = Process::start(BIN, &["serve", "--port", "0", "--mcp-sse"]);
    let port = server.port();
    let sound = sound(port);
    let mut watch = Watch::over(&server, &plan);
    let answered = AtomicU64::new(0);
    let mut first = plan.first;
    while first < plan.first + plan.count {
        let next = (first + LOOK_EVERY).min(plan.first + plan.count);
        thread::scope(|scope| {
            for lane in 0..LANES {
                let (sound, answered) = (&sound, &answered);
                let seeds = (first + lane..next).step_by(LANES as usize);
                scope.spawn(move || {
                    let mut line = Line { port, stream: None };
                    for seed in seeds {
                        answered.fetch_add(line.send(sound, seed), Ordering::Relaxed);
                    }
                });
            }
        });
        is_well(port, &watch.since(next));
        watch.well(next);
        first = next;
    }
    watch.tell(&plan, "HTTP requests");
    let answered = answered.into_inner();
    println!("{answered} of them were answered");
    // Requests that all break off would test nothing behind the reader.
    assert!(answered > plan.count / 2, "only {answered}");
    server.signal("TERM");
    let (status, stderr) = server.end();
    assert!(status.success() && !stderr.contains("panicked"), "{status}: {stderr}");
}

/// A good request, a good call and no panic.
#[track_caller]
fn is_well(port: u16, since: &str) {
    let health = get(port, "/healthz").try_send();
    let health = health.unwrap_or_else(|error| panic!("{error}: {since}"));
    assert_eq!(health.status, 200, "{}: {since}", health.body);
    Wire::new(port).call("well", &[json!(1)], &json!(2));
    let mut client = Listener::http(port);
    let status = client.tool("server_status", json!({}));
    assert_eq!(status["structuredContent"]["data"]["panics"], 0, "{status}: {since}");
    client.leave();
}

struct Sound {
    method: String,
    path: String,
    body: Option<Value>,
    headers: &'static str,
}

const MCP: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                   MCP-Protocol-Version: 2025-11-25\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

/// Every route with every method that it has, and MCP.
fn sound(port: u16) -> Vec<Sound> {
    let document = get(port, "/openapi.json").send().json();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, about) in methods.as_object().unwrap() {
            let schema = &about["requestBody"]["content"]["application/json"]["schema"];
            let mut body = (!schema.is_null()).then(|| corpus::sample(schema, &document));
            fill(path, &mut body);
            let path = path.replace(['{', '}'], "");
            all.push(Sound { method: method.to_uppercase(), path, body, headers: JSON });
        }
    }
    let wire = Wire::new(port);
    let start = wire.start_body("fuzzed", &[json!({ "a": [1, "b"] })], json!({}));
    for (path, body) in [
        ("/api/call/start", start),
        ("/api/call/complete", wire.complete_body("1-1", &json!("done"))),
        ("/api/breakpoints", json!({ "function_name": "fuzzed", "behavior": "go" })),
    ] {
        let path = path.to_owned();
        all.push(Sound { method: "POST".into(), path, body: Some(body), headers: JSON });
    }
    for method in ["initialize", "ping", "tools/call"] {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "fuzz", "version": "0" }, "name": "server_status" });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        for path in ["/mcp", "/mcp/sse", "/mcp/messages?session_id=x"] {
            let body = Some(body.clone());
            all.push(Sound { method: "POST".into(), path: path.into(), body, headers: MCP });
        }
    }
    all
}

/// Who calls, where the schema only says that it is a number: else every body ends at the first look.
fn fill(path: &str, body: &mut Option<Value>) {
    if let (true, Some(Value::Object(body))) = (path.starts_with("/api/call"), body) {
        body.insert("process_pid".into(), json!(std::process::id()));
        body.insert("process_start_time".into(), json!(1_700_000_000.5));
    }
}

/// One request, changed: most often in one place only, so that what is behind it is reached.
fn one(sound: &[Sound], port: u16, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let Sound { method, path, body, headers } = random.of(sound);
    let mut path = path.clone().into_bytes();
    let mut body = body.as_ref().map(Value::to_string).unwrap_or_default().into_bytes();
    let mut headers = headers.as_bytes().to_vec();
    let what = random.below(8);
    if what == 0 {
        mutate::bytes(&mut random, &mut path, b"/api/calls?limit=1&x=%ff");
        path.retain(|byte| *byte > b' ');
    }
    if what == 1 {
        mutate::bytes(&mut random, &mut headers, b"Origin: http://localhost:3000\r\n");
    }
    if what > 2 && !body.is_empty() {
        let sound: Value = serde_json::from_slice(&body).unwrap();
        body = mutate::message(&mut random, &sound, b"{\"process_pid\":1}");
    }
    let mut request = [method.as_bytes(), b" ", &path, b" HTTP/1.1\r\n"].concat();
    request.extend(format!("Host: 127.0.0.1:{port}\r\n").bytes());
    request.extend(&headers);
    if !body.is_empty() && !random.one_in(50) {
        request.extend(format!("Content-Length: {}\r\n", body.len()).bytes());
    }
    request.extend(b"\r\n");
    request.extend(&body);
    if what == 2 {
        let changes = 1 + random.below(3);
        (0..changes)
            .for_each(|_| mutate::bytes(&mut random, &mut request, b"chunked\r\n0\r\n\r\n"));
    }
    request
}

/// A connection that is used again while the server keeps it.
struct Line {
    port: u16,
    stream: Option<TcpStream>,
}

impl Line {
    /// How many answers came: one or none.
    fn send(&mut self, sound: &[Sound], seed: u64) -> u64 {
        let request = one(sound, self.port, seed);
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(self.port, seed),
        };
        // A server that refuses may close before all of it is sent.
        let sent = stream.write_all(&request);
        let mut answer = Vec::new();
        match (sent, read(&mut stream, &mut answer, PATIENCE)) {
            (Ok(()), End::Whole) => {
                self.stream = Some(stream);
                return 1;
            }
            // An event stream is an answer.
            (_, End::Waits) if answer.is_empty() => {}
            _ => return u64::from(answer.starts_with(b"HTTP/1.1 ")),
        }
        // It waits for more of the request: with our end it must end, too.
        if stream.shutdown(Shutdown::Write).is_err() {
            return 0;
        }
        let end = read(&mut stream, &mut answer, ANSWER);
        let is_over = !matches!(end, End::Waits) || answer.starts_with(b"HTTP/1.1 200");
        assert!(is_over, "no end: HOLDPOINT_FUZZ_SEED={seed} HOLDPOINT_FUZZ_COUNT=1");
        u64::from(answer.starts_with(b"HTTP/1.1 "))
    }
}

fn connect(port: u16, seed: u64) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port));
    let stream = stream.unwrap_or_else(|error| panic!("{error} at HOLDPOINT_FUZZ_SEED={seed}"));
    stream.set_nodelay(true).unwrap();
    stream
}

enum End {
    /// A whole answer; the connection stays.
    Whole,
    /// The connection has ended.
    Over,
    /// Nothing more came in time.
    Waits,
}

fn read(stream: &mut TcpStream, answer: &mut Vec<u8>, patience: Duration) -> End {
    stream.set_read_timeout(Some(patience)).unwrap();
    let mut chunk = [0; 16 * 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return End::Over,
            Ok(count) => answer.extend(&chunk[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return End::Waits;
            }
            Err(_) => return End::Over,
        }
        if is_whole(answer) {
            return End::Whole;
        }
    }
}

fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|it| it == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    if head.contains("connection: close") {
        return false;
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    match length.and_then(|it| it.trim().parse::<usize>().ok()) {
        Some(length) => answer.len() == end + 4 + length,
        None => head.contains("chunked") && answer.ends_with(b"0\r\n\r\n"),
    }
}
