//! The least that an MCP client over stdio can be: one request out, lines in until its answer.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

pub(super) use crate::scratch::{Home, Process};

/// The revision that both servers are asked for.
pub(super) const PROTOCOL: &str = "2025-11-25";

/// A server as its user's client starts it, with a home folder of its own.
pub(super) struct Server {
    program: PathBuf,
    arguments: Vec<String>,
    folder: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    debuggers: Option<PathBuf>,
}

impl Server {
    pub(super) fn new(program: &Path, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        let (folder, environment, debuggers) = (None, Vec::new(), None);
        Self { program: program.to_owned(), arguments, folder, environment, debuggers }
    }

    /// Started in a project's folder, as agents do.
    pub(super) fn inside(self, folder: &Path, environment: Vec<(OsString, OsString)>) -> Self {
        Self { folder: Some(folder.to_owned()), environment, ..self }
    }

    /// With the debuggers of this folder instead of none.
    pub(super) fn with_debuggers(self, folder: &Path) -> Self {
        Self { debuggers: Some(folder.to_owned()), ..self }
    }

    /// The command, and the fresh folder that its process calls home.
    pub(super) fn command(&self) -> Result<(Command, Home)> {
        let home = Home::new()?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env("HOME", &home.0)
            .env("HOLDPOINT_HOME", &home.0)
            .env_remove("CIDELDILL_HOME")
            .env_remove("CIDELDILL_PORT_FILE")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stderr(Stdio::null());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        if let Some(debuggers) = &self.debuggers {
            std::os::unix::fs::symlink(debuggers, home.0.join("debugpy"))?;
        }
        Ok((command, home))
    }
}

type ClientWriter = Box<dyn Write + Send>;
type ClientReader = BufReader<Box<dyn Read + Send>>;

/// A connected client. Fields are dropped in order: stdin closes, the process ends, its home goes.
pub(super) struct StdioClient {
    writer: ClientWriter,
    reader: ClientReader,
    next_id: u64,
    process: Process,
    home: Home,
}

impl StdioClient {
    /// Over pipes, as most clients start a server.
    pub(super) fn over_pipes(server: &Server) -> Result<Self> {
        let (mut command, home) = server.command()?;
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = Process(child.context("starting a server")?);
        let writer = process.0.stdin.take().context("stdin was not piped")?;
        let reader = process.0.stdout.take().context("stdout was not piped")?;
        Ok(Self::new(Box::new(writer), Box::new(reader), process, home))
    }

    /// Over two socket pairs, as clients built on Node do.
    pub(super) fn over_socket_pairs(server: &Server) -> Result<Self> {
        let (mut command, home) = server.command()?;
        let (writer, stdin) = UnixStream::pair()?;
        let (reader, stdout) = UnixStream::pair()?;
        command.stdin(Stdio::from(OwnedFd::from(stdin)));
        command.stdout(Stdio::from(OwnedFd::from(stdout)));
        let process = Process(command.spawn().context("starting a server")?);
        // The command keeps the child's ends open until it goes: an end of stream needs them closed.
        drop(command);
        Ok(Self::new(Box::new(writer), Box::new(reader), process, home))
    }

    fn new(
        writer: ClientWriter,
        reader: Box<dyn Read + Send>,
        process: Process,
        home: Home,
    ) -> Self {
        Self { writer, reader: BufReader::new(reader), next_id: 0, process, home }
    }

    /// `initialize`, and nothing after it: for the time from start to first answer.
    pub(super) fn initialize(&mut self) -> Result<()> {
        self.request("initialize", initialize_params())?;
        Ok(())
    }

    /// The same as one of the agents that the server knows.
    pub(super) fn initialize_as(&mut self, name: &str, version: &str) -> Result<()> {
        self.request("initialize", initialize_as(name, version))?;
        Ok(())
    }

    /// The rest of the handshake, until the server has nothing left to do.
    pub(super) fn settle(&mut self) -> Result<()> {
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(&message)?;
        self.request("ping", json!({}))?;
        Ok(())
    }

