//! The envelope: what kind of message a JSON value is, and how ours are written.

use serde_json::{Map, Value, json};

use crate::lenient::{Loose, unlike};

#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Response(Response),
    Event { event: String, body: Value },
    Request { seq: i64, command: String, arguments: Value },
}

#[derive(Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) request_seq: i64,
    pub(crate) success: bool,
    pub(crate) message: Option<String>,
    pub(crate) body: Value,
}

impl Message {
    /// A message without a type is known by what only one kind has.
    pub(crate) fn read(value: Value) -> Result<Message, String> {
        let Value::Object(mut fields) = value else { return Err(unlike("an object", &value)) };
        let kind: Option<String> = take(&mut fields, "type")?;
        match kind.as_deref() {
            Some("response") => response(fields),
            Some("event") => event(fields),
            Some("request") => request(fields),
            _ if fields.contains_key("request_seq") => response(fields),
            _ if fields.contains_key("event") => event(fields),
            _ if fields.contains_key("command") => request(fields),
            _ => Err(unlike("a message", &Value::Object(fields))),
        }
    }
}

fn response(mut fields: Map<String, Value>) -> Result<Message, String> {
    let number: Value = take(&mut fields, "request_seq")?;
    if number.is_null() {
        return Err("a response does not say to which request".to_owned());
    }
    let success: Option<bool> = take(&mut fields, "success")?;
    Ok(Message::Response(Response {
        request_seq: i64::loose(number)?,
        success: success.unwrap_or(true),
        message: take(&mut fields, "message")?,
        body: take(&mut fields, "body")?,
    }))
}

fn event(mut fields: Map<String, Value>) -> Result<Message, String> {
    Ok(Message::Event { event: take(&mut fields, "event")?, body: take(&mut fields, "body")? })
}

fn request(mut fields: Map<String, Value>) -> Result<Message, String> {
    Ok(Message::Request {
        seq: take(&mut fields, "seq")?,
        command: take(&mut fields, "command")?,
        arguments: take(&mut fields, "arguments")?,
    })
}

fn take<T: Loose>(fields: &mut Map<String, Value>, name: &str) -> Result<T, String> {
    T::loose(fields.get_mut(name).map(Value::take).unwrap_or_default())
}

/// Empty arguments are left out, as VS Code does: that is what adapters are tried with.
pub(crate) fn request_json(seq: i64, command: &str, arguments: Value) -> Value {
    let empty = match &arguments {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let mut request = json!({ "seq": seq, "type": "request", "command": command });
    if let (false, Some(fields)) = (empty, request.as_object_mut()) {
        fields.insert("arguments".to_owned(), arguments);
    }
    request
}

pub(crate) fn response_json(
    seq: i64,
    request_seq: i64,
    command: &str,
    answer: Result<Value, String>,
) -> Value {
    match answer {
        Ok(body) => json!({
            "seq": seq, "type": "response", "request_seq": request_seq, "success": true,
            "command": command, "body": body,
        }),
        Err(text) => json!({
            "seq": seq, "type": "response", "request_seq": request_seq, "success": false,
            "command": command, "message": text,
            "body": { "error": { "id": 1, "format": text } },
        }),
    }
}

/// The number of the request that an unreadable message answers, from its first bytes.
pub(crate) fn request_seq_in(head: &str) -> Option<i64> {
    let (_, after) = head.split_once("\"request_seq\"")?;
    let number = after.trim_start().strip_prefix(':')?.trim_start();
    let end = number.find(|c: char| !c.is_ascii_digit())?;
    number.get(..end)?.parse().ok()
}

/// The best text for a person in a refusal: `error.format` with its variables filled in, else
/// `message`.
pub(crate) fn refusal_text(message: Option<String>, body: &Value) -> String {
    let error = body.get("error").unwrap_or_default();
    let format = error.get("format").and_then(Value::as_str).unwrap_or_default();
    let full = filled(format, error.get("variables").unwrap_or_default());
    [Some(full), message]
        .into_iter()
        .flatten()
        .find(|text| !text.trim().is_empty())
        .unwrap_or_else(|| "the adapter gave no reason".to_owned())
}

/// `{name}` is replaced; a name that is not given stays as it is.
fn filled(format: &str, variables: &Value) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let given = after.split_once('}').and_then(|(name, behind)| {
            let value = variables.get(name)?;
            Some((value.as_str().map_or_else(|| value.to_string(), str::to_owned), behind))
        });
        rest = match given {
            Some((value, behind)) => {
                out.push_str(&value);
                behind
            }
            None => {
                out.push('{');
                after
            }
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refusal(message: Option<&str>, body: Value, expected: &str) {
        assert_eq!(refusal_text(message.map(str::to_owned), &body), expected);
    }

    #[test]
    fn the_best_text_of_a_refusal_is_found() {
        check_refusal(Some("short"), Value::Null, "short");
        check_refusal(None, Value::Null, "the adapter gave no reason");
        check_refusal(Some(" "), json!({"error": {"format": ""}}), "the adapter gave no reason");
        check_refusal(Some("short"), json!({"error": {"format": "long"}}), "long");
        check_refusal(
            Some("short"),
            json!({"error": {"format": "no {what} in {_file}: {}{code} {left {open", "variables":
                {"what": "symbol", "_file": "a {what}.c", "code": 7}}}),
            "no symbol in a {what}.c: {}7 {left {open",
        );
    }

    #[test]
    fn a_message_without_a_type_is_recognised() {
        let read = |value| Message::read(value).unwrap();
        assert!(matches!(
            read(json!({"request_seq": "3", "success": "false"})),
            Message::Response(Response { request_seq: 3, success: false, .. })
        ));
        assert!(matches!(read(json!({"event": "stopped"})), Message::Event { .. }));
        assert!(matches!(
            read(json!({"command": "x", "seq": 1.0})),
            Message::Request { seq: 1, .. }
        ));
    }

    #[test]
    fn what_is_no_message_says_so() {
        for value in [json!(7), json!({}), json!({"type": "response"}), json!({"type": "gossip"})] {
            assert!(Message::read(value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn the_request_of_an_unreadable_answer_is_found() {
        assert_eq!(request_seq_in(r#"{"seq": 9, "request_seq" : 12, "bo"#), Some(12));
        assert_eq!(request_seq_in(r#"{"seq": 9, "request_seq":12"#), None, "may go on");
        assert_eq!(request_seq_in(r#"{"seq": 9, "event": "output"}"#), None);
    }

    #[test]
    fn empty_arguments_are_not_sent() {
        let plain = json!({"seq": 1, "type": "request", "command": "threads"});
        assert_eq!(request_json(1, "threads", Value::Null), plain);
        assert_eq!(request_json(1, "threads", json!({})), plain);
        assert_eq!(request_json(1, "x", json!({"a": 1}))["arguments"], json!({"a": 1}));
    }
}
