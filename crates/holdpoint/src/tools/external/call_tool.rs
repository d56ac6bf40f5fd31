//! `external_call_tool`: a tool of another server, called through us.

use std::time::Duration;

use holdpoint_engine::{failure::Failure, limits};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Gateway, fitting, passed_on, refuse};
use crate::{
    external::call,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct CallTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// `server/tool`.
    tool: String,
    /// As its schema has them.
    #[serde(default)]
    arguments: Option<JsonObject>,
}

impl Tool for CallTool {
    const NAME: &'static str = "external_call_tool";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Call a tool of another MCP server. The call is recorded, and waits \
        where `breakpoint_add` on its name (`server/tool` or `server/*`) says so.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Call another server's tool";
    // Its server's own time is counted from when it is sent; until then it may be held.
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT_MAX;
    const TAKES_TURNS: bool = true;
    type Scope = Gateway;
    type Params = Params;

    async fn run(at: Gateway, params: Params, boundary: Call) -> Result<Reply, Failure> {
        let arguments = params.arguments.unwrap_or_default();
        let callpoints = at.app.engine.callpoints().await;
        let told = |what: String| boundary.doing(what);
        match call::call(&at.manager, callpoints, &params.tool, arguments, &told).await {
            Ok(done) => {
                let is_error = done.is_error();
                let shown = fitting(&boundary, done.result, done.cid.as_deref()).await?;
                passed_on(shown, is_error).await
            }
            Err(refused) => Ok(refuse(&refused)),
        }
    }
}
