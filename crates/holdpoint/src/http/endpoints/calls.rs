//! What an instrumented app asks: `/api/call/start`, `/api/call/complete`, `/api/call/event`,
//! `/api/call/batch`.
//!
//! An existing client ends its program on any status of 400 or more, so only what the wire prescribes
//! is refused. A request too large to look at is not captured, and the program goes on.

pub(super) mod batch;
pub(super) mod ends;
pub(super) mod event;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use holdpoint_engine::callpoints::{CallStarted, Refused};
use serde::Serialize;
use serde_json::{Value, json};

use super::{body::Sent, described, refuse};
use crate::{app::App, view::refused};

/// How often an app polls whose polls are held, and one whose polls are not.
const POLL_HELD_MS: u64 = 100;
const POLL_OFTEN_MS: u64 = 25;

#[utoipa::path(post, path = "/api/call/start", request_body = described::Start, responses(
    (status = 200, description = "`{call_id, action}`: `continue`, `replace` with `function_name`, or \
        `poll` with `poll_url`", body = Value),
    (status = 400, description = "`missing_process_identity`, `cid_not_found` with `missing_cids`, an item \
        error, `invalid_preferred_format`", body = Value),
))]
pub(in crate::http) async fn start(State(app): State<App>, sent: Sent) -> Response {
    if sent.is_cut() {
        return uncaptured(&app).await;
    }
    let parsed = match sent.read(ends::start).await {
        Ok(Some(start)) => start,
        Ok(None) => return no_identity(),
        Err(refusal) => return refusal,
    };
    match app.engine.callpoints().await.start(parsed).await {
        Ok(started) => answer(started),
        Err(refused) => refusal(refused),
    }
}

/// What nearly every call is answered.
#[derive(Serialize)]
struct GoesOn {
    call_id: String,
    action: &'static str,
}

/// The call goes on and is not recorded: nothing of it could be read.
async fn uncaptured(app: &App) -> Response {
    tracing::warn!("a call is not recorded: its request is larger than is read");
    let call_id = app.engine.callpoints().await.uncaptured();
    Json(json!({ "call_id": call_id, "action": "continue", "captured": false })).into_response()
}

fn answer(started: CallStarted) -> Response {
    let answer = match started {
        CallStarted::Continue { call_id } => {
            return Json(GoesOn { call_id, action: "continue" }).into_response();
        }
        CallStarted::Replace { call_id, function_name } => {
            json!({ "call_id": call_id, "action": "replace", "function_name": function_name })
        }
        CallStarted::Pause { call_id, pause_id, is_async } => {
            let mut poll = poll_json(&pause_id, is_async);
            if let Some(poll) = poll.as_object_mut() {
                poll.insert("call_id".to_owned(), json!(call_id));
            }
            poll
        }
    };
    Json(answer).into_response()
}

/// The wire's word for "wait": where to ask, how often, and after how long to say so in a log.
fn poll_json(pause_id: &str, is_async: bool) -> Value {
    json!({
        "action": "poll",
        "poll_interval_ms": if is_async { POLL_OFTEN_MS } else { POLL_HELD_MS },
        "poll_url": format!("/api/poll/{pause_id}"),
        "timeout_ms": 60_000,
    })
}

#[utoipa::path(post, path = "/api/call/complete", request_body = described::Complete, responses(
    (status = 200, description = "`{status: \"ok\"}`, or `poll` when the call pauses after it", body = Value),
    (status = 400, description = "An item error", body = Value),
))]
pub(in crate::http) async fn complete(State(app): State<App>, sent: Sent) -> Response {
    let parsed = if sent.is_cut() {
        tracing::warn!("a result is not captured: its request is larger than is read");
        sent.salvaged()
    } else {
        match sent.read(ends::complete).await {
            Ok(complete) => complete,
            Err(refusal) => return refusal,
        }
    };
    match app.engine.callpoints().await.complete(parsed).await {
        Ok(None) => ok(),
        Ok(Some(paused)) => Json(poll_json(&paused.pause_id, paused.is_async)).into_response(),
        Err(refused) => refusal(refused),
    }
}

#[utoipa::path(post, path = "/api/call/event", request_body = described::Event, responses(
    (status = 200, description = "`{status: \"ok\"}`", body = Value),
    (status = 400, description = "`missing_process_identity`, an item error", body = Value),
))]
pub(super) async fn event(State(app): State<App>, sent: Sent) -> Response {
    if sent.is_cut() {
        return ok();
    }
    let parsed = match sent.read(event::read).await {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return no_identity(),
        Err(refusal) => return refusal,
    };
    let (process, event) = parsed;
    match app.engine.callpoints().await.event(process, event).await {
        Ok(()) => ok(),
        Err(refused) => refusal(refused),
    }
}

pub(super) fn ok() -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, json)], r#"{"status":"ok"}"#).into_response()
}

fn no_identity() -> Response {
    let body = json!({
        "error": "missing_process_identity",
        "message": "process_pid and process_start_time are required",
    });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn refusal(refused: Refused) -> Response {
    let body = match refused {
        Refused::Missing(missing) => json!({
            "error": "cid_not_found",
            "missing_cids": missing,
            "message": "Resend with full data",
        }),
        Refused::Item(bad) => return refuse(StatusCode::BAD_REQUEST, refused::item(bad)),
        Refused::Format => json!({
            "error": "invalid_preferred_format",
            "message": "preferred_format must be 'dill' or 'json'",
        }),
    };
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}
