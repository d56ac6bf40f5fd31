//! Why something about calls was refused: the words of the contract, each once. REST adds a status, a tool
//! the next step.

use holdpoint_engine::{
    callpoints::functions::NoChange, calls::value::BadItem, records::NoValue, repl::NoRepl,
};
use serde_json::{Value, json};

/// A word, and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    /// An object.
    pub(crate) about: Value,
}

impl Refusal {
    pub(crate) fn new(code: &'static str) -> Refusal {
        Refusal { code, about: json!({}) }
    }

    fn about(code: &'static str, about: Value) -> Refusal {
        Refusal { code, about }
    }

    /// `{"error": code, …}`.
    pub(crate) fn json(self) -> Value {
        let mut error = json!({ "error": self.code });
        if let (Some(error), Value::Object(about)) = (error.as_object_mut(), self.about) {
            error.extend(about);
        }
        error
    }
}

/// A callpoint that cannot be so.
pub(crate) fn change(no: NoChange) -> Refusal {
    Refusal::new(match no {
        NoChange::NotFound => "breakpoint_not_found",
        NoChange::SignatureMismatch => "signature_mismatch",
        NoChange::Full => "too_many_breakpoints",
    })
}

/// A CID that leads to no value, or to several.
pub(crate) fn value(no: &NoValue) -> Refusal {
    match no {
        NoValue::Unknown { cid } => Refusal::about("cid_not_found", json!({ "cid": cid })),
        NoValue::Several { cid, count } => Refusal::about(
            "cid_ambiguous",
            json!({
                "cid": cid, "matches": count,
                "message": format!("{count} values have a CID that begins with `{cid}`"),
            }),
        ),
    }
}

/// A decision that is none.
pub(crate) fn action() -> Refusal {
    let message = "action is \"continue\", \"modify\", \"skip\" or \"raise\"; to replace, name a \
        `replacement_function`";
    Refusal::about("invalid_action", json!({ "message": message }))
}

/// A function that an app does not have; the call waits on.
pub(crate) fn function(known: &[String], shown: usize) -> Refusal {
    let message = "the app has no such function and would raise; the call is still paused";
    let names: Vec<&String> = known.iter().take(shown).collect();
    Refusal::about("function_not_found", json!({ "message": message, "functions": names }))
}

/// No session, or no answer.
pub(crate) fn repl(no: NoRepl) -> Refusal {
    Refusal::new(match no {
        NoRepl::PauseNotFound => "pause_not_found",
        NoRepl::PauseResumed => "pause_resumed",
        NoRepl::InvalidPause => "invalid_pause",
        NoRepl::SessionNotFound => "session_not_found",
        NoRepl::SessionClosed => "session_closed",
        NoRepl::EvalNotFound => "eval_not_found",
        NoRepl::Timeout(message) => {
            return Refusal::about("eval_timeout", json!({ "message": message }));
        }
        NoRepl::Item(bad) => return item(bad),
        NoRepl::Full => "too_many_evaluations",
    })
}

/// An item that is not what it says.
pub(crate) fn item(bad: BadItem) -> Refusal {
    match bad {
        BadItem::Format => Refusal::about(
            "invalid_serialization_format",
            json!({ "message": "serialization_format must be 'dill' or 'json'" }),
        ),
        BadItem::Json => {
            Refusal::about("invalid_json", json!({ "message": "Invalid JSON payload" }))
        }
        BadItem::Dill => {
            Refusal::about("invalid_dill", json!({ "message": "Invalid dill payload" }))
        }
        BadItem::Mismatch { expected, provided } => Refusal::about(
            "cid_mismatch",
            json!({
                "message": "Provided CID does not match SHA-512 hash of data",
                "expected_cid": expected,
                "provided_cid": provided,
            }),
        ),
    }
}
