//! One message of another server, gathered up to a bound. What is longer is not kept, but for its ends: by the
//! id in them whoever waits for it hears at once that it was too long, instead of nothing.

use futures::future::BoxFuture;
use holdpoint_engine::{aside::aside_if_large, limits};
use rmcp::model::{CustomResult, ServerJsonRpcMessage, ServerResult};
use serde_json::{Value, json};

/// Bytes kept of each end: the id stands before the result or behind it.
const END: usize = 512;

/// A message on its way.
#[derive(Default)]
pub(super) struct Gathered {
    kept: Vec<u8>,
    /// How many there were, once they are too many; `kept` is then their beginning.
    length: Option<usize>,
    tail: Vec<u8>,
}

impl Gathered {
    pub(super) fn push(&mut self, piece: &[u8]) {
        match &mut self.length {
            None if self.kept.len() + piece.len() <= limits::EXTERNAL_MESSAGE => {
                self.kept.extend_from_slice(piece);
            }
            None => {
                self.length = Some(self.kept.len() + piece.len());
                self.keep_tail(piece);
                self.kept.truncate(END);
                self.kept.shrink_to_fit();
            }
            Some(length) => {
                *length += piece.len();
                self.keep_tail(piece);
            }
        }
    }

    /// Its beginning.
    pub(super) fn peek(&self) -> &[u8] {
        &self.kept
    }

    /// The whole of it; of one that was too long, the answer that says so to whoever waits.
    pub(super) fn take(&mut self) -> Result<Vec<u8>, Option<String>> {
        let whole = std::mem::take(self);
        match whole.length {
            None => Ok(whole.kept),
            Some(length) => Err(too_long(&whole.kept, &whole.tail, length)),
        }
    }

    fn keep_tail(&mut self, piece: &[u8]) {
        let from = piece.len().saturating_sub(END);
        self.tail.extend_from_slice(piece.get(from..).unwrap_or_default());
        let drop = self.tail.len().saturating_sub(END);
        self.tail.drain(..drop);
    }
}

/// What a message says. None for what is none.
pub(super) fn message(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    let mut value: Value = serde_json::from_slice(text).ok()?;
    // A tool's result is handed on as it came, to the last field: no type of ours or the SDK's looks at it.
    if value.pointer("/result/content").is_some_and(Value::is_array)
        && let Some(id) = value.get("id").cloned()
        && let Ok(id) = serde_json::from_value(id)
    {
        let result = value.get_mut("result").map(Value::take).unwrap_or_default();
        let result = ServerResult::CustomResult(CustomResult(result));
        return Some(ServerJsonRpcMessage::response(result, id));
    }
    serde_json::from_value(value).ok()
}

/// The same; a large one is read aside.
pub(super) async fn read(text: Vec<u8>) -> Option<ServerJsonRpcMessage> {
    aside_if_large(text.len(), move || message(&text)).await.flatten()
}

/// Messages that are read one after the other. Whoever stops waiting for one loses nothing.
#[derive(Default)]
pub(super) struct Reading(Option<BoxFuture<'static, Option<ServerJsonRpcMessage>>>);

impl Reading {
    pub(super) fn begin(&mut self, text: Vec<u8>) {
        self.0 = Some(Box::pin(read(text)));
    }

    /// What was begun, when it is read. None where it is no message, or nothing was begun.
    pub(super) async fn done(&mut self) -> Option<ServerJsonRpcMessage> {
        let read = self.0.as_mut()?.await;
        self.0 = None;
        read
    }
}

/// The answer in place of one that is too long, to the request whose id is found in its ends.
fn too_long(head: &[u8], tail: &[u8], length: usize) -> Option<String> {
    let id = id_before(&String::from_utf8_lossy(head))
        .or_else(|| id_behind(&String::from_utf8_lossy(tail)))?;
    Some(refusal(&id, length))
}

pub(super) fn refusal(id: &Value, length: usize) -> String {
    let most = limits::EXTERNAL_MESSAGE;
    let message = format!("the answer has {length} bytes or more; up to {most} are read");
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": message } })
        .to_string()
}

/// An id that stands before what was asked for.
fn id_before(head: &str) -> Option<Value> {
    let ends = ["\"result\"", "\"error\"", "\"params\"", "\"method\""];
    let end = ends.iter().filter_map(|it| head.find(it)).min().unwrap_or(head.len());
    value_of_id(head.get(..end)?)
}

/// One that stands behind it, with nothing but the end after it.
fn id_behind(tail: &str) -> Option<Value> {
    let last = tail.rfind('{').map_or(tail, |at| tail.get(at..).unwrap_or(tail));
    let rest = last.rsplit('}').nth(1)?;
    value_of_id(rest)
}

fn value_of_id(text: &str) -> Option<Value> {
    let (_, after) = text.rsplit_once("\"id\"")?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
    let id = values.next()?.ok()?;
    (id.is_number() || id.is_string()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(before: &str, behind: &str) -> Option<String> {
        let mut gathered = Gathered::default();
        gathered.push(before.as_bytes());
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..=64 {
            gathered.push(&piece);
        }
        gathered.push(behind.as_bytes());
        gathered.take().unwrap_err()
    }

    #[test]
    fn whoever_waits_for_what_is_too_long_hears_it() {
        let python = long(r#"{"jsonrpc":"2.0","id":7,"result":{"id":9,"content":[""#, r#""]}}"#);
        assert!(python.unwrap().contains(r#""id":7"#));
        let node =
            long(r#"{"result":{"content":[{"id":9,"text":""#, r#""}]},"jsonrpc":"2.0","id":8}"#);
        assert!(node.unwrap().contains(r#""id":8"#));
        assert_eq!(long(r#"{"result":{"content":[""#, r#""]}}"#), None);
    }

    #[test]
    fn up_to_the_bound_all_of_it_is_kept() {
        let mut gathered = Gathered::default();
        gathered.push(&vec![b'x'; limits::EXTERNAL_MESSAGE]);
        assert_eq!(gathered.take().unwrap().len(), limits::EXTERNAL_MESSAGE);
        assert!(gathered.peek().is_empty());
        gathered.push(&vec![b'x'; limits::EXTERNAL_MESSAGE]);
        gathered.push(b"x");
        assert!(gathered.take().is_err());
    }

    #[test]
    fn a_result_is_kept_to_its_last_field() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"new","x":1}],"y":2}}"#;
        let message = message(text.as_bytes()).unwrap();
        let again = serde_json::to_value(&message).unwrap();
        assert_eq!(again, serde_json::from_str::<Value>(text).unwrap());
        assert!(super::message(b"not JSON").is_none());
    }
}
