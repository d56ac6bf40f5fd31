//! `breakpoint_set_after_behavior`: what happens after a call.

use holdpoint_engine::{callpoints::behavior::Behavior, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{no_behavior, refuse};
use crate::{
    app::App,
    tool::{Call, Effect, Reply, Tool},
};

pub(crate) struct SetAfterBehavior;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Function name.
    function_name: String,
    /// "stop", "go", "exception", "stop_exception", or "yield".
    behavior: String,
}

impl Tool for SetAfterBehavior {
    const NAME: &'static str = "breakpoint_set_after_behavior";
    const ABOUT: &'static str = "Set the after-execution behavior for a breakpoint on a function.";
    const EFFECT: Effect = Effect::Sets;
    const SPEAKS_JSON: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        let Params { function_name, behavior: word } = params;
        let Some(behavior) = Behavior::after(&word) else {
            return Ok(no_behavior(&word, "stop, go, exception, stop_exception or yield"));
        };
        let changed = app.engine.callpoints().await.set_after(&function_name, behavior).await;
        if changed.is_err() {
            let about = json!({ "function_name": function_name });
            return Ok(refuse("breakpoint_not_found", about));
        }
        Ok(Reply::Json(json!({
            "status": "ok", "function_name": function_name, "behavior": behavior.as_str(),
        })))
    }
}
