//! What nobody should send: bodies of any size, pickles that are bombs, connections without end.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use holdpoint_testkit::{
    DEADLINE,
    calls::{Wire, cid, item},
    process::Process,
};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, Wire) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    (process, Wire::new(port))
}

/// Sends `head`, then so many bytes of filler, then `tail`; the answer.
fn upload(port: u16, path: &str, head: &str, megabytes: usize, tail: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let filler = vec![b'x'; 1024 * 1024];
    let length = head.len() + megabytes * filler.len() + tail.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{head}"
    )
    .unwrap();
    for _ in 0..megabytes {
        stream.write_all(&filler).unwrap();
    }
    stream.write_all(tail.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A value too large to look at does not end the program that sent it, and costs no memory.
#[test]
fn a_call_too_large_to_capture_goes_on() {
    let (process, wire) = serve();
    let tail = format!(
        "\"}}], \"process_pid\": {}, \"process_start_time\": 1.5, \"method_name\": \"f\"}}",
        wire.pid
    );
    let answer = upload(
        wire.port,
        "/api/call/start",
        "{\"args\": [{\"cid\": \"a\", \"data\": \"",
        200,
        &tail,
    );
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\"action\":\"continue\"") && answer.contains("\"call_id\""));
    // The end of a call is known by what stands before the result.
    let started = wire.start("g", &[]);
    let head = format!(
        "{{\"call_id\": {}, \"status\": \"success\", \"result_cid\": \"a\", \"result_data\": \"",
        started["call_id"]
    );
    let answer = upload(wire.port, "/api/call/complete", &head, 100, "\"}");
    assert!(answer.ends_with("{\"status\":\"ok\"}"), "{answer}");
    assert_eq!(wire.get("/api/calls?function_name=g")["total_count"], 1);
    assert!(process.rss_kb() < 100 * 1024, "{} kB", process.rss_kb());
}

#[test]
fn pickles_that_are_bombs_are_only_data() {
    let (process, wire) = serve();
    // os.system("…"), a list in a list ten thousand times, a memo without end, nothing at all.
    let call = b"cposix\nsystem\n(S'touch /tmp/holdpoint-was-here'\ntR.".to_vec();
    let deep = [vec![b'('; 10_000], vec![b'l'; 10_000], vec![b'.']].concat();
    let billion = {
        let mut bytes = b"\x80\x04]\x94".to_vec();
        for _ in 0..60 {
            bytes.extend(b"(h\x00h\x00e\x85\x94");
        }
        bytes.push(b'.');
        bytes
    };
    for bytes in [
        call,
        deep,
        billion,
        Vec::new(),
        vec![0x80; 1000],
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec(),
    ] {
        let data = base64(&bytes);
        let item = json!({ "cid": cid(&bytes), "data": data });
        let body = wire.start_body("f", &[], json!({ "args": [item], "preferred_format": "dill" }));
        let started = wire.ok("/api/call/start", body);
        wire.complete(&started["call_id"], &json!(1));
        let record = wire.get("/api/calls?limit=1")["calls"][0].clone();
        assert!(record["pretty_args"][0].as_str().unwrap().len() < 2_000, "{record}");
        assert!(wire.get(&format!("/api/objects/{}", cid(&bytes)))["repr"].is_string());
    }
    assert!(!std::path::Path::new("/tmp/holdpoint-was-here").exists());
    assert!(process.rss_kb() < 128 * 1024, "{} kB", process.rss_kb());
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[test]
fn requests_that_break_off_change_nothing() {
    let (_process, wire) = serve();
    let body = wire.start_body("f", &[json!(1)], json!({})).to_string();
    for cut in [0, 1, body.len() / 2, body.len() - 1] {
        let mut stream = TcpStream::connect(("127.0.0.1", wire.port)).unwrap();
        write!(
            stream,
            "POST /api/call/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{}",
            body.len(),
            body.get(..cut).unwrap()
        )
        .unwrap();
    }
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 0);
    assert_eq!(wire.start("f", &[json!(1)])["action"], "continue");
}

/// Calls whose end is never told are given up, the oldest first.
#[test]
fn calls_without_an_end_are_bounded() {
    let (process, wire) = serve();
    let value = item(&json!("x"));
    for _ in 0..200 {
        let body = wire.start_body("f", &[], json!({ "args": [value] }));
        wire.ok("/api/call/start", body);
    }
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 200);
    assert!(process.rss_kb() < 100 * 1024);
}