    /// Sends a request and waits for its answer; the time is from first byte out to last byte in.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Duration> {
        Ok(self.ask(method, params)?.0)
    }

    /// Calls a tool; its result is the answer, whole.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        Ok(answer.with_context(|| format!("calling `{tool}`"))?.1)
    }

    /// Calls a tool; its text is the answer, that of a failure too.
    pub(super) fn call_text(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let (_, result) = self.exchange("tools/call", params, &mut |_| Ok(()), &replied)?;
        let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
        let texts = blocks.filter_map(|block| block.get("text").and_then(Value::as_str));
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }

    /// Calls a tool and gives what comes before its answer to `other`, line by line.
    pub(super) fn call_hearing(
        &mut self,
        tool: &str,
        arguments: Value,
        other: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask_hearing("tools/call", params, other);
        Ok(answer.with_context(|| format!("calling `{tool}`"))?.1)
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<(Duration, Value)> {
        self.ask_hearing(method, params, &mut |_| Ok(()))
    }

    fn ask_hearing(
        &mut self,
        method: &str,
        params: Value,
        other: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<(Duration, Value)> {
        self.exchange(method, params, other, &answer)
    }

    /// `judge` says whether a line is the answer, and what of it.
    fn exchange(
        &mut self,
        method: &str,
        params: Value,
        other: &mut dyn FnMut(&str) -> Result<()>,
        judge: &dyn Fn(&str, u64) -> Result<Option<Value>>,
    ) -> Result<(Duration, Value)> {
        self.next_id += 1;
        let id = self.next_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut text = serde_json::to_vec(&message)?;
        text.push(b'\n');
        let start = Instant::now();
        self.writer.write_all(&text)?;
        self.writer.flush()?;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                bail!("the server closed its stdout before it answered `{method}`");
            }
            let elapsed = start.elapsed();
            match judge(&line, id)? {
                Some(result) => return Ok((elapsed, result)),
                None => other(&line)?,
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut text = serde_json::to_vec(message)?;
        text.push(b'\n');
        self.writer.write_all(&text)?;
        Ok(self.writer.flush()?)
    }

    /// What its server calls home.
    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// Its two ends, for whoever uses them at once, and what ends the server when it is dropped.
    pub(super) fn into_ends(self) -> (ClientWriter, ClientReader, (Process, Home)) {
        (self.writer, self.reader, (self.process, self.home))
    }

    /// Resident memory in megabytes.
    pub(super) fn rss_mb(&self) -> Result<f64> {
        self.process.memory_mb("VmRSS:")
    }
}

pub(super) fn initialize_params() -> Value {
    initialize_as("xtask-bench", "0")
}

fn initialize_as(name: &str, version: &str) -> Value {
    json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": { "name": name, "version": version },
    })
}

/// Whether this message answers the request; an error of any kind would not be worth timing.
pub(super) fn is_answer(message: &str, id: u64) -> Result<bool> {
    Ok(answer(message, id)?.is_some())
}

/// The result in this message, if it answers the request and is no failure.
fn answer(message: &str, id: u64) -> Result<Option<Value>> {
    let result = replied(message, id)?;
    if result.as_ref().and_then(|it| it.get("isError")).and_then(Value::as_bool) == Some(true) {
        bail!("the tool failed: `{message}`");
    }
    Ok(result)
}

/// The result in this message, if it answers the request.
fn replied(message: &str, id: u64) -> Result<Option<Value>> {
    let mut value: Value =
        serde_json::from_str(message).with_context(|| format!("not JSON: `{message}`"))?;
    if value.get("id").and_then(Value::as_u64) != Some(id) || value.get("method").is_some() {
        return Ok(None);
    }
    let result = value.get_mut("result").with_context(|| format!("an error: `{message}`"))?.take();
    Ok(Some(result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_the_request_counts() {
        assert!(is_answer(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, 3).unwrap());
        assert!(!is_answer(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, 3).unwrap());
        assert!(!is_answer(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#, 3).unwrap());
        assert!(!is_answer(r#"{"jsonrpc":"2.0","id":3,"method":"roots/list"}"#, 3).unwrap());
        is_answer(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"x"}}"#, 3).unwrap_err();
        is_answer(r#"{"jsonrpc":"2.0","id":3,"result":{"isError":true}}"#, 3).unwrap_err();
    }
}
