//! Intercepted functions, by the tools of seed 000: their names, parameters, results and errors, in JSON.
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
pub(crate) mod shape;

use serde_json::{Value, json};

use crate::tool::Reply;

/// `{"error": code}` and what it is about.
pub(crate) fn refuse(code: &str, more: Value) -> Reply {
    let mut error = json!({ "error": code });
    if let (Some(error), Value::Object(more)) = (error.as_object_mut(), more) {
        error.extend(more);
    }
    Reply::Refused(error)
}
