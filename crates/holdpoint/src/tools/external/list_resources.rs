//! `external_list_resources`: what other servers offer to be read.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Gateway, refuse};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    view,
};

pub(crate) struct ListResources;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Only this server's.
    server: Option<String>,
}

impl Tool for ListResources {
    const NAME: &'static str = "external_list_resources";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "List the resources of the other MCP servers connected here.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Resources of other servers";
    type Scope = Gateway;
    type Params = Params;

    async fn run(at: Gateway, params: Params, _: Call) -> Result<Reply, Failure> {
        let servers = match &params.server {
            Some(name) => match at.manager.server(name) {
                Ok(server) => vec![server],
                Err(refused) => return Ok(refuse(&refused)),
            },
            None => at.manager.all(),
        };
        let resources: Vec<_> =
            servers.iter().flat_map(|server| view::external::resources(server)).collect();
        Ok(Reply::Json(json!({ "resources": resources })))
    }
}
