//! `/api/functions`: what apps have, and `/api/report-com-error`: what went wrong with their connection.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::callpoints::Callpoints;
use serde_json::{Map, Value, json};

use super::{
    calls::{bad_item, body::Sent, ok},
    error,
};
use crate::app::App;

#[utoipa::path(get, path = "/api/functions", responses(
    (status = 200, description = "`{functions, function_signatures, function_metadata}`", body = Value),
))]
pub(super) async fn list(State(app): State<App>) -> Json<Value> {
    let functions = app.engine.callpoints().await.functions();
    let listed: Vec<&String> =
        functions.iter().filter(|(_, it)| it.listed).map(|(name, _)| name).collect();
    let mut signatures = Map::new();
    let mut metadata = Map::new();
    for (name, function) in &functions {
        if !function.signature.is_null() {
            signatures.insert(name.clone(), function.signature.clone());
        }
        if !function.metadata.is_null() {
            metadata.insert(name.clone(), function.metadata.clone());
        }
    }
    Json(json!({
        "functions": listed,
        "function_signatures": signatures,
        "function_metadata": metadata,
    }))
}

#[utoipa::path(post, path = "/api/functions", responses(
    (status = 200, description = "`{status: \"ok\", function_name, signature}`", body = Value),
    (status = 400, description = "`function_name required`, an item error", body = Value),
))]
pub(super) async fn register(State(app): State<App>, sent: Sent) -> Response {
    let parsed = sent.parse(|fields| {
        let item = fields.prefixed_item("function");
        let given = fields.json("function_metadata");
        Some((fields.text("function_name")?, fields.json("signature"), item, given))
    });
    let (name, signature, item, given) = match parsed.await {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return error(StatusCode::BAD_REQUEST, "function_name required"),
        Err(refusal) => return refusal,
    };
    let callpoints = app.engine.callpoints().await;
    let described = match item.has_data() {
        false => None,
        true => match callpoints.keep_value(&item).await {
            Ok(cid) => match cid {
                Some(cid) => callpoints.described(cid, &name).await,
                None => None,
            },
            Err(bad) => return (StatusCode::BAD_REQUEST, Json(bad_item(bad))).into_response(),
        },
    };
    let given = described.or(Some(given).filter(Value::is_object)).unwrap_or(Value::Null);
    let metadata = Callpoints::metadata(given, item.client_ref);
    callpoints.register(&name, &signature, metadata).await;
    Json(json!({ "status": "ok", "function_name": name, "signature": signature })).into_response()
}

#[utoipa::path(post, path = "/api/report-com-error", responses(
    (status = 200, description = "`{status: \"ok\"}`", body = Value),
))]
pub(super) async fn report_com_error(State(app): State<App>, sent: Sent) -> Response {
    match sent.json().await {
        Ok(error) => app.engine.callpoints().await.report_com_error(error),
        Err(refusal) => return refusal,
    }
    ok()
}

#[utoipa::path(get, path = "/api/com-errors", responses(
    (status = 200, description = "`{errors}`: what apps reported of their connections, oldest first", body = Value),
))]
pub(super) async fn com_errors(State(app): State<App>) -> Json<Value> {
    Json(json!({ "errors": app.engine.callpoints().await.com_errors() }))
}
