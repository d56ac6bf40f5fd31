//! One intercepted call: what was said of it, how it ended, and its form in the store.

use std::{borrow::Cow, collections::HashMap};

use holdpoint_store::{self as store, Cid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    pretty,
    value::{Format, Item},
    verdict::Verdict,
};
use crate::{
    limits,
    secrets::{self, Secrets},
};

/// What was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallKind {
    /// A function of an app.
    #[default]
    Call,
    /// A tool of another server.
    Tool,
    /// A resource of another server.
    Resource,
    /// Nothing: an app told something beside its calls.
    Event,
}

impl CallKind {
    pub const ALL: &[CallKind] =
        &[CallKind::Call, CallKind::Tool, CallKind::Resource, CallKind::Event];

    pub const fn as_str(self) -> &'static str {
        match self {
            CallKind::Call => "call",
            CallKind::Tool => "tool",
            CallKind::Resource => "resource",
            CallKind::Event => "event",
        }
    }

    pub fn parse(word: &str) -> Option<CallKind> {
        CallKind::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

/// The app that calls, by its process and when that began.
#[derive(Debug, Clone, PartialEq)]
pub struct AppProcess {
    pub pid: i64,
    pub start_time: f64,
}

impl AppProcess {
    /// `<start>+<pid>`.
    pub fn key(&self) -> String {
        format!("{:.6}+{}", self.start_time, self.pid)
    }
}

/// Where the call was made, as the app said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallSite {
    #[serde(rename = "ts", default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<f64>,
    #[serde(rename = "tc", default, skip_serializing_if = "Option::is_none")]
    pub target_cid: Option<String>,
    #[serde(rename = "pu", default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    /// The frames as JSON text, innermost first.
    #[serde(skip)]
    pub stack: Option<String>,
}

/// Who in the app calls, and by which client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallOrigin {
    #[serde(rename = "ct", default, skip_serializing_if = "Option::is_none")]
    pub call_type: Option<String>,
    #[serde(rename = "ti", default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Value>,
    #[serde(rename = "tn", default, skip_serializing_if = "Option::is_none")]
    pub thread_name: Option<String>,
    #[serde(rename = "tk", default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Value>,
    #[serde(rename = "cl", default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Who in this process asked, where no app did.
    #[serde(rename = "so", default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The server whose tool or resource it is, where it is another's.
    #[serde(rename = "sv", default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(rename = "as", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_async: bool,
}

/// A call that begins, as the app sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub method_name: String,
    pub process: AppProcess,
    pub target: Option<Item>,
    pub args: Vec<Item>,
    pub kwargs: Vec<(String, Item)>,
    pub site: CallSite,
    pub signature: Value,
    pub page_url: Option<String>,
    /// None when the app names a format that there is not.
    pub format: Option<Format>,
    pub origin: CallOrigin,
    /// The same for a request that is sent again.
    pub fingerprint: u64,
}

impl Start {
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.target.iter().chain(&self.args).chain(self.kwargs.iter().map(|(_, item)| item))
    }
}

/// How a call ended, as the app sent it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Complete {
    pub call_id: String,
    pub status: Option<String>,
    pub timestamp: Option<f64>,
    pub process: Option<AppProcess>,
    pub result: Item,
    pub exception: Item,
    pub exception_type: Option<String>,
    pub exception_message: Option<String>,
    pub exception_traceback: Option<String>,
    /// Why the decision could not be carried out.
    pub action_error: Option<String>,
}

impl Complete {
    pub fn items(&self) -> [&Item; 2] {
        [&self.result, &self.exception]
    }

    pub fn is_exception(&self) -> bool {
        let failed = self.status.as_deref().is_some_and(|status| status != "success");
        failed || self.exception.cid.is_some()
    }
}

/// A value of a call: by its place among the call's CIDs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Given {
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// A CID that cannot be one, as it was sent.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub odd: Option<String>,
    #[serde(rename = "f", default, skip_serializing_if = "is_dill")]
    pub format: Format,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub client_ref: Option<Value>,
}

/// A value named by its CID. The serialised form is the wire's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cid: Option<String>,
    pub serialization_format: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ref: Option<Value>,
}

fn is_dill(format: &Format) -> bool {
    *format == Format::Dill
}

/// A call that was taken in. Its serialised form is a column of the store: names are short because
/// there are millions, and new fields are optional because old rows lack them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    #[serde(skip)]
    pub id: String,
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub process: String,
    #[serde(skip)]
    pub started_at: f64,
    #[serde(skip)]
    pub kind: CallKind,
    #[serde(skip)]
    pub cids: Vec<Cid>,
    /// None where no app asked.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i64>,
    #[serde(rename = "ps", default, skip_serializing_if = "Option::is_none")]
    pub process_start: Option<f64>,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Given>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Given>,
    #[serde(rename = "k", default, skip_serializing_if = "Vec::is_empty")]
    pub kwargs: Vec<(String, Given)>,
    #[serde(rename = "s", default, skip_serializing_if = "Value::is_null")]
    pub signature: Value,
    #[serde(rename = "cs", default)]
    pub site: CallSite,
    /// The frames' place among the CIDs.
    #[serde(rename = "st", default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<usize>,
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    #[serde(rename = "f", default, skip_serializing_if = "is_dill")]
    pub format: Format,
    #[serde(rename = "o", default)]
    pub origin: CallOrigin,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// What was decided before it ran, if anyone was asked.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Box<Verdict>>,
    /// What an event said of itself, in place of values.
    #[serde(rename = "ev", default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Box<Said>>,
    #[serde(skip)]
    pub texts: Vec<Box<str>>,
}

