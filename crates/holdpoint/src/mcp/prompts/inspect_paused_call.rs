//! `inspect-paused-call`: one paused call with everything that is known of it.

use futures::future::BoxFuture;
use holdpoint_engine::failure::{Code, Failure};
use rmcp::model::{PromptMessage, Role};
use serde_json::{Value, json};

use super::{Argument, FilledIn, Prompt};
use crate::{app::App, view};

pub(super) const INSPECT_PAUSED_CALL: Prompt = Prompt {
    name: "inspect-paused-call",
    about: "A paused execution with its function, arguments, call site and stack trace",
    arguments: &[Argument {
        name: "pause_id",
        about: "ID of the paused execution to inspect",
        required: true,
    }],
    render,
    values: |app, _| {
        let paused = app.engine.opened_callpoints().map(|it| it.paused()).unwrap_or_default();
        paused.into_iter().map(|it| it.id).collect()
    },
};

fn render<'a>(
    app: &'a App,
    given: &'a FilledIn,
) -> BoxFuture<'a, Result<Vec<PromptMessage>, Failure>> {
    Box::pin(async move {
        let id = given.get("pause_id").unwrap_or_default();
        let paused = app.engine.callpoints().await.paused_one(id).ok_or_else(|| {
            Failure::new(Code::InvalidParams, format!("pause_not_found: `{id}`"))
                .hint("`breakpoint_list_paused` lists them")
        })?;
        let paused = view::short::without(app.engine.secrets(), view::pause(&paused));
        let field = |name: &str| paused.get(name).cloned().unwrap_or(Value::Null);
        let json = json!({
            "pause_id": id,
            "call_data": field("call_data"),
            "repl_sessions": field("repl_sessions"),
            "phase": field("phase"),
            "waiting": field("waiting"),
        });
        Ok(vec![PromptMessage::new_text(Role::User, json.to_string())])
    })
}
