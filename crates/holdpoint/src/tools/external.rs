//! Other MCP servers, by the tools of their contract: mounted where the start names such servers, and nowhere else,
//! because everybody else would pay for their descriptions.

pub(crate) mod call_tool;
pub(crate) mod connect;
pub(crate) mod disconnect;
pub(crate) mod list_resources;
pub(crate) mod list_servers;
pub(crate) mod list_tools;
pub(crate) mod read_resource;
pub(crate) mod reconnect;

use std::{borrow::Cow, sync::Arc};

use holdpoint_engine::{
    aside::aside_if_large,
    calls::value::weight,
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::App,
    external::{call, failure::Unserved, manager::Manager},
    tool::{AnswerForm, Call, Entry, Family, Reply, Scope, Shape, entry},
    view::external::ExternalAnswer,
};

pub(crate) const FAMILY: Family =
    Family { name: Cow::Borrowed("external"), form: AnswerForm::Json, about_programs: false };

/// What runs programs and opens connections: offered to whoever asks for it by name.
pub(crate) const ADMIN: Family =
    Family { name: Cow::Borrowed("external-admin"), form: AnswerForm::Json, about_programs: false };

/// In every set: listing and calling are what the rest is for.
const MAIN: &[Entry] = &[entry::<list_tools::ListTools>(), entry::<call_tool::CallTool>()];

const OTHERS: &[Entry] = &[
    entry::<list_servers::ListServers>(),
    entry::<list_resources::ListResources>(),
    entry::<read_resource::ReadResource>(),
];

const ADMINS: &[Entry] = &[
    entry::<connect::Connect>(),
    entry::<disconnect::Disconnect>(),
    entry::<reconnect::Reconnect>(),
];

/// The tools about other servers, for a server that has some.
pub(crate) fn mounted(toolset: &[String]) -> Vec<Entry> {
    let main = MAIN.iter().cloned().map(|it| it.also_in("agent"));
    let mut entries: Vec<Entry> = main.chain(OTHERS.iter().cloned()).collect();
    if toolset.iter().any(|it| *it == ADMIN.name) {
        entries.extend(ADMINS.iter().cloned());
    }
    entries
}

/// All of them, for the reference.
pub(crate) fn every() -> impl Iterator<Item = &'static Entry> {
    MAIN.iter().chain(OTHERS).chain(ADMINS)
}

/// That there are other servers to speak of.
pub(crate) struct Gateway {
    pub(crate) app: App,
    pub(crate) manager: Arc<Manager>,
}

impl Scope for Gateway {
    async fn enter(call: &Call) -> Result<Self, Failure> {
        let manager = call.app.external.get().ok_or_else(|| {
            Failure::new(Code::NotFound, "this server was started without other MCP servers")
                .hint(NONE)
        })?;
        Ok(Gateway { app: call.app.clone(), manager: Arc::clone(manager) })
    }
}

/// What to do where there are none.
pub(crate) const NONE: &str = "start it with `--mcp-clients`, `--mcp-clients-config FILE` or \
    `--mcp-client NAME:COMMAND`";

/// What the tools about one server take.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneServer {
    /// The server's.
    name: String,
}

fn said(told: ExternalAnswer) -> Reply {
    match told {
        Ok(answer) => Reply::Json(answer),
        Err((_, refusal)) => Reply::Refused(refusal),
    }
}

fn refuse(refused: &Unserved) -> Reply {
    Reply::Refused(refused.json())
}

/// What somebody else's server gave, as one block of JSON and as it came: no rule of ours changes what a model may
/// write back.
async fn passed_on(given: Value, is_error: bool) -> Result<Reply, Failure> {
    let text = aside_if_large(weight(&given), move || given.to_string()).await;
    let blocks = vec![ContentBlock::text(text.ok_or_else(lost)?)];
    let result = match is_error {
        true => CallToolResult::error(blocks),
        false => CallToolResult::success(blocks),
    };
    Ok(Reply::Raw(Box::new(result.into())))
}

/// The work on what came failed: never an empty answer in its place.
fn lost() -> Failure {
    Failure::internal("what the other server answered could not be passed on")
}

/// For a client that is known to be an agent: a result that would fill its context is cut, with the way to the rest.
async fn fitting(boundary: &Call, result: Value, cid: Option<&str>) -> Result<Value, Failure> {
    // What is shorter than this by far is not measured.
    if boundary.shape != Shape::Text || weight(&result) <= limits::EXTERNAL_SHOWN / 8 {
        return Ok(result);
    }
    let Some(cid) = cid.map(str::to_owned) else { return Ok(result) };
    let rest = format!("the rest: breakpoint_inspect_object {{\"cid\": \"{cid}\"}}");
    let rest = boundary.app.catalogue.mentions.answer(rest);
    let shown = aside_if_large(weight(&result), move || cut(result, &cid, &rest));
    shown.await.ok_or_else(lost)
}

fn cut(result: Value, cid: &str, rest: &str) -> Value {
    let most = limits::EXTERNAL_SHOWN;
    let length = result.to_string().len();
    if length <= most {
        return result;
    }
    let text = holdpoint_engine::budget::cut(&call::texts_of(&result), most / 2);
    let mut cut = json!({
        "content": [{ "type": "text", "text": text }],
        "cut": { "characters": length, "cid": cid, "rest": rest },
    });
    if let (Some(cut), Some(is_error)) = (cut.as_object_mut(), result.get("isError")) {
        cut.insert("isError".to_owned(), is_error.clone());
    }
    cut
}
