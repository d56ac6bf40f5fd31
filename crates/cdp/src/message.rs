//! One JSON message, in and out. Pure.
//!
//! Only the envelope is parsed here; payloads stay raw text until somebody asks for a type. So a
//! payload that cannot be parsed (nested too deep, half of a surrogate pair) costs its own call, and
//! never leaves a caller waiting for an answer that was thrown away.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::error::Error;

/// A message from the inspector.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Answer { id: u64, outcome: Result<&'a str, Refusal> },
    Event { method: Cow<'a, str>, params: &'a str },
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    method: &'a str,
    params: &'a RawValue,
}

pub(crate) fn encode(id: u64, method: &str, params: &RawValue) -> Result<String, Error> {
    serde_json::to_string(&Request { id, method, params })
        .map(ascii)
        .map_err(|error| malformed(method, &error))
}

/// The same JSON in ASCII alone: Node passes a message on to a worker letter by letter, and the worker reads a
/// `µ` as half of something, answers nobody in particular, and the caller waits.
fn ascii(json: String) -> String {
    if json.is_ascii() {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if letter.is_ascii() {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            out += &format!("\\u{unit:04x}");
        }
    }
    out
}

/// Parameters as raw JSON, before they are queued: a type that cannot be JSON is told to its caller.
pub(crate) fn raw(method: &str, params: impl Serialize) -> Result<Box<RawValue>, Error> {
    serde_json::value::to_raw_value(&params).map_err(|error| malformed(method, &error))
}

pub(crate) fn decode(text: &str) -> Result<Message<'_>, Error> {
    let envelope: Envelope<'_> =
        serde_json::from_str(text).map_err(|error| malformed("message", &error))?;
    match (envelope.id, envelope.method) {
        (Some(id), _) => {
            let outcome = match envelope.error {
                Some(error) => Err(refusal(error.get())),
                None => Ok(payload(envelope.result)),
            };
            Ok(Message::Answer { id, outcome })
        }
        (None, Some(method)) => Ok(Message::Event { method, params: payload(envelope.params) }),
        (None, None) => Err(Error::Malformed {
            what: "message".into(),
            detail: "neither `id` nor `method`".into(),
        }),
    }
}

/// A payload as a type. Strings with half a surrogate pair, which JavaScript has and Rust has not,
/// get U+FFFD in its place.
pub fn parse<T: DeserializeOwned>(what: &str, payload: &str) -> Result<T, Error> {
    let error = match serde_json::from_str(payload) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    match whole_surrogates(payload) {
        Cow::Borrowed(_) => Err(malformed(what, &error)),
        Cow::Owned(mended) => {
            serde_json::from_str(&mended).map_err(|error| malformed(what, &error))
        }
    }
}

/// Nothing is the same as an empty object: commands without an answer leave it out.
fn payload(raw: Option<&RawValue>) -> &str {
    raw.map_or("{}", RawValue::get)
}

fn refusal(error: &str) -> Refusal {
    parse("error", error).unwrap_or_else(|_| Refusal { code: 0, message: error.to_owned() })
}

fn malformed(what: &str, error: &serde_json::Error) -> Error {
    Error::Malformed { what: what.to_owned(), detail: error.to_string() }
}

/// Replaces `\uD800`-like escapes that have no partner; everything else stays byte for byte.
fn whole_surrogates(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = json;
    let mut changed = false;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let (kept, length) = match (unit(escape), escape.get(5..)) {
            (Some(0xD800..=0xDBFF), Some(after)) if is_low_escape(after) => (true, 11),
            (Some(0xD800..=0xDFFF), _) => (false, 5),
            // Any other escape is copied with the character after the backslash, so that an
            // escaped backslash does not start an escape of its own.
            _ => (true, escape.chars().next().map_or(0, char::len_utf8)),
        };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        out.push('\\');
        out.push_str(if kept { escape } else { "uFFFD" });
        changed |= !kept;
        rest = after;
    }
    if !changed {
        return Cow::Borrowed(json);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The code unit of `uXXXX`, the text after a backslash.
fn unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_low_escape(text: &str) -> bool {
    matches!(text.strip_prefix('\\').and_then(unit), Some(0xDC00..=0xDFFF))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        assert_eq!(parse::<String>("test", json).unwrap(), expected);
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        check(r#""a\ud83db""#, "a\u{fffd}b");
        check(r#""\ude00""#, "\u{fffd}");
        check(r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀");
        check(r#""\ud83d\\ude00""#, "\u{fffd}\\ude00");
        check(r#""\\ud83d\ud83d""#, "\\ud83d\u{fffd}");
    }

    #[test]
    fn a_payload_too_deep_fails_by_itself() {
        let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
        let text = format!(r#"{{"id":7,"result":{{"value":{deep}}}}}"#);
        let Message::Answer { id: 7, outcome: Ok(payload) } = decode(&text).unwrap() else {
            panic!("not an answer");
        };
        let error = parse::<serde_json::Value>("Runtime.evaluate", payload).unwrap_err();
        assert!(error.to_string().contains("recursion limit"), "{error}");
    }

    #[test]
    fn a_refusal_keeps_code_and_words() {
        let text = r#"{"id":1,"error":{"code":-32000,"message":"Can only perform operation while paused."}}"#;
        let Message::Answer { outcome: Err(refusal), .. } = decode(text).unwrap() else {
            panic!("not a refusal");
        };
        assert_eq!(refusal.code, -32000);
        assert_eq!(refusal.message, "Can only perform operation while paused.");
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_not_a_panic(text in ".*") {
            drop(decode(&text));
            drop(parse::<serde_json::Value>("test", &text));
            whole_surrogates(&text);
        }

        #[test]
        fn escapes_in_any_order(text in r#"(\\\\|\\u[dD][89cCdDfF][0-9a-f]{2}|\\n|x|é)*"#) {
            let json = format!("\"{text}\"");
            prop_assert!(parse::<String>("test", &json).is_ok(), "{}", json);
        }
    }
}
