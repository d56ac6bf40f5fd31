//! What there is to ask for over REST. Adding an endpoint is its file, its `mod` line and its line in [`all`];
//! the router, the OpenAPI document and `docs/rest.md` derive from it.
//!
//! Bodies are read as loosely as existing clients write them ([`wire`]), and described where they are read.

pub(super) mod body;
pub(super) mod calls;
pub(crate) mod proof;

mod callpoints;
mod debug_client;
mod described;
mod events;
mod external;
mod functions;
mod health;
mod index;
mod objects;
mod open;
mod openapi;
mod paused;
mod records;
mod repl;
mod wire;

use axum::{
    Json, Router,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use holdpoint_engine::records::StoreError;
use serde_json::json;
use utoipa::{OpenApi, openapi::OpenApi as Document};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{app::App, view::refused::Refusal};

#[derive(OpenApi)]
#[openapi(info(
    title = "Holdpoint",
    description = "The debugger for AI agents and the people beside them."
))]
struct Api;

/// Everything but MCP: the only list of endpoints.
fn all() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(index::index))
        .routes(routes!(health::healthz))
        .routes(routes!(open::key))
        .routes(routes!(open::open))
        .routes(routes!(proof::proof))
        .routes(routes!(openapi::openapi))
        // Where existing tools look for it.
        .routes(routes!(openapi::api_openapi))
        .routes(routes!(events::events))
        .routes(routes!(debug_client::module))
        .routes(routes!(debug_client::script))
        .routes(routes!(debug_client::types))
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
        .routes(routes!(external::clients))
        .routes(routes!(external::connect))
        .routes(routes!(external::disconnect))
        .routes(routes!(external::reconnect))
        .routes(routes!(external::tools))
        .routes(routes!(external::call))
        .routes(routes!(external::resources))
        .routes(routes!(external::read))
}

pub(super) fn router(app: App) -> Router {
    all().split_for_parts().0.with_state(app).fallback(index::not_found)
}

/// The OpenAPI document, for `/openapi.json` and the generated reference.
pub(crate) fn document() -> Document {
    all().split_for_parts().1
}

/// The wire's form of an error.
fn error(status: StatusCode, code: &str) -> Response {
    (status, Json(json!({ "error": code }))).into_response()
}

/// The same of a refusal that every face has.
fn refuse(status: StatusCode, refusal: Refusal) -> Response {
    (status, Json(refusal.json())).into_response()
}

/// The store did not answer: nobody's request was wrong.
fn trouble(trouble: &StoreError) -> Response {
    let body = json!({ "error": "store_failed", "message": trouble.to_string() });
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A request without a body is one that only names what it is about.
    #[test]
    fn every_body_that_is_read_is_described() {
        let document = serde_json::to_value(document()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let mut posts = 0;
        for (path, methods) in paths {
            let Some(post) = methods.get("post") else { continue };
            let without = ["/close", "/disconnect", "/reconnect"];
            if without.iter().any(|it| path.ends_with(it)) || path == "/api/open" {
                continue;
            }
            posts += 1;
            let schema = &post["requestBody"]["content"]["application/json"]["schema"];
            let named = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
            let described = match named {
                Some(name) => &document["components"]["schemas"][name]["properties"],
                None => &post["requestBody"]["description"],
            };
            assert_ne!(*described, Value::Null, "{path}: {post}");
        }
        assert!(posts >= 14, "{posts}");
    }
}
