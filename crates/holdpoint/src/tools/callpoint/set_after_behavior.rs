//! `breakpoint_set_after_behavior`: what happens after a call.

use holdpoint_engine::{callpoints::behavior::Behavior, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{AFTER, behavior_set, no_behavior};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct SetAfterBehavior;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    function_name: String,
    #[schemars(extend("enum" = ["stop", "go", "exception", "stop_exception", "yield"]))]
    behavior: String,
}

impl Tool for SetAfterBehavior {
    const NAME: &'static str = "breakpoint_set_after_behavior";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What happens after each call of an intercepted function.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "After a call";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { function_name, behavior: word } = params;
        let Some(behavior) = Behavior::after(&word) else {
            return Ok(no_behavior(&word, AFTER));
        };
        let callpoints = app.engine.callpoints().await;
        let changed = callpoints.set_after(&function_name, behavior, &call.actor()).await;
        Ok(behavior_set(changed.is_ok(), &function_name, behavior))
    }
}
