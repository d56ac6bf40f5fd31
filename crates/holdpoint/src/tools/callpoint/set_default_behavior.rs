//! `breakpoint_set_default_behavior`: what breakpoints do that yield.

use holdpoint_engine::{callpoints::behavior::Behavior, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::no_behavior;
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct SetDefaultBehavior;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    #[schemars(extend("enum" = ["stop", "go", "exception", "stop_exception"]))]
    behavior: String,
}

impl Tool for SetDefaultBehavior {
    const NAME: &'static str = "breakpoint_set_default_behavior";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Set what `yield` means, for every intercepted function.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Set default behavior";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Some(behavior) = Behavior::default(&params.behavior) else {
            return Ok(no_behavior(&params.behavior, "stop, go, exception or stop_exception"));
        };
        let callpoints = app.engine.callpoints().await;
        callpoints.set_default_behavior(behavior, &call.actor()).await;
        Ok(Reply::Json(json!({ "status": "ok", "behavior": behavior.as_str() })))
    }
}
