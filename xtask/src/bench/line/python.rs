//! debugpy by itself: we listen, the program's debugger dials us, plain DAP from there.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use socket2::SockRef;

use super::quick::{ANSWER_LIMIT, Quick};
use super::{Debugger, First, Target};
use crate::bench::client::Process;
use crate::process::Group;

/// As many frames as `debug_stack` shows and our stop report asks for.
const FRAMES: u32 = 20;

/// How long a traced program stays after its loop; it is ended as soon as all has come.
const STAY_S: &str = "60";

/// A message is some kilobytes; a length beyond this is not one of ours.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) const SOURCE: &str = r#"def price(index, names, discounts):
    label = names[index % len(names)]
    base = index * 3 + len(label)  # hit
    total = base - discounts.get(label, 0)  # next
    return total


def main():
    names = ["apple", "pear", "plum", "fig"]
    discounts = {"apple": 1, "fig": 2}
    paid = 0
    for index in range(100_000):
        paid += price(index, names, discounts)
    print(paid)


main()
"#;

/// The floor for Python.
pub(super) struct Debugpy<'a> {
    target: &'a Target,
    group: Group,
    session: Option<Session>,
}

impl<'a> Debugpy<'a> {
    pub(super) fn new(target: &'a Target) -> Result<Self> {
        Ok(Self { target, group: Group::empty()?, session: None })
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().context("nothing was launched")
    }
}

impl Debugger for Debugpy<'_> {
    fn launch(&mut self, first: First) -> Result<u64> {
        let session = Session::start(self.target, &self.group, first)?;
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
            json!({ "expression": expression, "frameId": session.frame, "context": "repl" });
        let body = session.request("evaluate", &arguments)?;
        Ok(body.get("result").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    fn look(&mut self) -> Result<usize> {
        Ok(self.session()?.look()?.locals)
    }

    fn end(&mut self) -> Result<()> {
        self.session = None;
        Ok(())
    }
}

/// One debugged program. Fields are dropped in order: the connection closes, the program is killed.
pub(in crate::bench) struct Session {
    stream: BufReader<Quick>,
    seq: u64,
    /// Those that came while we waited for an answer.
    events: VecDeque<Value>,
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

impl Session {
    fn start(target: &Target, group: &Group, first: First) -> Result<Self> {
        let mut session = Self::connect(target, group)?;
        session.configure(target, first, &[json!({ "line": target.hit })])?;
        Ok(session)
    }

    /// Runs the program to its end with a log point, or with nothing. Says how many messages came.
    pub(in crate::bench) fn trace(
        target: &Target,
        group: &Group,
        message: Option<&str>,
    ) -> Result<usize> {
        // pydevd drops what it has not sent when its program ends: the program stays until all has come.
        let mut target = target.clone();
        target.args.extend(message.map(|_| STAY_S.to_owned()));
        let target = &target;
        let hits: usize = target.args.first().context("no count")?.parse()?;
        let mut session = Self::connect(target, group)?;
        let point = |text| json!({ "line": target.hit, "logMessage": text });
        let points: Vec<Value> = message.map(point).into_iter().collect();
        session.configure(target, First::Hit, &points)?;
        let mut outputs = 0;
        while message.is_none() || outputs <= hits {
            let message = match session.events.pop_front() {
                Some(message) => message,
                // The program has ended, and pydevd does not always say so before it goes.
                None if session.stream.fill_buf()?.is_empty() => break,
                None => session.read()?,
            };
            match message.get("event").and_then(Value::as_str) {
                Some("output") => outputs += 1,
                Some("terminated") => break,
                _ => {}
            }
        }
        Ok(outputs)
    }

    fn connect(target: &Target, group: &Group) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        // Linux bounds `accept` by it, too: a Python that dies at once never dials.
        SockRef::from(&listener).set_read_timeout(Some(ANSWER_LIMIT))?;
        let address = listener.local_addr()?.to_string();
        let child = Command::new(&target.interpreter)
            .args(["-X", "frozen_modules=off", "-m", "debugpy", "--connect", &address])
            .arg("--wait-for-client")
            .arg(&target.file)
            .args(&target.args)
            .env("PYDEVD_DISABLE_FILE_VALIDATION", "1")
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(group.id()?)
            .spawn();
        let process = Process(child.context("starting Python")?);
        let (stream, _) = listener.accept().context("waiting for debugpy to dial us")?;
        let stream = BufReader::new(Quick::new(stream)?);
        let events = VecDeque::new();
        Ok(Self { stream, seq: 0, events, thread: 0, frame: 0, _process: process })
    }

    fn configure(&mut self, target: &Target, first: First, points: &[Value]) -> Result<()> {
        self.request("pydevdAuthorize", &json!({ "debugServerAccessToken": null }))?;
        let client = json!({ "clientID": "xtask", "adapterID": "python", "pathFormat": "path" });
        self.request("initialize", &client)?;
        // `launch`, not `attach`: only then does pydevd stop at the entry.
        let launch = json!({
            "justMyCode": true,
            "stopOnEntry": matches!(first, First::Entry),
            "subProcess": true,
            "breakOnSystemExit": [],
            "showReturnValue": true,
            "redirectOutput": false,
        });
        self.request("launch", &launch)?;
        let points = json!({
            "source": { "path": target.file },
            "breakpoints": points,
        });
        self.request("setBreakpoints", &points)?;
        self.request("setExceptionBreakpoints", &json!({ "filters": ["uncaught"] }))?;
        self.request("configurationDone", &json!({}))?;
        Ok(())
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

    fn request(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        let seq = self.send(command, arguments)?;
        loop {
            let mut message = self.read()?;
            if message.get("request_seq").and_then(Value::as_u64) != Some(seq) {
                self.events.push_back(message);
                continue;
            }
            if message.get("success").and_then(Value::as_bool) != Some(true) {
                bail!("debugpy refused `{command}`: {message}");
            }
            return Ok(message.get_mut("body").map(Value::take).unwrap_or_default());
        }
    }

    fn event(&mut self, name: &str) -> Result<Value> {
        loop {
            let message = match self.events.pop_front() {
                Some(message) => message,
                None => self.read()?,
            };
            match message.get("event").and_then(Value::as_str) {
                Some(event) if event == name => return Ok(message),
                Some("terminated") => bail!("the program ended before `{name}`"),
                _ => {}
            }
        }
    }

    fn send(&mut self, command: &str, arguments: &Value) -> Result<u64> {
        self.seq += 1;
        let message = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        let body = message.to_string();
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.stream.get_mut().write_all(text.as_bytes())?;
        Ok(self.seq)
    }

    fn read(&mut self) -> Result<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                bail!("debugpy closed the connection");
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
        self.stream.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

fn number(value: &Value, pointer: &str) -> Result<u64> {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.with_context(|| format!("no number at `{pointer}` of `{value}`"))
}
