//! The least that an HTTP client can be, and one for MCP over streamable HTTP on top of it: one
//! connection kept alive, one request at a time, the answer as JSON or as server-sent events.
//!
//! Written by hand so that the client costs next to nothing and both servers pay the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::client::{Home, PROTOCOL, Process, Server, initialize_params, is_answer};
use crate::process::Group;

/// No answer takes this long: it would wait for ever.
const READ_LIMIT: Duration = Duration::from_secs(60);

/// For a server to say where it listens.
const LISTEN_LIMIT: Duration = Duration::from_secs(10);
const LISTEN_POLL: Duration = Duration::from_millis(2);

/// A server that listens, and that ends with us even if we are killed.
pub(super) struct Listening {
    pub(super) port: u16,
    process: Process,
    _group: Group,
    pub(super) home: Home,
}

impl Listening {
    /// Starts ours, which writes its port to a file.
    pub(super) fn ours(server: &Server) -> Result<Self> {
        Self::start(server, port_in_file).context("ours")
    }

    /// Starts the floor, which prints its port.
    pub(super) fn floor(server: &Server) -> Result<Self> {
        Self::start(server, port_on_stdout).context("the floor")
    }

    fn start(server: &Server, port: impl Fn(&mut Process, &Path) -> Result<u16>) -> Result<Self> {
        let (mut command, home) = server.command()?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut process = Process(command.spawn().context("starting a server")?);
        let group = Group::led_by(&process.0)?;
        let port = port(&mut process, &home.0)?;
        Ok(Self { port, process, _group: group, home })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Resident memory in megabytes.
    pub(super) fn rss_mb(&self) -> Result<f64> {
        self.process.memory_mb("VmRSS:")
    }

    /// The most that it ever was.
    pub(super) fn peak_mb(&self) -> Result<f64> {
        self.process.memory_mb("VmHWM:")
    }
}

fn port_on_stdout(process: &mut Process, _home: &Path) -> Result<u16> {
    let stdout = process.0.stdout.take().context("stdout was not piped")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    line.trim().parse().with_context(|| format!("not a port: `{line}`"))
}

/// As clients of ours find it.
fn port_in_file(process: &mut Process, home: &Path) -> Result<u16> {
    let deadline = Instant::now() + LISTEN_LIMIT;
    while Instant::now() < deadline {
        let text = std::fs::read_to_string(home.join("port")).unwrap_or_default();
        if let Ok(port) = text.trim().parse() {
            return Ok(port);
        }
        if let Some(status) = process.0.try_wait()? {
            bail!("it ended before it listened: {status}");
        }
        thread::sleep(LISTEN_POLL);
    }
    bail!("no port in `{}` within {} s", home.display(), LISTEN_LIMIT.as_secs())
}

/// One connection, kept alive.
pub(super) struct Connection {
    pub(super) port: u16,
    writer: TcpStream,
    reader: BufReader<TcpStream>,
}

/// What stands before a body of so many bytes.
pub(super) fn post_head(port: u16, path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    )
}

impl Connection {
    pub(super) fn to(port: u16) -> Result<Self> {
        let writer = TcpStream::connect(("127.0.0.1", port)).context("connecting")?;
        writer.set_nodelay(true)?;
        writer.set_read_timeout(Some(READ_LIMIT))?;
        let reader = BufReader::new(writer.try_clone()?);
        Ok(Self { port, writer, reader })
    }

    pub(super) fn get(&mut self, path: &str) -> Result<Response> {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port))
    }

    pub(super) fn post(&mut self, path: &str, body: &str) -> Result<Response> {
        self.send(&(post_head(self.port, path, body.len()) + body))
    }

    /// Sends a request that is made already; the body of its answer. `into` is used again and again:
    /// while the clock runs, the client does as little as it can.
    pub(super) fn exchange<'i>(&mut self, request: &[u8], into: &'i mut String) -> Result<&'i str> {
        self.writer.write_all(request)?;
        into.clear();
        let mut length = 0;
        loop {
            let from = into.len();
            self.reader.read_line(into).context("reading an answer")?;
            let line = into.get(from..).unwrap_or_default().trim_end();
            if line.is_empty() {
                break;
            }
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse()?;
                }
                Some(_) => {}
                None if line.starts_with("HTTP/1.1 200") => {}
                None => bail!("answered with `{line}`"),
            }
        }
        let from = into.len();
        self.reader.by_ref().take(length).read_to_string(into)?;
        Ok(into.get(from..).unwrap_or_default())
    }

    /// Sends a request as it is and reads the answer to its end.
    fn send(&mut self, request: &str) -> Result<Response> {
        let start = Instant::now();
        self.writer.write_all(request.as_bytes())?;
        Response::read(&mut self.reader, start)
    }
}

/// Fields are dropped in order: the connection closes, the server ends.
pub(super) struct HttpClient {
    connection: Connection,
    session: Option<String>,
    next_id: u64,
    _server: Option<Listening>,
}

