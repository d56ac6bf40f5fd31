//! Streamable HTTP, for the SDK's transport: its requests sent with a client that keeps connections, and every
//! answer bounded. The SDK's own client opens a connection per call and reads a JSON answer of any size.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use axum::http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use futures::StreamExt as _;
use holdpoint_engine::{aside::aside_if_large, budget, limits};
use reqwest::{RequestBuilder, Response};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use serde_json::{Value, json};
use sse_stream::Sse;

use super::{
    config::Remote,
    events::{Events, events, kept_whole},
    login::{self, Login},
    long::{message, read, refusal},
};
use crate::web;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Bytes read of a refusal.
const REFUSAL: usize = 64 * 1024;

type Problem = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// One server's client. Cheap to clone.
#[derive(Clone)]
pub(super) struct Http {
    pub(super) client: reqwest::Client,
    /// None where the configuration has its own way in.
    login: Option<Arc<Login>>,
    /// The status of the last request that was refused.
    refused: Arc<AtomicU16>,
}

/// A client that brings the configured headers along, to this server alone.
pub(super) fn client(remote: &Remote) -> Result<reqwest::Client, String> {
    let mut headers = reqwest::header::HeaderMap::new();
    for (name, value) in &remote.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header has no name")?;
        let mut value = HeaderValue::from_str(value).map_err(|_| "a header has no value")?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let same = reqwest::redirect::Policy::custom(|attempt| {
        let first = attempt.previous().first().map(reqwest::Url::origin);
        // The headers would go to whoever is named.
        match first == Some(attempt.url().origin()) && attempt.previous().len() < 5 {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    });
    let mut builder = web::builder(&remote.url)
        .default_headers(headers)
        .redirect(same)
        .connect_timeout(limits::EXTERNAL_CONNECT)
        .tcp_nodelay(true);
    if is_here(&remote.url) {
        builder = builder.no_proxy();
    }
    web::build(builder)
}

fn is_here(url: &str) -> bool {
    let url = reqwest::Url::parse(url).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
    matches!(host, "localhost" | "[::1]") || host.starts_with("127.")
}

impl Http {
    pub(super) fn new(name: &str, remote: &Remote) -> Result<Http, String> {
        let login = Login::of(name, remote).map(Arc::new);
        Ok(Http { client: client(remote)?, login, refused: Arc::default() })
    }

    /// Sends a request as whoever is logged in.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, String> {
        match &self.login {
            Some(login) => login.send(request).await,
            None => request.send().await.map_err(|error| web::reason(&error)),
        }
    }

    /// What a refusal asks for, if it is a login.
    pub(super) fn challenged(&self, response: &Response) -> Option<String> {
        self.login.as_ref().and_then(|_| login::challenged(response))
    }

    /// Whether the address is one that does not speak this transport, as servers of the older one answer.
    pub(super) fn speaks_another(&self) -> bool {
        matches!(self.refused.load(Ordering::Relaxed), 400 | 404 | 405)
    }

    async fn post(
        &self,
        uri: &str,
        message: ClientJsonRpcMessage,
        session: Option<&str>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Problem> {
        let body = serde_json::to_vec(&message)?;
        let request = self.client.post(uri).header(CONTENT_TYPE, JSON).body(body);
        let request = dressed(request, session, headers);
        let response = self.send(request).await.map_err(unreached)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let refusal = older(&message, None, status);
            return Ok(refusal.unwrap_or(StreamableHttpPostResponse::Accepted));
        }
        if !status.is_success() {
            self.refused.store(status.as_u16(), Ordering::Relaxed);
            if let Some(challenge) = self.challenged(&response) {
                return Err(barred(status, challenge));
            }
            return refused(response, &message, session.is_some()).await;
        }
        taken(response, &message).await
    }
}

fn dressed(request: RequestBuilder, session: Option<&str>, headers: Headers) -> RequestBuilder {
    let mut request = request.header(ACCEPT, format!("{EVENTS}, {JSON}"));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION, session),
        None => request,
    }
}

