//! `/openapi.json`: what this page of endpoints is, for programs.

use axum::Json;
use utoipa::openapi::OpenApi;

use super::document;

#[utoipa::path(get, path = "/openapi.json", responses(
    (status = 200, description = "This document, as OpenAPI 3.1", body = Value)
))]
pub(super) async fn openapi() -> Json<OpenApi> {
    Json(document())
}

#[utoipa::path(get, path = "/api/openapi.json", responses(
    (status = 200, description = "The same, where existing tools look for it", body = Value)
))]
pub(super) async fn api_openapi() -> Json<OpenApi> {
    Json(document())
}
