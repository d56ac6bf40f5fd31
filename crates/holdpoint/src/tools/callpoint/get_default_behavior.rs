//! `breakpoint_get_default_behavior`: what breakpoints do that yield.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct GetDefaultBehavior;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for GetDefaultBehavior {
    const NAME: &'static str = "breakpoint_get_default_behavior";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What `yield` means now, for every intercepted function.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Default behavior";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, _: Call) -> Result<Reply, Failure> {
        let behavior = app.engine.callpoints().await.default_behavior();
        Ok(Reply::Json(json!({ "behavior": behavior.as_str() })))
    }
}
