//! `/api/debug-client.js`: the JavaScript client, for a page to import from the server it will speak to.
//!
//! Its parts lie beside it, as they do in `clients/js`: nothing is bundled, so what a page runs is
//! what stands in the repository.

use axum::{
    Json,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

const ENTRY: &str = include_str!("../../../../clients/js/debug-client.js");

/// The parts by name. `node.js` is imported by Node alone, which never asks us.
const PARTS: &[(&str, &str)] = &[
    ("call.js", include_str!("../../../../clients/js/debug-client/call.js")),
    ("repl.js", include_str!("../../../../clients/js/debug-client/repl.js")),
    ("server.js", include_str!("../../../../clients/js/debug-client/server.js")),
    ("sha512.js", include_str!("../../../../clients/js/debug-client/sha512.js")),
    ("values.js", include_str!("../../../../clients/js/debug-client/values.js")),
];

#[utoipa::path(get, path = "/api/debug-client.js", responses(
    (status = 200, description = "The JavaScript client, an ES module that knows this server", body = String)
))]
pub(super) async fn debug_client(headers: HeaderMap) -> Response {
    // The guard has let through only hosts that are this server.
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or("localhost");
    let url = json!(format!("http://{host}"));
    script(format!("const SERVER_URL = {url};\n{ENTRY}"))
}

#[utoipa::path(get, path = "/api/debug-client/{part}", params(
    ("part" = String, Path, description = "A file of the JavaScript client")
), responses(
    (status = 200, description = "A part of the JavaScript client", body = String),
    (status = 404, description = "It has no such part")
))]
pub(super) async fn debug_client_part(Path(part): Path<String>) -> Response {
    match PARTS.iter().find(|(name, _)| *name == part) {
        Some((_, text)) => script((*text).to_owned()),
        None => {
            let error = format!("the client has no part `{part}`");
            (StatusCode::NOT_FOUND, Json(json!({ "error": error }))).into_response()
        }
    }
}

fn script(text: String) -> Response {
    // A page that is loaded again gets the client of the server that runs now.
    let headers =
        [(header::CONTENT_TYPE, "application/javascript"), (header::CACHE_CONTROL, "no-cache")];
    (headers, text).into_response()
}
