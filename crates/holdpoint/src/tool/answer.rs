//! What a tool gives back, and the one envelope around it for whoever is not known to be an agent:
//! `{ok, type, text, data | error, meta: {requestId, timestamp, duration, seq}}`.

use std::{borrow::Cow, time::Duration};

use holdpoint_engine::{
    budget::{self, Budget},
    failure::{Code, Failure},
    ids::Seq,
    limits,
    secrets::Secrets,
};
use jiff::Timestamp;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What goes out beside the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing: the client is known to put it before a model, or asked for none.
    Text,
    /// The envelope, because nobody knows who reads: a model may pay for both, so both keep one budget.
    Perhaps,
    /// The envelope with all its data, because it was asked for.
    Asked,
}

/// What a tool answers: text for the model, data for programs. Both say the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) data: Value,
}

#[derive(Debug)]
pub(crate) enum Reply {
    Answer(Answer),
    /// JSON as text and as data alike: the tools about apps' calls.
    Json(Value),
    /// The same, of a call that was refused: `{"error": …}`.
    Refused(Value),
    /// Past the envelope, as somebody else's server gave it.
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

    /// No longer than its reader takes, whatever the tool wrote. JSON stays as it is: the contracts of its
    /// tools say how many there are, and half of it would be none.
    pub(super) fn within(mut self, budget: Budget, shape: Shape) -> Reply {
        if let Reply::Answer(answer) = &mut self {
            let room = budget.ceiling() - limits::NEWS_CHARACTERS;
            let text = std::mem::take(&mut answer.text);
            answer.text = budget::whole_lines(text, room, "pass a larger `budget_tokens`");
            let data = answer.data.to_string().len();
            if shape == Shape::Perhaps && budget::cost(&answer.text) + data > room {
                answer.data = json!({ "omitted": format!(
                    "{data} characters; ask with `_meta` {{\"holdpoint/structured\": true}}"
                ) });
            }
        }
        self
    }

    /// What a model would read of it.
    pub(crate) fn text(&self) -> String {
        match self {
            Reply::Answer(answer) => answer.text.clone(),
            Reply::Json(data) | Reply::Refused(data) => data.to_string(),
            Reply::Raw(_) => String::new(),
        }
    }

    /// The same answer, ending with what happened elsewhere.
    pub(crate) fn with_news(self, news: String) -> Reply {
        match self {
            Reply::Answer(answer) => {
                Reply::Answer(Answer { text: format!("{}\n{news}", answer.text), ..answer })
            }
            // Its text must stay JSON.
            Reply::Json(Value::Object(mut object)) => {
                object.insert("news".to_owned(), news.into());
                Reply::Json(Value::Object(object))
            }
            reply => reply,
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

/// The last thing before it goes out: whatever a tool said, a model does not read a secret.
pub(super) fn without_secrets(
    secrets: &Secrets,
    result: Result<Reply, Failure>,
) -> Result<Reply, Failure> {
    let clean = |text: &mut Cow<'static, str>| {
        if let Cow::Owned(clean) = secrets.text(text) {
            *text = Cow::Owned(clean);
        }
    };
    match result {
        Ok(Reply::Answer(mut answer)) => {
            if let Cow::Owned(clean) = secrets.text(&answer.text) {
                answer.text = clean;
            }
            secrets.json(&mut answer.data);
            Ok(Reply::Answer(answer))
        }
        Ok(Reply::Json(mut data)) => {
            secrets.json(&mut data);
            Ok(Reply::Json(data))
        }
        Ok(Reply::Refused(mut data)) => {
            secrets.json(&mut data);
            Ok(Reply::Refused(data))
        }
        // What somebody else's server gave is passed on as it came.
        Ok(Reply::Raw(raw)) => Ok(Reply::Raw(raw)),
        Err(mut failure) => {
            clean(&mut failure.message);
            failure.hint.iter_mut().for_each(clean);
            failure.details.iter_mut().for_each(|details| secrets.json(details));
            Err(failure)
        }
    }
}

/// What the envelope says about the call itself.
pub(crate) struct Meta {
    pub(crate) request_id: String,
    pub(crate) duration: Duration,
    /// The newest event when the answer was made: pass it as `since` and nothing is missed.
    pub(crate) seq: Seq,
}

pub(crate) fn envelope(
    result: Result<Reply, Failure>,
    meta: &Meta,
    shape: Shape,
) -> CallToolResponse {
    let (ok, text, content) = match result {
        Ok(Reply::Answer(answer)) => (true, answer.text, ("data", answer.data)),
        Ok(Reply::Json(data)) => (true, data.to_string(), ("data", data)),
        Ok(Reply::Refused(error)) => (false, error.to_string(), ("error", error)),
        Ok(Reply::Raw(raw)) => return *raw,
        Err(failure) => (false, told(&failure), ("error", failed(failure))),
    };
    let data = match shape {
        Shape::Text => None,
        Shape::Perhaps | Shape::Asked => Some(enclose(ok, text.clone(), content, meta)),
    };
    let blocks = vec![ContentBlock::text(text)];
    let mut result =
        if ok { CallToolResult::success(blocks) } else { CallToolResult::error(blocks) };
    result.structured_content = data;
    result.into()
}

/// A failure as text: all that most clients show of one, so the hint is never what is cut.
fn told(failure: &Failure) -> String {
    let text = failure.to_string();
    if budget::cost(&text) <= limits::FAILURE_CHARACTERS {
        return text;
    }
    let cut = |text: &str, room: usize| budget::cut(text, room).into();
    let short = Failure {
        code: failure.code,
        message: cut(&failure.message, limits::FAILURE_CHARACTERS / 3),
        hint: failure.hint.as_deref().map(|hint| cut(hint, limits::FAILURE_CHARACTERS / 3)),
        details: None,
    };
    short.to_string()
}

fn failed(failure: Failure) -> Value {
    let code = failure.code.as_str();
    let mut error = Map::new();
    error.insert("code".to_owned(), code.into());
    error.insert("message".to_owned(), failure.message.into_owned().into());
    if let Some(hint) = failure.hint {
        error.insert("hint".to_owned(), hint.into_owned().into());
    }
    if let Some(details) = failure.details {
        error.insert("details".to_owned(), *details);
    }
    Value::Object(error)
}

/// By moving, not with `json!`, which would build the whole answer a second time.
fn enclose(ok: bool, text: String, (name, content): (&str, Value), meta: &Meta) -> Value {
    let kind = if ok { "success" } else { "error" };
    object([
        ("ok", ok.into()),
        ("type", kind.into()),
        ("text", text.into()),
        (name, content),
        ("meta", meta.to_json()),
    ])
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

/// A failure in the words of the tools that speak JSON: `{"error": code}`, with what is wrong and the next step.
pub(crate) fn refused(code: &str, failure: &Failure) -> Value {
    let detail = |name: &str| failure.details.as_ref().and_then(|it| it.get(name)).cloned();
    let mut error = Map::new();
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

/// Their word for a code.
pub(crate) fn word(code: Code) -> String {
    match code {
        Code::InvalidParams => "invalid_parameter".to_owned(),
        code => code.as_str().trim_start_matches("E_").to_lowercase(),
    }
}
