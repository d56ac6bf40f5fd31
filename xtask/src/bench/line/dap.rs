//! A client of the debug adapter protocol: the requests that a stop needs, and no more.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::raw::{Raw, Wire};
use super::{Debugger, First, Target};
use crate::bench::client::Process;
use crate::process::Group;

/// As many frames as `debug_stack` shows and our stop report asks for.
const FRAMES: u32 = 20;
/// A message is some kilobytes; a length beyond this is not one of ours.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A debugger that speaks the protocol, by itself.
pub(super) struct DapFloor<'a, M> {
    target: &'a Target,
    raw: Raw,
    manners: M,
    group: Group,
    session: Option<Dap>,
}

/// What is said to a debugger from its start to where the program runs, and what else differs.
pub(super) trait Manners {
    /// For whom expressions are evaluated, as the protocol has it.
    const CONTEXT: &'static str;

    fn configure(&self, dap: &mut Dap, target: &Target, first: First) -> Result<()>;

    /// Nothing of the program is left after it.
    fn end(&self, dap: Dap) -> Result<()>;
}

impl<'a, M: Manners> DapFloor<'a, M> {
    pub(super) fn new(target: &'a Target, raw: Raw, manners: M) -> Result<Self> {
        Ok(Self { target, raw, manners, group: Group::empty()?, session: None })
    }

    fn session(&mut self) -> Result<&mut Dap> {
        self.session.as_mut().context("nothing was launched")
    }
}

impl<M: Manners> Debugger for DapFloor<'_, M> {
    fn launch(&mut self, first: First) -> Result<u64> {
        let mut session = Dap::over(self.raw.start(&self.group)?);
        self.manners.configure(&mut session, self.target, first)?;
        self.session.insert(session).stopped()
    }

    fn resume(&mut self) -> Result<u64> {
        self.session()?.run("continue")
    }

    fn step(&mut self) -> Result<u64> {
        self.session()?.run("next")
    }

    fn evaluate(&mut self, expression: &str) -> Result<String> {
        let session = self.session()?;
        let arguments =
            json!({ "expression": expression, "frameId": session.frame, "context": M::CONTEXT });
        let body = session.request("evaluate", &arguments)?;
        Ok(body.get("result").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    fn look(&mut self) -> Result<usize> {
        Ok(self.session()?.look()?.locals)
    }

    fn end(&mut self) -> Result<()> {
        self.session.take().map_or(Ok(()), |session| self.manners.end(session))
    }
}

/// One debugged program. Fields are dropped in order: the connection closes, the debugger is killed.
pub(super) struct Dap {
    read: BufReader<Box<dyn Read>>,
    write: Box<dyn Write>,
    seq: u64,
    /// What came while we waited for an answer.
    passed: VecDeque<Value>,
    thread: u64,
    /// The innermost one of the last stop.
    frame: u64,
    _process: Process,
}

/// What a look around found.
struct Seen {
    line: u64,
    locals: usize,
}

impl Dap {
    pub(super) fn over(wire: Wire) -> Self {
        let Wire { read, write, process } = wire;
        let (read, passed) = (BufReader::new(read), VecDeque::new());
        Self { read, write, seq: 0, passed, thread: 0, frame: 0, _process: process }
    }

    /// Resumes, and waits for the stop that follows.
    fn run(&mut self, command: &str) -> Result<u64> {
        self.send(command, &json!({ "threadId": self.thread }))?;
        self.stopped()
    }

    fn stopped(&mut self) -> Result<u64> {
        let event = self.event("stopped")?;
        self.thread = number(&event, "/body/threadId")?;
        Ok(self.look()?.line)
    }

    fn look(&mut self) -> Result<Seen> {
        let asked = json!({ "threadId": self.thread, "startFrame": 0, "levels": FRAMES });
        let stack = self.request("stackTrace", &asked)?;
        self.frame = number(&stack, "/stackFrames/0/id")?;
        let scopes = self.request("scopes", &json!({ "frameId": self.frame }))?;
        let locals = number(&scopes, "/scopes/0/variablesReference")?;
        let variables = self.request("variables", &json!({ "variablesReference": locals }))?;
        let variables = variables.get("variables").and_then(Value::as_array);
        let line = number(&stack, "/stackFrames/0/line")?;
        Ok(Seen { line, locals: variables.map_or(0, Vec::len) })
    }

    pub(super) fn request(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        let seq = self.send(command, arguments)?;
        loop {
            let mut message = self.read()?;
            if message.get("request_seq").and_then(Value::as_u64) != Some(seq) {
                self.passed.push_back(message);
                continue;
            }
            if message.get("success").and_then(Value::as_bool) != Some(true) {
                bail!("the debugger refused `{command}`: {message}");
            }
            return Ok(message.get_mut("body").map(Value::take).unwrap_or_default());
        }
    }

    /// Of what comes before it only stops are kept: some tell the first one before they are configured.
    pub(super) fn event(&mut self, name: &str) -> Result<Value> {
        let mut stops = VecDeque::new();
        loop {
            let message = self.next()?;
            let failed = message.get("success").and_then(Value::as_bool) == Some(false);
            match message.get("event").and_then(Value::as_str) {
                Some(event) if event == name => {
                    stops.append(&mut self.passed);
                    self.passed = stops;
                    return Ok(message);
                }
                Some("stopped") => stops.push_back(message),
                Some("terminated") => bail!("the program ended before `{name}`"),
                _ if failed => bail!("the debugger refused: {message}"),
                _ => {}
            }
        }
    }

    /// The next message in its order, whatever it is.
    pub(super) fn next(&mut self) -> Result<Value> {
        self.passed.pop_front().map_or_else(|| self.read(), Ok)
    }

    /// Whether nothing comes any more.
    pub(super) fn is_closed(&mut self) -> Result<bool> {
        if !self.passed.is_empty() {
            return Ok(false);
        }
        match self.read.fill_buf() {
            // The debugger went before it had read all of ours.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(true),
            read => Ok(read?.is_empty()),
        }
    }

    pub(super) fn send(&mut self, command: &str, arguments: &Value) -> Result<u64> {
        self.seq += 1;
        let message = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        let body = message.to_string();
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.write.write_all(text.as_bytes())?;
        self.write.flush()?;
        Ok(self.seq)
    }

    fn read(&mut self) -> Result<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.read.read_line(&mut line)? == 0 {
                bail!("the debugger closed the connection");
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse()?;
                }
                Some(_) => {}
                None => break,
            }
        }
        if length > MESSAGE_BYTES_MAX {
            bail!("a message of {length} bytes");
        }
        let mut body = vec![0; length];
        self.read.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

fn number(value: &Value, pointer: &str) -> Result<u64> {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.with_context(|| format!("no number at `{pointer}` of `{value}`"))
}
