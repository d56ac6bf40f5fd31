//! `/`: where everything is, for a person or a program that found the port.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{
    app::{App, VERSION},
    page,
};

#[utoipa::path(get, path = "/", responses(
    (status = 200, description = "Where everything is, as plain text; a browser gets the page", body = String)
))]
pub(super) async fn index(State(app): State<App>, headers: HeaderMap) -> Response {
    if page::wants_page(&headers) {
        return page::index(app, headers).await;
    }
    let url = app.base_url().unwrap_or_default();
    format!(
        "holdpoint {VERSION}\n\n\
         MCP        {url}/mcp (streamable HTTP)\n\
         events     {url}/api/events (server-sent events)\n\
         health     {url}/healthz\n\
         REST       {url}/openapi.json\n\
         page       `holdpoint open` opens it in a browser\n"
    )
    .into_response()
}

pub(super) async fn not_found(uri: Uri) -> Response {
    let error = format!("nothing is at {}; GET / lists what there is", uri.path());
    (StatusCode::NOT_FOUND, Json(json!({ "error": error }))).into_response()
}
