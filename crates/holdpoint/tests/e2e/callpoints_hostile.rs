//! What nobody should send: bodies of any size, pickles that are bombs, connections without end.
//!
//! With `HOLDPOINT_HOSTILE=full` as much of it as there may be: bodies of 1 GB, a million mutated pickles,
//! 10,000 connections (which need `ulimit -n 11000`). Otherwise less, in seconds.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    thread,
    time::{Duration, Instant},
};

use holdpoint_testkit::{
    DEADLINE,
    calls::{Wire, cid, item},
    process::Process,
    until,
};
use serde_json::json;

/// As `limits::BODY_STALL` has it.
const STALL: Duration = Duration::from_secs(30);

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn full() -> bool {
    std::env::var("HOLDPOINT_HOSTILE").is_ok_and(|it| it == "full")
}

fn serve() -> (Process, Wire) {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    (process, Wire::new(port))
}

/// A server that may open 256 files, so half as many connections.
fn serve_few() -> (Process, Wire) {
    let script = "ulimit -n 256; exec \"$0\" serve --port 0";
    let mut process = Process::start("sh", &["-c", script, BIN]);
    let port = process.port();
    (process, Wire::new(port))
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Sends these bytes on a connection of their own; all that comes back until its end.
fn raw(port: u16, bytes: &[u8]) -> String {
    let mut stream = connect(port);
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A server that refused what it did not read may reset the connection after its answer.
    let ended = stream.read_to_end(&mut answer);
    assert!(ended.is_ok() || !answer.is_empty(), "{ended:?}");
    String::from_utf8(answer).unwrap()
}

fn request(path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
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
        if full() { 1024 } else { 200 },
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
    let megabytes = if full() { 1024 } else { 100 };
    let answer = upload(wire.port, "/api/call/complete", &head, megabytes, "\"}");
    assert!(answer.ends_with("{\"status\":\"ok\"}"), "{answer}");
    assert_eq!(wire.get("/api/calls?function_name=g")["total_count"], 1);
    println!("after two large bodies: {} kB", process.rss_kb());
    assert!(process.rss_kb() < 100 * 1024, "{} kB", process.rss_kb());
}

/// The same in pieces that do not say how many there will be, and where nobody's program depends on it.
#[test]
fn a_body_without_an_end_in_sight_is_read_or_refused() {
    let (process, wire) = serve();
    let megabytes = if full() { 1024 } else { 40 };
    for (path, status) in [("/api/call/start", "200 OK"), ("/mcp", "413 Payload Too Large")] {
        let mut stream = connect(wire.port);
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        .unwrap();
        let chunk = [b"100000\r\n".to_vec(), vec![b'x'; 0x10_0000], b"\r\n".to_vec()].concat();
        // A server that has refused it may close its end.
        let sent = (0..megabytes).take_while(|_| stream.write_all(&chunk).is_ok()).count();
        stream.write_all(b"0\r\n\r\n").unwrap_or_default();
        let mut answer = [0; 64];
        let length = stream.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}, {sent} MB: {answer}");
    }
    println!("after two endless bodies: {} kB", process.rss_kb());
    assert!(process.rss_kb() < 100 * 1024, "{} kB", process.rss_kb());
}

