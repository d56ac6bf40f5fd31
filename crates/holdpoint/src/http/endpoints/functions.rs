//! `/api/functions`: what apps have, and `/api/report-com-error`: what went wrong with their connection.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::{callpoints::Callpoints, calls::value::Item};
use serde::de::MapAccess;
use serde_json::{Value, json};

use super::{
    body::Sent,
    calls::ok,
    described, error, refuse,
    wire::{
        Object,
        fields::{Whole, any, text},
    },
};
use crate::{
    app::App,
    view::{points::Functions, refused},
};

#[utoipa::path(get, path = "/api/functions", responses(
    (status = 200, description = "`{functions, function_signatures, function_metadata}`", body = Value),
))]
pub(super) async fn list(State(app): State<App>) -> Json<Value> {
    let all = Functions::of(app.engine.callpoints().await.functions());
    Json(json!({
        "functions": all.listed,
        "function_signatures": all.signatures,
        "function_metadata": all.metadata,
    }))
}

/// A function of an app, with its own value if the app sends it.
#[derive(Default)]
pub(super) struct Registered {
    name: Option<String>,
    signature: Value,
    metadata: Value,
    item: Item,
}

impl<'de> Object<'de> for Registered {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        match name {
            "function_name" => self.name = text(map)?,
            "signature" => self.signature = any(map)?,
            "function_metadata" => self.metadata = any(map)?,
            name => {
                let Some(field) = name.strip_prefix("function_") else { return Ok(false) };
                return self.item.take(field, map);
            }
        }
        Ok(true)
    }
}

#[utoipa::path(post, path = "/api/functions", request_body = described::Register, responses(
    (status = 200, description = "`{status: \"ok\", function_name, signature}`", body = Value),
    (status = 400, description = "`function_name required`, an item error", body = Value),
))]
pub(super) async fn register(State(app): State<App>, sent: Sent) -> Response {
    let Registered { name, signature, metadata: given, item } = match sent.body().await {
        Ok(registered) => registered,
        Err(refusal) => return refusal,
    };
    let Some(name) = name else {
        return error(StatusCode::BAD_REQUEST, "function_name required");
    };
    let callpoints = app.engine.callpoints().await;
    let described = match item.has_data() {
        false => None,
        true => match callpoints.keep_value(&item).await {
            Ok(cid) => match cid {
                Some(cid) => callpoints.described(cid, &name).await,
                None => None,
            },
            Err(bad) => return refuse(StatusCode::BAD_REQUEST, refused::item(bad)),
        },
    };
    let given = described.or(Some(given).filter(Value::is_object)).unwrap_or(Value::Null);
    let metadata = Callpoints::metadata(given, item.client_ref);
    callpoints.register(&name, &signature, metadata).await;
    Json(json!({ "status": "ok", "function_name": name, "signature": signature })).into_response()
}

#[utoipa::path(post, path = "/api/report-com-error", request_body(
    content = Value, description = "Any object; it is kept as it is",
), responses(
    (status = 200, description = "`{status: \"ok\"}`", body = Value),
))]
pub(super) async fn report_com_error(State(app): State<App>, sent: Sent) -> Response {
    match sent.body().await {
        Ok(Whole(error)) => app.engine.callpoints().await.report_com_error(error),
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
