//! Intercepted functions, by the tools of the contract of calls: their names, parameters, results and errors, in JSON.
//! `breakpoint_remove` is theirs too, and lives with the line breakpoints'.

pub(crate) mod add;
pub(crate) mod r#continue;
pub(crate) mod get_call_records;
pub(crate) mod get_default_behavior;
pub(crate) mod inspect_object;
pub(crate) mod list_breakpoints;
pub(crate) mod list_functions;
pub(crate) mod list_paused;
pub(crate) mod repl_eval;
pub(crate) mod set_after_behavior;
pub(crate) mod set_behavior;
pub(crate) mod set_default_behavior;
pub(crate) mod set_replacement;

use std::{borrow::Cow, collections::BTreeMap};

use holdpoint_engine::{
    callpoints::{behavior::Behavior, functions::Function},
    limits,
};
use serde_json::{Value, json};

use crate::{
    tool::{AnswerForm, Family, Reply, nearest},
    view::refused::{self, Refusal},
};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("breakpoint"), form: AnswerForm::Json, about_programs: true };

/// The behaviors after a call.
const AFTER: &str = "stop, go, exception, stop_exception or yield";

/// `{"error": code}`, what it is about, and the next step.
pub(crate) fn refuse(code: &str, more: Value) -> Reply {
    let mut error = json!({ "error": code });
    if let (Some(error), Value::Object(more)) = (error.as_object_mut(), more) {
        error.extend(more);
        if let Some(hint) = hint(code) {
            error.insert("hint".to_owned(), json!(hint));
        }
    }
    Reply::Refused(error)
}

/// The same of a refusal that every face has, with what this one adds.
fn refuse_as(refusal: Refusal, more: Value) -> Reply {
    let Refusal { code, mut about } = refusal;
    if let (Some(about), Value::Object(more)) = (about.as_object_mut(), more) {
        about.extend(more);
    }
    refuse(code, about)
}

/// A word that is no behavior, and those that are.
fn no_behavior(word: &str, known: &str) -> Reply {
    refuse("invalid_behavior", json!({ "behavior": word, "message": format!("it is {known}") }))
}

/// The answer to a behavior that was set, or was not because there is no such callpoint.
fn behavior_set(changed: bool, function_name: &str, behavior: Behavior) -> Reply {
    if !changed {
        return refuse("breakpoint_not_found", json!({ "function_name": function_name }));
    }
    Reply::Json(json!({
        "status": "ok", "function_name": function_name, "behavior": behavior.as_str(),
    }))
}

/// A function that an app does not have; the call waits on. Names the likeliest of those that it has.
fn no_function(wanted: Option<&str>, known: &[String]) -> Reply {
    let wanted = wanted.unwrap_or_default();
    let near = nearest(wanted, known.iter().map(String::as_str));
    let mut more = json!({ "replacement_function": wanted });
    if let (Some(more), true) = (more.as_object_mut(), known.len() > limits::NAMES_SHOWN) {
        more.insert("functions_total".to_owned(), json!(known.len()));
    }
    if let (Some(more), Some(near)) = (more.as_object_mut(), near) {
        more.insert("did_you_mean".to_owned(), json!(near));
    }
    refuse_as(refused::function(known, limits::NAMES_SHOWN), more)
}

fn hint(code: &str) -> Option<&'static str> {
    Some(match code {
        "breakpoint_not_found" => {
            "`breakpoint_add` sets one, `breakpoint_list_breakpoints` lists them"
        }
        "pause_not_found" => "`breakpoint_list_paused` lists the calls that are paused now",
        "pause_already_resumed" => {
            "somebody was faster; `breakpoint_get_call_records` shows what was decided"
        }
        "session_closed" | "session_not_found" => "without `session_id` a new session is opened",
        "eval_timeout" => {
            "pass a larger `timeout_s`, or see by `waiting` in `breakpoint_list_paused` \
            whether the app is still there"
        }
        "cid_not_found" => "copy a `cid` from a record or a paused call: 8 digits of it or more",
        "cid_ambiguous" => "pass more of its digits",
        "function_not_found" => "`breakpoint_list_functions` lists what apps have",
        "signature_mismatch" => {
            "`breakpoint_list_functions` has the signatures; both must be known and equal"
        }
        "too_many_breakpoints" => "`breakpoint_remove` some",
        _ => return None,
    })
}

/// That no app has such a function yet, and which one may be meant: most often the module was left out.
fn unregistered(name: &str, functions: &BTreeMap<String, Function>) -> Option<String> {
    let listed = || functions.iter().filter(|(_, it)| it.listed).map(|(known, _)| known.as_str());
    if listed().any(|known| known == name) {
        return None;
    }
    let short = |name: &str| name.rsplit([':', '.']).next().unwrap_or_default().to_owned();
    let shorts: Vec<String> = listed().map(short).collect();
    let near = nearest(&short(name), shorts.iter().map(String::as_str));
    let meant = listed().find(|known| near.is_some_and(|near| short(known) == near));
    let meant = meant.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    Some(format!("no app has registered `{name}` yet; its calls pause when one does{meant}"))
}
