//! One intercepted call: what the app said of it, how it ended, and its forms in the store and on the wire.

use std::collections::HashMap;

use holdpoint_store::{self as store, Cid};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    pretty,
    value::{Format, Item},
    verdict::Verdict,
};
use crate::limits;

/// The app that calls, by its process and when that began.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    pub pid: i64,
    pub start_time: f64,
}

impl Process {
    /// `<start>+<pid>`.
    pub fn key(&self) -> String {
        format!("{:.6}+{}", self.start_time, self.pid)
    }
}

/// Where the call was made, as the app said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
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
pub struct Origin {
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
    #[serde(rename = "as", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_async: bool,
}

/// A call that begins, as the app sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub method_name: String,
    pub process: Process,
    pub target: Option<Item>,
    pub args: Vec<Item>,
    pub kwargs: Vec<(String, Item)>,
    pub site: Site,
    pub signature: Value,
    pub page_url: Option<String>,
    /// None when the app names a format that there is not.
    pub format: Option<Format>,
    pub origin: Origin,
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
    pub process: Option<Process>,
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
    pub cids: Vec<Cid>,
    #[serde(rename = "p")]
    pub pid: i64,
    #[serde(rename = "ps")]
    pub process_start: f64,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Given>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Given>,
    #[serde(rename = "k", default, skip_serializing_if = "Vec::is_empty")]
    pub kwargs: Vec<(String, Given)>,
    #[serde(rename = "s", default, skip_serializing_if = "Value::is_null")]
    pub signature: Value,
    #[serde(rename = "cs", default)]
    pub site: Site,
    /// The frames' place among the CIDs.
    #[serde(rename = "st", default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<usize>,
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub page_url: Option<String>,
    #[serde(rename = "f", default, skip_serializing_if = "is_dill")]
    pub format: Format,
    #[serde(rename = "o", default)]
    pub origin: Origin,
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
pub type Values = HashMap<Cid, store::Value>;

impl Call {
    /// Adds a CID and says its place; `text` is its short form.
    pub(super) fn place(&mut self, cid: Cid, text: Box<str>) -> usize {
        self.cids.push(cid);
        self.texts.push(text);
        self.cids.len() - 1
    }

    fn text(&self, given: &Given) -> &str {
        given.place.and_then(|at| self.texts.get(at)).map_or("?", |text| text)
    }

