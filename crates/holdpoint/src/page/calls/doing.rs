//! What a person does to calls, by the tools about them; what they refuse, in the words of the page.

use holdpoint_engine::failure::{Code, Failure};
use serde_json::Value;

use crate::{app::App, page::sessions::doing, tool::Reply};

/// Carries it out; null where it is still under way after a moment.
pub(super) async fn tool(
    app: &App,
    name: &'static str,
    session: Option<&str>,
    asked: Value,
) -> Result<Value, Failure> {
    told(doing::tool(app, name, session, asked).await?)
}

/// The same for what is needed to go on: waits for the app's answer.
pub(super) async fn patiently(
    app: &App,
    name: &'static str,
    session: Option<&str>,
    asked: Value,
) -> Result<Value, Failure> {
    told(doing::patiently(app, name, session, asked).await?)
}

fn told(reply: Option<Reply>) -> Result<Value, Failure> {
    match reply {
        Some(Reply::Refused(refused)) => Err(refusal(&refused)),
        Some(Reply::Json(answer)) => Ok(answer),
        Some(Reply::Answer(answer)) => Ok(answer.data),
        Some(Reply::Raw(_)) | None => Ok(Value::Null),
    }
}

/// `{"error": "pause_not_found", "message"?, "hint"?}` as a failure.
pub(in crate::page) fn refusal(refused: &Value) -> Failure {
    let text = |name: &str| refused.get(name).and_then(Value::as_str);
    let word = text("error").unwrap_or("refused");
    let code = match word {
        _ if word.ends_with("_not_found") => Code::NotFound,
        "eval_timeout" => Code::Timeout,
        "pause_already_resumed" | "session_closed" | "pause_resumed" => Code::NotStopped,
        _ => Code::InvalidParams,
    };
    let message = match (word, text("message")) {
        (_, Some(message)) => message.to_owned(),
        ("pause_already_resumed" | "pause_resumed", None) => {
            "somebody was faster: the call has gone on".to_owned()
        }
        ("pause_not_found", None) => "no such call is paused any more".to_owned(),
        ("signature_mismatch", None) => {
            "both functions must be known, with the same parameters".to_owned()
        }
        (word, None) => word.replace('_', " "),
    };
    let failure = Failure::new(code, message);
    match text("hint") {
        Some(hint) => failure.hint(hint.to_owned()),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_says_what_is_the_case() {
        let gone = refusal(&json!({ "error": "pause_already_resumed" }));
        assert_eq!(gone.message, "somebody was faster: the call has gone on");
        let other = refusal(&json!({ "error": "too_many_breakpoints" }));
        assert_eq!((other.code, &*other.message), (Code::InvalidParams, "too many breakpoints"));
        let told = refusal(&json!({ "error": "cid_not_found", "message": "no" }));
        assert_eq!((told.code, &*told.message), (Code::NotFound, "no"));
    }
}
