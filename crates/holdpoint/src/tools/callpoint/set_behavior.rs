//! `breakpoint_set_behavior`: what happens before a call.

use holdpoint_engine::{callpoints::behavior::Behavior, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{behavior_set, no_behavior};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct SetBehavior;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    function_name: String,
    #[schemars(extend("enum" = ["stop", "go", "yield"]))]
    behavior: String,
}

impl Tool for SetBehavior {
    const NAME: &'static str = "breakpoint_set_behavior";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What happens before each call of an intercepted function.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Before a call";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { function_name, behavior: word } = params;
        let Some(behavior) = Behavior::before(&word) else {
            return Ok(no_behavior(&word, "stop, go or yield"));
        };
        let callpoints = app.engine.callpoints().await;
        let changed = callpoints.set_before(&function_name, behavior, &call.actor()).await;
        Ok(behavior_set(changed.is_ok(), &function_name, behavior))
    }
}
