//! `breakpoint_list_breakpoints`: the intercepted functions with their behaviors.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::short,
};

pub(crate) struct ListBreakpoints;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for ListBreakpoints {
    const NAME: &'static str = "breakpoint_list_breakpoints";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Which functions of instrumented apps are intercepted, and how.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Intercepted functions";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, _: Call) -> Result<Reply, Failure> {
        Ok(Reply::Json(short::breakpoints(&app).await))
    }
}
