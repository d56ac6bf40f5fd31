//! MCP over streamable HTTP at `/mcp`: sessions for the older revisions, none for 2026-07-28.

mod held;

use std::{
    borrow::Cow,
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use axum::{
    Json, Router,
    body::{Body, HttpBody as _, to_bytes},
    extract::{Request, State},
    http::{
        HeaderValue, Method, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
        request::Parts,
    },
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use futures::{StreamExt as _, stream};
use holdpoint_engine::limits;
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorCode, JsonRpcError, RequestId},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};

use super::{Handler, exact, unread};
use crate::{app::App, clients::Transport, http::serving::stall::Stalled};

pub(super) use self::held::Listening;
use self::held::{Held, InHand};

const JSON: &[u8] = b"application/json";
const SESSION: &str = "mcp-session-id";
/// Pieces of an answer that wait for each other: the beginning, the answer, and some news before it.
const AT_ONCE: usize = 4;

/// Everything at `/mcp`.
pub(crate) fn router(app: &App) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(limits::HTTP_SESSION_IDLE);
    let config = StreamableHttpServerConfig::default()
        // Our own gate checks Host and Origin, for these routes as for all others.
        .disable_allowed_hosts()
        .with_sse_keep_alive(Some(limits::KEEP_ALIVE_EVERY))
        .with_max_request_body_bytes(limits::BODY_BYTES)
        .with_cancellation_token(app.shutdown.child_token());
    let stop = app.shutdown.clone();
    let app = app.clone();
    let make = move || Ok(Handler::new(app.clone(), Transport::Http));
    let sessions = Arc::new(sessions);
    let held = Held::new(Arc::clone(&sessions));
    // Ended by the shutdown token.
    tokio::spawn(held.clone().look_after(stop));
    let service = StreamableHttpService::new(make, sessions, config);
    let serving = Serving { open: Open::default(), held };
    Router::new()
        .route_service("/mcp", service)
        .route_layer(middleware::from_fn_with_state(serving, lenient))
}

/// What is known of sessions beside the SDK.
#[derive(Clone)]
struct Serving {
    open: Open,
    held: Held,
}

/// The requests of sessions that have no answer yet: the SDK answers one of two with the same id, and leaves
/// the other's connection open.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<HashSet<(HeaderValue, RequestId)>>>);

/// Lives as long as the answer is on its way.
struct InUse {
    open: Open,
    key: (HeaderValue, RequestId),
}

impl Open {
    fn ids(&self) -> MutexGuard<'_, HashSet<(HeaderValue, RequestId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` for an id that is in use.
    fn take(&self, key: (HeaderValue, RequestId)) -> Option<InUse> {
        let is_new = self.ids().insert(key.clone());
        is_new.then(|| InUse { open: self.clone(), key })
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.open.ids().remove(&self.key);
    }
}

/// What official clients do and the SDK's server does not take, and what is wrong with a message in the
/// protocol's own words.
///
/// It answers the end of a session with 202; the Python client takes only 200 and 204 for an end and warns
/// its user otherwise. And the TypeScript client posts notifications of revision 2026-07-28 without the
/// header `Mcp-Method`, which the revision demands of requests and leaves open for notifications.
async fn lenient(State(serving): State<Serving>, mut request: Request, next: Next) -> Response {
    let session = request.headers().get(SESSION).cloned();
    let mut in_hand = session.as_ref().and_then(|session| serving.held.hold(session));
    // For whoever begins to tell this session what happens.
    if let Some(listening) = session.as_ref().and_then(|it| serving.held.listening(it)) {
        request.extensions_mut().insert(listening);
    }
    if request.method() == Method::POST {
        if session.is_none() {
            serving.held.make_room().await;
        }
        let response = posted(&serving.open, request, next).await;
        if let (None, Some(begun)) = (session, response.headers().get(SESSION)) {
            serving.held.enter(begun.clone());
        }
        return while_held(response, in_hand);
    }
    let (is_end, is_stream) = (request.method() == Method::DELETE, request.method() == Method::GET);
    let mut response = next.run(request).await;
    if let (true, true, Some(stream)) = (is_stream, response.status().is_success(), &mut in_hand) {
        stream.listens();
    }
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
        session.iter().for_each(|session| serving.held.leave(session));
    }
    while_held(response, in_hand)
}

/// A stream keeps its session in use; other answers are there.
fn while_held(response: Response, in_hand: Option<InHand>) -> Response {
    if in_hand.is_none() || response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let _alive = &in_hand;
        }))
    })
}

async fn posted(open: &Open, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let bytes = match to_bytes(body, limits::BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) if Stalled::is_in(&error) => return StatusCode::REQUEST_TIMEOUT.into_response(),
        Err(_) => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
    };
    let head = unread::of(&bytes);
    let session = parts.headers.get(SESSION).cloned();
    let in_use = match session.zip(head.request_id()) {
        None => None,
        Some(key) => match open.take(key) {
            Some(in_use) => Some(in_use),
            None => {
                let text =
                    "this id is in use: the request before has no answer yet; this one was not run";
                return refused(&head.refused(ErrorCode::INVALID_REQUEST, text));
            }
        },
    };
    let is_modern = parts.headers.get("mcp-protocol-version").is_some_and(|it| it == "2026-07-28");
    if is_modern && !parts.headers.contains_key("mcp-method") {
        name(&mut parts, &bytes);
    }
    let is_json = parts.headers.get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(JSON));
    let sent = match exact::call(&bytes) {
        Cow::Borrowed(_) => bytes.clone(),
        Cow::Owned(marked) => {
            parts.headers.remove(CONTENT_LENGTH);
            marked.into()
        }
    };
    let request = Request::from_parts(parts, Body::from(sent));
    let response = next.run(request).await;
    // What the SDK says of a message that it cannot read.
    if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let read = serde_json::from_slice::<ClientJsonRpcMessage>(&bytes);
        if let Some(problem) = read.err().and_then(|error| unread::problem(&bytes, &error)) {
            return refused(&problem);
        }
    }
    match in_use {
        None => response,
        Some(in_use) => at_once(response, in_use).await,
    }
}

/// The SDK begins every answer with an event that only says where to go on after a broken connection. An
/// answer that is there as soon as all that can run has run goes out with it: one packet, and the client is
/// woken once.
async fn at_once(response: Response, in_use: InUse) -> Response {
    let (head, body) = response.into_parts();
    let mut pieces = body.into_data_stream().fuse();
    let mut ready = Vec::new();
    let mut has_yielded = false;
    while ready.len() < AT_ONCE {
        match futures::poll!(pieces.next()) {
            Poll::Ready(Some(piece)) => ready.push(piece),
            Poll::Ready(None) => break,
            Poll::Pending if has_yielded => break,
            Poll::Pending => {
                has_yielded = true;
                tokio::task::yield_now().await;
            }
        }
    }
    let pieces = stream::iter(ready).chain(pieces).inspect(move |_| {
        let _alive = &in_use;
    });
    Response::from_parts(head, Body::from_stream(pieces))
}

fn refused(error: &JsonRpcError) -> Response {
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

/// A notification gets the header that names it; anything else stays as it is.
fn name(parts: &mut Parts, bytes: &[u8]) {
    let message: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let method = message.get("method").and_then(|method| method.as_str());
    if let (None, Some(method)) = (message.get("id"), method)
        && let Ok(value) = method.parse()
    {
        parts.headers.insert("mcp-method", value);
    }
}
