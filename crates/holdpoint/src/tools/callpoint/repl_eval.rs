//! `breakpoint_repl_eval`: an expression in a paused app.

use std::time::Duration;

use holdpoint_engine::{budget, failure::Failure, limits, repl::NoRepl};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{refuse, refuse_as};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::{refused, short},
};

pub(crate) struct ReplEval;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    pause_id: String,
    expression: String,
    /// Of an earlier answer.
    #[expect(dead_code, reason = "taken by the boundary, as every tool's `session_id`")]
    session_id: Option<String>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for ReplEval {
    const NAME: &'static str = "breakpoint_repl_eval";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Evaluate an expression where a call of an app is paused.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Evaluate in a call";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { pause_id, expression, timeout_s, .. } = params;
        if expression.trim().is_empty() {
            return Ok(refuse("missing_expression", json!({})));
        }
        let callpoints = app.engine.callpoints().await;
        let session_id = match call.session.clone() {
            Some(named) => match callpoints.repl.session(&named).await {
                Some(session) if session.pause_id == pause_id => named,
                Some(_) => {
                    return Ok(refuse("invalid_session_id", json!({ "session_id": named })));
                }
                None => return Ok(refuse("session_not_found", json!({ "session_id": named }))),
            },
            None => match callpoints.open_session(&pause_id).await {
                Ok(opened) => opened,
                Err(no) => return Ok(refusal(no, &pause_id)),
            },
        };
        call.doing(format!("waiting for the app to evaluate `{expression}`"));
        let patience = timeout_s.and_then(|it| Duration::try_from_secs_f64(it).ok());
        let patience = patience.unwrap_or(limits::EVAL);
        match callpoints.evaluate(&session_id, &expression, call.actor(), patience).await {
            Ok(entry) => {
                let room = call.budget.bytes();
                let mut answer = json!({
                    "session_id": session_id,
                    "output": budget::cut(&entry.output, room),
                    "stdout": budget::cut(&entry.stdout, room),
                    "is_error": entry.is_error,
                    "result_cid": short::cid(&json!(entry.result_cid)),
                });
                let is_cut = entry.output.len().max(entry.stdout.len()) > room;
                if let (Some(answer), true) = (answer.as_object_mut(), is_cut) {
                    let hint =
                        "it is cut in the middle; ask for a part, or pass a larger `budget_tokens`";
                    answer.insert("hint".to_owned(), json!(hint));
                }
                Ok(Reply::Json(answer))
            }
            Err(no) => Ok(refusal(no, &pause_id)),
        }
    }
}

fn refusal(no: NoRepl, pause_id: &str) -> Reply {
    let no = match no {
        // One that was resumed is no paused execution any more.
        NoRepl::PauseResumed => NoRepl::PauseNotFound,
        no => no,
    };
    refuse_as(refused::repl(no), json!({ "pause_id": pause_id }))
}
