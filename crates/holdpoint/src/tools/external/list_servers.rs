//! `external_list_servers`: which other servers there are, and how they stand.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Gateway;
use crate::{
    external::server::LinkStatus,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct ListServers;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for ListServers {
    const NAME: &'static str = "external_list_servers";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Which other MCP servers are connected here, and why one is not.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Other servers";
    type Scope = Gateway;
    type Params = Params;

    async fn run(at: Gateway, _: Params, _: Call) -> Result<Reply, Failure> {
        let mut servers = Map::new();
        for server in at.manager.all() {
            let state = server.state();
            let mut shown = json!({ "status": state.status.as_str() });
            if let Some(shown) = shown.as_object_mut() {
                if state.status == LinkStatus::Connected {
                    shown.insert("tool_count".to_owned(), json!(state.tools.len()));
                }
                if let Some(error) = state.error {
                    shown.insert("error".to_owned(), json!(error));
                }
            }
            servers.insert(server.name.clone(), shown);
        }
        Ok(Reply::Json(json!({ "servers": Value::Object(servers) })))
    }
}
