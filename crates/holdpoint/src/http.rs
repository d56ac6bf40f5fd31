//! The HTTP face: REST, the event stream, and MCP's two HTTP transports behind one guard.
//!
//! Adding an endpoint is its file, its `mod` line and its line in [`endpoints`]; the OpenAPI document
//! and `docs/rest.md` derive from it.

mod debug_client;
mod events;
mod guard;
mod health;
mod index;
pub(crate) mod listen;
pub(crate) mod port_file;

use axum::{Json, Router, middleware, routing::get};
use holdpoint_engine::limits;
use tower_http::limit::RequestBodyLimitLayer;
use utoipa::{OpenApi, openapi::OpenApi as Document};
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::guard::Guard;
use crate::{
    app::App,
    mcp::{self, sse},
};

#[derive(OpenApi)]
#[openapi(info(
    title = "Holdpoint",
    description = "The debugger for AI agents and the people beside them."
))]
struct Api;

/// Everything but MCP: the only list of endpoints.
fn endpoints() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(index::index))
        .routes(routes!(health::healthz))
        .routes(routes!(events::events))
        .routes(routes!(debug_client::debug_client))
        .routes(routes!(debug_client::debug_client_part))
}

/// The OpenAPI document, for `/openapi.json` and the generated reference.
pub(crate) fn document() -> Document {
    endpoints().split_for_parts().1
}

pub(crate) fn router(app: App, guard: Guard, with_sse: bool) -> Router {
    let (endpoints, document) = endpoints().split_for_parts();
    let mut router = endpoints
        .route("/openapi.json", get(move || std::future::ready(Json(document))))
        .with_state(app.clone())
        .route_service("/mcp", mcp::http::service(&app))
        .route_layer(middleware::from_fn(mcp::http::lenient));
    if with_sse {
        router = router.merge(sse::router(app));
    }
    let cors = guard.cors();
    router
        .fallback(index::not_found)
        .layer(RequestBodyLimitLayer::new(limits::BODY_BYTES))
        .layer(cors)
        // Outermost: nothing is done for a request that should not be here.
        .layer(middleware::from_fn_with_state(guard, guard::check))
}
