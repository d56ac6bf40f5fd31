//! `breakpoint_list_functions`: what apps have.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::short,
};

pub(crate) struct ListFunctions;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for ListFunctions {
    const NAME: &'static str = "breakpoint_list_functions";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "The functions that apps have registered, by name.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Known functions";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, _: Call) -> Result<Reply, Failure> {
        Ok(Reply::Json(short::functions(&app).await))
    }
}
