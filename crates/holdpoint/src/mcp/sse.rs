//! MCP over HTTP+SSE, the two-endpoint transport of revision 2024-11-05 that many clients still use:
//! `GET /mcp/sse` opens the stream and names the endpoint, `POST /mcp/messages` carries the client's messages.
//!
//! The SDK has no such server transport any more; this is a small one over its `(Sink, Stream)`.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Query, State},
    http::StatusCode,
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::{get, post},
};
use futures::{SinkExt as _, Stream, StreamExt as _};
use holdpoint_engine::limits;
use rmcp::{
    RoleServer, ServiceExt as _, model::ClientJsonRpcMessage, service::TxJsonRpcMessage,
    transport::sink_stream::SinkStreamTransport,
};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::PollSender;

use super::{Handler, bounded::Bounded, exact, outlet::Outlet, unread};
use crate::{app::App, clients::Transport};

pub(crate) const STREAM: &str = "/mcp/sse";
pub(crate) const MESSAGES: &str = "/mcp/messages";

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route(STREAM, get(open))
        .route(MESSAGES, post(message).layer(DefaultBodyLimit::max(limits::BODY_BYTES)))
        .with_state(Serving { app, streams: Arc::default() })
}

/// The ways to those who have one open, by the id that they were given.
type Streams = Arc<Mutex<HashMap<String, mpsc::Sender<ClientJsonRpcMessage>>>>;

#[derive(Clone)]
struct Serving {
    app: App,
    streams: Streams,
}

/// Lives in the response's body: when the client goes, its stream goes.
struct Opened {
    streams: Streams,
    id: String,
}

impl Drop for Opened {
    fn drop(&mut self) {
        lock(&self.streams).remove(&self.id);
    }
}

async fn open(State(serving): State<Serving>) -> Response {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let (from_client, inbox) = mpsc::channel::<ClientJsonRpcMessage>(limits::SSE_QUEUE);
    let (to_client, outbox) = mpsc::channel::<Arc<str>>(limits::SSE_QUEUE);
    {
        let mut streams = lock(&serving.streams);
        if streams.len() >= limits::SSE_STREAMS {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many SSE clients are connected");
        }
        streams.insert(id.clone(), from_client);
    }
    let opened = Opened { streams: Arc::clone(&serving.streams), id };
    // Ends with the inbox, which ends with the response's body, or when the server stops.
    tokio::spawn(serve(serving.app, inbox, to_client));
    let keep_alive = KeepAlive::new().interval(limits::KEEP_ALIVE_EVERY).text("keep-alive");
    Sse::new(events(opened, outbox)).keep_alive(keep_alive).into_response()
}

async fn serve(
    app: App,
    inbox: mpsc::Receiver<ClientJsonRpcMessage>,
    to_client: mpsc::Sender<Arc<str>>,
) {
    let outlet = Outlet::Events(to_client.clone());
    let sink = PollSender::new(to_client)
        .sink_map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
        .with(|message: TxJsonRpcMessage<RoleServer>| {
            let json = serde_json::to_string(&message).map(Arc::from).map_err(io::Error::from);
            std::future::ready(json)
        });
    let stop = app.shutdown.child_token();
    let handler = Handler::new(app, Transport::Sse).with_outlet(outlet);
    let transport = SinkStreamTransport::new(sink, ReceiverStream::new(inbox));
    let transport = Bounded::new(transport, handler.gone());
    match handler.serve_with_ct(transport, stop).await {
        Ok(service) => {
            if let Err(error) = service.waiting().await {
                tracing::error!(%error, "an SSE client's task failed");
            }
        }
        Err(error) => tracing::debug!(%error, "an SSE client did not initialize"),
    }
}

fn events(
    opened: Opened,
    outbox: mpsc::Receiver<Arc<str>>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let endpoint = format!("{MESSAGES}?session_id={}", opened.id);
    let hello = Event::default().event("endpoint").data(endpoint);
    let messages = ReceiverStream::new(outbox).map(move |json| {
        let _alive = &opened;
        Ok(Event::default().event("message").data(json))
    });
    futures::stream::once(std::future::ready(Ok(hello))).chain(messages)
}

#[derive(Deserialize)]
struct Address {
    session_id: Option<String>,
}

async fn message(
    State(serving): State<Serving>,
    Query(address): Query<Address>,
    body: Bytes,
) -> Response {
    let Some(id) = address.session_id else {
        return refuse(StatusCode::BAD_REQUEST, "the parameter `session_id` is missing");
    };
    let Some(stream) = lock(&serving.streams).get(&id).cloned() else {
        return refuse(StatusCode::NOT_FOUND, "no such session; open one with GET /mcp/sse");
    };
    let message = match serde_json::from_slice::<ClientJsonRpcMessage>(&exact::call(&body)) {
        Ok(message) => message,
        Err(error) => {
            return match unread::problem(&body, &error) {
                Some(problem) => (StatusCode::BAD_REQUEST, Json(problem)).into_response(),
                // A notification that nobody understands is nobody's.
                None => StatusCode::ACCEPTED.into_response(),
            };
        }
    };
    match stream.try_send(message) {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(TrySendError::Full(_)) => {
            refuse(StatusCode::TOO_MANY_REQUESTS, "too many messages wait; read the stream")
        }
        Err(TrySendError::Closed(_)) => refuse(StatusCode::NOT_FOUND, "the session has ended"),
    }
}

fn refuse(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}

fn lock(streams: &Streams) -> MutexGuard<'_, HashMap<String, mpsc::Sender<ClientJsonRpcMessage>>> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}
