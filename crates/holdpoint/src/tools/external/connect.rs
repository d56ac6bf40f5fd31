//! `external_connect`: another server, connected while we run, until we end.

use std::time::Duration;

use holdpoint_engine::failure::Failure;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Gateway, said};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    view,
};

pub(crate) struct Connect;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    name: String,
    /// To be started, with `args`, `env` and `cwd`.
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<JsonObject>,
    cwd: Option<String>,
    /// Or where it listens, with `headers`.
    url: Option<String>,
    headers: Option<JsonObject>,
    /// `stdio`, `sse` or `http`; by itself when not given.
    transport: Option<String>,
    /// How long its calls may take.
    timeout_seconds: Option<f64>,
}

impl Tool for Connect {
    const NAME: &'static str = "external_connect";
    const FAMILY: &'static Family = &super::ADMIN;
    const ABOUT: &'static str = "Connect another MCP server for as long as this one runs.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Connect a server";
    const TIMEOUT: Duration = Duration::from_secs(60);
    type Scope = Gateway;
    type Params = Params;

    async fn run(at: Gateway, params: Params, _: Call) -> Result<Reply, Failure> {
        let name = params.name.clone();
        Ok(said(view::external::connect(&at.manager, &name, fields(params)).await))
    }
}

fn fields(params: Params) -> Map<String, Value> {
    let all = json!({
        "command": params.command, "args": params.args, "env": params.env, "cwd": params.cwd,
        "url": params.url, "headers": params.headers, "transport": params.transport,
        "timeout_s": params.timeout_seconds,
    });
    let given = all.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}
