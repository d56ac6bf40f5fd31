//! `external_list_tools`: what other servers can do, in a line each; the whole of it where it is asked for.

use holdpoint_engine::{budget, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Gateway, refuse};
use crate::{
    external::server::ExternalTool,
    tool::{Call, Effect, Family, Reply, Tool, first_sentence},
};

/// Characters of a description in the short list.
const LINE: usize = 160;

pub(crate) struct ListTools;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Only this server's.
    server: Option<String>,
    /// Only those whose name or description has all these words; a whole `server/tool` shows that one in full.
    search: Option<String>,
    /// With whole descriptions and schemas.
    #[serde(default)]
    full: bool,
}

impl Tool for ListTools {
    const NAME: &'static str = "external_list_tools";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Find tools of the other MCP servers connected here. One line each; \
        `full`, or one tool's whole name as `search`, shows the parameters.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Tools of other servers";
    const LONG: bool = true;
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
        let words: Vec<String> = params
            .search
            .iter()
            .flat_map(|it| it.split_whitespace())
            .map(str::to_lowercase)
            .collect();
        let mut tools = Vec::new();
        for server in servers {
            let state = server.state();
            // Named whole, it alone is meant.
            if let Some(tool) = params.search.as_deref().and_then(|it| state.tools.get(it.trim())) {
                tools = vec![shown(tool, &server.name, true)];
                break;
            }
            let found = state.tools.values().filter(|tool| has(tool, &words));
            tools.extend(found.map(|tool| shown(tool, &server.name, params.full)));
        }
        Ok(Reply::Json(json!({ "tools": tools })))
    }
}

fn has(tool: &ExternalTool, words: &[String]) -> bool {
    let text = format!("{} {}", tool.name, tool.description()).to_lowercase();
    words.iter().all(|word| text.contains(word))
}

fn shown(tool: &ExternalTool, server: &str, is_full: bool) -> Value {
    let about = tool.description();
    if !is_full {
        let line = budget::cut(&first_sentence(about).replace('\n', " "), LINE);
        return json!({ "name": tool.name, "server": server, "description": line });
    }
    json!({
        "name": tool.name, "server": server, "description": about, "input_schema": tool.schema(),
    })
}
