//! Node's inspector by itself: the V8 protocol over a websocket.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::quick::Quick;
use super::websocket::WebSocket;
use super::{Debugger, First, Target};
use crate::bench::client::Process;
use crate::process::Group;

pub(super) const SOURCE: &str = r#"function price(index, names, discounts) {
  const label = names[index % names.length];
  const base = index * 3 + label.length; // hit
  const total = base - (discounts[label] ?? 0); // next
  return total;
}

function main() {
  const names = ["apple", "pear", "plum", "fig"];
  const discounts = { apple: 1, fig: 2 };
  let paid = 0;
  for (let index = 0; index < 100_000; index++) {
    paid += price(index, names, discounts);
  }
  console.log(paid);
}

main();
"#;

/// The floor for Node.
pub(super) struct Inspector<'a> {
    target: &'a Target,
    group: Group,
    session: Option<Session>,
}

impl<'a> Inspector<'a> {
    pub(super) fn new(target: &'a Target) -> Result<Self> {
        Ok(Self { target, group: Group::empty()?, session: None })
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().context("nothing was launched")
    }
}

impl Debugger for Inspector<'_> {
    fn launch(&mut self, first: First) -> Result<u64> {
        let session = Session::start(self.target, &self.group)?;
        let session = self.session.insert(session);
        match first {
            First::Entry => session.paused(),
            First::Hit => {
                // Node always stops at the entry; nobody looks there.
                session.event("Debugger.paused")?;
                session.run("Debugger.resume")
            }
        }
    }

    fn resume(&mut self) -> Result<u64> {
        self.session()?.run("Debugger.resume")
    }

    fn step(&mut self) -> Result<u64> {
        self.session()?.run("Debugger.stepOver")
    }

    fn evaluate(&mut self, expression: &str) -> Result<String> {
        let session = self.session()?;
        let asked = json!({
            "callFrameId": session.frame.get("callFrameId"),
            "expression": expression,
            "generatePreview": true,
        });
        let answer = session.request("Debugger.evaluateOnCallFrame", asked)?;
        let value = answer.pointer("/result/value").context("a value that is not plain")?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    fn look(&mut self) -> Result<usize> {
        self.session()?.locals()
    }

    fn end(&mut self) -> Result<()> {
        self.session = None;
        Ok(())
    }
}

/// One debugged program. Fields are dropped in order: the connection closes, the program is killed.
pub(in crate::bench) struct Session {
    socket: WebSocket<Quick>,
    id: u64,
    /// Those that came while we waited for an answer.
    events: VecDeque<Value>,
    /// The innermost call frame of the last stop; it comes with the stop.
    frame: Value,
    _process: Process,
    /// Kept open: Node writes a line there at times.
    _stderr: BufReader<ChildStderr>,
}

impl Session {
    fn start(target: &Target, group: &Group) -> Result<Self> {
        let mut session = Self::connect(target, group)?;
        session.configure(target, Some(String::new()))?;
        Ok(session)
    }

    /// Runs the program to its end with a condition that reports through a binding and never
    /// holds, or with nothing. Says how many reports came.
    pub(in crate::bench) fn trace(
        target: &Target,
        group: &Group,
        expressions: Option<&str>,
    ) -> Result<usize> {
        let mut session = Self::connect(target, group)?;
        session.request("Runtime.enable", json!({}))?;
        session.request("Runtime.addBinding", json!({ "name": "report" }))?;
        let condition = |it| format!("report(String([{it}])), false");
        session.configure(target, expressions.map(condition))?;
        session.event("Debugger.paused")?;
        session.send("Debugger.resume", json!({}))?;
        let mut reports = 0;
        loop {
            let message = match session.events.pop_front() {
                Some(message) => message,
                None => session.read()?,
            };
            match message.get("method").and_then(Value::as_str) {
                Some("Runtime.bindingCalled") => reports += 1,
                Some("Runtime.executionContextDestroyed") => return Ok(reports),
                _ => {}
            }
        }
    }

