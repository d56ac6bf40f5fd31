//! A call as a person sees it: in the one form that every face shows, without what is secret; and one secret of it as it
//! is, for the person who asks for it.

use holdpoint_engine::{
    budget,
    callpoints::{Callpoints, paused::Paused},
    failure::{Code, Failure},
    limits,
    records::Recorded,
    secrets::{self, Secrets},
};
use maud::{Markup, html};
use serde_json::Value;

use crate::{
    app::App,
    page::{address, pieces},
    view::{self, call, short},
};

/// Bytes of a value in a row of a list.
const IN_ROW: usize = 160;

pub(in crate::page) struct ShownCall {
    clean: Value,
    raw: Value,
    /// Its values are JSON, and not what Python writes.
    is_json: bool,
    /// Where it is shown.
    base: String,
}

/// An argument with its name.
pub(super) struct ShownArgument {
    pub(super) name: String,
    /// Given by its name, and not by its place.
    pub(super) is_named: bool,
    /// Where it is in the call: `/pretty_args/0`.
    pub(super) pointer: String,
    /// Empty where it is a secret.
    pub(super) cid: String,
    pub(super) client_ref: Option<String>,
}

impl ShownCall {
    pub(in crate::page) fn recorded(secrets: &Secrets, recorded: &Recorded) -> ShownCall {
        let id = address::word(&recorded.seen.call.id);
        ShownCall::of(secrets, call::record(recorded), format!("/calls/call/{id}"))
    }

    pub(super) fn paused(secrets: &Secrets, paused: &Paused) -> ShownCall {
        let mut whole = view::pause(paused);
        let data = whole.get_mut("call_data").map(Value::take).unwrap_or_default();
        ShownCall::of(secrets, data, format!("/calls/paused/{}", address::word(&paused.id)))
    }

    fn of(secrets: &Secrets, raw: Value, base: String) -> ShownCall {
        let mut clean = short::without(secrets, raw.clone());
        secrets.json(&mut clean);
        let is_json = raw.get("preferred_format").and_then(Value::as_str) == Some("json");
        ShownCall { clean, raw, is_json, base }
    }

