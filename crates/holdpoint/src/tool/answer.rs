//! What a tool gives back, and the one envelope around it (seed 002):
//! `{ok, type, data | error, meta: {requestId, timestamp, duration, seq}}`.

use std::time::Duration;

use holdpoint_engine::{
    failure::{Code, Failure},
    ids::Seq,
};
use jiff::Timestamp;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a tool answers: text for the model, data for programs. Both say the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) data: Value,
}

#[derive(Debug)]
pub(crate) enum Reply {
    Answer(Answer),
    /// JSON as text and as data alike: the tools of seed 000.
    Json(Value),
    /// The same, of a call that was refused: `{"error": …}`.
    Refused(Value),
    /// Past the envelope, as it stands: the conformance suite's fixtures only.
    #[cfg(feature = "conformance")]
    Raw(Box<CallToolResponse>),
}

impl Answer {
    /// For data that is JSON already; [`Answer::new`] would build it a second time.
    pub(crate) fn json(text: impl Into<String>, data: Value) -> Self {
        Answer { text: text.into(), data }
    }

    pub(crate) fn new(text: impl Into<String>, data: &impl Serialize) -> Result<Self, Failure> {
        let data = serde_json::to_value(data)
            .map_err(|error| Failure::internal(format!("the answer is not JSON: {error}")))?;
        Ok(Answer { text: text.into(), data })
    }
}

impl Reply {
    /// The same answer with a line more, where there is something to add.
    pub(crate) fn with_note(self, note: Option<String>) -> Reply {
        match (self, note) {
            (Reply::Answer(answer), Some(note)) => {
                Reply::Answer(Answer { text: format!("{}\n({note})", answer.text), ..answer })
            }
            // Its text must stay JSON.
            (Reply::Json(Value::Object(object)), Some(note)) => Reply::Json(noted(object, note)),
            (Reply::Refused(Value::Object(object)), Some(note)) => {
                Reply::Refused(noted(object, note))
            }
            (reply, _) => reply,
        }
    }

    /// The same answer with more data.
    pub(crate) fn with_data<const N: usize>(mut self, fields: [(&str, Value); N]) -> Reply {
        if let Reply::Answer(Answer { data: Value::Object(data), .. }) = &mut self {
            data.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        }
        self
    }
}

/// Beside a note that it has already.
fn noted(mut object: Map<String, Value>, note: String) -> Value {
    let note = match object.get("note").and_then(Value::as_str) {
        Some(before) => format!("{before}; {note}"),
        None => note,
    };
    object.insert("note".to_owned(), note.into());
    Value::Object(object)
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Reply::Answer(answer)
    }
}

/// What the envelope says about the call itself.
pub(crate) struct Meta {
    pub(crate) request_id: String,
    pub(crate) duration: Duration,
    /// The newest event when the answer was made: pass it as `since` and nothing is missed.
    pub(crate) seq: Seq,
}

pub(crate) fn envelope(result: Result<Reply, Failure>, meta: &Meta) -> CallToolResponse {
    match result {
        Ok(Reply::Answer(answer)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
            result.structured_content = Some(enclose(true, "success", ("data", answer.data), meta));
            result.into()
        }
        Ok(Reply::Json(data)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(data.to_string())]);
            result.structured_content = Some(enclose(true, "success", ("data", data), meta));
            result.into()
        }
        Ok(Reply::Refused(error)) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
            result.structured_content = Some(enclose(false, "error", ("error", error), meta));
            result.into()
        }
        #[cfg(feature = "conformance")]
        Ok(Reply::Raw(raw)) => *raw,
        Err(failure) => failed(&failure, meta).into(),
    }
}

fn failed(failure: &Failure, meta: &Meta) -> CallToolResult {
    let mut error = json!({ "code": failure.code.as_str(), "message": failure.message });
    for (name, value) in [
        ("hint", failure.hint.as_deref().map(Value::from)),
        ("details", failure.details.as_deref().cloned()),
    ] {
        if let (Some(error), Some(value)) = (error.as_object_mut(), value) {
            error.insert(name.to_owned(), value);
        }
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(failure.to_string())]);
    result.structured_content = Some(enclose(false, "error", ("error", error), meta));
    result
}

/// By moving, not with `json!`, which would build the whole answer a second time.
fn enclose(ok: bool, kind: &str, (name, content): (&str, Value), meta: &Meta) -> Value {
    object([("ok", ok.into()), ("type", kind.into()), (name, content), ("meta", meta.to_json())])
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut object = Map::with_capacity(N);
    for (name, value) in fields {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

impl Meta {
    fn to_json(&self) -> Value {
        let millis = (self.duration.as_secs_f64() * 100_000.0).round() / 100.0;
        object([
            ("requestId", self.request_id.as_str().into()),
            ("timestamp", Timestamp::now().to_string().into()),
            ("duration", millis.into()),
            ("seq", self.seq.0.into()),
        ])
    }
}

/// A failure in the words of seed 000's tools: `{"error": …}`, with what is wrong and the next step.
pub(crate) fn refused(failure: &Failure) -> Value {
    let detail = |name: &str| failure.details.as_ref().and_then(|it| it.get(name)).cloned();
    let mut error = Map::new();
    let missing = failure.message.starts_with("missing parameter");
    let code = match failure.code {
        Code::InvalidParams if missing => "missing_parameter".to_owned(),
        Code::InvalidParams => "invalid_parameter".to_owned(),
        code => code.as_str().trim_start_matches("E_").to_lowercase(),
    };
    error.insert("error".to_owned(), code.into());
    if let Some(parameter) = detail("parameter") {
        error.insert("parameter".to_owned(), parameter);
    }
    error.insert("message".to_owned(), failure.message.as_ref().into());
    if let Some(hint) = &failure.hint {
        error.insert("hint".to_owned(), hint.as_ref().into());
    }
    Value::Object(error)
}
