//! Tool calls, taken out of the stream before the SDK's general parser sees them.
//!
//! That parser buffers a message and tries every kind of request on it: half of what a call costs.
//! Nearly every line of a session is a `tools/call` of the plain shape, which can be read straight
//! into its type. Every other line goes to the SDK untouched, and so does a call with anything unusual
//! in it: what is said to a client about a wrong message stays the SDK's business.

use std::{
    io,
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use rmcp::{
    RoleServer,
    model::{
        CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest,
        JsonRpcMessage, JsonRpcRequest, JsonRpcVersion2_0, RequestId,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Deserialize;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::bytes::{Buf as _, BytesMut};

use crate::mcp::exact;

type Message = RxJsonRpcMessage<RoleServer>;

/// What was taken out and is not delivered yet: one call at most, since reading stops at each.
type Taken = Arc<Mutex<Option<Message>>>;

/// What is read at once: several calls of the usual size.
const READ_BYTES: usize = 8 * 1024;

/// A longer line is passed on as it comes: what it costs is not the parser, and it would lie here twice.
const LINE_BYTES: usize = 64 * 1024;

/// The stream without its calls, and the transport that gives them back.
pub(super) fn apart<R, T>(read: R, over: impl FnOnce(Sieve<R>) -> T) -> Rejoined<T> {
    let taken = Taken::default();
    let sieve = Sieve {
        read,
        taken: Arc::clone(&taken),
        unread: BytesMut::new(),
        searched: 0,
        whole: 0,
        inside: false,
    };
    Rejoined { inner: over(sieve), taken }
}

pub(super) struct Sieve<R> {
    read: R,
    taken: Taken,
    unread: BytesMut,
    /// So far into `unread` there is no end of a line.
    searched: usize,
    /// So much of `unread` is the SDK's.
    whole: usize,
    /// In a line too long to look at.
    inside: bool,
}

pub(super) struct Rejoined<T> {
    inner: T,
    taken: Taken,
}

impl<R> Sieve<R> {
    /// Looks at the next line. Returns whether it was a call, which is then in `taken`.
    fn sift(&mut self, end: usize) -> bool {
        let message = if self.inside { None } else { self.unread.get(..end).and_then(call) };
        self.inside = false;
        self.searched = 0;
        match message {
            Some(message) => {
                self.unread.advance(end);
                *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
                true
            }
            None => {
                self.whole = end;
                false
            }
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
}

impl<R: AsyncRead + Unpin> AsyncRead for Sieve<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if this.whole > 0 {
                let count = this.whole.min(buf.remaining());
                buf.put_slice(this.unread.get(..count).unwrap_or_default());
                this.unread.advance(count);
                this.whole -= count;
                return Poll::Ready(Ok(()));
            }
            if let Some(end) = this.line() {
                if this.sift(end) {
                    // Whoever polls looks for the call next, and only then reads on.
                    return Poll::Pending;
                }
                continue;
            }
            if this.unread.len() > LINE_BYTES {
                (this.whole, this.searched, this.inside) = (this.unread.len(), 0, true);
                continue;
            }
            this.unread.reserve(READ_BYTES);
            let read = Pin::new(&mut this.read);
            if ready!(tokio_util::io::poll_read_buf(read, cx, &mut this.unread))? == 0 {
                if this.unread.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                this.whole = this.unread.len();
            }
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Rejoined<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<Message> {
        let mut inner = pin!(self.inner.receive());
        std::future::poll_fn(|cx| {
            if let Poll::Ready(message) = inner.as_mut().poll(cx) {
                return Poll::Ready(message);
            }
            let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.map_or(Poll::Pending, |message| Poll::Ready(Some(message)))
        })
        .await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
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
mod tests {
    use super::*;

    /// The same message as the SDK reads.
    #[track_caller]
    fn same(line: &str) {
        let ours = call(line.as_bytes()).unwrap();
        let theirs: Message = serde_json::from_str(line).unwrap();
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    }

    #[test]
    fn a_plain_call_is_read_as_the_sdk_reads_it() {
        same(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
        same(
            r#"{"method":"tools/call","params":{"arguments":{},"name":"x"},"id":"a","jsonrpc":"2.0"}"#,
        );
        same(
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"ü","arguments":{"n":1.5,"deep":[{"k":null}]},"_meta":{"progressToken":"t","other":[1]}}}"#,
        );
        same(
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","requestState":"s","unknown":{"a":1}}}"#,
        );
    }

    #[test]
    fn anything_else_is_the_sdks() {
        for line in [
            "",
            "\n",
            "tools/call",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"x"}}"#,
        ] {
            assert!(call(line.as_bytes()).is_none(), "{line}");
        }
    }

    /// What passes the sieve, read in pieces of any size, and the calls it kept.
    async fn sifted(stream: &[u8], piece: usize) -> (Vec<u8>, usize) {
        let (near, mut far) = tokio::io::duplex(piece);
        let mut sieve = None;
        let joined = apart(near, |it| sieve = Some(it));
        let mut sieve = sieve.unwrap();
        let stream = stream.to_vec();
        let writer = tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut far, &stream).await.unwrap();
        });
        let (mut passed, mut calls) = (Vec::new(), 0);
        loop {
            let mut bytes = [0; 7];
            let mut buf = ReadBuf::new(&mut bytes);
            let ended = std::future::poll_fn(|cx| {
                let polled = Pin::new(&mut sieve).poll_read(cx, &mut buf);
                let taken = joined.taken.lock().unwrap().take().is_some();
                calls += usize::from(taken);
                match polled {
                    Poll::Pending if taken => Poll::Ready(false),
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(done) => {
                        done.unwrap();
                        Poll::Ready(buf.filled().is_empty())
                    }
                }
            })
            .await;
            passed.extend_from_slice(buf.filled());
            if ended {
                break;
            }
        }
        writer.await.unwrap();
        (passed, calls)
    }

    #[tokio::test]
    async fn lines_keep_their_bytes_and_order_whatever_the_pieces() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
        let stream = format!("first\n{call}\n\n{call}\r\nsecond\n{call}\nunended");
        for piece in [1, 3, 64, 4096] {
            let (passed, calls) = sifted(stream.as_bytes(), piece).await;
            assert_eq!(String::from_utf8(passed).unwrap(), "first\n\nsecond\nunended");
            assert_eq!(calls, 3);
        }
    }

    #[tokio::test]
    async fn a_long_line_passes_whole_and_the_next_is_looked_at() {
        let long = vec![b'x'; LINE_BYTES * 2 + 5];
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
        let stream = [&long[..], b"\n", call, b"\nend\n"].concat();
        let (passed, calls) = sifted(&stream, 1 << 20).await;
        assert_eq!(passed, [&long[..], b"\nend\n"].concat());
        assert_eq!(calls, 1);
    }
}
