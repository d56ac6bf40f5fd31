//! HTTP/1.1 by hand, so that tests choose every header themselves.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, TcpStream},
};

use serde_json::Value;

use crate::DEADLINE;

pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }
}

/// A request under construction; `Host` is loopback unless a header says otherwise.
pub struct Request<'a> {
    pub address: IpAddr,
    pub port: u16,
    pub method: &'a str,
    pub path: &'a str,
    pub headers: Vec<(&'a str, String)>,
    pub body: String,
}

pub fn get(port: u16, path: &str) -> Request<'_> {
    request(port, "GET", path, "")
}

pub fn post<'a>(port: u16, path: &'a str, body: &str) -> Request<'a> {
    request(port, "POST", path, body)
}

pub fn request<'a>(port: u16, method: &'a str, path: &'a str, body: &str) -> Request<'a> {
    Request {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port,
        method,
        path,
        headers: Vec::new(),
        body: body.to_owned(),
    }
}

impl<'a> Request<'a> {
    #[must_use]
    pub fn header(mut self, name: &'a str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    #[must_use]
    pub fn at(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    fn open(&self, connection: &str) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect((self.address, self.port))?;
        stream.set_read_timeout(Some(DEADLINE))?;
        stream.set_nodelay(true)?;
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: localhost:{}\r\n", self.port);
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !self.body.is_empty() {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        head += &format!("Connection: {connection}\r\n\r\n");
        // A server may refuse and close before it has read a large body.
        stream.write_all(head.as_bytes())?;
        stream.write_all(self.body.as_bytes()).unwrap_or_default();
        Ok(stream)
    }

    /// One exchange on a connection of its own.
    pub fn send(self) -> Response {
        self.try_send().expect("an exchange")
    }

    /// The same, of a server that may be gone.
    pub fn try_send(self) -> io::Result<Response> {
        let mut reader = BufReader::new(self.open("close")?);
        let (status, headers) = head(&mut reader)?;
        let mut body = Vec::new();
        // A refused upload may end in a reset; what came before it is the answer.
        reader.read_to_end(&mut body).map(drop).unwrap_or_default();
        let body = String::from_utf8_lossy(&body).into_owned();
        let body = if is_chunked(&headers) { unchunk(&body) } else { body };
        Ok(Response { status, headers, body })
    }

    /// The head of the answer alone; a stream has no end to wait for.
    pub fn try_head(self) -> io::Result<Response> {
        let mut reader = BufReader::new(self.open("close")?);
        let (status, headers) = head(&mut reader)?;
        Ok(Response { status, headers, body: String::new() })
    }

    /// Opens an event stream and reads its head.
    pub fn stream(self) -> Events {
        let mut reader = BufReader::new(self.open("keep-alive").expect("a connection"));
        let (status, headers) = head(&mut reader).expect("a head");
        Events { status, headers, reader }
    }
}

/// Server-sent events as they come. Dropping it closes the connection.
pub struct Events {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Event {
    pub id: String,
    pub event: String,
    pub data: String,
    pub comment: String,
}

impl Events {
    /// The connection itself, for whoever wants to end it.
    pub fn connection(&self) -> TcpStream {
        self.reader.get_ref().try_clone().unwrap()
    }

    /// For a thread that only listens: a quiet stream is no failure.
    pub fn wait_for_ever(&mut self) {
        self.reader.get_ref().set_read_timeout(None).unwrap();
    }

    /// The next event or comment; `None` when the stream ended.
    pub fn next_event(&mut self) -> Option<Event> {
        let mut event = Event::default();
        loop {
            let mut line = String::new();
            // A stream that is reset has ended too.
            let is_reset =
                |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
            match self.reader.read_line(&mut line) {
                Ok(0) => return None,
                Err(error) if is_reset(&error) => return None,
                read => drop(read.expect("the stream")),
            }
            let line = line.trim_end();
            match line.split_once(':') {
                Some(("id", value)) => event.id = value.trim().to_owned(),
                Some(("event", value)) => event.event = value.trim().to_owned(),
                Some(("data", value)) => event.data = value.trim().to_owned(),
                Some(("", value)) => event.comment = value.trim().to_owned(),
                _ if line.is_empty() && event != Event::default() => return Some(event),
                // Chunk sizes and blank lines between chunks; `0` ends the stream.
                _ if line == "0" => return None,
                _ => {}
            }
        }
    }

    /// The next event that is not a comment.
    pub fn next_data(&mut self) -> Option<Event> {
        loop {
            let event = self.next_event()?;
            if event.comment.is_empty() {
                return Some(event);
            }
        }
    }
}

fn head(reader: &mut BufReader<TcpStream>) -> io::Result<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok((status, headers));
        };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

fn is_chunked(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("transfer-encoding") && value.contains("chunked")
    })
}

fn unchunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        let Some(chunk) = rest.get(..size) else { break };
        whole += chunk;
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}
