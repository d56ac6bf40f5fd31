//! Other MCP servers as JSON, in the form of their contract: what REST and the tools say alike.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use crate::external::{
    call::Contents,
    config::{EntryForm, Fields, ServerConfig},
    failure::Unserved,
    login,
    manager::{Manager, NotAdded},
    server::{ExternalServer, LinkState},
};

/// An answer, or a refusal with its status.
pub(crate) type ExternalAnswer = Result<Value, (StatusCode, Value)>;

/// One server of `/api/mcp-clients`.
pub(crate) fn server(server: &ExternalServer) -> Value {
    let state = server.state();
    let mut shown = Map::new();
    let mut put = |name: &str, value: Value| drop(shown.insert(name.to_owned(), value));
    put("status", json!(state.status.as_str()));
    put("transport", json!(state.transport));
    put("tools", json!(state.tools.keys().collect::<Vec<_>>()));
    if let Some(at) = state.connected_at {
        put("connected_at", json!(at));
    }
    if state.attempts > 0 {
        put("attempts", json!(state.attempts));
    }
    if let Some(stderr) = state.connection.as_ref().and_then(|it| it.last_said()) {
        put("stderr", json!(stderr));
    }
    if let Some(error) = state.error {
        put("error", json!(error));
    }
    Value::Object(shown)
}

/// The tools of one server, whole.
pub(crate) fn tools(server: &ExternalServer) -> Vec<Value> {
    let state = server.state();
    let tools = state.tools.values().map(|tool| {
        json!({
            "name": tool.name, "server": server.name, "original_name": tool.original,
            "description": tool.description(), "input_schema": tool.schema(),
        })
    });
    tools.collect()
}

/// The resources of one server.
pub(crate) fn resources(server: &ExternalServer) -> Vec<Value> {
    let state = server.state();
    let shown = state.resources.iter().map(|it| {
        let field = |name: &str| it.get(name).cloned().unwrap_or_default();
        json!({
            "uri": field("uri"), "server": server.name, "name": field("name"),
            "description": field("description"), "mime_type": field("mimeType"),
        })
    });
    shown.collect()
}

/// What a resource holds: its first part, and all where there are several.
pub(crate) fn contents(contents: Contents) -> Value {
    let Contents { content, mime_type, contents } = contents;
    let mut shown = json!({ "content": content, "mime_type": mime_type });
    if let (Some(shown), true) = (shown.as_object_mut(), contents.len() > 1) {
        shown.insert("contents".to_owned(), contents.into());
    }
    shown
}

/// The status that goes with a refusal.
pub(crate) fn status(refused: &Unserved) -> StatusCode {
    match refused {
        Unserved::NoName { .. } | Unserved::Arguments(_) => StatusCode::BAD_REQUEST,
        Unserved::NoServer { .. } | Unserved::NoTool { .. } | Unserved::NoResource { .. } => {
            StatusCode::NOT_FOUND
        }
        Unserved::NotConnected { .. } => StatusCode::CONFLICT,
        Unserved::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        Unserved::Login { .. } | Unserved::Failed { .. } => StatusCode::BAD_GATEWAY,
    }
}

/// Connects a server that no file names.
pub(crate) async fn connect(
    manager: &Manager,
    name: &str,
    fields: Map<String, Value>,
) -> ExternalAnswer {
    let bad = |text: String| {
        let error = json!({ "error": "invalid_config", "name": name, "message": text });
        (StatusCode::BAD_REQUEST, error)
    };
    let config = ServerConfig::of(&Fields::of_request(name, fields), EntryForm::Agents);
    let config = config.map_err(|problem| bad(problem.text))?;
    match manager.add(name, config).await {
        Ok(state) => Ok(up(name, &state)),
        Err(NotAdded::Duplicate) => {
            Err((StatusCode::CONFLICT, json!({ "error": "duplicate_name", "name": name })))
        }
        Err(NotAdded::Failed(state)) => Err(not_connected(name, &state)),
    }
}

pub(crate) async fn disconnect(manager: &Manager, name: &str) -> ExternalAnswer {
    manager.disconnect(name).await.map_err(|_none| no_server(name))?;
    Ok(json!({ "status": "ok", "name": name }))
}

pub(crate) async fn reconnect(manager: &Manager, name: &str) -> ExternalAnswer {
    match manager.reconnect(name).await {
        Ok(Ok(state)) => Ok(up(name, &state)),
        Ok(Err(state)) => Err(not_connected(name, &state)),
        Err(_none) => Err(no_server(name)),
    }
}

fn up(name: &str, state: &LinkState) -> Value {
    json!({ "status": "ok", "name": name, "tools": state.tools.keys().collect::<Vec<_>>() })
}

fn not_connected(name: &str, state: &LinkState) -> (StatusCode, Value) {
    let why = state.error.clone().unwrap_or_else(|| format!("it is {}", state.status.as_str()));
    let mut refusal = json!({ "error": "connect_failed", "name": name, "message": why });
    if let (Some(refusal), Some(asked)) = (refusal.as_object_mut(), &state.challenge) {
        refusal.insert("hint".to_owned(), login::advice(name, asked).into());
    }
    (StatusCode::BAD_GATEWAY, refusal)
}

fn no_server(name: &str) -> (StatusCode, Value) {
    (StatusCode::NOT_FOUND, json!({ "error": "server_not_found", "name": name }))
}