/// What a request was answered with.
async fn taken(
    response: Response,
    asked: &ClientJsonRpcMessage,
) -> Result<StreamableHttpPostResponse, Problem> {
    let header = |name: &str| {
        let value = response.headers().get(name).and_then(|it| it.to_str().ok());
        value.map(str::to_owned)
    };
    let (session, kind) = (header(SESSION), header(CONTENT_TYPE.as_str()).unwrap_or_default());
    if kind.starts_with(EVENTS) {
        return Ok(first_of(events(response), asked, session).await);
    }
    let id = match asked {
        ClientJsonRpcMessage::Request(request) => Some(json!(request.id)),
        _ => None,
    };
    let status = response.status();
    let (body, is_cut) = bounded(response, limits::EXTERNAL_MESSAGE).await?;
    if let Some(refusal) = older(asked, None, status)
        && !discovers(&body)
    {
        return Ok(refusal);
    }
    let beginning = shown(&body);
    let body = match (&id, is_cut) {
        (Some(id), true) => refusal(id, body.len()).into_bytes(),
        _ => body,
    };
    match (read(body).await, id) {
        (Some(read), _) => Ok(StreamableHttpPostResponse::Json(read, session)),
        // Nobody waits for an answer to it.
        (None, None) => Ok(StreamableHttpPostResponse::Accepted),
        (None, Some(_)) => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
            "it answered what is no message: {beginning}"
        )))),
    }
}

/// Most streams hold the answer and nothing else: it is read here, as it came. The SDK's own reading makes one of its
/// types of it, which drops what that does not know, and takes long over a large one.
async fn first_of(
    mut events: Events,
    asked: &ClientJsonRpcMessage,
    session: Option<String>,
) -> StreamableHttpPostResponse {
    let has_data = |it: &Sse| it.data.as_ref().is_some_and(|data| !data.is_empty());
    let before = match events.next().await {
        Some(Ok(event)) if has_data(&event) => match answer(event, asked).await {
            Ok(answer) => return StreamableHttpPostResponse::Json(answer, session),
            Err(event) => Some(Ok(event)),
        },
        // Such as one that says how to come back for the answer: that is the SDK's part.
        other => other,
    };
    let rest = futures::stream::iter(before).chain(events).boxed();
    StreamableHttpPostResponse::Sse(kept_whole(rest), session)
}

/// The answer that an event holds, or the event where it holds something on the way to that.
async fn answer(event: Sse, asked: &ClientJsonRpcMessage) -> Result<ServerJsonRpcMessage, Sse> {
    let ClientJsonRpcMessage::Request(asked) = asked else { return Err(event) };
    let id = asked.id.clone();
    let bytes = event.data.as_ref().map_or(0, String::len);
    let read = aside_if_large(bytes, move || {
        let read = event.data.as_ref().and_then(|data| message(data.as_bytes()));
        let is_answer = match &read {
            Some(ServerJsonRpcMessage::Response(response)) => response.id == id,
            Some(ServerJsonRpcMessage::Error(error)) => error.id.as_ref() == Some(&id),
            _ => false,
        };
        read.filter(|_| is_answer).ok_or(event)
    });
    read.await.unwrap_or_else(|| Err(Sse::default()))
}

/// A login is asked for, or another one.
fn barred(status: StatusCode, challenge: String) -> Problem {
    match status {
        StatusCode::FORBIDDEN => {
            let scope = login::scope(&challenge).map(str::to_owned);
            let error = InsufficientScopeError::new(challenge, scope);
            StreamableHttpError::InsufficientScope(error)
        }
        _ => StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)),
    }
}

