//! Server-sent events from a response's body, bounded: one that is too long becomes the answer that says so, and
//! the stream lives on.

use std::collections::VecDeque;

use axum::body::Bytes;
use futures::{Stream, StreamExt as _, stream::BoxStream};
use holdpoint_engine::aside::aside_if_large;
use serde_json::Value;
use sse_stream::{Error as SseError, Sse};

use super::long::Gathered;

pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The parser: bytes in, events out.
#[derive(Default)]
struct EventParser {
    line: Gathered,
    data: Gathered,
    has_data: bool,
    event: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
    /// The last byte was a carriage return: a line feed belongs to it.
    after_return: bool,
    /// The line holds data and is too long to be gathered twice.
    in_data: bool,
}

impl EventParser {
    fn push(&mut self, bytes: &[u8], out: &mut VecDeque<Sse>) {
        let mut rest = bytes;
        if self.after_return && rest.first() == Some(&b'\n') {
            rest = rest.get(1..).unwrap_or_default();
        }
        if !bytes.is_empty() {
            self.after_return = false;
        }
        while let Some(at) = rest.iter().position(|it| matches!(it, b'\n' | b'\r')) {
            self.piece(rest.get(..at).unwrap_or_default());
            self.end_line(out);
            let is_return = rest.get(at) == Some(&b'\r');
            rest = rest.get(at + 1..).unwrap_or_default();
            match (is_return, rest.first()) {
                (true, Some(b'\n')) => rest = rest.get(1..).unwrap_or_default(),
                (true, None) => self.after_return = true,
                _ => {}
            }
        }
        self.piece(rest);
    }

    /// A part of a line. Data goes where it belongs at once.
    fn piece(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        if self.in_data {
            return self.data.push(piece);
        }
        self.line.push(piece);
        let Some(start) = self.line.peek().strip_prefix(b"data:") else { return };
        // The space after the colon may come with the next piece.
        let Some(first) = start.first() else { return };
        let start = if *first == b' ' { start.get(1..).unwrap_or_default() } else { start };
        let start = start.to_vec();
        self.begin_data();
        self.data.push(&start);
        self.line = Gathered::default();
    }

    fn begin_data(&mut self) {
        if self.has_data {
            self.data.push(b"\n");
        }
        self.has_data = true;
        self.in_data = true;
    }

    fn end_line(&mut self, out: &mut VecDeque<Sse>) {
        if std::mem::take(&mut self.in_data) {
            return;
        }
        let Ok(line) = self.line.take() else { return };
        if line.is_empty() {
            return self.end_event(out);
        }
        let line = String::from_utf8_lossy(&line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                self.begin_data();
                self.in_data = false;
            }
            "event" => self.event = Some(value.to_owned()),
            "id" => self.id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok(),
            _ => {}
        }
    }

    fn end_event(&mut self, out: &mut VecDeque<Sse>) {
        let had_data = std::mem::take(&mut self.has_data);
        let data = match self.data.take() {
            Ok(data) if had_data => Some(whole_text(data)),
            Ok(_) => None,
            Err(too_long) => too_long,
        };
        let (event, id, retry) = (self.event.take(), self.id.take(), self.retry.take());
        if data.is_some() || id.is_some() || retry.is_some() {
            out.push_back(Sse { event, data, id, retry });
        }
    }
}

/// Without copying what is text already.
fn whole_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned())
}

/// The events of a response.
pub(super) fn events(response: reqwest::Response) -> Events {
    let bytes = response.bytes_stream();
    read(bytes).boxed()
}

/// The results of tools in it as text: the SDK, which reads these events, makes one of its types of a result that is
/// none, and drops what that does not know. [`unwrapped`] has it back.
pub(super) fn kept_whole(events: Events) -> Events {
    let wrapped = |event: Result<Sse, SseError>| async {
        let event = event?;
        let bytes = event.data.as_ref().map_or(0, String::len);
        Ok(aside_if_large(bytes, move || wrapped(event)).await.unwrap_or_default())
    };
    events.then(wrapped).boxed()
}

fn wrapped(mut event: Sse) -> Sse {
    let message = event.data.as_deref().and_then(|it| serde_json::from_str::<Value>(it).ok());
    if let Some(mut message) = message
        && message.pointer("/result/content").is_some_and(Value::is_array)
        && let Some(result) = message.get_mut("result")
    {
        *result = result.to_string().into();
        event.data = Some(message.to_string());
    }
    event
}

/// A result that was put into text.
pub(super) fn unwrapped(result: Value) -> Value {
    match result {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        whole => whole,
    }
}

fn read(
    bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + Unpin + 'static,
) -> impl Stream<Item = Result<Sse, SseError>> + Send {
    let state = (bytes, EventParser::default(), VecDeque::new());
    futures::stream::unfold(state, |(mut bytes, mut parser, mut ready)| async move {
        loop {
            if let Some(event) = ready.pop_front() {
                return Some((Ok(event), (bytes, parser, ready)));
            }
            match bytes.next().await? {
                Ok(piece) => parser.push(&piece, &mut ready),
                Err(error) => {
                    let error = SseError::Body(Box::new(error.without_url()));
                    return Some((Err(error), (bytes, parser, ready)));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::limits;

    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<Sse> {
        let (mut parser, mut out) = (EventParser::default(), VecDeque::new());
        for piece in pieces {
            parser.push(piece, &mut out);
        }
        out.into()
    }

    #[test]
    fn however_it_is_cut_it_is_the_same() {
        let text = b"event: endpoint\r\ndata: /m?x=1\r\n\r\n: alive\nid: 7\nretry: 10\ndata:{\"a\":\ndata: 1}\n\ndata\n\n";
        let whole = parse(&[text]);
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[0].event.as_deref(), Some("endpoint"));
        assert_eq!(whole[0].data.as_deref(), Some("/m?x=1"));
        assert_eq!((whole[1].data.as_deref(), whole[1].retry), (Some("{\"a\":\n1}"), Some(10)));
        assert_eq!(whole[2].data.as_deref(), Some(""));
        for size in 1..text.len() {
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(parse(&pieces), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn one_that_is_too_long_is_answered_and_the_next_is_read() {
        let long = vec![b'x'; limits::EXTERNAL_MESSAGE];
        let begin = b"data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"";
        let read = parse(&[begin, &long, b"\"}\n\n", b"data: {}\n\n"]);
        assert_eq!(read.len(), 2);
        let answer = read[0].data.as_deref().unwrap();
        assert!(answer.contains("\"id\":3") && answer.contains("are read"), "{answer}");
        assert_eq!(read[1].data.as_deref(), Some("{}"));
    }
}
