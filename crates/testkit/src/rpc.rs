//! JSON-RPC lines over a process's stdin and stdout, byte by byte, without an SDK in between:
//! what is on the wire is what the test sees.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    process::Command,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
};

use serde_json::{Value, json};

use crate::{DEADLINE, process::Process};

pub struct Rpc {
    pub process: Process,
    stdin: Option<Box<dyn Write + Send>>,
    lines: Receiver<String>,
    next_id: u64,
    /// Messages that came while an answer was awaited.
    pub heard: Vec<Value>,
}

impl Rpc {
    /// Starts the binary and says nothing yet.
    pub fn start(bin: &str, args: &[&str]) -> Rpc {
        Rpc::start_with(bin, args, |_| {})
    }

    pub fn start_with(bin: &str, args: &[&str], change: impl FnOnce(&mut Command)) -> Rpc {
        let mut process = Process::start_with(bin, args, change);
        let stdin = process.child().stdin.take().expect("a pipe");
        let stdout = process.child().stdout.take().expect("a pipe");
        Rpc::over(process, Box::new(stdin), Box::new(stdout))
    }

    pub fn over(
        process: Process,
        stdin: Box<dyn Write + Send>,
        stdout: Box<dyn Read + Send>,
    ) -> Rpc {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Rpc { process, stdin: Some(stdin), lines, next_id: 1, heard: Vec::new() }
    }

    /// Connects as a client of the given revision.
    pub fn connect(bin: &str, args: &[&str], protocol: &str) -> Rpc {
        let mut rpc = Rpc::start(bin, args);
        rpc.initialize(protocol);
        rpc
    }

    pub fn initialize(&mut self, protocol: &str) -> Value {
        self.initialize_as("testkit", protocol)
    }

    /// The same under another name: what a client is called decides what it gets.
    pub fn initialize_as(&mut self, name: &str, protocol: &str) -> Value {
        let client = json!({ "name": name, "version": "0" });
        let answer = self.request(
            "initialize",
            json!({ "protocolVersion": protocol, "capabilities": {}, "clientInfo": client }),
        );
        self.notify("notifications/initialized", json!({}));
        answer
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).expect("stdin");
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).expect("stdin");
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let line = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_line(&line.to_string());
    }

    /// Sends a request and returns its id.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(&line.to_string());
        id
    }

    /// Sends a request and waits for its answer: the whole message.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The answer to `id`. Others are kept in [`Rpc::heard`].
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        self.wait_for(&format!("the answer to {id}"), is_answer)
    }

    /// The first message, old or new, that `wanted` accepts.
    #[track_caller]
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.read(what);
            if wanted(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    #[track_caller]
    fn read(&mut self, what: &str) -> Value {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => parse(&line),
            Err(RecvTimeoutError::Timeout) => panic!("{what} did not come within {DEADLINE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("stdout ended before {what}"),
        }
    }

    /// Calls a tool; the whole result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer.get("result").is_some(), "{tool} answered {answer}");
        answer["result"].clone()
    }

    /// Calls a tool; its text.
    #[track_caller]
    pub fn text(&mut self, tool: &str, arguments: Value) -> String {
        text(&self.call(tool, arguments))
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Ends stdin, waits for the process to end, and parses whatever it still wrote.
    #[track_caller]
    pub fn finish(mut self) -> (std::process::ExitStatus, String) {
        self.close_stdin();
        let ended = self.process.end();
        while let Ok(line) = self.lines.recv_timeout(DEADLINE) {
            parse(&line);
        }
        ended
    }
}

/// Every line of stdout is one JSON-RPC message, or the test fails.
#[track_caller]
fn parse(line: &str) -> Value {
    let message: Value = serde_json::from_str(line)
        .unwrap_or_else(|error| panic!("stdout is not JSON ({error}): {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "not JSON-RPC: {line}");
    let kinds = ["method", "result", "error"];
    let found = kinds.iter().filter(|kind| message.get(kind).is_some()).count();
    assert_eq!(found, 1, "neither request, notification nor answer: {line}");
    message
}

/// The text of a tool's result.
pub fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}
