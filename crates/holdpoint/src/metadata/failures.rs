//! A failure of a described tool: its code as we call it, and the hint that its file has for it.

use holdpoint_engine::failure::{Code, Failure};
use holdpoint_metadata::ToolSpec;
use serde_json::{Value, json};

/// What others call what we have a code for.
const OTHERS: &[(Code, &[&str])] = &[
    (
        Code::NotFound,
        &[
            "E_FILE_NOT_FOUND",
            "FILE_NOT_FOUND",
            "E_SYMBOL_NOT_FOUND",
            "E_VARIABLE_NOT_FOUND",
            "E_NO_RESULTS",
            "E_NO_LOGS",
            "E_NO_EXCEPTIONS",
            "E_NO_EVENTS",
            "E_NO_DATA",
            "E_NO_WORKSPACE",
        ],
    ),
    (
        Code::InvalidParams,
        &[
            "E_INVALID_PARAM",
            "E_INVALID_INPUT",
            "E_INVALID_LINE",
            "E_INVALID_PATH",
            "INVALID_POSITION",
            "E_INVALID_REGEX",
            "E_INVALID_FILTERS",
            "E_INVALID_GROUP_BY",
            "E_INVALID_MODE",
            "E_VALIDATION_FAILED",
            "E_MISSING_REQUIRED_PARAM",
        ],
    ),
    (Code::NoSession, &["E_SESSION_NOT_FOUND", "E_INVALID_SESSION_ID"]),
    (
        Code::NotStopped,
        &["E_NOT_PAUSED", "E_NO_THREAD", "E_NO_THREADS", "E_NO_STACK", "E_NO_FRAMES"],
    ),
    (
        Code::SessionEnded,
        &["E_SESSION_TERMINATED", "E_DEBUG_SESSION_TERMINATED", "E_PROGRAM_EXITED"],
    ),
    (
        Code::Unsupported,
        &[
            "E_UNSUPPORTED_OPERATION",
            "E_UNSUPPORTED_LANGUAGE",
            "E_UNSUPPORTED_CAPABILITY",
            "E_NOT_IMPLEMENTED",
            "E_SCRIPT_NOT_FOUND",
            "E_API_UNAVAILABLE",
        ],
    ),
    (Code::ReadOnly, &["E_FILE_READ_ONLY", "E_FILE_ACCESS_DENIED", "E_PERMISSION_DENIED"]),
    (Code::InvalidReference, &["E_STALE_REFERENCE"]),
    (Code::EvaluateFailed, &["E_INVALID_EXPRESSION", "E_NOT_EXPANDABLE"]),
    (Code::Timeout, &["E_LSP_TIMEOUT", "E_PICKUP_TIMEOUT", "E_BRIDGE_TIMEOUT"]),
    (Code::NoTest, &["E_DISCOVERY_FAILED"]),
    (Code::Cancelled, &["E_ABORTED", "E_OPERATION_CANCELLED"]),
];

/// Our code for what a script called it. One that is nobody's is the script's own failure, not ours.
pub(super) fn code(name: &str) -> Code {
    let ours = Code::named(name).filter(|it| ![Code::Internal, Code::UnknownTool].contains(it));
    let others = || OTHERS.iter().find(|(_, names)| names.contains(&name)).map(|(code, _)| *code);
    ours.or_else(others).unwrap_or(Code::ToolFailed)
}

/// With the next step that the tool's file has for it, or what must come first.
pub(super) fn advised(spec: &ToolSpec, mut failure: Failure) -> Failure {
    // A call that was put wrongly has been told how to put it.
    if failure.code == Code::InvalidParams && failure.hint.is_some() {
        return failure;
    }
    let known = spec.known_failure(failure.code.as_str());
    if let Some(known) = known {
        failure.hint = Some(known.hint.clone().into());
        failure.details = Some(Box::new(with(failure.details, known.retryable)));
        return failure;
    }
    let needs_program = [Code::NoSession, Code::NotStopped].contains(&failure.code);
    if needs_program
        && failure.hint.is_none()
        && let Some(first) = spec.requires.first()
    {
        let note = first.note.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
        failure.hint = Some(format!("first `{}`{note}", first.tool).into());
    }
    failure
}

fn with(details: Option<Box<Value>>, retryable: bool) -> Value {
    match details.map(|it| *it) {
        Some(Value::Object(mut details)) => {
            details.insert("retryable".to_owned(), retryable.into());
            Value::Object(details)
        }
        _ => json!({ "retryable": retryable }),
    }
}
