//! Tools of other servers in our own list, so that an agent can be put behind us: one entry in its configuration, and
//! every call of it recorded and holdable.
//!
//! The list is made once at the start, because many clients never look at one twice: the servers whose tools are
//! exposed are waited for then.

use std::{collections::BTreeSet, sync::Arc};

use holdpoint_engine::{
    aside::aside_if_large,
    calls::value::weight,
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as McpTool};
use serde::Deserialize as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{
    call::{self, Done, texts_of},
    failure::Unserved,
    manager::Manager,
    server::ExternalTool,
};
use crate::tool::{Call, Described, Entry, Family, Reply, Shape};

/// Characters of a name: clients put their own before it, and some take 60 in all.
const NAME: usize = 31;

/// The entries of what is to be exposed, once its servers are connected or are not.
pub(crate) async fn entries(
    manager: &Manager,
    exposed: &[String],
    toolset: &[String],
) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut names = BTreeSet::new();
    for wanted in exposed {
        let (server, tool) = match wanted.split_once('/') {
            Some((server, tool)) => (server, Some(tool)),
            None => (wanted.as_str(), None),
        };
        let server =
            manager.server(server).map_err(|it| anyhow::anyhow!("--expose: {}", it.message()))?;
        let state = server.first().await;
        if state.connection.is_none() {
            let why = state.error.unwrap_or_default();
            tracing::warn!(
                server = server.name,
                why,
                "its tools are not exposed: it is not connected"
            );
            continue;
        }
        let found: Vec<&Arc<ExternalTool>> =
            state.tools.values().filter(|it| tool.is_none_or(|tool| it.original == tool)).collect();
        if let (Some(tool), true) = (tool, found.is_empty()) {
            anyhow::bail!("--expose: `{}` has no tool `{tool}`", server.name);
        }
        for tool in found {
            let name = short(&server.name, &tool.original, &names);
            if names.insert(name.clone()) {
                entries.push(entry(name, tool, &server.name, toolset));
            }
        }
    }
    Ok(entries)
}

fn entry(name: String, tool: &ExternalTool, server: &str, toolset: &[String]) -> Entry {
    let full = tool.name.clone();
    let mut listed = toolset.to_vec();
    listed.push("agent".to_owned());
    Described {
        tool: described(name, tool),
        family: Family {
            name: server.to_owned().into(),
            form: crate::tool::AnswerForm::Words,
            about_programs: false,
        },
        toolsets: listed,
        origin: format!("the server `{server}`"),
        timeout: limits::TOOL_TIMEOUT_MAX,
        unlisted: None,
        run: Arc::new(move |call, arguments| Box::pin(run(call, full.clone(), arguments))),
    }
    .into()
}

/// As its server describes it, under our name.
fn described(name: String, tool: &ExternalTool) -> McpTool {
    let mut said = tool.said.clone();
    if let Some(said) = said.as_object_mut() {
        said.insert("name".to_owned(), name.clone().into());
        said.insert("inputSchema".to_owned(), tool.schema());
        // A client would refuse a result without what is promised there, such as one that was made up here.
        said.shift_remove("outputSchema");
    }
    serde_json::from_value(said).unwrap_or_else(|_odd| {
        let schema = tool.schema().as_object().cloned().unwrap_or_default();
        McpTool::new(name, tool.description().to_owned(), schema)
    })
}

async fn run(call: Call, name: String, arguments: JsonObject) -> Result<Reply, Failure> {
    let Some(manager) = call.app.external.get() else {
        return Err(Failure::internal("an exposed tool without its manager"));
    };
    let callpoints = call.app.engine.callpoints().await;
    let told = |what: String| call.doing(what);
    match call::call(manager, callpoints, &name, arguments, &told).await {
        Ok(done) => Ok(passed_on(&call, done).await),
        Err(refused) => Err(failure(&refused)),
    }
}

/// As its server gave it; for an agent no longer than it can take.
async fn passed_on(call: &Call, done: Done) -> Reply {
    let Done { result, cid } = done;
    let cid = cid.filter(|_| call.shape == Shape::Text);
    let rest = cid.map(|cid| {
        let rest = format!("the rest: breakpoint_inspect_object {{\"cid\": \"{cid}\"}}");
        call.app.catalogue.mentions.answer(rest)
    });
    let typed = aside_if_large(weight(&result), move || typed(&result, rest.as_deref()));
    let typed = typed.await.unwrap_or_else(|| CallToolResult::error(Vec::new()));
    Reply::Raw(Box::new(typed.into()))
}

/// With the way to its rest it is cut where it is too long.
fn typed(result: &Value, rest: Option<&str>) -> CallToolResult {
    let length = || result.to_string().len();
    if let Some(rest) = rest
        && let Some(length) = Some(length()).filter(|it| *it > limits::EXTERNAL_SHOWN)
    {
        let is_error = result.get("isError").and_then(Value::as_bool) == Some(true);
        let text = holdpoint_engine::budget::cut(&texts_of(result), limits::EXTERNAL_SHOWN / 2);
        let text = format!("{text}\n({length} characters in all)\n{rest}");
        let blocks = vec![ContentBlock::text(text)];
        return if is_error {
            CallToolResult::error(blocks)
        } else {
            CallToolResult::success(blocks)
        };
    }
    let whole = || CallToolResult::success(vec![ContentBlock::text(result.to_string())]);
    CallToolResult::deserialize(result).unwrap_or_else(|_odd| whole())
}

fn failure(refused: &Unserved) -> Failure {
    let code = match refused {
        Unserved::Arguments(failure) => return (**failure).clone(),
        Unserved::Timeout { .. } => Code::Timeout,
        Unserved::NoName { .. } | Unserved::NoServer { .. } | Unserved::NoTool { .. } => {
            Code::NotFound
        }
        Unserved::NoResource { .. } => Code::NotFound,
        Unserved::NotConnected { .. } | Unserved::Login { .. } | Unserved::Failed { .. } => {
            Code::AdapterFailed
        }
    };
    Failure::new(code, refused.message())
}

/// `server_tool` in letters that every client takes; one that is too long or taken ends in a mark of the whole.
fn short(server: &str, tool: &str, taken: &BTreeSet<String>) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '_' };
    let name: String = format!("{server}_{tool}").chars().map(plain).collect();
    if name.len() <= NAME && !taken.contains(&name) {
        return name;
    }
    let hash = Sha256::digest(format!("{server}/{tool}").as_bytes());
    let mark: String = hash.iter().take(2).map(|byte| format!("{byte:02x}")).collect();
    let room = NAME - mark.len() - 1;
    let begin: String = name.chars().take(room).collect();
    format!("{}_{mark}", begin.trim_end_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_every_client_takes() {
        let none = BTreeSet::new();
        assert_eq!(short("fs", "read_file", &none), "fs_read_file");
        assert_eq!(short("my-FS", "größe", &none), "my_fs_gr__e");
        let long = short("filesystem", "read_a_very_long_thing_indeed", &none);
        assert!(long.len() <= NAME && long.starts_with("filesystem_read_a_very_lon"), "{long}");
        assert_eq!(long, short("filesystem", "read_a_very_long_thing_indeed", &none));
        assert_ne!(long, short("filesystem", "read_a_very_long_thing_altogether", &none));
        let taken = BTreeSet::from(["a_b".to_owned()]);
        assert_ne!(short("a", "b", &taken), "a_b");
    }
}
