//! `/`: where everything is, for a person or a program that found the port.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::app::{App, VERSION};

#[utoipa::path(get, path = "/", responses(
    (status = 200, description = "Where everything is, as plain text", body = String)
))]
pub(super) async fn index(State(app): State<App>) -> String {
    let url = app.base_url().unwrap_or_default();
    format!(
        "holdpoint {VERSION}\n\n\
         MCP        {url}/mcp (streamable HTTP)\n\
         events     {url}/api/events (server-sent events)\n\
         health     {url}/healthz\n\
         REST       {url}/openapi.json\n"
    )
}

pub(super) async fn not_found(uri: Uri) -> Response {
    let error = format!("nothing is at {}; GET / lists what there is", uri.path());
    (StatusCode::NOT_FOUND, Json(json!({ "error": error }))).into_response()
}
