//! `debug-session-start`: how things stand with instrumented apps, for a model that begins.

use futures::future::BoxFuture;
use holdpoint_engine::{budget::Budget, failure::Failure, limits};
use rmcp::model::{PromptMessage, Role};
use serde_json::{Value, json};

use super::{FilledIn, Prompt};
use crate::{app::App, mcp::resources, view::short};

/// Calls that a model begins with.
const CALLS: usize = 10;

pub(super) const DEBUG_SESSION_START: Prompt = Prompt {
    name: "debug-session-start",
    about: "Active breakpoints on functions, registered functions, recent calls, paused executions",
    arguments: &[],
    render,
    values: |_, _| Vec::new(),
};

fn render<'a>(app: &'a App, _: &'a FilledIn) -> BoxFuture<'a, Result<Vec<PromptMessage>, Failure>> {
    Box::pin(async move {
        let mut functions = short::functions(app).await;
        if let Some(functions) = functions.as_object_mut() {
            functions.remove("metadata");
        }
        let mut recent = resources::recent(app, CALLS).await?;
        let paused = short::paused(app, Some(Budget::tokens(limits::RESOURCE_TOKENS))).await;
        let json = json!({
            "breakpoints": short::breakpoints(app).await,
            "functions": functions,
            "recent_calls": recent.get_mut("calls").map(Value::take),
            "paused": paused.get("paused"),
        });
        Ok(vec![PromptMessage::new_text(Role::User, json.to_string())])
    })
}
