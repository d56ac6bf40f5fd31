//! The body of a request about a call: bounded in memory, read to its end whatever its size.
//!
//! A client that is cut off in the middle of an upload ends its program. So what is too large is
//! read and thrown away, and the answer says what the program needs to go on.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use axum::{
    Json,
    body::{Body, BodyDataStream, Bytes},
    extract::{FromRequest, Request},
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use futures::{FutureExt as _, StreamExt as _};
use holdpoint_engine::{
    aside::aside,
    calls::{call::Complete, lenient},
    limits,
};
use serde_json::json;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::wire::{Object, whole};
use crate::app::App;

/// What came: all of it, or the beginning of something too large.
pub(crate) struct Sent {
    bytes: Bytes,
    cut: bool,
    /// The memory of a large one, given back when the request is done.
    _place: Option<OwnedSemaphorePermit>,
}

/// Kilobytes of large bodies that may be in memory at once.
static ROOM: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(limits::CALL_BODIES / 1024)));

impl FromRequest<App> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, _: &App) -> Result<Sent, Response> {
        if !is_json(request.headers()) {
            let error = json!({ "error": "Content-Type must be application/json" });
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, Json(error)).into_response());
        }
        let announced = announced(request.headers());
        let (place, room) = match announced {
            Some(length) if length <= limits::CALL_BODY_SMALL => (None, length),
            // Nothing of it is looked at: no memory is needed.
            Some(length) if length > limits::CALL_BODY => (None, 0),
            // What does not say its length may be as long as is allowed.
            length => match Box::pin(place(length.unwrap_or(limits::CALL_BODY))).await {
                Some(place) => (Some(place), limits::CALL_BODY),
                None => (None, 0),
            },
        };
        let (bytes, cut) = read(request.into_body(), announced.unwrap_or_default(), room).await?;
        Ok(Sent { bytes, cut, _place: place })
    }
}

fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind == "application/json" {
        return true;
    }
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// None when others hold all of it for too long.
async fn place(bytes: usize) -> Option<OwnedSemaphorePermit> {
    let kilobytes = u32::try_from(bytes.min(limits::CALL_BODY) / 1024 + 1).unwrap_or(u32::MAX);
    let room = Arc::clone(&ROOM).acquire_many_owned(kilobytes);
    timeout(limits::BODY_ROOM, room).await.ok()?.ok()
}

/// All of it if there is `room`, or the beginning and whether there was more.
async fn read(body: Body, announced: usize, room: usize) -> Result<(Bytes, bool), Response> {
    let mut stream = body.into_data_stream();
    let mut whole: Vec<u8> = Vec::new();
    let mut cut = announced > room;
    while let Some(chunk) = next(&mut stream).await? {
        if !cut && whole.len() + chunk.len() > room.max(announced) {
            cut = true;
        }
        if cut {
            let room = limits::CALL_BODY_SMALL.saturating_sub(whole.len());
            whole.extend(chunk.iter().take(room));
            whole.truncate(limits::CALL_BODY_SMALL);
        } else if whole.is_empty() && chunk.len() == announced {
            // The usual case: one piece, not copied.
            return Ok((chunk, false));
        } else {
            whole.reserve(announced.min(room).saturating_sub(whole.len()));
            whole.extend_from_slice(&chunk);
        }
    }
    Ok((whole.into(), cut))
}

/// The next piece, if the client goes on sending.
async fn next(stream: &mut BodyDataStream) -> Result<Option<Bytes>, Response> {
    let refuse = |status: StatusCode, error: String| {
        (status, Json(json!({ "error": error }))).into_response()
    };
    // As a rule it came with the head, and no clock is needed.
    let came = match stream.next().now_or_never() {
        Some(came) => Ok(came),
        None => timeout(limits::BODY_STALL, stream.next()).await,
    };
    match came {
        Ok(None) => Ok(None),
        Ok(Some(Ok(chunk))) => Ok(Some(chunk)),
        Ok(Some(Err(error))) => {
            Err(refuse(StatusCode::BAD_REQUEST, format!("the body could not be read: {error}")))
        }
        Err(_elapsed) => {
            let waited = limits::BODY_STALL.as_secs();
            let error = format!("nothing more of the body came within {waited} s");
            Err(refuse(StatusCode::REQUEST_TIMEOUT, error))
        }
    }
}

/// The text of a body. Python escapes what is no Unicode, and some clients send it as it is: neither is
/// a reason to end a program.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly all is UTF-8, and to see that alone is several times faster.
    let text =
        str::from_utf8(bytes).map_or_else(|_odd| String::from_utf8_lossy(bytes), Cow::Borrowed);
    if lenient::is_odd(&text) { Cow::Owned(lenient::mended(&text)) } else { text }
}

impl Sent {
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Reads the body as what it is to be.
    pub(super) async fn body<T>(&self) -> Result<T, Response>
    where
        T: for<'b> Object<'b> + Send + 'static,
    {
        self.read(|text| whole(text)).await
    }

    /// Reads the whole text by `read`, which is mended where it is no JSON as it stands; a large body aside,
    /// because every other call waits meanwhile.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: fn(&str) -> serde_json::Result<T>,
    ) -> Result<T, Response> {
        let read = move |text: &str| {
            let again = |error: serde_json::Error| {
                read(&lenient::mended(text)).map_err(|_still| error.to_string())
            };
            read(text).or_else(again)
        };
        self.look(read).await
    }

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&str) -> Result<T, String> + Send + 'static,
    ) -> Result<T, Response> {
        let bytes = self.bytes.clone();
        let work = move || look(&readable(&bytes));
        let parsed = if self.bytes.len() <= limits::CALL_BODY_SMALL {
            work()
        } else {
            Box::pin(aside(work)).await.unwrap_or_else(|| Err("it cannot be read".into()))
        };
        parsed.map_err(|error| {
            let error = json!({ "error": format!("invalid request body: {error}") });
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        })
    }

    /// The end of a call whose result was too large: its id is at the beginning.
    pub(super) fn salvaged(&self) -> Complete {
        let text = String::from_utf8_lossy(&self.bytes);
        let field = |name: &str| {
            let (_, rest) = text.split_once(&format!("\"{name}\""))?;
            let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
            value.split_once('"').map(|(value, _)| value.to_owned())
        };
        Complete {
            call_id: field("call_id").unwrap_or_default(),
            status: field("status"),
            exception_type: field("exception_type"),
            exception_message: field("exception_message"),
            ..Complete::default()
        }
    }
}
