//! A client over stdio or HTTP, whose calls may be under way while something else happens. Each has its time: what
//! was asked for, what the product may take beyond it, and some more for a loaded machine.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    process::{ChildStdin, ChildStdout},
    sync::{
        Arc, Mutex,
        atomic::Ordering::Relaxed,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use holdpoint_testkit::http::post;
use serde_json::{Value, json};

use super::{
    counts::{Failed, Wrong, wrong},
    round::Round,
};

/// What a machine with several of these walks on it may take beyond every promise.
const SLACK: f64 = 6.0;
/// For what waits for nothing.
const PLAIN_S: f64 = 5.0;

/// Whoever waits for an answer, by its id; nobody may once stdout has ended.
type Waiting = Arc<Mutex<Option<HashMap<u64, Sender<Value>>>>>;

pub(super) struct Client {
    to: To,
    next: u64,
}

enum To {
    Lines { stdin: Option<ChildStdin>, waiting: Waiting },
    Http { port: u16, session: String },
}

/// A call under way.
pub(super) struct Asked {
    what: String,
    begun: Instant,
    limit: Duration,
    answer: Receiver<Value>,
}

/// What a tool said.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) data: Value,
    /// Of a failure.
    pub(super) code: Option<String>,
}

impl Client {
    pub(super) fn lines(stdin: ChildStdin, stdout: ChildStdout) -> Client {
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let known = Arc::clone(&waiting);
        // Ends with stdout.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
                let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none())
                else {
                    continue;
                };
                let waits = known.lock().unwrap().as_mut().and_then(|it| it.remove(&id));
                // Whoever gave up waiting has said so.
                waits.map(|it| it.send(message)).transpose().unwrap_or_default();
            }
            known.lock().unwrap().take();
        });
        Client { to: To::Lines { stdin: Some(stdin), waiting }, next: 0 }
    }

    pub(super) fn http(port: u16) -> Result<Client, Failed> {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello() });
        let answer = mcp(port, &hello, None);
        let session = answer.as_ref().and_then(|it| it.header("mcp-session-id"));
        let Some(session) = session.map(str::to_owned) else {
            return wrong(Wrong::Crash, "no session over HTTP");
        };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        mcp(port, &ready, Some(&session));
        Ok(Client { to: To::Http { port, session }, next: 0 })
    }

    /// The first words over stdio.
    pub(super) fn initialize(&mut self, round: &Round<'_>) -> Result<(), Failed> {
        self.send(round, "initialize", "initialize", hello(), 20.0).take(round)?;
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.write(&line.to_string());
        Ok(())
    }

    pub(super) fn ask(&mut self, round: &Round<'_>, tool: &str, mut arguments: Value) -> Asked {
        let time = arguments["timeout_s"].as_f64();
        if time.is_none() && !HAS_OWN_TIME.contains(&tool) {
            arguments["timeout_s"] = json!(PLAIN_S);
        }
        let limit = time.unwrap_or(PLAIN_S) + grace(tool) + SLACK;
        round.counts.calls.fetch_add(1, Relaxed);
        let way = if matches!(self.to, To::Http { .. }) { " over http" } else { "" };
        let what = format!("{tool} {arguments}{way}");
        round.note(format!("→ {what}"));
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(round, &what, "tools/call", params, limit)
    }

    /// Asks and waits; a connection that ends meanwhile is a crash.
    pub(super) fn call(
        &mut self,
        round: &Round<'_>,
        tool: &str,
        arguments: Value,
    ) -> Result<Said, Failed> {
        match self.ask(round, tool, arguments).take(round)? {
            Some(said) => Ok(said),
            None => wrong(Wrong::Crash, format!("the connection ended in {tool}")),
        }
    }

    fn send(
        &mut self,
        _: &Round<'_>,
        what: &str,
        method: &str,
        params: Value,
        limit_s: f64,
    ) -> Asked {
        self.next += 1;
        let id = self.next;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let (sender, answer) = channel();
        match &self.to {
            To::Lines { waiting, .. } => {
                if let Some(waiting) = waiting.lock().unwrap().as_mut() {
                    waiting.insert(id, sender);
                }
                self.write(&message.to_string());
            }
            To::Http { port, session } => {
                let (port, session) = (*port, session.clone());
                // Ends with the exchange, which has a deadline.
                std::thread::spawn(move || {
                    let said =
                        mcp(port, &message, Some(&session)).and_then(|it| found(&it.body, id));
                    // Nobody may wait any more.
                    said.map(|it| sender.send(it)).transpose().unwrap_or_default();
                });
            }
        }
        let limit = Duration::from_secs_f64(limit_s);
        Asked { what: what.to_owned(), begun: Instant::now(), limit, answer }
    }

    fn write(&mut self, line: &str) {
        if let To::Lines { stdin: Some(stdin), .. } = &mut self.to {
            // A server that is gone does not read.
            stdin.write_all(format!("{line}\n").as_bytes()).unwrap_or_default();
        }
    }

    /// Goes without a word.
    pub(super) fn leave(&mut self) {
        if let To::Lines { stdin, .. } = &mut self.to {
            *stdin = None;
        }
    }
}

