//! Messages that cannot be read: what is said of them, by the id that they have. Whoever sent one waits.
//!
//! Pure, and without recursion: a message may be nested as deep as it likes, or break off anywhere.

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    model::{ErrorCode, JsonRpcError, RequestId},
};
use serde_json::error::Category;

/// What stands at the top level of an object, as far as it goes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Head {
    id: Option<RequestId>,
    has_id: bool,
    has_method: bool,
}

impl Head {
    /// The id that an answer is to have. An answer of the client's has an id of ours, which must not come
    /// back to it as one of its own.
    pub(super) fn request_id(&self) -> Option<RequestId> {
        self.id.clone().filter(|_| self.has_method)
    }

    pub(super) fn refused(
        &self,
        code: ErrorCode,
        text: impl Into<Cow<'static, str>>,
    ) -> JsonRpcError {
        JsonRpcError::new(self.request_id(), ErrorData::new(code, text, None))
    }

    fn is_notification(&self) -> bool {
        self.has_method && !self.has_id
    }
}

/// What is answered to a message that the SDK does not take; `None` for a notification. An answer of ours that
/// comes back is a message, so no two servers can go on answering each other.
pub(super) fn problem(message: &[u8], error: &serde_json::Error) -> Option<JsonRpcError> {
    let head = of(message);
    let (code, text): (ErrorCode, Cow<'static, str>) = match error.classify() {
        Category::Syntax | Category::Eof if error.to_string().contains("recursion") => {
            (ErrorCode::PARSE_ERROR, "this message is nested deeper than 127 levels".into())
        }
        Category::Syntax | Category::Eof => {
            let at = format!("this is not JSON from column {} on", error.column());
            (ErrorCode::PARSE_ERROR, at.into())
        }
        // Never answered, not even one that nobody understands.
        Category::Data | Category::Io if head.is_notification() => return None,
        Category::Data | Category::Io => {
            let text = "this is not a message of MCP: one JSON-RPC 2.0 object, with an `id` that is a \
                string or an integer";
            (ErrorCode::INVALID_REQUEST, text.into())
        }
    };
    Some(head.refused(code, text))
}

pub(super) fn of(line: &[u8]) -> Head {
    let mut head = Head::default();
    let mut depth = 0_u32;
    let mut key: Option<&[u8]> = None;
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        let value = rest;
        rest = after;
        match byte {
            b'"' => {
                let Some(end) = string(value) else { break };
                let Some((text, after)) = value.split_at_checked(end) else { break };
                rest = after;
                if depth == 1 && key.is_none() {
                    key = Some(text);
                    continue;
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => key = None,
            _ => {}
        }
        if depth == 1 && byte != b':' && !byte.is_ascii_whitespace() {
            head.note(key.unwrap_or_default(), value);
        }
    }
    head
}

impl Head {
    fn note(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"\"method\"" => self.has_method = true,
            b"\"id\"" if !self.has_id => {
                self.has_id = true;
                self.id = scalar(value).and_then(|it| serde_json::from_slice(it).ok());
            }
            _ => {}
        }
    }
}

/// A string or number at the beginning of the text.
fn scalar(text: &[u8]) -> Option<&[u8]> {
    let end = match text.first()? {
        b'"' => string(text)?,
        _ => text.iter().position(|it| matches!(it, b',' | b'}') || it.is_ascii_whitespace())?,
    };
    text.get(..end)
}

/// Where a string ends that begins here, its quotes included.
fn string(text: &[u8]) -> Option<usize> {
    let mut is_escaped = true;
    let end = text.iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, id: Option<RequestId>, is_notification: bool) {
        let head = of(line.as_bytes());
        assert_eq!((head.request_id(), head.is_notification()), (id, is_notification), "{line}");
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let seven = Some(RequestId::Number(7));
        check(r#"{"id":7,"method":"x"}"#, seven.clone(), false);
        check(r#"{"method":"x","params":{"id":1,"a":[{"id":2}]},"id":7}"#, seven.clone(), false);
        check(r#" { "method" : "a\"id\":3,\\" , "id" : 7 , "#, seven, false);
        check(r#"{"id":"a\"b","method":"x","#, Some(RequestId::String("a\"b".into())), false);
    }

    #[test]
    fn no_id_is_made_up() {
        check(r#"{"id":7,"result":{}}"#, None, false);
        check(r#"{"id":7"#, None, false);
        check(r#"{"method":"x","params":{"id":7}}"#, None, true);
        check(r#"{"id":null,"method":"x"}"#, None, false);
        check(r#"[{"id":7,"method":"x"}]"#, None, false);
        check(r#""id" 7 "method""#, None, false);
        check("", None, false);
    }
}
