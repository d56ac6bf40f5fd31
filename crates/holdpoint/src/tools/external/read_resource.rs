//! `external_read_resource`: a resource of another server, read through us.

use std::time::Duration;

use holdpoint_engine::{failure::Failure, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Gateway, passed_on, refuse};
use crate::{
    external::call,
    tool::{Call, Effect, Family, Reply, Tool},
    view,
};

pub(crate) struct ReadResource;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    server: String,
    uri: String,
}

impl Tool for ReadResource {
    const NAME: &'static str = "external_read_resource";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Read a resource of another MCP server connected here.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Read another server's resource";
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT_MAX;
    type Scope = Gateway;
    type Params = Params;

    async fn run(at: Gateway, params: Params, boundary: Call) -> Result<Reply, Failure> {
        let callpoints = at.app.engine.callpoints().await;
        let told = |what: String| boundary.doing(what);
        let Params { server, uri } = params;
        match call::read(&at.manager, callpoints, &server, &uri, &told).await {
            Ok(contents) => passed_on(view::external::contents(contents), false).await,
            Err(refused) => Ok(refuse(&refused)),
        }
    }
}