/// How it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    #[serde(skip)]
    pub status: String,
    #[serde(skip)]
    pub completed_at: f64,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Given>,
    #[serde(rename = "x", default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<Given>,
    #[serde(rename = "xt", default, skip_serializing_if = "Option::is_none")]
    pub exception_type: Option<String>,
    #[serde(rename = "xm", default, skip_serializing_if = "Option::is_none")]
    pub exception_message: Option<String>,
    #[serde(rename = "xb", default, skip_serializing_if = "Option::is_none")]
    pub exception_traceback: Option<String>,
    #[serde(rename = "rs", default, skip_serializing_if = "Vec::is_empty")]
    pub repl_sessions: Vec<String>,
    /// It raised, whatever is known of what.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    #[serde(rename = "a", default, skip_serializing_if = "Value::is_null")]
    pub pretty_args: Value,
    #[serde(rename = "k", default, skip_serializing_if = "Value::is_null")]
    pub pretty_kwargs: Value,
    #[serde(rename = "r", default, skip_serializing_if = "Value::is_null")]
    pub pretty_result: Value,
    #[serde(rename = "x", default, skip_serializing_if = "Value::is_null")]
    pub exception: Value,
}

/// The values that a page of calls shows.
pub type Values = HashMap<Cid, store::ValueRow>;

impl Call {
    /// Adds a CID and says its place; `text` is its short form.
    pub(crate) fn place(&mut self, cid: Cid, text: Box<str>) -> usize {
        self.cids.push(cid);
        self.texts.push(text);
        self.cids.len() - 1
    }

    fn text(&self, given: &Given) -> &str {
        given.place.and_then(|at| self.texts.get(at)).map_or("?", |text| text)
    }

    /// `add(2, 3) → 5`, for a list and for the search.
    pub fn line(&self) -> String {
        self.written(None)
    }

    /// The same without what is secret, by the names of the parameters.
    pub fn line_without(&self, secrets: &Secrets) -> String {
        self.written(Some(secrets))
    }

    fn written(&self, without: Option<&Secrets>) -> String {
        let signature = self.signature.as_str().filter(|_| without.is_some()).unwrap_or_default();
        let parameters = secrets::parameters(signature);
        let place = |at: usize| match without {
            Some(secrets) => secrets.heaviest(secrets::names_at(signature, &parameters, at)),
            None => "",
        };
        let mut line = String::with_capacity(128);
        line += &self.name;
        line.push('(');
        let args = self.args.iter().enumerate().map(|(at, it)| (None, place(at), it));
        let kwargs = self.kwargs.iter().map(|(name, it)| (Some(name), name.as_str(), it));
        for (index, (name, parameter, given)) in args.chain(kwargs).enumerate() {
            if line.len() > limits::CALL_LINE {
                line.push_str(", …");
                break;
            }
            line.push_str(if index == 0 { "" } else { ", " });
            if let Some(name) = name {
                line += name;
                line.push('=');
            }
            let text = self.text(given);
            line += &without.map_or(Cow::Borrowed(text), |it| it.named(parameter, text));
        }
        line.push(')');
        if let Some(verdict) = &self.verdict {
            line += &verdict.mark();
        }
        let Some(end) = &self.end else { return line };
        if end.failed {
            let kind = end.exception_type.as_deref().unwrap_or("exception");
            let message = end.exception_message.as_deref().unwrap_or_default();
            line += &format!(" ✗ {kind}: {}", pretty::cut(message, limits::SHORT_VALUE));
        } else if let Some(result) = &end.result {
            line += " → ";
            line += self.text(result);
        }
        line
    }

    /// As the store keeps it, once it has ended.
    pub(crate) fn into_row(self) -> store::NewCall {
        let (thread, line) = (self.thread(), self.line());
        // A call is plain data: this cannot fail.
        let body = serde_json::to_string(&self).unwrap_or_default();
        let end = self.end.unwrap_or_default();
        store::NewCall {
            call_id: self.id,
            process: self.process,
            name: self.name,
            kind: self.kind.as_str(),
            status: end.status,
            thread,
            started_at: self.started_at,
            completed_at: end.completed_at,
            line,
            cids: self.cids,
            body,
        }
    }

    fn thread(&self) -> Option<String> {
        let thread = self.origin.thread_id.as_ref().map(plain)?;
        let task = self.origin.task.as_ref().map(|task| format!("/{}", plain(task)));
        Some(thread + &task.unwrap_or_default())
    }

    pub(crate) fn from_row(row: &store::CallRow) -> Call {
        let mut call: Call = serde_json::from_str(&row.body).unwrap_or_default();
        call.id.clone_from(&row.call_id);
        call.name.clone_from(&row.name);
        call.process.clone_from(&row.process);
        call.started_at = row.started_at;
        call.kind = CallKind::parse(&row.kind).unwrap_or_default();
        call.cids.clone_from(&row.cids);
        let mut end = call.end.take().unwrap_or_default();
        end.status.clone_from(&row.status);
        end.completed_at = row.completed_at;
        call.end = Some(end);
        call
    }

    pub fn cid(&self, given: &Given) -> Option<String> {
        match given.place.and_then(|at| self.cids.get(at)) {
            Some(cid) => Some(cid.to_string()),
            None => given.odd.clone(),
        }
    }

    /// The value as a reference to what came before.
    pub fn reference(&self, given: &Given) -> Reference {
        Reference {
            cid: self.cid(given),
            serialization_format: given.format,
            client_ref: given.client_ref.clone(),
        }
    }
}

/// An id as text: names without their quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