/// A refusal: of a session that the server forgot, of a revision that it does not know, or in its own words.
async fn refused(
    response: Response,
    asked: &ClientJsonRpcMessage,
    with_session: bool,
) -> Result<StreamableHttpPostResponse, Problem> {
    let status = response.status();
    if status == StatusCode::NOT_FOUND && with_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let (body, _) = bounded(response, REFUSAL).await?;
    let error: Option<Value> = serde_json::from_slice(&body).ok();
    let error = error.filter(|it| it.get("error").is_some_and(Value::is_object));
    if with_session && error.as_ref().is_some_and(forgot) {
        return Err(StreamableHttpError::SessionExpired);
    }
    let barred = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if !barred
        && !with_session
        && status.is_client_error()
        && let Some(response) = older(asked, error.as_ref(), status)
    {
        return Ok(response);
    }
    let told = error.filter(|_| !barred).and_then(|it| serde_json::from_value(it).ok());
    if let Some(told @ ServerJsonRpcMessage::Error(_)) = told {
        return Ok(StreamableHttpPostResponse::Json(told, None));
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(HttpStatusError::new(status.as_u16(), None).into());
    }
    let text = format!("HTTP {status}: {}", shown(&body));
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text)))
}

/// Servers that were restarted say it so, with a status of 400.
fn forgot(error: &Value) -> bool {
    let code = error.pointer("/error/code").and_then(Value::as_i64);
    let text = error.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
    matches!(code, Some(-32001 | -32600 | -32000)) && text.to_lowercase().contains("session")
}

/// Whether it can be an answer to the first request of the stateless revision: some servers answer all that they do not
/// know with nothing.
fn discovers(body: &[u8]) -> bool {
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    answer.is_some_and(|it| {
        it.get("error").is_some() || it.pointer("/result/supportedVersions").is_some()
    })
}

/// A server of before the stateless revision refuses its first request in some way; the SDK takes this one.
fn older(
    asked: &ClientJsonRpcMessage,
    error: Option<&Value>,
    status: StatusCode,
) -> Option<StreamableHttpPostResponse> {
    let ClientJsonRpcMessage::Request(request) = asked else { return None };
    if !matches!(request.request, ClientRequest::DiscoverRequest(_)) {
        return None;
    }
    let told = error.and_then(|it| it.get("error"));
    let told = told.and_then(|it| serde_json::from_value::<ErrorData>(it.clone()).ok());
    let told = told.unwrap_or_else(|| ErrorData::invalid_request(format!("HTTP {status}"), None));
    let answer = ServerJsonRpcMessage::error(told, Some(request.id.clone()));
    Some(StreamableHttpPostResponse::Json(answer, None))
}

/// A body, up to `most` bytes, and whether there was more.
async fn bounded(response: Response, most: usize) -> Result<(Vec<u8>, bool), Problem> {
    let mut whole = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| unreached(web::reason(&error)))?;
        if whole.len() + piece.len() > most {
            return Ok((whole, true));
        }
        whole.extend_from_slice(&piece);
    }
    Ok((whole, false))
}

fn unreached(why: String) -> Problem {
    StreamableHttpError::Io(std::io::Error::other(why))
}

fn shown(body: &[u8]) -> String {
    budget::cut(String::from_utf8_lossy(body).trim(), 300)
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Problem> {
        self.post(&uri, message, session_id.as_deref(), custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Problem> {
        let request = dressed(self.client.delete(&*uri), Some(&session_id), custom_headers);
        // Whether it can be deleted is the server's business.
        self.send(request).await.map(drop).map_err(unreached)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Problem> {
        let request = dressed(self.client.get(&*uri), session_id.as_deref(), custom_headers);
        let request = match last_event_id {
            Some(id) => request.header(LAST_EVENT, id),
            None => request,
        };
        let response = self.send(request).await.map_err(unreached)?;
        if let Some(challenge) = self.challenged(&response) {
            return Err(barred(response.status(), challenge));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_stream = kind.is_some_and(|it| it.starts_with(EVENTS));
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if status.is_success() && is_stream => Ok(kept_whole(events(response))),
            status if status.is_success() => {
                Err(StreamableHttpError::UnexpectedContentType(kind.map(str::to_owned)))
            }
            status => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }
}
