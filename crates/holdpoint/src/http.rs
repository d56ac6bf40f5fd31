//! The HTTP face: REST, the event stream, and MCP's two HTTP transports behind one guard.
//!
//! Adding an endpoint is its file, its `mod` line and its line in [`endpoints`]; the OpenAPI document
//! and `docs/rest.md` derive from it.

mod callpoints;
mod calls;
mod debug_client;
pub(crate) mod door;
mod events;
mod functions;
mod guard;
mod health;
mod index;
pub(crate) mod lanes;
pub(crate) mod listen;
mod objects;
mod paused;
mod places;
pub(crate) mod port_file;
mod records;
mod repl;

use axum::{
    Json, Router,
    http::StatusCode,
    middleware,
    response::{IntoResponse as _, Response},
    routing::get,
};
use holdpoint_engine::limits;
use serde_json::json;
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
        .routes(routes!(debug_client::module))
        .routes(routes!(debug_client::script))
        .routes(routes!(debug_client::types))
}

/// What apps and whoever decides about their calls ask (seed 000). Bodies are bounded where they are read.
fn calls_and_values() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(calls::start))
        .routes(routes!(calls::complete))
        .routes(routes!(calls::event))
        .routes(routes!(calls::batch::batch))
        .routes(routes!(paused::poll))
        .routes(routes!(paused::paused))
        .routes(routes!(paused::resume))
        .routes(routes!(callpoints::list, callpoints::add))
        .routes(routes!(callpoints::remove))
        .routes(routes!(callpoints::set_before))
        .routes(routes!(callpoints::set_after))
        .routes(routes!(callpoints::set_replacement))
        .routes(routes!(callpoints::history))
        .routes(routes!(callpoints::default, callpoints::set_default))
        .routes(routes!(callpoints::watch))
        .routes(routes!(functions::list, functions::register))
        .routes(routes!(functions::report_com_error))
        .routes(routes!(functions::com_errors))
        .routes(routes!(repl::fetch))
        .routes(routes!(repl::answer))
        .routes(routes!(repl::open))
        .routes(routes!(repl::list))
        .routes(routes!(repl::one))
        .routes(routes!(repl::evaluate))
        .routes(routes!(repl::close))
        .routes(routes!(records::list))
        .routes(routes!(records::in_flight))
        .routes(routes!(records::one))
        .routes(routes!(records::apps))
        .routes(routes!(records::tree))
        .routes(routes!(objects::list))
        .routes(routes!(objects::one))
        .routes(routes!(objects::history))
}

/// The wire's form of an error.
fn error(status: StatusCode, code: &str) -> Response {
    (status, Json(json!({ "error": code }))).into_response()
}

/// The store did not answer: nobody's request was wrong.
fn trouble(trouble: &holdpoint_engine::callpoints::StoreError) -> Response {
    let body = json!({ "error": "store_failed", "message": trouble.to_string() });
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

/// The OpenAPI document, for `/openapi.json` and the generated reference.
pub(crate) fn document() -> Document {
    endpoints().merge(calls_and_values()).split_for_parts().1
}

fn router(app: App, guard: Guard, with_sse: bool) -> Router {
    let mut router = endpoints()
        .split_for_parts()
        .0
        .route("/openapi.json", get(|| std::future::ready(Json(document()))))
        // Where existing tools look for it.
        .route("/api/openapi.json", get(|| std::future::ready(Json(document()))))
        .with_state(app.clone())
        .route_service("/mcp", mcp::http::service(&app))
        .route_layer(middleware::from_fn_with_state(
            mcp::http::Open::default(),
            mcp::http::lenient,
        ));
    if with_sse {
        router = router.merge(sse::router(app.clone()));
    }
    let cors = guard.cors();
    router
        .layer(RequestBodyLimitLayer::new(limits::BODY_BYTES_READ))
        .merge(calls_and_values().split_for_parts().0.with_state(app))
        .fallback(index::not_found)
        .layer(cors)
        // Outermost: nothing is done for a request that should not be here.
        .layer(middleware::from_fn_with_state(guard, guard::check))
}