    /// What is said of it under a name; empty where nothing is.
    pub(super) fn word(&self, name: &str) -> &str {
        self.clean.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn get(&self, name: &str) -> &Value {
        self.clean.get(name).unwrap_or(&Value::Null)
    }

    pub(super) fn name(&self) -> &str {
        self.word("method_name")
    }

    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// As it is, for what the app is to get back.
    pub(super) fn raw(&self, pointer: &str) -> Option<&Value> {
        self.raw.pointer(pointer)
    }

    pub(super) fn frames(&self) -> &[Value] {
        let frames = self.clean.pointer("/call_site/stack_trace").and_then(Value::as_array);
        frames.map(Vec::as_slice).unwrap_or_default()
    }

    /// A value as text, whole.
    pub(super) fn text(&self, pointer: &str) -> String {
        self.clean.pointer(pointer).map(|it| text_of(it, self.is_json)).unwrap_or_default()
    }

    pub(super) fn is_secret(&self, pointer: &str) -> bool {
        self.clean.pointer(pointer) != self.raw.pointer(pointer)
    }

    /// A value with its colour; a secret is a mark that a press opens.
    pub(super) fn value(&self, pointer: &str) -> Markup {
        let text = self.text(pointer);
        let text = budget::cut(&text, limits::PAGE_VALUE);
        if self.is_secret(pointer) {
            let to = address::to(&format!("{}/show", self.base), [("at", pointer)].into_iter());
            return html! { button.mark-secret.mono type="button" data-reveal=(to) title="Show it to me" { (pieces::line(&text)) } };
        }
        html! { code class=(pieces::hue(&text)) { (pieces::line(&text)) } }
    }

    pub(super) fn arguments(&self) -> Vec<ShownArgument> {
        let count = self.clean.get("pretty_args").and_then(Value::as_array).map_or(0, Vec::len);
        let names = names(self.word("signature"));
        let mut all = Vec::new();
        for place in 0..count {
            let name = names.get(place).cloned().unwrap_or_else(|| format!("{}", place + 1));
            all.push(self.argument(name, false, "args", &place.to_string()));
        }
        let named = self.clean.get("pretty_kwargs").and_then(Value::as_object);
        for name in named.into_iter().flat_map(|it| it.keys()) {
            all.push(self.argument(name.clone(), true, "kwargs", name));
        }
        all
    }

    fn argument(&self, name: String, is_named: bool, list: &str, place: &str) -> ShownArgument {
        let place = place.replace('~', "~0").replace('/', "~1");
        let item = self.clean.pointer(&format!("/{list}/{place}"));
        let cid = item.and_then(|it| it.get("cid")).and_then(Value::as_str).unwrap_or_default();
        let pointer = format!("/pretty_{list}/{place}");
        let is_cid = !self.is_secret(&pointer) && cid.len() == 128;
        let client_ref = item.and_then(|it| it.get("client_ref")).filter(|it| !it.is_null());
        ShownArgument {
            name,
            is_named,
            pointer,
            cid: if is_cid { cid.to_owned() } else { String::new() },
            client_ref: client_ref
                .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)),
        }
    }

    /// `('fay', 71200, currency='EUR')`
    pub(in crate::page) fn given(&self) -> String {
        let each = self.arguments().into_iter().map(|it| {
            let text = budget::cut(&self.text(&it.pointer), limits::VALUE_SHOWN);
            if it.is_named { format!("{}={text}", it.name) } else { text }
        });
        let all: Vec<String> = each.take(limits::ATTRIBUTES).collect();
        budget::cut(&format!("({})", all.join(", ")), IN_ROW)
    }

    /// What came of it, in one line, and whether it raised.
    pub(in crate::page) fn came(&self) -> (String, bool) {
        let exception = self.get("exception");
        let (text, raised) = match exception.is_null() {
            true if self.word("status") == "exception" => {
                let kind = self.word("exception_type");
                (format!("{kind}: {}", self.word("exception_message")), true)
            }
            true => (text_of(self.get("pretty_result"), self.is_json), false),
            false => (text_of(exception, self.is_json), true),
        };
        (budget::cut(&text, IN_ROW), raised)
    }

    /// How it ended: a word, its colour and its symbol.
    pub(super) fn outcome(&self) -> (String, &'static str, Option<&'static str>) {
        let raised = self.came().1;
        match self.decided() {
            Some(word) => (word.to_owned(), "hold", Some("paused")),
            None if raised => ("raised".to_owned(), "fail", Some("fail")),
            None if self.word("status") == "success" => ("returned".to_owned(), "", None),
            None => (self.word("status").to_owned(), "", None),
        }
    }

    /// What somebody decided that was not the call itself, where it was done.
    pub(super) fn decided(&self) -> Option<&'static str> {
        let decision = self.get("decision");
        let is_done = decision.get("not_done").is_none();
        let word = decision.get("action").and_then(Value::as_str).filter(|_| is_done);
        word.and_then(|word| match word {
            "modify" => Some("changed"),
            "skip" => Some("skipped"),
            "raise" => Some("made to raise"),
            "replace" => Some("replaced"),
            _ => None,
        })
    }

    pub(super) fn began(&self) -> f64 {
        self.get("started_at").as_f64().unwrap_or_default()
    }

    pub(super) fn took(&self) -> f64 {
        self.get("completed_at").as_f64().unwrap_or_default() - self.began()
    }
}

/// A shown value as text: Python's is text already, JSON's is written.
pub(super) fn text_of(value: &Value, is_json: bool) -> String {
    let summary = value.get("summary").and_then(Value::as_str);
    match (value, summary) {
        (_, Some(summary)) => summary.to_owned(),
        (Value::String(text), None) if !is_json => text.clone(),
        (other, None) => other.to_string(),
    }
}

