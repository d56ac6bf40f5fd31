//! The least that an MCP client over streamable HTTP can be: one connection kept alive,
//! one POST at a time, the answer as JSON or as server-sent events.
//!
//! Written by hand so that the client costs next to nothing and both servers pay the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::client::{Home, PROTOCOL, Process, initialize_params, is_answer};
use crate::process::Group;

/// No answer takes this long: it would wait for ever.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// A server that listens, and that ends with us even if we are killed.
pub(super) struct Listening {
    port: u16,
    _process: Process,
    _group: Group,
    _home: Home,
}

impl Listening {
    pub(super) fn new(port: u16, process: Process, group: Group, home: Home) -> Self {
        Self { port, _process: process, _group: group, _home: home }
    }
}

/// Fields are dropped in order: the connection closes, the server ends.
pub(super) struct HttpClient {
    writer: TcpStream,
    reader: BufReader<TcpStream>,
    session: Option<String>,
    next_id: u64,
    server: Listening,
}

impl HttpClient {
    /// Connects and does the handshake.
    pub(super) fn connect(server: Listening) -> Result<Self> {
        let writer = TcpStream::connect(("127.0.0.1", server.port)).context("connecting")?;
        writer.set_nodelay(true)?;
        writer.set_read_timeout(Some(READ_LIMIT))?;
        let reader = BufReader::new(writer.try_clone()?);
        let mut client = Self { writer, reader, session: None, next_id: 0, server };
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
        let start = Instant::now();
        self.writer.write_all(request.as_bytes())?;
        let response = Response::read(&mut self.reader, start)?;
        if let Some(session) = response.header("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        Ok(response)
    }

    fn request_text(&self, body: &str) -> String {
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.server.port,
            body.len()
        );
        if let Some(session) = &self.session {
            head += &format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {PROTOCOL}\r\n");
        }
        head + "\r\n" + body
    }
}

/// One HTTP/1.1 response, read to its end so that the connection can be used again.
struct Response {
    status: u16,
    /// Names are in lower case.
    headers: Vec<(String, String)>,
    body: String,
    elapsed: Duration,
}

impl Response {
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
