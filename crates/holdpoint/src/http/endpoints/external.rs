//! Other MCP servers over REST: `/api/mcp-clients`, `/api/mcp-tools`, `/api/mcp-resources`. Without any, all of it
//! answers 503 with what to do about it.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use holdpoint_engine::{aside::aside_if_large, calls::value::weight};
use serde_json::{Map, Value, json};

use super::{
    body::Sent,
    wire::{
        body,
        fields::{exact, text},
    },
};
use crate::{
    app::App,
    external::{call, failure::Unserved, manager::Manager},
    tools::external::NONE,
    view::external,
};

fn manager(app: &App) -> Option<Arc<Manager>> {
    app.external.get().map(Arc::clone)
}

fn none() -> Response {
    let message = "this server was started without other MCP servers";
    let body = json!({ "error": "no_client_manager", "message": message, "hint": NONE });
    (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
}

fn said(told: external::ExternalAnswer) -> Response {
    match told {
        Ok(answer) => Json(answer).into_response(),
        Err((status, refusal)) => (status, Json(refusal)).into_response(),
    }
}

/// A refusal. Over REST a timeout is a call that failed, as its contract has it.
fn refuse(refused: &Unserved) -> Response {
    let mut error = refused.json();
    if let (Unserved::Timeout { .. }, Some(error)) = (refused, error.as_object_mut()) {
        error.insert("error".to_owned(), "call_failed".into());
        error.insert("reason".to_owned(), refused.code().into());
    }
    (external::status(refused), Json(error)).into_response()
}

/// A result of any size: a large one is written aside.
async fn whole(done: call::Done) -> Response {
    let text = aside_if_large(weight(&done.result), move || {
        let mut answer = Map::new();
        answer.insert("result".to_owned(), done.result);
        answer.insert("cid".to_owned(), done.cid.into());
        Value::Object(answer).to_string()
    });
    match text.await {
        Some(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn missing(field: &str) -> Response {
    let error = json!({ "error": "missing_field", "field": field });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

#[utoipa::path(get, path = "/api/mcp-clients", responses(
    (status = 200, description = "`{clients: {name: {status, transport, tools, connected_at?, error?, \
        attempts?, stderr?}}}`; `status` is connecting, connected, disconnected, error or failed", body = Value),
    (status = 503, description = "`no_client_manager`: the start names no other servers", body = Value),
))]
pub(super) async fn clients(State(app): State<App>) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    let clients: Map<String, Value> =
        manager.all().iter().map(|it| (it.name.clone(), external::server(it))).collect();
    Json(json!({ "clients": clients })).into_response()
}

#[utoipa::path(get, path = "/api/mcp-tools", responses(
    (status = 200, description = "`{tools: [{name, server, original_name, description, input_schema}]}`", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
))]
pub(super) async fn tools(State(app): State<App>) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    let tools: Vec<Value> = manager.all().iter().flat_map(|it| external::tools(it)).collect();
    Json(json!({ "tools": tools })).into_response()
}

#[utoipa::path(get, path = "/api/mcp-resources", responses(
    (status = 200, description = "`{resources: [{uri, server, name, description, mime_type}]}`", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
))]
pub(super) async fn resources(State(app): State<App>) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    let all: Vec<Value> = manager.all().iter().flat_map(|it| external::resources(it)).collect();
    Json(json!({ "resources": all })).into_response()
}

body! {
    /// A call of another server's tool.
    ExternalCall {
        /// `server/tool`.
        tool: Option<String> = text,
        /// An object, as the tool's schema has it.
        arguments: Option<Value> = exact,
    }
}

#[utoipa::path(post, path = "/api/mcp-tools/call", request_body = ExternalCall, responses(
    (status = 200, description = "`{result: {content, isError?, structuredContent?}, cid}`, as the server gave it", body = Value),
    (status = 400, description = "`missing_field`, `invalid_tool_name`, `invalid_arguments`", body = Value),
    (status = 404, description = "`server_not_found`, `tool_not_found`", body = Value),
    (status = 409, description = "`server_not_connected`", body = Value),
    (status = 502, description = "`call_failed`", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
    (status = 504, description = "`call_failed`: it took longer than the server's `timeout_s`", body = Value),
))]
pub(super) async fn call(State(app): State<App>, sent: Sent) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    let asked = match sent.body::<ExternalCall>().await {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    let Some(tool) = asked.tool.filter(|it| !it.is_empty()) else { return missing("tool") };
    let arguments = match asked.arguments {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return missing("arguments"),
    };
    let callpoints = app.engine.callpoints().await;
    match call::call(&manager, callpoints, &tool, arguments, &|_| {}).await {
        Ok(done) => whole(done).await,
        Err(refused) => refuse(&refused),
    }
}