/// The names of the positional arguments; a receiver that the signature has is given with them.
fn names(signature: &str) -> Vec<String> {
    let mut names: Vec<String> =
        secrets::parameters(signature).into_iter().map(str::to_owned).collect();
    if let Some(receiver) = secrets::receiver(signature) {
        names.insert(0, receiver.to_owned());
    }
    names
}

/// One value of a paused call, as it is.
pub(super) fn reveal_paused(
    app: &App,
    calls: &Callpoints,
    id: &str,
    pointer: &str,
) -> Result<Markup, Failure> {
    let paused = calls.paused_one(id).ok_or_else(|| gone("the call went on"))?;
    reveal(&ShownCall::paused(app.engine.secrets(), &paused), pointer)
}

/// One value of a record, as it is.
pub(super) async fn reveal_recorded(
    app: &App,
    calls: &Callpoints,
    id: &str,
    pointer: &str,
) -> Result<Markup, Failure> {
    let found = calls.records.one(id).await;
    let found = found.map_err(|it| Failure::new(Code::StoreFailed, it.to_string()))?;
    let found = found.ok_or_else(|| gone("the record is gone"))?;
    reveal(&ShownCall::recorded(app.engine.secrets(), &found), pointer)
}

fn reveal(call: &ShownCall, pointer: &str) -> Result<Markup, Failure> {
    let value = call.raw(pointer).ok_or_else(|| gone("there is no such value"))?;
    let text = budget::cut(&text_of(value, call.is_json), limits::PAGE_VALUE);
    Ok(html! { (pieces::line(&text)) })
}

fn gone(text: &'static str) -> Failure {
    Failure::new(Code::NotFound, text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(raw: Value) -> ShownCall {
        ShownCall::of(&Secrets::default(), raw, "/calls/call/1".to_owned())
    }

    #[test]
    fn a_call_is_written_as_it_was_made_and_its_secrets_are_marks() {
        let call = shown(json!({
            "method_name": "login", "signature": "(user, password, tries=3)",
            "pretty_args": ["'ann'", "'hunter2hunter2'"], "pretty_kwargs": { "tries": "2" },
            "args": [{ "cid": "a" }, { "cid": "b" }], "kwargs": { "tries": { "cid": "c" } },
            "status": "success", "pretty_result": "True",
        }));
        let given = call.given();
        assert!(given.starts_with("('ann', ") && given.ends_with(", tries=2)"), "{given}");
        assert!(given.contains("‹secret") && !given.contains("hunter2"), "{given}");
        let html = call.value("/pretty_args/1").into_string();
        assert!(html.contains("/calls/call/1/show?at=%2Fpretty_args%2F1"), "{html}");
        let open = reveal(&call, "/pretty_args/1").unwrap().into_string();
        assert_eq!(open, "'hunter2hunter2'");
        assert_eq!((call.came(), call.outcome().0.as_str()), (("True".into(), false), "returned"));
    }

    #[test]
    fn an_outcome_says_what_happened_and_not_what_was_asked_for() {
        let with = |decision: Value| shown(json!({ "status": "success", "decision": decision }));
        assert_eq!(with(json!({ "action": "modify" })).outcome().0, "changed");
        assert_eq!(with(json!({ "action": "continue" })).outcome().0, "returned");
        let undone = json!({ "action": "replace", "not_done": "there is none" });
        assert_eq!(with(undone).outcome().0, "returned");
        let raised = shown(json!({ "status": "exception", "exception_type": "KeyError",
            "exception_message": "x" }));
        assert_eq!(
            (raised.outcome().0.as_str(), raised.came().0.as_str()),
            ("raised", "KeyError: x")
        );
    }

    #[test]
    fn a_receiver_has_its_name() {
        assert_eq!(names("(self, sku, count=1)"), ["self", "sku", "count"]);
        assert_eq!(names("(a, b=1)"), ["a", "b"]);
    }
}