#[test]
fn what_is_no_call_is_refused_with_a_reason() {
    let (process, wire) = serve();
    let good = wire.start_body("f", &[json!(1)], json!({}));
    let with = |change: serde_json::Value| wire.start_body("f", &[], json!({ "args": [change] }));
    let text = |body: serde_json::Value| body.to_string().into_bytes();
    let value = item(&json!("v"));
    let cases: Vec<(&str, Vec<u8>, &str, &str)> = vec![
        ("application/json", b"{".to_vec(), "400", "invalid request body"),
        ("application/json", Vec::new(), "400", "invalid request body"),
        ("application/json", b"\xff\xfe{}".to_vec(), "400", "invalid request body"),
        ("application/json", b"[1]".to_vec(), "400", "invalid request body"),
        ("application/json", b"{}".to_vec(), "400", "missing_process_identity"),
        ("application/json", vec![b'['; 200_000], "400", "invalid request body"),
        ("text/plain", text(good.clone()), "415", "Content-Type must be application/json"),
        (
            "application/json",
            text(with(
                json!({ "cid": cid(b"other"), "data": value["data"], "serialization_format": "json" }),
            )),
            "400",
            "cid_mismatch",
        ),
        (
            "application/json",
            text(with(
                json!({ "cid": "f".repeat(100_000), "data": value["data"], "serialization_format": "json" }),
            )),
            "400",
            "cid_mismatch",
        ),
        (
            "application/json",
            text(with(json!({ "cid": cid(b"nobody sent it") }))),
            "400",
            "cid_not_found",
        ),
        (
            "application/json",
            text(with(json!({ "cid": cid(b"x"), "data": "\u{0}" }))),
            "400",
            "cid_mismatch",
        ),
        (
            "application/json",
            text(wire.start_body("f", &[], json!({ "process_pid": "one" }))),
            "400",
            "missing_process_identity",
        ),
    ];
    for (kind, body, status, error) in &cases {
        let answer = raw(wire.port, &request("/api/call/start", kind, body));
        let shown: String = answer.chars().take(400).collect();
        let head = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&head) && answer.contains(error), "{error}: {shown}");
    }
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    assert!(raw(wire.port, long.as_bytes()).starts_with("HTTP/1.1 431 "));
    assert!(raw(wire.port, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").starts_with("HTTP/1.1 400 "));
    // None of them left anything behind, and the right one is taken.
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 0);
    assert_eq!(wire.ok("/api/call/start", good)["action"], "continue");
    assert!(process.rss_kb() < 100 * 1024, "{} kB", process.rss_kb());
}

/// What JSON libraries write and others do not read: Python escapes lone surrogates (the name of a file
/// that is no UTF-8 has them) and writes what is no number as it is.
const ODD: &[&[u8]] = &[
    br#""bad caf\udce9""#,
    br#""\ud83d""#,
    br#""\uDE00\ud83d\ud83d\ude00""#,
    br#""\\\udce9\"""#,
    br#""\u0000\ufdd0""#,
    b"\"wtf \xed\xb3\xa9 and latin \xe9\"",
    b"\"a\ttab and a\nline\"",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"1180591620717411303425",
    b"[[Infinity], {\"a\": NaN}]",
];

