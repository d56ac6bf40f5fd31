//! What goes wrong in the bridge or the editor, as failures of ours.

use holdpoint_bridge::BridgeError;
use serde_json::json;

use crate::failure::{Code, Failure};

/// With the code that agents branch on; one of a script that is no code of ours stays in the details.
pub(super) fn failure(error: &BridgeError) -> Failure {
    let code = Code::named(error.code());
    let mut failure = Failure::new(code.unwrap_or(meant(error.code())), error.to_string());
    if let Some(hint) = error.hint().or_else(|| hint(failure.code).map(str::to_owned)) {
        failure = failure.hint(hint);
    }
    match (error.details(), code) {
        (Some(details), _) => failure.details(details),
        (None, None) => failure.details(json!({ "script_code": error.code() })),
        (None, Some(_)) => failure,
    }
}

/// The nearest code of ours.
fn meant(code: &str) -> Code {
    match code {
        "E_FILE_NOT_FOUND" | "E_SCRIPT_NOT_FOUND" => Code::NotFound,
        "E_SET_FAILED" | "E_MODIFICATION_FAILED" => Code::EvaluateFailed,
        _ => Code::AdapterFailed,
    }
}

/// The public bridge gives no hints.
fn hint(code: Code) -> Option<&'static str> {
    match code {
        Code::NoSession => Some(
            "start one: `debug_launch` with `configuration`, or take the person's: `debug_attach`",
        ),
        Code::NotStopped => Some("`debug_wait` waits for its next stop"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_bridge::Ran;

    use super::*;

    #[test]
    fn codes_are_kept_and_hints_are_there() {
        let script = |code: &str| BridgeError::Script {
            code: code.to_owned(),
            message: "m".to_owned(),
            hint: None,
            details: None,
        };
        for (error, code) in [
            (script("E_NO_SESSION"), Code::NoSession),
            (script("E_FILE_NOT_FOUND"), Code::NotFound),
            (script("E_WHATEVER"), Code::AdapterFailed),
            (BridgeError::Full, Code::Busy),
            (BridgeError::Restarted { ran: Ran::Maybe }, Code::BridgeUnavailable),
        ] {
            assert_eq!(failure(&error).code, code, "{error}");
        }
        assert!(failure(&script("E_NO_SESSION")).hint.unwrap().contains("debug_launch"));
        let details = failure(&script("E_WHATEVER")).details.unwrap();
        assert_eq!(*details, json!({ "script_code": "E_WHATEVER" }));
    }
}