    /// `add(2, 3) → 5`, for a list and for the search.
    pub(super) fn line(&self) -> String {
        let mut line = String::with_capacity(128);
        line += &self.name;
        line.push('(');
        let args = self.args.iter().map(|it| (None, it));
        let kwargs = self.kwargs.iter().map(|(name, it)| (Some(name), it));
        for (index, (name, given)) in args.chain(kwargs).enumerate() {
            if line.len() > limits::CALL_LINE {
                line.push_str(", …");
                break;
            }
            line.push_str(if index == 0 { "" } else { ", " });
            if let Some(name) = name {
                line += name;
                line.push('=');
            }
            line += self.text(given);
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
    pub(super) fn into_row(self, kind: &'static str) -> store::Call {
        let (thread, line) = (self.thread(), self.line());
        // A call is plain data: this cannot fail.
        let body = serde_json::to_string(&self).unwrap_or_default();
        let end = self.end.unwrap_or_default();
        store::Call {
            call_id: self.id,
            process: self.process,
            name: self.name,
            kind,
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

    pub(super) fn from_row(row: &store::CallRow) -> Call {
        let mut call: Call = serde_json::from_str(&row.body).unwrap_or_default();
        call.id.clone_from(&row.call_id);
        call.name.clone_from(&row.name);
        call.process.clone_from(&row.process);
        call.started_at = row.started_at;
        call.cids.clone_from(&row.cids);
        let mut end = call.end.take().unwrap_or_default();
        end.status.clone_from(&row.status);
        end.completed_at = row.completed_at;
        call.end = Some(end);
        call
    }

    fn cid(&self, given: &Given) -> Option<String> {
        match given.place.and_then(|at| self.cids.get(at)) {
            Some(cid) => Some(cid.to_string()),
            None => given.odd.clone(),
        }
    }

    pub(super) fn item(&self, given: &Given) -> Value {
        let mut item = Map::new();
        if let Some(cid) = self.cid(given) {
            item.insert("cid".to_owned(), json!(cid));
        }
        item.insert("serialization_format".to_owned(), json!(given.format.as_str()));
        if let Some(client_ref) = &given.client_ref {
            item.insert("client_ref".to_owned(), client_ref.clone());
        }
        Value::Object(item)
    }

    fn pretty(&self, given: &Given, values: &Values) -> Value {
        match given.place.and_then(|at| self.cids.get(at)) {
            Some(cid) => match values.get(cid) {
                Some(value) => pretty::kept(value),
                None => pretty::missing(&cid.to_string()),
            },
            None => match &given.odd {
                Some(odd) => pretty::missing(odd),
                None => json!("<missing cid>"),
            },
        }
    }

    /// The frames, innermost first.
    pub(super) fn frames(&self, values: &Values) -> Value {
        let text = self.site.stack.clone().or_else(|| {
            let cid = self.stack.and_then(|at| self.cids.get(at))?;
            let data = values.get(cid)?.data.as_ref()?;
            Some(String::from_utf8_lossy(data).into_owned())
        });
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_else(|| json!([]))
    }

    /// The wire's `call_data`.
    pub(super) fn data(&self, values: &Values) -> Map<String, Value> {
        let mut data = Map::new();
        let mut put = |name: &str, value: Value| drop(data.insert(name.to_owned(), value));
        let said = self.said.as_deref();
        let pick =
            |value: &Value, other: Value| if value.is_null() { other } else { value.clone() };
        let args: Vec<Value> = self.args.iter().map(|it| self.pretty(it, values)).collect();
        let kwargs: Map<String, Value> =
            self.kwargs.iter().map(|(name, it)| (name.clone(), self.pretty(it, values))).collect();
        put("call_id", json!(self.id));
        put("method_name", json!(self.name));
        put("target", self.target.as_ref().map_or(Value::Null, |it| self.item(it)));
        put(
            "pretty_target",
            self.target.as_ref().map_or(Value::Null, |it| self.pretty(it, values)),
        );
        put("args", self.args.iter().map(|it| self.item(it)).collect());
        let items = self.kwargs.iter().map(|(name, it)| (name.clone(), self.item(it)));
        put("kwargs", Value::Object(items.collect()));
        put("pretty_args", said.map_or(json!(args), |it| pick(&it.pretty_args, json!(args))));
        put(
            "pretty_kwargs",
            said.map_or(json!(kwargs), |it| pick(&it.pretty_kwargs, json!(kwargs))),
        );
        put("signature", self.signature.clone());
        put("call_site", self.call_site(values));
        put("page_url", json!(self.page_url));
        put("preferred_format", json!(self.format.as_str()));
        put("process_pid", json!(self.pid));
        put("process_start_time", json!(self.process_start));
        put("process_key", json!(self.process));
        let origin = &self.origin;
        for (name, value) in [
            ("call_type", origin.call_type.clone().map(Value::from)),
            ("thread_id", origin.thread_id.clone()),
            ("thread_name", origin.thread_name.clone().map(Value::from)),
            ("task", origin.task.clone()),
            ("client", origin.client.clone().map(Value::from)),
        ] {
            if let Some(value) = value {
                put(name, value);
            }
        }
        data
    }

    fn call_site(&self, values: &Values) -> Value {
        let mut site =
            json!({ "timestamp": self.site.timestamp, "stack_trace": self.frames(values) });
        if let Some(site) = site.as_object_mut() {
            if let Some(cid) = &self.site.target_cid {
                site.insert("target_cid".to_owned(), json!(cid));
            }
            if let Some(url) = &self.site.page_url {
                site.insert("page_url".to_owned(), json!(url));
            }
        }
        site
    }

    /// What the end adds: to a pause after the call, and to the record.
    pub(super) fn outcome(&self, values: &Values) -> Map<String, Value> {
        let mut data = Map::new();
        let Some(end) = &self.end else { return data };
        let said = self.said.as_deref();
        let result = end.result.as_ref().map_or(Value::Null, |it| self.pretty(it, values));
        let result = match said {
            Some(said) if !said.pretty_result.is_null() => said.pretty_result.clone(),
            _ => result,
        };
        data.insert("pretty_result".to_owned(), result);
        if let Some(verdict) = &self.verdict {
            data.insert("decision".to_owned(), verdict.to_json());
        }
        let exception = said.map(|it| it.exception.clone()).filter(|it| !it.is_null());
        if let Some(exception) = exception.or_else(|| self.exception(end, values)) {
            data.insert("exception".to_owned(), exception);
        }
        data
    }

    /// The captured exception; where that says nothing, what the app said in words (B18).
    fn exception(&self, end: &End, values: &Values) -> Option<Value> {
        let captured = end.exception.as_ref().map(|it| self.pretty(it, values));
        let good = captured.as_ref().is_some_and(|it| it.get("__cideldill_exception__").is_some());
        let told = end.exception_type.as_deref().map(|kind| {
            let message = end.exception_message.as_deref().unwrap_or_default();
            pretty::told_exception(kind, message, end.exception_traceback.as_deref())
        });
        match (captured, told) {
            (Some(mut captured), told) if good => {
                let traceback = told.and_then(|mut it| it.get_mut("traceback").map(Value::take));
                if let (Some(object), Some(traceback)) = (captured.as_object_mut(), traceback) {
                    object.insert("traceback".to_owned(), traceback);
                }
                Some(captured)
            }
            (_, Some(told)) => Some(told),
            (captured, None) => captured,
        }
    }

    /// The wire's call record.
    pub(super) fn record(&self, values: &Values) -> Value {
        let mut data = self.data(values);
        let Some(end) = &self.end else { return Value::Object(data) };
        data.extend(self.outcome(values));
        let given = |it: &Option<Given>| {
            let cid = it.as_ref().and_then(|it| self.cid(it)).map(Value::from);
            (cid, it.as_ref().and_then(|it| it.client_ref.clone()))
        };
        let (result_cid, result_ref) = given(&end.result);
        let (exception_cid, exception_ref) = given(&end.exception);
        for (name, value) in [
            ("status", Some(json!(end.status))),
            ("started_at", Some(json!(self.started_at))),
            ("completed_at", Some(json!(end.completed_at))),
            ("result_cid", result_cid),
            ("result_client_ref", result_ref),
            ("exception_cid", exception_cid),
            ("exception_client_ref", exception_ref),
            ("exception_type", end.exception_type.clone().map(Value::from)),
            ("exception_message", end.exception_message.clone().map(Value::from)),
            ("exception_traceback", end.exception_traceback.clone().map(Value::from)),
            ("repl_sessions", Some(json!(end.repl_sessions))),
        ] {
            if let Some(value) = value {
                data.insert(name.to_owned(), value);
            }
        }
        Value::Object(data)
    }
}

/// An id as text: names without their quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
