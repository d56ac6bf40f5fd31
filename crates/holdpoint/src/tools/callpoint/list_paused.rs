//! `breakpoint_list_paused`: the calls that wait for a decision.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::short,
};

pub(crate) struct ListPaused;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Stacks, whole CIDs.
    #[serde(default)]
    full: bool,
}

impl Tool for ListPaused {
    const NAME: &'static str = "breakpoint_list_paused";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Which calls of apps are paused and wait for \
        `breakpoint_continue`.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Paused calls";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        Ok(Reply::Json(match params.full {
            true => short::paused_whole(&app, call.asked_budget).await,
            false => short::paused(&app, call.asked_budget).await,
        }))
    }
}