impl HttpClient {
    /// Connects to a server that ends with the client.
    pub(super) fn connect(server: Listening) -> Result<Self> {
        let client = Self::to(server.port)?;
        Ok(Self { _server: Some(server), ..client })
    }

    /// Connects and does the handshake.
    pub(super) fn to(port: u16) -> Result<Self> {
        let connection = Connection::to(port)?;
        let mut client = Self { connection, session: None, next_id: 0, _server: None };
        client.request("initialize", initialize_params())?;
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let response = client.post(&message)?;
        if response.status != 202 {
            bail!("`notifications/initialized` was answered with {}", response.status);
        }
        Ok(client)
    }

    /// Sends a request and waits for its answer; the time is from first byte out to last byte in.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Duration> {
        self.next_id += 1;
        let id = self.next_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.post(&message)?;
        if response.status != 200 {
            bail!("`{method}` was answered with {}: {}", response.status, response.body);
        }
        for message in response.messages() {
            if is_answer(message, id)? {
                return Ok(response.elapsed);
            }
        }
        bail!("no answer to `{method}` in `{}`", response.body)
    }

    fn post(&mut self, message: &Value) -> Result<Response> {
        let request = self.request_text(&message.to_string());
        let response = self.connection.send(&request)?;
        if let Some(session) = response.header("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        Ok(response)
    }

    fn request_text(&self, body: &str) -> String {
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.connection.port,
            body.len()
        );
        if let Some(session) = &self.session {
            head += &format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {PROTOCOL}\r\n");
        }
        head + "\r\n" + body
    }
}

/// One HTTP/1.1 response, read to its end so that the connection can be used again.
pub(super) struct Response {
    pub(super) status: u16,
    /// Names are in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: String,
    pub(super) elapsed: Duration,
}

impl Response {
    /// The body as JSON, of an answer that is one.
    pub(super) fn json(&self) -> Result<Value> {
        if self.status != 200 {
            bail!("answered with {}: {}", self.status, self.body);
        }
        serde_json::from_str(&self.body).with_context(|| format!("not JSON: `{}`", self.body))
    }

    fn read(reader: &mut impl BufRead, start: Instant) -> Result<Self> {
        let status_line = line(reader)?;
        let status = status_line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .with_context(|| format!("not a status line: `{status_line}`"))?;
        let mut headers = Vec::new();
        loop {
            let header = line(reader)?;
            if header.is_empty() {
                break;
            }
            let (name, value) =
                header.split_once(':').with_context(|| format!("not a header: `{header}`"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut response = Self { status, headers, body: String::new(), elapsed: Duration::ZERO };
        let body = response.read_body(reader)?;
        response.elapsed = start.elapsed();
        response.body = String::from_utf8(body).context("the body is not UTF-8")?;
        Ok(response)
    }

    fn read_body(&self, reader: &mut impl BufRead) -> Result<Vec<u8>> {
        if self.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            return read_chunks(reader);
        }
        let length = self.header("content-length").unwrap_or("0").parse()?;
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(body)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC messages in it, whichever way they came.
    fn messages(&self) -> Vec<&str> {
        let is_events =
            self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !is_events {
            return vec![self.body.as_str()];
        }
        // Servers write each message on one line, and a first event without data.
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.map(str::trim).filter(|data| !data.is_empty()).collect()
    }
}

fn read_chunks(reader: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(reader)?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16)
            .with_context(|| format!("not a chunk size: `{size}`"))?;
        let filled = body.len();
        reader.by_ref().take(u64::try_from(size)?).read_to_end(&mut body)?;
        if body.len() - filled < size {
            bail!("the connection ended in the middle of a chunk");
        }
        // After the last chunk this is the empty line that ends the (absent) trailers.
        line(reader)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        bail!("the server closed the connection");
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Response {
        let mut bytes = text.as_bytes();
        let response = Response::read(&mut bytes, Instant::now()).unwrap();
        assert!(bytes.is_empty(), "the response was not read to its end");
        response
    }

    #[test]
    fn json_with_a_length() {
        let response = read(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: abc\r\nContent-Length: 7\r\n\r\n{\"id\":1",
        );
        assert_eq!((response.status, response.messages()), (200, vec!["{\"id\":1"]));
        assert_eq!(response.header("mcp-session-id"), Some("abc"));
    }

    #[test]
    fn events_in_chunks() {
        let response = read(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
             18\r\ndata:\nid: 0\nretry: 3000\n\r\n8\r\ndata: {}\r\n2\r\n\n\n\r\n0\r\n\r\n",
        );
        assert_eq!(response.messages(), vec!["{}"]);
    }

    #[test]
    fn accepted_without_a_body() {
        let response = read("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
        assert_eq!((response.status, response.body.as_str()), (202, ""));
    }
}
