//! Crowds of clients that want nothing any more: abandoned sessions, bodies that never end, idle streams. Apps and
//! new clients find their places all the same.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use holdpoint_testkit::{
    calls::Wire,
    http::{Events, Response, get, post},
    listen::{Hears as _, Listener},
    process::Process,
    until,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, u16) {
    let mut server = Process::start(BIN, &["serve", "--port", "0"]);
    let port = server.port();
    (server, port)
}

fn initialize(port: u16) -> Response {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "crowd", "version": "0" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    post(port, "/mcp", &body.to_string())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .send()
}

#[test]
fn abandoned_sessions_make_room_and_one_in_use_stays() {
    let (server, port) = serve();
    let first = initialize(port);
    let session = first.header("mcp-session-id").expect("a session").to_owned();
    let in_use = get(port, "/mcp")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &session)
        .stream();
    assert_eq!(in_use.status, 200);
    let before = server.rss_kb();
    for number in 0..1_500 {
        let answer = initialize(port);
        assert_eq!(answer.status, 200, "{number}: {}", answer.body);
        assert!(answer.header("mcp-session-id").is_some(), "{number}: {}", answer.body);
    }
    let grown = server.rss_kb().saturating_sub(before);
    assert!(grown < 120_000, "{grown} kB for sessions that nobody uses");
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }).to_string();
    let ping = post(port, "/mcp", &body)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", &session)
        .send();
    assert_eq!(ping.status, 200, "{}", ping.body);
}

fn stalled(port: u16) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).ok()?;
    Some(stream)
}

#[test]
fn bodies_that_never_end_leave_the_places_of_apps() {
    let (_server, port) = serve();
    let wire = Wire::new(port);
    wire.call("f", &[json!(1)], &json!(2));
    let mut crowd: Vec<TcpStream> = (0..1_100).filter_map(|_| stalled(port)).collect();
    assert!(crowd.len() > 1_000, "{}", crowd.len());
    for number in 0..20 {
        wire.call("f", &[json!(number)], &json!(2));
    }
    // Those past the bound are told so.
    let last = crowd.last_mut().unwrap();
    last.set_read_timeout(Some(holdpoint_testkit::DEADLINE)).unwrap();
    let mut said = [0; 12];
    last.read_exact(&mut said).unwrap();
    assert_eq!(String::from_utf8_lossy(&said), "HTTP/1.1 503");
}

#[test]
fn idle_event_streams_leave_the_places_of_apps() {
    let (_server, port) = serve();
    let wire = Wire::new(port);
    let open = |_| get(port, "/api/events").stream();
    let crowd: Vec<Events> = (0..1_000).map(open).collect();
    let refused = crowd.iter().filter(|it| it.status == 503).count();
    assert!(refused > 0, "all were taken");
    until("a call", || wire.try_call("f", &[json!(1)], &json!(2)));
}

/// Processor time that a server has used.
fn ticks(server: &Process) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|it| it.parse::<u64>().unwrap()).sum()
}

#[test]
fn what_happens_costs_nothing_for_those_who_left() {
    let (server, port) = serve();
    let mut client = Listener::http(port);
    let mut notes = || {
        let before = ticks(&server);
        for number in 0..300 {
            client.tool("timeline_note", json!({ "text": format!("note {number}") }));
        }
        client.forget();
        ticks(&server) - before
    };
    let alone = notes();
    for _ in 0..300 {
        let session = initialize(port).header("mcp-session-id").expect("a session").to_owned();
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let begun = post(port, "/mcp", &begun.to_string())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", &session)
            .send();
        assert_eq!(begun.status, 202, "{}", begun.body);
    }
    let crowded = notes();
    // In hundredths of a second: with each of them told, more than ten seconds.
    assert!(crowded <= alone * 3 + 50, "{alone} before, {crowded} with those who left");
}
