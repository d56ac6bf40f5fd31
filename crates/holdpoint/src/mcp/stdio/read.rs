//! Lines of stdin, and what each of them says.
//!
//! Nearly every line of a session is a `tools/call` of the plain shape, which is read straight into its type:
//! the SDK's general parser tries every kind of request on a message, half of what a call costs. What is no
//! message is answered, with the request's id wherever that can be read: whoever sent it waits.

use std::io;

use holdpoint_engine::limits;
use rmcp::{
    RoleServer,
    model::{
        CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest, ErrorCode,
        JsonRpcError, JsonRpcMessage, JsonRpcRequest, JsonRpcVersion2_0, RequestId,
    },
    service::RxJsonRpcMessage,
};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::bytes::BytesMut;

use crate::mcp::{exact, unread};

pub(super) type Message = RxJsonRpcMessage<RoleServer>;

/// What is read at once: several calls of the usual size.
const READ_BYTES: usize = 8 * 1024;
/// RFC 8259 lets a parser pass over a byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// A client that frames its messages begins each with this.
const FRAME: &[u8] = b"content-length:";

/// What a line says.
#[derive(Debug)]
pub(super) enum Said {
    Message(Box<Message>),
    /// Nothing that is to be answered.
    Nothing,
    Wrong(JsonRpcError),
}

pub(super) struct Reader<R> {
    read: R,
    unread: BytesMut,
    /// So far into `unread` there is no end of a line.
    searched: usize,
    expects: Expects,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Expects {
    Line,
    /// The rest of a line that was too long.
    Rest,
    /// The headers of a frame, of whose body the length is known.
    Headers(usize),
    Body(usize),
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(super) fn new(read: R) -> Reader<R> {
        Reader { read, unread: BytesMut::new(), searched: 0, expects: Expects::Line }
    }

    /// What the next line says; `None` at the end. Whoever stops waiting loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<Option<Said>> {
        loop {
            if let Some(said) = self.take() {
                return Ok(Some(said));
            }
            self.unread.reserve(READ_BYTES);
            if self.read.read_buf(&mut self.unread).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// What is there already.
    fn take(&mut self) -> Option<Said> {
        loop {
            if let Expects::Body(length) = self.expects {
                return self.body(length);
            }
            let Some(end) = self.line() else {
                return (self.unread.len() > limits::LINE_BYTES).then(|| self.too_long());
            };
            let line = self.unread.split_to(end);
            self.searched = 0;
            let is_empty = line.trim_ascii().is_empty();
            self.expects = match self.expects {
                Expects::Headers(length) if is_empty => Expects::Body(length),
                Expects::Headers(length) => Expects::Headers(length),
                Expects::Line if !is_empty => match frame(&line) {
                    Some(length) => Expects::Headers(length),
                    None => return Some(said(&line)),
                },
                Expects::Line | Expects::Rest | Expects::Body(_) => Expects::Line,
            };
        }
    }

    /// Where the next line ends, if it does yet.
    fn line(&mut self) -> Option<usize> {
        let rest = self.unread.get(self.searched..).unwrap_or_default();
        let found = rest.iter().position(|byte| *byte == b'\n');
        let end = found.map(|at| self.searched + at + 1);
        self.searched = self.unread.len();
        end
    }

    /// A client that frames its messages learns so from the answer to its first.
    fn body(&mut self, length: usize) -> Option<Said> {
        if self.unread.len() < length {
            return None;
        }
        let body = self.unread.split_to(length);
        (self.searched, self.expects) = (0, Expects::Line);
        let text = "this server reads one JSON message a line, without `Content-Length` headers";
        Some(Said::Wrong(unread::of(&body).refused(ErrorCode::INVALID_REQUEST, text)))
    }

    fn too_long(&mut self) -> Said {
        let line = std::mem::take(&mut self.unread);
        self.searched = 0;
        match std::mem::replace(&mut self.expects, Expects::Rest) {
            Expects::Rest => Said::Nothing,
            Expects::Line | Expects::Headers(_) | Expects::Body(_) => {
                let text = format!("a message may have {} bytes", limits::LINE_BYTES);
                Said::Wrong(unread::of(&line).refused(ErrorCode::INVALID_REQUEST, text))
            }
        }
    }
}

/// How long the body is that a line announces.
fn frame(line: &[u8]) -> Option<usize> {
    let (name, length) = line.split_at_checked(FRAME.len())?;
    let length = std::str::from_utf8(length).ok().filter(|_| name.eq_ignore_ascii_case(FRAME))?;
    length.trim().parse().ok().filter(|length| *length <= limits::LINE_BYTES)
}

fn said(line: &[u8]) -> Said {
    let line = line.strip_prefix(MARK).unwrap_or(line).trim_ascii_end();
    if let Some(message) = call(line) {
        return Said::Message(Box::new(message));
    }
    match serde_json::from_slice::<Message>(line) {
        Ok(message) => Said::Message(Box::new(message)),
        Err(error) => unread::problem(line, &error).map_or(Said::Nothing, Said::Wrong),
    }
}

/// A line as the plain call that it may be.
fn call(line: &[u8]) -> Option<Message> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Plain {
        jsonrpc: JsonRpcVersion2_0,
        id: RequestId,
        #[expect(dead_code, reason = "its type is the check")]
        method: CallToolRequestMethod,
        params: CallToolRequestParams,
    }
    let Plain { jsonrpc, id, params, .. } = serde_json::from_slice(&exact::call(line)).ok()?;
    let mut request = CallToolRequest::new(params);
    // Where the SDK puts it.
    if let Some(meta) = request.params.meta.take() {
        request.extensions.insert(meta);
    }
    let request = ClientRequest::CallToolRequest(request);
    Some(JsonRpcMessage::Request(JsonRpcRequest { jsonrpc, id, request }))
}

#[cfg(test)]
mod tests;
