//! Lines on stdin: an agent's client that writes anything.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::ChildStdin,
    sync::mpsc::{Receiver, channel},
    thread,
};

use holdpoint_testkit::process::Process;
use serde_json::{Value, json};

use super::{
    ANSWER, BIN, LOOK_EVERY, Plan, Watch, corpus,
    mutate::{Random, message},
};

#[test]
fn mutated_lines_are_answered_or_passed_over() {
    let plan = Plan::read();
    let mut client = Client::start();
    let sound = client.sound();
    let mut watch = Watch::over(&client.process, &plan);
    for seed in plan.first..plan.first + plan.count {
        let mut line = one(&sound, seed);
        line.push(b'\n');
        client.write(&line).unwrap_or_else(|error| panic!("{error}: {}", watch.since(seed)));
        if (seed + 1 - plan.first).is_multiple_of(LOOK_EVERY) {
            client.is_well(&watch.since(seed));
            watch.well(seed);
        }
    }
    client.is_well(&watch.since(plan.first + plan.count));
    watch.well(plan.first + plan.count);
    watch.tell(&plan, "JSON-RPC lines");
    client.end();
}

fn one(sound: &[Value], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let other = random.of(sound).to_string();
    let message_of = random.of(sound).clone();
    message(&mut random, &message_of, other.as_bytes())
}

struct Client {
    process: Process,
    stdin: Option<ChildStdin>,
    /// Answers to our own questions; all else is only read.
    answers: Receiver<Value>,
    asked: u64,
}

impl Client {
    fn start() -> Client {
        let mut process = Process::start(BIN, &["mcp", "--port", "0"]);
        let stdin = process.child().stdin.take();
        let stdout = process.child().stdout.take().expect("a pipe");
        let (sender, answers) = channel();
        // Ends with the server's stdout.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let line = line.expect("a line of UTF-8");
                let is_ours = line.contains("\"id\":\"well-");
                assert!(line.starts_with("{\"jsonrpc\":\"2.0\""), "not JSON-RPC: {line}");
                if is_ours && sender.send(serde_json::from_str(&line).expect("JSON")).is_err() {
                    return;
                }
            }
        });
        let mut client = Client { process, stdin, answers, asked: 0 };
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "fuzz", "version": "0" } });
        client.ask("initialize", hello, "the start");
        client.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").unwrap();
        client
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stdin.as_mut().expect("open").write_all(bytes)
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value, since: &str) -> Value {
        self.asked += 1;
        let id = format!("well-{}", self.asked);
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(format!("{line}\n").as_bytes()).unwrap();
        loop {
            let answer = self.answers.recv_timeout(ANSWER);
            let answer = answer.unwrap_or_else(|_| panic!("{method} is not answered: {since}"));
            if answer["id"] == id.as_str() {
                return answer["result"].clone();
            }
        }
    }

    #[track_caller]
    fn is_well(&mut self, since: &str) {
        let call = json!({ "name": "server_status", "arguments": {} });
        let status = self.ask("tools/call", call, since);
        let panics = &status["structuredContent"]["data"]["panics"];
        assert_eq!(*panics, 0, "{status}: {since}");
    }

    /// Requests of every kind, and a call of each tool.
    fn sound(&mut self) -> Vec<Value> {
        let tools = self.ask("tools/list", json!({}), "the start");
        let mut all: Vec<(&str, Value)> = vec![
            (
                "initialize",
                json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "again", "version": "1" } }),
            ),
            ("ping", json!({})),
            ("prompts/list", json!({ "cursor": "x" })),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": "holdpoint://status" })),
            ("resources/subscribe", json!({ "uri": "holdpoint://timeline" })),
            ("resources/unsubscribe", json!({ "uri": "holdpoint://timeline" })),
            ("logging/setLevel", json!({ "level": "error" })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "x" },
                "argument": { "name": "a", "value": "b" } }),
            ),
        ];
        all.extend(corpus::calls(&tools).into_iter().map(|call| ("tools/call", call)));
        let request = |(id, (method, params)): (usize, (&str, Value))| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut sound: Vec<Value> = all.into_iter().enumerate().map(request).collect();
        sound.push(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 3, "reason": "no" } }));
        sound.push(json!({ "jsonrpc": "2.0", "id": 1, "result": { "roots": [] } }));
        sound.push(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -1, "message": "" } }));
        sound.push(json!([sound[1], sound[2]]));
        sound
    }

    #[track_caller]
    fn end(mut self) {
        self.stdin = None;
        let (status, stderr) = self.process.end();
        assert!(status.success() && !stderr.contains("panicked"), "{status}: {stderr}");
    }
}