/// A body with one of them in each place where an app says something.
fn odd_bodies(wire: &Wire, odd: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let who = format!("\"process_pid\": {}, \"process_start_time\": {:?}", wire.pid, wire.start);
    let mut all = Vec::new();
    let mut add = |path: &'static str, body: &str| {
        let (before, after) = body.split_once("@").unwrap();
        let after = after.replace("WHO", &who);
        let before = before.replace("WHO", &who);
        all.push((path, [before.as_bytes(), odd, after.as_bytes()].concat()));
    };
    for field in ["signature", "page_url", "thread_id", "thread_name", "task", "other", "args"] {
        let body = format!("{{\"method_name\": \"f\", WHO, \"{field}\": @}}");
        add("/api/call/start", &body);
    }
    add("/api/call/start", r#"{"method_name": @, WHO}"#);
    add("/api/call/start", r#"{WHO, "call_site": {"timestamp": @, "stack_trace": []}}"#);
    add(
        "/api/call/start",
        r#"{WHO, "call_site": {"stack_trace": [{"filename": @, "lineno": 1}]}}"#,
    );
    add("/api/call/start", r#"{WHO, "args": [{"client_ref": @}]}"#);
    if odd.starts_with(b"\"") {
        add("/api/call/start", r#"{WHO, "kwargs": {@: {}}}"#);
        add("/api/functions", r#"{"function_name": @, "signature": "(a)"}"#);
        add("/api/breakpoints", r#"{"function_name": @}"#);
    }
    for field in ["exception_message", "exception_traceback", "exception_type", "timestamp", "x"] {
        let body = format!("{{\"call_id\": \"none\", \"status\": \"exception\", \"{field}\": @}}");
        add("/api/call/complete", &body);
    }
    add(
        "/api/functions",
        r#"{"function_name": "f", "signature": @, "function_metadata": {"a": 1}}"#,
    );
    add("/api/functions", r#"{"function_name": "f", "function_metadata": {"module": @}}"#);
    for field in ["pretty_args", "pretty_result", "exception", "status", "timestamp"] {
        let body = format!("{{WHO, \"method_name\": \"e\", \"{field}\": @}}");
        add("/api/call/event", &body);
    }
    add("/api/call/batch", r#"{WHO, "values": [], "process": {"argv": @}, "calls": []}"#);
    let call = r#""method_name": "b", "started_at": 1, "completed_at": 2"#;
    let body =
        format!("{{WHO, \"calls\": [{{{call}, \"exception_message\": @}}], \"values\": []}}");
    add("/api/call/batch", &body);
    add("/api/report-com-error", r#"{"summary": @}"#);
    all
}

#[test]
fn nothing_that_an_app_can_say_ends_it() {
    let (_process, wire) = serve();
    for odd in ODD {
        for (path, body) in odd_bodies(&wire, odd) {
            let answer = raw(wire.port, &request(path, "application/json", &body));
            let body = String::from_utf8_lossy(&body);
            assert!(answer.starts_with("HTTP/1.1 200 "), "{path} {body}: {answer}");
            let wanted = if path.ends_with("start") { "\"action\":\"continue\"" } else { "\"ok\"" };
            assert!(answer.contains(wanted), "{path} {body}: {answer}");
        }
    }
}

/// And what it said is found, as Python would show it.
#[test]
fn what_is_no_unicode_is_recorded_as_python_shows_it() {
    let (_process, wire) = serve();
    let post = |path: &str, body: &str| {
        let body = body.replace('@', r"caf\udce9");
        let answer = raw(wire.port, &request(path, "application/json", body.as_bytes()));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        answer
    };
    post("/api/breakpoints", r#"{"function_name": "f@", "behavior": "stop"}"#);
    let frame = r#"{"filename": "/tmp/@.py", "lineno": 3, "function": "g"}"#;
    let started = post(
        "/api/call/start",
        &format!(
            "{{\"method_name\": \"f@\", \"process_pid\": {}, \"process_start_time\": 1.5, \
             \"kwargs\": {{\"k@\": {{}}}}, \"call_site\": {{\"stack_trace\": [{frame}]}}}}",
            wire.pid
        ),
    );
    // The callpoint is that of the function.
    assert!(started.contains("\"action\":\"poll\""), "{started}");
    let shown = r"caf\udce9";
    let data = wire.paused()["call_data"].clone();
    assert_eq!(data["method_name"], format!("f{shown}"));
    assert_eq!(data["pretty_kwargs"], json!({ format!("k{shown}"): "<missing cid>" }));
    assert_eq!(data["call_site"]["stack_trace"][0]["filename"], format!("/tmp/{shown}.py"));
    let call_id = data["call_id"].as_str().unwrap();
    let end = r#"{"call_id": "ID", "status": "exception", "exception_type": "ValueError",
        "exception_message": "bad @"}"#;
    post("/api/call/complete", &end.replace("ID", call_id));
    let call = wire.get(&format!("/api/calls/{call_id}"))["call"].clone();
    assert_eq!(call["exception"]["message"], format!("bad {shown}"));
    assert_eq!(call["line"], format!("f{shown}(k{shown}=?) ✗ ValueError: bad {shown}"));
}

/// Pickles with bytes changed, cut, repeated and joined, in batches: each is kept and shown somehow.
#[test]
fn mutated_pickles_are_kept_and_shown() {
    let (process, wire) = serve();
    let (batches, size) = if full() { (1_000, 1_000) } else { (4, 500) };
    let mut random = Random(0x5eed);
    for batch in 0..batches {
        let pickles: Vec<Vec<u8>> = (0..size).map(|_| random.pickle()).collect();
        let values: Vec<_> =
            pickles.iter().map(|it| json!({ "cid": cid(it), "data": base64(it) })).collect();
        let calls: Vec<_> = pickles
            .iter()
            .map(|it| {
                json!({ "method_name": "f", "args": [cid(it)], "result_cid": cid(it),
                        "started_at": 1.0, "completed_at": 2.0 })
            })
            .collect();
        let body = json!({
            "process_pid": wire.pid, "process_start_time": wire.start, "values": values, "calls": calls,
        });
        let answer = wire.ok("/api/call/batch", body);
        assert_eq!(answer["accepted"], size, "batch {batch}: {answer}");
        assert_eq!((&answer["rejected"], &answer["missing_cids"]), (&json!(0), &json!([])));
        let last = cid(pickles.last().unwrap());
        let object = wire.get(&format!("/api/objects/{last}"));
        assert!(object["repr"].as_str().unwrap().len() < 10_000, "batch {batch}: {object}");
    }
    let shown = wire.get("/api/calls?limit=500");
    assert_eq!(shown["calls"].as_array().unwrap().len(), 500);
    println!("after {} pickles: {} kB", batches * size, process.rss_kb());
    assert!(process.rss_kb() < 128 * 1024, "{} kB", process.rss_kb());
}

/// The same numbers for the same seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// A class instance, a list, a dict, a memo, a number: taken and spoilt.
    fn pickle(&mut self) -> Vec<u8> {
        const SOUND: &[&[u8]] = &[
            b"\x80\x04\x95\x27\x00\x00\x00\x00\x00\x00\x00\x8c\x04shop\x94\x8c\x04Item\x94\x93\x94)\x81\x94}\x94(\x8c\x04name\x94\x8c\x03pen\x94ub.",
            b"\x80\x04]\x94(K\x01K\x02G?\xf8\x00\x00\x00\x00\x00\x00\x8c\x01xe.",
            b"(dp0\nVa\np1\nI1\nsVb\np2\n(lp3\nI2\naI3\nas.",
            b"\x80\x05\x8c\x08builtins\x94\x8c\x07complex\x94\x93\x94G?\xf0\x00\x00\x00\x00\x00\x00G@\x00\x00\x00\x00\x00\x00\x00\x86\x94R\x94.",
            b"\x80\x04\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.",
        ];
        let mut bytes = SOUND[self.below(SOUND.len())].to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(5) {
                0 => bytes[at] = self.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, self.below(256) as u8),
                3 => bytes.extend_from_within(at..),
                _ => bytes.extend(SOUND[self.below(SOUND.len())]),
            }
        }
        bytes
    }
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
        // Whatever it makes of it, it has made when it closes its end.
        stream.shutdown(Shutdown::Write).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(!answer.contains("call_id"), "{answer}");
    }
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 0);
    assert_eq!(wire.start("f", &[json!(1)])["action"], "continue");
    assert_eq!(wire.get("/api/calls/in-flight")["total_count"], 1);
}

/// A body that does not come to its end is waited for as long as the limit says, on either thread.
#[test]
fn a_body_that_stalls_is_given_up() {
    let (_process, wire) = serve();
    let stalled = [(); 2].map(|()| {
        let mut stream = TcpStream::connect(("127.0.0.1", wire.port)).unwrap();
        stream.set_read_timeout(Some(STALL + DEADLINE)).unwrap();
        write!(
            stream,
            "POST /api/call/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: 100\r\n\r\n{{"
        )
        .unwrap();
        stream
    });
    let since = Instant::now();
    // Others are not held up meanwhile.
    wire.call("f", &[json!(1)], &json!(2));
    for mut stream in stalled {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("within 30 s"), "{answer}");
    }
    assert!(since.elapsed() >= STALL, "{:?}", since.elapsed());
}

/// Calls under way that are known at the most.
const IN_FLIGHT: usize = 16_384;

/// Calls whose end is never told are given up, the oldest first.
#[test]
fn calls_without_an_end_are_bounded() {
    let (process, wire) = serve();
    let value = item(&json!("x"));
    let first = wire.ok("/api/call/start", wire.start_body("f", &[], json!({ "args": [value] })));
    let count = IN_FLIGHT + 50;
    let mut stream = connect(wire.port);
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let port = wire.port;
    let asking = thread::spawn(move || {
        let wire = Wire::new(port);
        for _ in 0..count {
            let body = wire.start_body("f", &[], json!({ "args": [value] })).to_string();
            let head = "POST /api/call/start HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\n";
            write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    let (mut line, mut seen) = (String::new(), 0);
    while seen < count {
        line.clear();
        assert!(answers.read_line(&mut line).unwrap() > 0, "closed after {seen} answers");
        seen += usize::from(line.contains("HTTP/1.1 200"));
    }
    asking.join().unwrap();
    let known = wire.get("/api/calls/in-flight");
    let count = usize::try_from(known["total_count"].as_u64().unwrap()).unwrap();
    // An eighth of them goes at once.
    assert!((IN_FLIGHT / 8 * 7..=IN_FLIGHT).contains(&count), "{count}");
    assert!(!known.to_string().contains(first["call_id"].as_str().unwrap()));
    assert!(process.rss_kb() < 150 * 1024, "{} kB", process.rss_kb());
    // One that was given up and ends after all does its app no harm.
    wire.complete(&first["call_id"], &json!("late"));
}

/// Those that say nothing, or break off in a head, make room for whoever has something to say.
#[test]
fn connections_without_end_leave_room_for_the_next() {
    let (process, wire) = if full() { serve() } else { serve_few() };
    let before = process.rss_kb();
    let mut open = Vec::new();
    for number in 0..if full() { 10_000 } else { 400 } {
        let mut stream = connect(wire.port);
        match number % 3 {
            0 => {}
            1 => {
                stream.write_all(b"POST /api/call/start HTTP/1.1\r\nHost: loc").unwrap_or_default()
            }
            _ => stream
                .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .unwrap_or_default(),
        }
        open.push(stream);
    }
    wire.call("f", &[json!(1)], &json!(2));
    let during = process.rss_kb();
    println!("{} connections: {before} kB before, {during} kB during", open.len());
    assert!(during < 100 * 1024, "{during} kB");
    // The oldest was closed, the youngest was not.
    let mut answer = [0; 4096];
    assert!(open.first_mut().unwrap().read(&mut answer).is_ok_and(|length| length == 0));
    let last = open.last_mut().unwrap();
    last.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let length = last.read(&mut answer).unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200 "), "{:?}", &answer[..length]);
    drop(open);
    wire.call("f", &[json!(3)], &json!(4));
    assert_eq!(wire.get("/api/calls?function_name=f")["total_count"], 2);
    println!("afterwards: {} kB", process.rss_kb());
}

/// Where every connection has begun a request, the next is told so, and served when they go.
#[test]
fn when_all_connections_are_busy_the_next_is_told() {
    let (process, wire) = serve_few();
    let mut open: Vec<TcpStream> = (0..128)
        .map(|_| {
            let mut stream = connect(wire.port);
            let head = "POST /api/call/start HTTP/1.1\r\nHost: localhost\r\n\
                        Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let healthz = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // Until the last of them was read, it counts as idle and makes room itself.
    let refused = until("a refusal", || {
        let answer = raw(wire.port, healthz);
        let refused = answer.starts_with("HTTP/1.1 503 ");
        if !refused {
            let mut stream = connect(wire.port);
            let head = "POST /api/call/start HTTP/1.1\r\nHost: localhost\r\n\
                        Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
            stream.write_all(head.as_bytes()).unwrap();
            open.push(stream);
        }
        refused.then_some(answer)
    });
    assert!(refused.contains("too many connections"), "{refused}");
    assert!(process.rss_kb() < 100 * 1024, "{} kB", process.rss_kb());
    drop(open);
    until("a place", || raw(wire.port, healthz).starts_with("HTTP/1.1 200 ").then_some(()));
}
