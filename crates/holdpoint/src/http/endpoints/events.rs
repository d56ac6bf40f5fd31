//! `GET /api/events`: the log as server-sent events, resumable where it broke off.
//!
//! Each event's `id` is its seq, so a browser's `EventSource` resumes by itself with `Last-Event-ID`.
//! What is no longer kept is one event named `gap`.

use std::convert::Infallible;

use axum::{
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{Stream, StreamExt as _, stream};
use holdpoint_engine::{
    ids::Seq,
    limits,
    log::{Read, Reader},
};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use crate::app::App;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Begin after this seq; 0 is the beginning. Without it, and without `Last-Event-ID`: from now on.
    since: Option<u64>,
}

#[utoipa::path(get, path = "/api/events", params(
    Params,
    ("Last-Event-ID" = Option<u64>, Header, description = "Go on after this seq; wins over `since`"),
), responses(
    (status = 200, description = "Server-sent events: `id` is the seq, `event` the kind, `data` \
        `{seq, at, kind, data}`", content_type = "text/event-stream", body = String),
    (status = 400, description = "`Last-Event-ID` is not a seq", body = String),
))]
pub(super) async fn events(
    State(app): State<App>,
    Query(params): Query<Params>,
    headers: HeaderMap,
) -> Response {
    let since = match resumed(&headers) {
        Ok(seq) => seq.or(params.since.map(Seq)).unwrap_or_else(|| app.engine.log.head()),
        Err(text) => return (StatusCode::BAD_REQUEST, text).into_response(),
    };
    let reader = app.engine.log.reader(since);
    let keep_alive = KeepAlive::new().interval(limits::KEEP_ALIVE_EVERY).text("keep-alive");
    Sse::new(stream(reader, app.shutdown.clone())).keep_alive(keep_alive).into_response()
}

fn resumed(headers: &HeaderMap) -> Result<Option<Seq>, &'static str> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let seq = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    seq.map(|seq| Some(Seq(seq))).ok_or("Last-Event-ID is not a seq")
}

fn stream(
    reader: Reader,
    shutdown: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let batches = stream::unfold(Some(reader), move |reader| {
        let shutdown = shutdown.clone();
        async move {
            let mut reader = reader?;
            tokio::select! {
                reads = reader.batch(limits::NOTIFY_BATCH) => Some((reads, Some(reader))),
                // The last events were written before the token; take them along.
                () = shutdown.cancelled() => Some((reader.take(usize::MAX), None)),
            }
        }
    });
    batches.flat_map(stream::iter).map(|read| Ok(event(&read)))
}

fn event(read: &Read) -> Event {
    match read {
        Read::Record(record) => Event::default()
            .id(record.seq.to_string())
            .event(record.event.kind().as_str())
            .data(record.to_json().to_string()),
        Read::Gap { first, last } => Event::default()
            .id(last.to_string())
            .event("gap")
            .data(json!({ "first": first, "last": last }).to_string()),
    }
}
