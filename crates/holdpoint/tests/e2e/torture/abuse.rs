//! Clients and apps that break the rules of their protocol in the middle of a conversation, at random and over every
//! transport. Whoever keeps to them is answered all the time, and nothing of the others stays.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use holdpoint_testkit::{
    calls::Wire,
    http::{get, post, request},
    listen::{Hears as _, Listener},
    process::Process,
    rpc::Rpc,
    until,
};
use serde_json::{Value, json};

use super::{
    BIN,
    seeded::{Dice, rounds},
};

/// Offences in one server's life.
const OFFENCES: usize = 40;

#[test]
fn whoever_breaks_the_protocol_harms_only_themselves() {
    rounds("protocol abuse", 3, |dice| {
        let mut good = Rpc::connect(BIN, &["mcp", "--port", "0", "--mcp-sse"], "2025-11-25");
        let port = good.process.port();
        let handles = handles(&good.process);
        for _ in 0..OFFENCES {
            let offence = OFFENCES_KNOWN[dice.below(OFFENCES_KNOWN.len())];
            offence(dice, &mut good, port);
            let answer = good.request("ping", json!({}));
            assert!(answer.get("result").is_some(), "{answer}");
        }
        Wire::new(port).call("sound", &[json!(1)], &json!(2));
        let status = good.call("server_status", json!({}));
        assert_eq!(status["structuredContent"]["data"]["panics"], 0, "{status}");
        until("closed connections", || {
            (self::handles(&good.process) <= handles + 12).then_some(())
        });
        let (status, stderr) = good.finish();
        assert!(status.success() && !stderr.contains("panicked"), "{status}: {stderr}");
    });
}

fn handles(process: &Process) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", process.id())).unwrap().count()
}

type Offence = fn(&mut Dice, &mut Rpc, u16);

const OFFENCES_KNOWN: &[Offence] =
    &[on_stdio, in_a_session, in_a_stream, of_an_app, of_a_pause, in_the_middle, at_the_head];

/// Messages that are none, beside a good client's on the same pipe.
fn on_stdio(dice: &mut Dice, good: &mut Rpc, _: u16) {
    let id = dice.below(5);
    let line = match dice.below(10) {
        0 => "{".repeat(1 + dice.below(5_000)),
        1 => "[".repeat(1 + dice.below(200)),
        2 => json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }).to_string(),
        3 => json!({ "jsonrpc": "1.0", "id": "x", "method": "ping" }).to_string(),
        4 => json!({ "jsonrpc": "2.0", "id": "never asked", "result": {} }).to_string(),
        5 => json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": "nobody's" } })
        .to_string(),
        6 => json!({ "jsonrpc": "2.0", "id": format!("t{id}"), "method": "tools/call",
                "params": { "name": "x".repeat(dice.below(100_000)), "arguments": [] } })
        .to_string(),
        7 => {
            json!({ "jsonrpc": "2.0", "id": 1.5, "method": "tools/list", "params": 7 }).to_string()
        }
        8 => format!("\u{feff}{}", json!({ "jsonrpc": "2.0", "id": "bom", "method": "ping" })),
        _ => "\u{0}\u{1}\u{2}\r\r\r".to_owned(),
    };
    good.send_line(&line);
    good.heard.clear();
}

/// A session of streamable HTTP that is used wrongly, ended twice, and used after its end.
fn in_a_session(dice: &mut Dice, _: &mut Rpc, port: u16) {
    let mut client = Listener::http(port);
    let session = client.session.clone().unwrap();
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
        "\u{feff}{}",
        "data: {}",
    ];
    for _ in 0..1 + dice.below(4) {
        let body: &&str = dice.of(&bodies);
        let answer = send(port, body, Some(dice_session(dice, &session)));
        assert!(answer < 500, "{answer}");
    }
    // A second stream of one session, and a request beside it.
    drop(
        get(port, "/mcp")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &session)
            .stream(),
    );
    let answer = client.ask("ping", json!({}));
    assert!(answer.get("result").is_some(), "{answer}");
    client.leave();
    for _ in 0..1 + dice.below(2) {
        let ended = request(port, "DELETE", "/mcp", "").header("mcp-session-id", &session).send();
        assert!(ended.status < 500, "{}", ended.status);
    }
    let late = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let late = send(port, &late, Some(&session));
    assert!((400..500).contains(&late), "{late}");
}

fn dice_session<'a>(dice: &mut Dice, session: &'a str) -> &'a str {
    if dice.below(3) == 0 { "no-such-session" } else { session }
}