    fn connect(target: &Target, group: &Group) -> Result<Self> {
        let child = Command::new(&target.interpreter)
            .arg("--inspect-brk=127.0.0.1:0")
            .arg(&target.file)
            .args(&target.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(group.id()?)
            .spawn();
        let mut process = Process(child.context("starting Node")?);
        let stderr = process.0.stderr.take().context("stderr was not piped")?;
        let mut stderr = BufReader::new(stderr);
        let address = address(&mut stderr)?;
        let (host, path) = address.split_once('/').context("an address without a path")?;
        let stream = Quick::new(TcpStream::connect(host).context("connecting to Node")?)?;
        let socket = WebSocket::open(stream, host, &format!("/{path}"))?;
        let (events, frame) = (VecDeque::new(), Value::Null);
        Ok(Self { socket, id: 0, events, frame, _process: process, _stderr: stderr })
    }

    /// Each after the answer to the one before: without waiting, Node 20 may lose the entry pause.
    fn configure(&mut self, target: &Target, condition: Option<String>) -> Result<()> {
        self.request("Debugger.enable", json!({}))?;
        self.request("Runtime.enable", json!({}))?;
        self.request("Debugger.setPauseOnExceptions", json!({ "state": "uncaught" }))?;
        if let Some(condition) = condition {
            let point = json!({
                "url": format!("file://{}", target.file.display()),
                "lineNumber": target.hit - 1,
                "condition": condition,
            });
            self.request("Debugger.setBreakpointByUrl", point)?;
        }
        self.request("Runtime.runIfWaitingForDebugger", json!({}))?;
        Ok(())
    }

    /// Resumes, and waits for the stop that follows.
    fn run(&mut self, method: &str) -> Result<u64> {
        self.send(method, json!({}))?;
        self.paused()
    }

    fn paused(&mut self) -> Result<u64> {
        let mut event = self.event("Debugger.paused")?;
        self.frame = event.pointer_mut("/params/callFrames/0").context("no frames")?.take();
        self.locals()?;
        let line = self.frame.pointer("/location/lineNumber").and_then(Value::as_u64);
        Ok(line.context("a frame without a line")? + 1)
    }

    /// The variables of the function and of the blocks in it that the program stands in.
    fn locals(&mut self) -> Result<usize> {
        let chain = self.frame.get("scopeChain").and_then(Value::as_array);
        let own = chain.into_iter().flatten().filter(|scope| {
            matches!(scope.get("type").and_then(Value::as_str), Some("local" | "block"))
        });
        let own: Vec<Value> =
            own.filter_map(|it| it.pointer("/object/objectId").cloned()).collect();
        let mut count = 0;
        for object in own {
            let asked =
                json!({ "objectId": object, "ownProperties": true, "generatePreview": true });
            let answer = self.request("Runtime.getProperties", asked)?;
            count += answer.get("result").and_then(Value::as_array).map_or(0, Vec::len);
        }
        Ok(count)
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params)?;
        loop {
            let mut message = self.read()?;
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                self.events.push_back(message);
                continue;
            }
            let result = message.get_mut("result").map(Value::take);
            return result.with_context(|| format!("Node refused `{method}`: {message}"));
        }
    }

    fn event(&mut self, name: &str) -> Result<Value> {
        loop {
            let message = match self.events.pop_front() {
                Some(message) => message,
                None => self.read()?,
            };
            match message.get("method").and_then(Value::as_str) {
                Some(method) if method == name => return Ok(message),
                Some("Runtime.executionContextDestroyed") => {
                    bail!("the program ended before `{name}`")
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, method: &str, params: Value) -> Result<u64> {
        self.id += 1;
        let message = json!({ "id": self.id, "method": method, "params": params });
        self.socket.send(&message.to_string())?;
        Ok(self.id)
    }

    fn read(&mut self) -> Result<Value> {
        Ok(serde_json::from_str(&self.socket.receive()?)?)
    }
}

/// Where the inspector listens, `host:port/id`: Node says it before it does anything else.
fn address(stderr: &mut impl BufRead) -> Result<String> {
    let mut said = String::new();
    loop {
        let from = said.len();
        if stderr.read_line(&mut said)? == 0 {
            bail!("Node did not open its inspector: {said}");
        }
        let line = said.get(from..).unwrap_or_default();
        if let Some((_, address)) = line.split_once("Debugger listening on ws://") {
            return Ok(address.trim().to_owned());
        }
    }
}
