//! Any debugger that speaks DAP, by itself: the requests that a stop needs, and no more.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::languages::arguments;
use super::quick::{ANSWER_LIMIT, Quick};
use super::{Debugger, First, Target};
use crate::bench::client::Process;
use crate::process::Group;

/// As many frames as our stop report asks for.
const FRAMES: u32 = 20;
/// A message is some kilobytes; a length beyond this is not one of ours.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Between two looks whether it listens.
const AGAIN: Duration = Duration::from_millis(1);

/// How a debugger is started and asked.
pub(super) struct Raw {
    pub(super) words: Vec<String>,
    pub(super) launch: String,
    pub(super) folder: PathBuf,
}

pub(super) struct RawAdapter<'a> {
    target: &'a Target,
    raw: Raw,
    group: Group,
    session: Option<Session>,
}

impl<'a> RawAdapter<'a> {
    pub(super) fn new(target: &'a Target, raw: Raw) -> Result<Self> {
        Ok(Self { target, raw, group: Group::empty()?, session: None })
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().context("nothing was launched")
    }
}

impl Debugger for RawAdapter<'_> {
    fn launch(&mut self, first: First) -> Result<u64> {
        let mut session = Session::connect(&self.raw, &self.group)?;
        let launch = arguments(&self.raw.launch, matches!(first, First::Entry))?;
        session.configure(self.target, launch)?;
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
            json!({ "expression": expression, "frameId": session.frame, "context": "watch" });
        let body = session.request("evaluate", &arguments)?;
        Ok(body.get("result").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    fn look(&mut self) -> Result<usize> {
        Ok(self.session()?.look()?.locals)
    }

    fn end(&mut self) -> Result<()> {
        if let Some(mut session) = self.session.take() {
            session.send("disconnect", &json!({ "terminateDebuggee": true }))?;
        }
        Ok(())
    }
}

/// One debugged program. Fields are dropped in order: the connection closes, the debugger is killed.
struct Session {
    read: BufReader<Box<dyn Read>>,
    write: Box<dyn Write>,
    seq: u64,
    events: VecDeque<Value>,
    thread: u64,
    frame: u64,
    _process: Process,
}

struct Seen {
    line: u64,
    locals: usize,
}

impl Session {
    fn connect(raw: &Raw, group: &Group) -> Result<Self> {
        let listens = raw.words.iter().any(|it| it.contains("{port}"));
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let words: Vec<String> =
            raw.words.iter().map(|it| it.replace("{port}", &port.to_string())).collect();
        let (program, args) = words.split_first().context("`raw` names no command")?;
        let mut command = Command::new(program);
        command.args(args).current_dir(&raw.folder).process_group(group.id()?);
        command.stderr(Stdio::null());
        if listens {
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let process =
                Process(command.spawn().with_context(|| format!("starting `{program}`"))?);
            let stream = dial(port)?;
            let (read, write) = (Quick::new(stream.try_clone()?)?, Quick::new(stream)?);
            return Ok(Self::over(Box::new(read), Box::new(write), process));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("starting `{program}`"))?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).context("no pipes")?;
        Ok(Self::over(Box::new(stdout), Box::new(stdin), Process(child)))
    }

    fn over(read: Box<dyn Read>, write: Box<dyn Write>, process: Process) -> Self {
        let (read, events) = (BufReader::new(read), VecDeque::new());
        Self { read, write, seq: 0, events, thread: 0, frame: 0, _process: process }
    }

    /// Some answer `launch` before `initialized`, some only after `configurationDone`.
    fn configure(&mut self, target: &Target, launch: Value) -> Result<()> {
        let client = json!({
            "clientID": "xtask", "adapterID": "xtask", "pathFormat": "path",
            "linesStartAt1": true, "columnsStartAt1": true,
        });
        self.request("initialize", &client)?;
        self.send("launch", &launch)?;
        self.event("initialized")?;
        let source = json!({ "path": target.file });
        let points = json!({ "source": source, "breakpoints": [{ "line": target.hit }] });
        self.request("setBreakpoints", &points)?;
        self.request("configurationDone", &json!({}))?;
        Ok(())
    }

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
                bail!("the debugger refused `{command}`: {message}");
            }
            return Ok(message.get_mut("body").map(Value::take).unwrap_or_default());
        }
    }

    /// What comes before it is kept: some tell the first stop before they are configured.
    fn event(&mut self, name: &str) -> Result<Value> {
        let is_it = |it: &Value| it.get("event").and_then(Value::as_str) == Some(name);
        if let Some(at) = self.events.iter().position(is_it) {
            return self.events.remove(at).context("it was there");
        }
        loop {
            let message = self.read()?;
            let failed = message.get("success").and_then(Value::as_bool) == Some(false);
            match message.get("event").and_then(Value::as_str) {
                Some(event) if event == name => return Ok(message),
                Some("terminated") => bail!("the program ended before `{name}`"),
                _ if failed => bail!("the debugger refused: {message}"),
                _ => self.events.push_back(message),
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

fn dial(port: u16) -> Result<TcpStream> {
    let begun = Instant::now();
    loop {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > ANSWER_LIMIT => {
                return Err(error).context("the debugger does not listen");
            }
            // Nobody tells when a port opens.
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

fn number(value: &Value, pointer: &str) -> Result<u64> {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.with_context(|| format!("no number at `{pointer}` of `{value}`"))
}
