//! A call as it is shown: its facts beside its values in readable form. Every face makes its own form of this
//! one; nothing of a wire is in it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    call::{Call, End, Given, Values},
    pretty,
};

/// A call, and how its values are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub call: Arc<Call>,
    /// Null where the call has none.
    pub target: Value,
    /// A list, unless an event said something else of itself.
    pub args: Value,
    /// An object, likewise.
    pub kwargs: Value,
    /// The frames, innermost first.
    pub frames: Value,
    /// Once it has ended.
    pub outcome: Option<CallOutcome>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    pub result: Value,
    pub exception: Option<Value>,
}

impl Seen {
    /// `values` are those of the call, as the store has them.
    pub(crate) fn of(call: Arc<Call>, values: &Values) -> Seen {
        let said = call.said.as_deref();
        let pick = |said: Option<&Value>, own: Value| match said {
            Some(said) if !said.is_null() => said.clone(),
            _ => own,
        };
        let args: Value = call.args.iter().map(|it| call.shown(it, values)).collect();
        let kwargs: Map<String, Value> =
            call.kwargs.iter().map(|(name, it)| (name.clone(), call.shown(it, values))).collect();
        Seen {
            target: call.target.as_ref().map_or(Value::Null, |it| call.shown(it, values)),
            args: pick(said.map(|it| &it.pretty_args), args),
            kwargs: pick(said.map(|it| &it.pretty_kwargs), Value::Object(kwargs)),
            frames: call.frames(values),
            outcome: call.end.as_ref().map(|end| call.outcome(end, values)),
            call,
        }
    }
}

impl Call {
    fn shown(&self, given: &Given, values: &Values) -> Value {
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

    fn frames(&self, values: &Values) -> Value {
        let text = self.site.stack.clone().or_else(|| {
            let cid = self.stack.and_then(|at| self.cids.get(at))?;
            let data = values.get(cid)?.data.as_ref()?;
            Some(String::from_utf8_lossy(data).into_owned())
        });
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_else(|| json!([]))
    }

    fn outcome(&self, end: &End, values: &Values) -> CallOutcome {
        let said = self.said.as_deref();
        let own = end.result.as_ref().map_or(Value::Null, |it| self.shown(it, values));
        let result = match said {
            Some(said) if !said.pretty_result.is_null() => said.pretty_result.clone(),
            _ => own,
        };
        let told = said.map(|it| it.exception.clone()).filter(|it| !it.is_null());
        CallOutcome { result, exception: told.or_else(|| self.exception(end, values)) }
    }

    /// The captured exception; where that says nothing, what the app said in words.
    fn exception(&self, end: &End, values: &Values) -> Option<Value> {
        let captured = end.exception.as_ref().map(|it| self.shown(it, values));
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
}