fn send(port: u16, body: &str, session: Option<&str>) -> u16 {
    let mut post = post(port, "/mcp", body)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        post = post.header("mcp-session-id", session);
    }
    post.send().status
}

/// HTTP+SSE: messages to nobody, before the beginning, and to a stream that has gone.
fn in_a_stream(dice: &mut Dice, _: &mut Rpc, port: u16) {
    let mut events = get(port, "/mcp/sse").stream();
    let endpoint = events.next_data().expect("an endpoint").data;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "server_status" } });
    for body in [call.to_string(), "{".to_owned(), "x".repeat(dice.below(50_000))] {
        let status = post(port, &endpoint, &body).send().status;
        assert!(status < 500, "{status}");
    }
    drop(events);
    for path in [endpoint.as_str(), "/mcp/messages", "/mcp/messages?session_id=nobody"] {
        let status = post(port, path, &call.to_string()).send().status;
        assert!(status < 500, "{path}: {status}");
    }
}

/// Calls that end twice, end before they begin, or are none; existing clients end their program on an error, so
/// each is answered.
fn of_an_app(dice: &mut Dice, _: &mut Rpc, port: u16) {
    let wire = Wire::new(port);
    let started = wire.start("abused", &[json!(1)]);
    let id = started["call_id"].as_str().unwrap().to_owned();
    let answers = [
        wire.post("/api/call/complete", wire.complete_body("0-0", &json!(1))),
        wire.post("/api/call/complete", wire.complete_body(&id, &json!(1))),
        wire.post("/api/call/complete", wire.complete_body(&id, &json!(2))),
        wire.post("/api/call/start", json!({})),
        wire.post("/api/call/start", wire.start_body("abused", &[], json!({ "args": 7 }))),
        wire.post(
            "/api/call/start",
            wire.start_body("abused", &[], json!({ "args": [{ "cid": "short", "data": "1" }] })),
        ),
        wire.post("/api/call/batch", json!({ "calls": vec![Value::Null; dice.below(50)] })),
        wire.post("/api/call/event", json!({ "call_id": id, "event_type": "x".repeat(9_000) })),
    ];
    for (status, answer) in answers {
        assert!(status < 500, "{status}: {answer}");
    }
}

/// Pauses that nobody has, that are decided twice, and by rubbish.
fn of_a_pause(dice: &mut Dice, _: &mut Rpc, port: u16) {
    let wire = Wire::new(port);
    let name = format!("held_{}", dice.below(1_000_000));
    wire.add(&name, "stop");
    let started = wire.start(&name, &[json!(1)]);
    let poll = started["poll_url"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let decide = poll.replace("/api/poll/", "/api/paused/") + "/continue";
    for body in [json!({ "action": "fly" }), json!({ "action": "Continue" })] {
        let (status, answer) = wire.post(&decide, body.clone());
        assert!((400..500).contains(&status), "{body}: {status}: {answer}");
    }
    let nobody = wire.post("/api/paused/nobody/continue", json!({ "action": "continue" }));
    assert_eq!(nobody.1["resumed"], false, "{nobody:?}");
    wire.ok(&decide, json!({ "action": "continue" }));
    let again = wire.post(&decide, json!({ "action": "continue" }));
    assert!(again.0 < 500, "{again:?}");
    assert_eq!(wire.get(&poll)["status"], "ready");
    wire.ok(&format!("/api/breakpoints/{name}/after_behavior"), json!({ "behavior": "go" }));
    wire.complete(&started["call_id"], &json!(1));
}

/// A request that stops in the middle of its body.
fn in_the_middle(dice: &mut Dice, _: &mut Rpc, port: u16) {
    let paths = ["/mcp", "/api/call/start", "/api/call/batch", "/mcp/messages?session_id=x"];
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let body = "{\"jsonrpc\":\"2.0\"".repeat(1 + dice.below(100));
    let length = body.len() + 1 + dice.below(1_000);
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}",
        dice.of(&paths)
    );
    stream.write_all(head.as_bytes()).unwrap();
}

/// What is no request at all.
fn at_the_head(dice: &mut Dice, _: &mut Rpc, port: u16) {
    let heads: &[&[u8]] = &[
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /api/events\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
        b"Content-Length: 10\r\n\r\n{}",
        b"\r\n\r\n\r\n\r\n",
    ];
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head: &&[u8] = dice.of(heads);
    stream.write_all(head).unwrap();
    if dice.below(2) == 0 {
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A reset is an end, too; only silence is none.
        let end = stream.read_to_end(&mut answer);
        let is_silent = end.is_err_and(|it| it.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_silent, "{}", String::from_utf8_lossy(&answer));
    }
}
