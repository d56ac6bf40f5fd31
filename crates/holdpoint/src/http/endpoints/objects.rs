//! Captured values and live objects: `/api/objects`, one value by CID and path, an object's history.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::records::{Inspected, NoValue, ObjectSeen};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{refuse, trouble};
use crate::{
    app::App,
    view::{self, refused},
};

#[utoipa::path(get, path = "/api/objects", responses(
    (status = 200, description = "`{objects}`: every live object at its last moment, newest first", body = Value),
))]
pub(super) async fn list(State(app): State<App>) -> Response {
    match app.engine.callpoints().await.records.objects().await {
        Ok(objects) => Json(json!({ "objects": each(&objects) })).into_response(),
        Err(error) => trouble(&error),
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Inside {
    /// Further in, as Python writes it: `.items[0]['price']`.
    path: Option<String>,
}

#[utoipa::path(get, path = "/api/objects/{cid}", params(
    ("cid" = String, Path, description = "The value: its CID, or 8 digits of it or more"), Inside,
), responses(
    (status = 200, description = "`{cid, type, repr, attributes}`", body = Value),
    (status = 400, description = "`cid_ambiguous` with `matches`", body = Value),
    (status = 404, description = "`cid_not_found`, `path_not_found`", body = Value),
))]
pub(super) async fn one(
    State(app): State<App>,
    Path(cid): Path<String>,
    Query(inside): Query<Inside>,
) -> Response {
    let path = inside.path.unwrap_or_default();
    match app.engine.callpoints().await.records.inspect(&cid, &path).await {
        Ok(Inspected::Found(looked)) => Json(view::object(&looked)).into_response(),
        Ok(Inspected::Undecodable { cid, why }) => {
            Json(view::undecodable(&cid, &why)).into_response()
        }
        Ok(Inspected::NoSuchValue(no)) => no_value(&no),
        Ok(Inspected::NoSuchPath { why }) => {
            let body = json!({ "error": "path_not_found", "message": why, "cid": cid });
            (StatusCode::NOT_FOUND, Json(body)).into_response()
        }
        Err(error) => trouble(&error),
    }
}

/// Why a CID leads to no value.
pub(super) fn no_value(no: &NoValue) -> Response {
    let status = match no {
        NoValue::Unknown { .. } => StatusCode::NOT_FOUND,
        NoValue::Several { .. } => StatusCode::BAD_REQUEST,
    };
    refuse(status, refused::value(no))
}

fn each(objects: &[ObjectSeen]) -> Vec<Value> {
    objects.iter().map(view::object_at).collect()
}

#[utoipa::path(get, path = "/api/objects/{process_key}/{client_ref}/history", params(
    ("process_key" = String, Path, description = "The app"),
    ("client_ref" = String, Path, description = "The object, as the app numbers it"),
), responses(
    (status = 200, description = "`{history}`: each moment at which a call had the object, oldest first",
        body = Value),
))]
pub(super) async fn history(
    State(app): State<App>,
    Path((process, client_ref)): Path<(String, String)>,
) -> Response {
    match app.engine.callpoints().await.records.history(&process, &client_ref).await {
        Ok(history) => Json(json!({
            "process_key": process, "client_ref": client_ref, "history": each(&history),
        }))
        .into_response(),
        Err(error) => trouble(&error),
    }
}
