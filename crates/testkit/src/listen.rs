//! Clients that mostly listen: the same server heard over stdio, HTTP+SSE and streamable HTTP at once.

use std::{
    net::TcpStream,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
};

use serde_json::{Value, json};

use crate::{
    DEADLINE,
    http::{Events, get, post},
    rpc::Rpc,
};

/// Whoever hears notifications.
pub trait Hears {
    /// For messages of tests.
    fn way(&self) -> &'static str;

    /// The first message, old or new, that `wanted` accepts.
    fn hear(&mut self, what: &str, wanted: &dyn Fn(&Value) -> bool) -> Value;

    /// A request of its own; the whole answer.
    fn ask(&mut self, method: &str, params: Value) -> Value;

    /// Calls a tool; the whole result.
    #[track_caller]
    fn tool(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer.get("result").is_some(), "{tool} answered {answer}");
        answer["result"].clone()
    }

    /// What came meanwhile and was not asked for.
    fn kept(&mut self) -> &mut Vec<Value>;

    /// The parameters of all notifications of that method that came meanwhile, in order.
    fn take(&mut self, method: &str) -> Vec<Value> {
        let is = |message: &mut Value| message["method"] == method;
        self.kept().extract_if(.., is).map(|mut message| message["params"].take()).collect()
    }

    /// The parameters of the next notification of that method that `wanted` accepts.
    fn notified(&mut self, method: &str, wanted: &dyn Fn(&Value) -> bool) -> Value {
        let is = |message: &Value| message["method"] == method && wanted(&message["params"]);
        self.hear(method, &is)["params"].clone()
    }
}

impl Hears for Rpc {
    fn way(&self) -> &'static str {
        "stdio"
    }

    fn kept(&mut self) -> &mut Vec<Value> {
        &mut self.heard
    }

    #[track_caller]
    fn hear(&mut self, what: &str, wanted: &dyn Fn(&Value) -> bool) -> Value {
        self.wait_for(what, wanted)
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.request(method, params)
    }
}

/// A client of one of the HTTP transports, in a thread of its own.
pub struct Listener {
    way: &'static str,
    port: u16,
    /// Where its messages go.
    pub path: String,
    pub session: Option<String>,
    messages: Receiver<Value>,
    stream: TcpStream,
    pub heard: Vec<Value>,
    next_id: u64,
}

impl Listener {
    /// HTTP+SSE; the server needs `--mcp-sse`.
    pub fn sse(port: u16) -> Listener {
        let mut events = get(port, "/mcp/sse").stream();
        let first = events.next_data().expect("an endpoint");
        assert_eq!(first.event, "endpoint");
        let mut listener = Listener::reading("sse", port, first.data, None, events);
        listener.ask("initialize", hello("2024-11-05"));
        listener.tell("notifications/initialized");
        // Whoever is answered after its `initialized` was taken hears what follows.
        listener.ask("ping", json!({}));
        listener
    }

    /// Streamable HTTP with a session and its stream.
    pub fn http(port: u16) -> Listener {
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": hello("2025-11-25") });
        let answer = mcp(port, &body.to_string(), None);
        let session = answer.header("mcp-session-id").expect("a session").to_owned();
        let events = get(port, "/mcp")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &session)
            .stream();
        assert_eq!(events.status, 200);
        let path = "/mcp".to_owned();
        let mut listener = Listener::reading("http", port, path, Some(session), events);
        listener.tell("notifications/initialized");
        listener.ask("ping", json!({}));
        listener
    }

    fn reading(
        way: &'static str,
        port: u16,
        path: String,
        session: Option<String>,
        mut events: Events,
    ) -> Listener {
        let (sender, messages) = channel();
        let stream = events.connection();
        // Ends with the stream, or when nobody listens.
        thread::spawn(move || {
            events.wait_for_ever();
            while let Some(event) = events.next_data() {
                if event.data.is_empty() {
                    continue;
                }
                let message = serde_json::from_str(&event.data).expect("JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Listener { way, port, path, session, messages, stream, heard: Vec::new(), next_id: 1 }
    }

    /// Reads everything up to the end of the stream, which must come.
    #[track_caller]
    pub fn rest(&mut self) {
        loop {
            match self.messages.recv_timeout(DEADLINE) {
                Ok(message) => self.heard.push(message),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("the {} stream never ended", self.way),
            }
        }
    }

    /// Forgets all that came up to now.
    pub fn forget(&mut self) {
        self.heard.clear();
        while self.messages.try_recv().is_ok() {}
    }

    /// Goes without a word.
    pub fn leave(&mut self) {
        // Whoever reads the stream may be gone already.
        self.stream.shutdown(std::net::Shutdown::Both).unwrap_or_default();
    }

    fn tell(&self, method: &str) {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        let status = match &self.session {
            None => post(self.port, &self.path, &message.to_string()).send().status,
            Some(session) => mcp(self.port, &message.to_string(), Some(session)).status,
        };
        assert_eq!(status, 202, "{method}");
    }
}

impl Hears for Listener {
    fn way(&self) -> &'static str {
        self.way
    }

    fn kept(&mut self) -> &mut Vec<Value> {
        &mut self.heard
    }

    #[track_caller]
    fn hear(&mut self, what: &str, wanted: &dyn Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(wanted) {
            return self.heard.remove(at);
        }
        loop {
            match self.messages.recv_timeout(DEADLINE) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.heard.push(message),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("{what} did not come over {} within {DEADLINE:?}", self.way)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the {} stream ended before {what}", self.way)
                }
            }
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        match &self.session {
            None => {
                assert_eq!(post(self.port, &self.path, &body.to_string()).send().status, 202);
                self.hear(method, &|message| message["id"] == id)
            }
            Some(session) => {
                let answer = mcp(self.port, &body.to_string(), Some(session));
                let data = answer.body.lines().filter_map(|line| line.strip_prefix("data:"));
                let mut messages = data.filter_map(|it| serde_json::from_str::<Value>(it).ok());
                messages.find(|it| it["id"] == id).unwrap_or_else(|| panic!("{}", answer.body))
            }
        }
    }
}

fn hello(protocol: &str) -> Value {
    let client = json!({ "name": "listener", "version": "0" });
    json!({ "protocolVersion": protocol, "capabilities": {}, "clientInfo": client })
}

fn mcp(port: u16, body: &str, session: Option<&str>) -> crate::http::Response {
    let mut request = post(port, "/mcp", body)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.send()
}
