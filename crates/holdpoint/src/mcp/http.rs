//! MCP over streamable HTTP at `/mcp`: sessions for the older revisions, none for 2026-07-28.

use std::{borrow::Cow, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode, header::CONTENT_LENGTH, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use holdpoint_engine::limits;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use super::{Handler, exact};
use crate::{app::App, clients::Transport};

pub(crate) fn service(app: &App) -> StreamableHttpService<Handler, LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(limits::HTTP_SESSION_IDLE);
    let config = StreamableHttpServerConfig::default()
        // Our own guard checks Host and Origin, for these routes as for all others.
        .disable_allowed_hosts()
        .with_sse_keep_alive(Some(limits::KEEP_ALIVE_EVERY))
        .with_max_request_body_bytes(limits::BODY_BYTES)
        .with_cancellation_token(app.shutdown.child_token());
    let app = app.clone();
    let make = move || Ok(Handler::new(app.clone(), Transport::Http));
    StreamableHttpService::new(make, Arc::new(sessions), config)
}

/// What official clients do and the SDK's server does not take.
///
/// It answers the end of a session with 202; the Python client takes only 200 and 204 for an end and warns
/// its user otherwise. And the TypeScript client posts notifications of revision 2026-07-28 without the
/// header `Mcp-Method`, which the revision demands of requests and leaves open for notifications.
pub(crate) async fn lenient(request: Request, next: Next) -> Response {
    if request.uri().path() != "/mcp" {
        return next.run(request).await;
    }
    let is_end = request.method() == Method::DELETE;
    let is_bare = request.method() == Method::POST
        && request.headers().contains_key("mcp-protocol-version")
        && !request.headers().contains_key("mcp-method");
    let request = match request.method() == Method::POST {
        true => read(request, is_bare).await,
        false => Ok(request),
    };
    let request = match request {
        Ok(request) => request,
        Err(status) => return status.into_response(),
    };
    let mut response = next.run(request).await;
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// The request with its body read, and with what [`exact`] and [`name`] do to it.
async fn read(request: Request, is_bare: bool) -> Result<Request, StatusCode> {
    let (mut parts, body) = request.into_parts();
    let bytes =
        to_bytes(body, limits::BODY_BYTES).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    if is_bare {
        name(&mut parts, &bytes);
    }
    let bytes = match exact::call(&bytes) {
        Cow::Borrowed(_) => bytes,
        Cow::Owned(marked) => {
            parts.headers.remove(CONTENT_LENGTH);
            marked.into()
        }
    };
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// A notification gets the header that names it; anything else stays as it is.
fn name(parts: &mut Parts, bytes: &[u8]) {
    let message: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let method = message.get("method").and_then(|method| method.as_str());
    let is_modern = parts.headers.get("mcp-protocol-version").is_some_and(|it| it == "2026-07-28");
    if let (true, None, Some(method)) = (is_modern, message.get("id"), method)
        && let Ok(value) = method.parse()
    {
        parts.headers.insert("mcp-method", value);
    }
}