/// A call over HTTP whose client dies when it is dropped, before it has read a word.
pub(super) fn doomed(
    port: u16,
    client: &Client,
    tool: &str,
    arguments: &Value,
) -> Option<TcpStream> {
    let To::Http { session, .. } = &client.to else { return None };
    let params = json!({ "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 9_999, "method": "tools/call", "params": params });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(head.as_bytes()).ok()?;
    Some(stream)
}

impl Asked {
    /// The answer; `None` where the connection ended.
    pub(super) fn take(self, round: &Round<'_>) -> Result<Option<Said>, Failed> {
        let left = self.limit.saturating_sub(self.begun.elapsed());
        match self.answer.recv_timeout(left) {
            Ok(answer) => {
                let said = Said::of(&answer);
                let took = self.begun.elapsed().as_millis();
                round.note(format!("← {took} ms: {} {}", said.text, said.data));
                Ok(Some(said))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                wrong(Wrong::Hang, format!("no answer within {:?}: {}", self.limit, self.what))
            }
        }
    }
}

impl Said {
    fn of(answer: &Value) -> Said {
        let result = &answer["result"];
        let structured = &result["structuredContent"];
        Said {
            text: result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
            data: structured["data"].clone(),
            code: match (&answer["error"], &structured["error"]["code"]) {
                (Value::Null, Value::Null) => (result["isError"] == true).then(|| "?".to_owned()),
                (Value::Null, code) => code.as_str().map(str::to_owned),
                (error, _) => Some(error.to_string()),
            },
        }
    }

    pub(super) fn is_ok(&self) -> bool {
        self.code.is_none()
    }

    pub(super) fn failed_with(&self, codes: &[&str]) -> bool {
        self.code.as_deref().is_some_and(|it| codes.contains(&it))
    }
}

/// Whose `timeout_s` means something else than how long it may take.
const HAS_OWN_TIME: &[&str] = &["timeline_query", "breakpoint_set", "tracepoint_set"];

/// What a tool may take beyond its time, as `limits.rs` says it.
fn grace(tool: &str) -> f64 {
    match tool {
        "debug_launch" | "debug_restart" | "debug_attach" | "debug_probe" | "debug_experiment" => {
            25.0
        }
        // Each process has its moment, twice with a condition.
        "breakpoint_set" | "breakpoint_remove" | "tracepoint_set" => 18.0,
        // The last hits of a burst.
        "debug_stop" => 20.0,
        _ => 5.0,
    }
}

fn hello() -> Value {
    let client = json!({ "name": "walk", "version": "0" });
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client })
}

fn mcp(
    port: u16,
    body: &Value,
    session: Option<&str>,
) -> Option<holdpoint_testkit::http::Response> {
    let body = body.to_string();
    let mut request = post(port, "/mcp", &body)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.try_send().ok()
}

fn found(body: &str, id: u64) -> Option<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = data.filter_map(|it| serde_json::from_str::<Value>(it).ok());
    messages.find(|it| it["id"] == id)
}
