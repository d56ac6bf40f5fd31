//! `external_disconnect`.

use std::time::Duration;

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Gateway;
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    view,
};

pub(crate) struct Disconnect;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The server's.
    name: String,
}

impl Tool for Disconnect {
    const NAME: &'static str = "external_disconnect";
    const FAMILY: &'static Family = &super::ADMIN;
    const ABOUT: &'static str = "Disconnect another MCP server; its configuration is kept.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Disconnect a server";
    const TIMEOUT: Duration = Duration::from_secs(60);
    type Scope = Gateway;
    type Params = Params;

    async fn run(at: Gateway, params: Params, _: Call) -> Result<Reply, Failure> {
        Ok(match view::external::disconnect(&at.manager, &params.name).await {
            Ok(answer) => Reply::Json(answer),
            Err((_, refusal)) => Reply::Refused(refusal),
        })
    }
}