body! {
    /// A resource of another server.
    ExternalRead {
        server: Option<String> = text,
        uri: Option<String> = text,
    }
}

#[utoipa::path(post, path = "/api/mcp-resources/read", request_body = ExternalRead, responses(
    (status = 200, description = "`{content, mime_type}`, and `contents` where it has several parts", body = Value),
    (status = 400, description = "`missing_field`", body = Value),
    (status = 404, description = "`server_not_found`, `resource_not_found`", body = Value),
    (status = 409, description = "`server_not_connected`", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
))]
pub(super) async fn read(State(app): State<App>, sent: Sent) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    let asked = match sent.body::<ExternalRead>().await {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    let Some(server) = asked.server else { return missing("server") };
    let Some(uri) = asked.uri else { return missing("uri") };
    let callpoints = app.engine.callpoints().await;
    match call::read(&manager, callpoints, &server, &uri, &|_| {}).await {
        Ok(contents) => Json(external::contents(contents)).into_response(),
        Err(refused) => refuse(&refused),
    }
}

body! {
    /// Another server, to be connected until this one ends.
    ExternalConnect {
        name: Option<String> = text,
        /// `stdio`, `sse` or `http`; by `command` or `url` when not given.
        transport: Option<String> = text,
        command: Option<String> = text,
        args: Option<Value> = exact,
        env: Option<Value> = exact,
        cwd: Option<String> = text,
        url: Option<String> = text,
        headers: Option<Value> = exact,
        timeout_s: Option<Value> = exact,
        auto_reconnect: Option<Value> = exact,
    }
}

impl ExternalConnect {
    fn fields(self) -> Map<String, Value> {
        let texts = [
            ("transport", self.transport),
            ("command", self.command),
            ("cwd", self.cwd),
            ("url", self.url),
        ];
        let texts = texts.map(|(name, it)| (name, it.map(Value::from)));
        let others = [
            ("args", self.args),
            ("env", self.env),
            ("headers", self.headers),
            ("timeout_s", self.timeout_s),
            ("auto_reconnect", self.auto_reconnect),
        ];
        let given = texts.into_iter().chain(others);
        given.filter_map(|(name, it)| Some((name.to_owned(), it?))).collect()
    }
}

#[utoipa::path(post, path = "/api/mcp-clients/connect", request_body = ExternalConnect, responses(
    (status = 200, description = "`{status: \"ok\", name, tools}`", body = Value),
    (status = 400, description = "`missing_field`, `invalid_config`", body = Value),
    (status = 409, description = "`duplicate_name`", body = Value),
    (status = 502, description = "`connect_failed`; it stays, and is tried again", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
))]
pub(super) async fn connect(State(app): State<App>, sent: Sent) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    let mut asked = match sent.body::<ExternalConnect>().await {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    let Some(name) = asked.name.take() else { return missing("name") };
    said(external::connect(&manager, &name, asked.fields()).await)
}

#[utoipa::path(post, path = "/api/mcp-clients/{name}/disconnect", params(
    ("name" = String, Path, description = "The server"),
), responses(
    (status = 200, description = "`{status: \"ok\", name}`; its configuration is kept", body = Value),
    (status = 404, description = "`server_not_found`", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
))]
pub(super) async fn disconnect(State(app): State<App>, Path(name): Path<String>) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    said(external::disconnect(&manager, &name).await)
}

#[utoipa::path(post, path = "/api/mcp-clients/{name}/reconnect", params(
    ("name" = String, Path, description = "The server"),
), responses(
    (status = 200, description = "`{status: \"ok\", name, tools}`", body = Value),
    (status = 404, description = "`server_not_found`", body = Value),
    (status = 502, description = "`connect_failed`", body = Value),
    (status = 503, description = "`no_client_manager`", body = Value),
))]
pub(super) async fn reconnect(State(app): State<App>, Path(name): Path<String>) -> Response {
    let Some(manager) = manager(&app) else { return none() };
    said(external::reconnect(&manager, &name).await)
}
