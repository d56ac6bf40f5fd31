//! Apps with several connections are served by two threads, and nobody can tell which: what one makes
//! known the other knows, whoever waits is answered, and a server that stops tells both.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpStream},
    thread,
};

use holdpoint_testkit::{
    calls::{Wire, item, merge, prefixed},
    process::Process,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, Wire) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    (process, Wire::new(port))
}

/// A connection that is kept, as our own clients keep theirs.
struct Kept {
    stream: TcpStream,
    wire: Wire,
}

impl Kept {
    fn to(wire: &Wire) -> Kept {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, wire.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Kept { stream, wire: wire.clone() }
    }

    /// Two of which each is served by another thread: the second one when the first is known to the server.
    fn two(wire: &Wire) -> [Kept; 2] {
        [(); 2].map(|()| {
            let mut kept = Kept::to(wire);
            kept.call("warm", &json!("up"));
            kept
        })
    }

    fn send(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.stream.write_all((head + &body).as_bytes()).unwrap();
        let mut came = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&came);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                assert!(head.starts_with("HTTP/1.1 200"), "{head}");
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() >= length.unwrap().parse::<usize>().unwrap() {
                    return serde_json::from_str(body).unwrap();
                }
            }
            let mut part = [0; 4096];
            let count = self.stream.read(&mut part).unwrap();
            assert!(count > 0, "the server closed the connection after {text:?}");
            came.extend(&part[..count]);
        }
    }

    fn start(&mut self, name: &str, item: Value) -> Value {
        let body = json!({ "args": [item] });
        let body = self.wire.start_body(name, &[], body);
        self.send("POST", "/api/call/start", &body)
    }

    fn complete(&mut self, call_id: &Value, result: &Value) -> Value {
        let mut body = json!({ "call_id": call_id, "status": "success" });
        merge(&mut body, prefixed("result", &item(result)));
        self.send("POST", "/api/call/complete", &body)
    }

    fn call(&mut self, name: &str, argument: &Value) -> Value {
        let call_id = self.start(name, item(argument))["call_id"].clone();
        assert_eq!(self.complete(&call_id, argument)["status"], "ok");
        call_id
    }
}

/// Whether the server has a thread for half of the apps' connections.
fn has_second_thread(process: &Process) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", process.id())).unwrap();
    let names = threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")));
    names.flatten().any(|name| name.trim() == "holdpoint-calls")
}

#[test]
fn one_connection_needs_one_thread_and_the_second_gets_another() {
    let (process, wire) = serve();
    let mut first = Kept::to(&wire);
    first.call("f", &json!(1));
    assert!(!has_second_thread(&process));
    let mut second = Kept::to(&wire);
    second.call("f", &json!(2));
    assert!(has_second_thread(&process));
    // The call of one may be ended by the other, and both are recorded.
    let begun = first.start("g", item(&json!(3)));
    assert_eq!(second.complete(&begun["call_id"], &json!(4))["status"], "ok");
    let calls = wire.get("/api/calls");
    let lines: Vec<&str> =
        calls["calls"].as_array().unwrap().iter().map(|it| it["line"].as_str().unwrap()).collect();
    assert_eq!(lines, ["g(3) → 4", "f(2) → 2", "f(1) → 1"], "{calls}");
}

#[test]
fn what_one_thread_was_sent_the_other_knows() {
    let (_process, wire) = serve();
    let [mut first, mut second] = Kept::two(&wire);
    for number in 0..200 {
        let whole = item(&json!({ "number": number }));
        assert_eq!(first.start("f", whole.clone())["action"], "continue");
        let reference = json!({ "cid": whole["cid"], "serialization_format": "json" });
        assert_eq!(second.start("f", reference)["action"], "continue", "{number}");
    }
}

/// Many at once on both threads: every call is there once, with its own values.
#[test]
fn nothing_is_lost_or_mixed_up_between_them() {
    let (_process, wire) = serve();
    let apps: Vec<_> = (0..6)
        .map(|app| {
            let wire = wire.clone();
            thread::spawn(move || {
                let mut kept = Kept::to(&wire);
                let name = format!("app{app}");
                (0..100).map(|n| kept.call(&name, &json!([app, n]))).collect::<Vec<_>>()
            })
        })
        .collect();
    for (app, ids) in apps.into_iter().map(|app| app.join().unwrap()).enumerate() {
        let page = wire.get(&format!("/api/calls?function_name=app{app}"));
        assert_eq!(page["total_count"], 100, "app{app}");
        for (n, id) in ids.iter().enumerate() {
            let call = &wire.get(&format!("/api/calls/{}", id.as_str().unwrap()))["call"];
            assert_eq!(call["pretty_args"], json!([[app, n]]));
            assert_eq!(call["pretty_result"], json!([app, n]));
        }
    }
}

#[test]
fn whoever_waits_on_either_thread_is_answered() {
    let (process, wire) = serve();
    let kept = Kept::two(&wire);
    wire.add("f", "stop");
    for mut kept in kept {
        let started = kept.start("f", item(&json!(1)));
        let url = started["poll_url"].as_str().unwrap().to_owned();
        let id = url.strip_prefix("/api/poll/").unwrap().to_owned();
        let waiting =
            thread::spawn(move || kept.send("GET", &format!("{url}?hold_s=30"), &json!({})));
        let body = json!({ "action": "skip", "fake_result": 7 });
        let paused = until("the pause", || wire.get("/api/paused")["paused"].get(0).cloned());
        assert_eq!(paused["id"], json!(id));
        wire.ok(&format!("/api/paused/{id}/continue"), body);
        let polled = waiting.join().unwrap();
        assert_eq!(polled["action"]["action"], "skip", "{polled}");
    }
    assert!(has_second_thread(&process));
}

#[test]
fn a_server_that_stops_lets_everybody_go_on() {
    let (mut process, wire) = serve();
    let kept = Kept::two(&wire);
    wire.add("f", "stop");
    let waiting = kept.map(|mut kept| {
        let started = kept.start("f", item(&json!(1)));
        let path = format!("{}?hold_s=30", started["poll_url"].as_str().unwrap());
        thread::spawn(move || kept.send("GET", &path, &json!({})))
    });
    until("both pauses", || {
        (wire.get("/api/paused")["paused"].as_array()?.len() == 2).then_some(())
    });
    process.signal("TERM");
    for waiting in waiting {
        let polled = waiting.join().unwrap();
        assert_eq!(polled["action"]["action"], "continue", "{polled}");
    }
    assert_eq!(process.end().0.code(), Some(0));
}
