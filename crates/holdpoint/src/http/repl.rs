//! Expressions in a paused app: what whoever asks calls, and what the app fetches and posts.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::{
    callpoints::ReplQuery,
    callpoints::repl::{NoRepl, Outcome},
    limits,
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{
    calls::{bad_item, body::Sent, ok},
    error,
};
use crate::app::App;

#[utoipa::path(get, path = "/api/poll-repl/{pause_id}", params(
    ("pause_id" = String, Path, description = "The pause"),
), responses(
    (status = 200, description = "`{eval_id, session_id, pause_id, expr}`, or `{eval_id: null}`", body = Value),
))]
pub(super) async fn fetch(State(app): State<App>, Path(pause_id): Path<String>) -> Json<Value> {
    Json(app.engine.callpoints().await.fetch_eval(&pause_id))
}

#[utoipa::path(post, path = "/api/call/repl-result", responses(
    (status = 200, description = "`{status: \"ok\"}`", body = Value),
    (status = 400, description = "`missing_fields`, an item error", body = Value),
    (status = 404, description = "`session_not_found`, `eval_not_found`", body = Value),
    (status = 409, description = "`session_closed`", body = Value),
))]
pub(super) async fn answer(State(app): State<App>, sent: Sent) -> Response {
    let parsed = sent.parse(|fields| {
        Some(Outcome {
            eval_id: fields.text("eval_id")?,
            session_id: fields.text("session_id")?,
            pause_id: fields.text("pause_id")?,
            result: fields.text("result"),
            stdout: fields.text("stdout").unwrap_or_default(),
            error: fields.json("error"),
            value: fields.prefixed_item("result"),
        })
    });
    let outcome = match parsed.await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return error(StatusCode::BAD_REQUEST, "missing_fields"),
        Err(refusal) => return refusal,
    };
    match app.engine.callpoints().await.answer_eval(outcome).await {
        Ok(()) => ok(),
        Err(no) => refusal(no),
    }
}

#[utoipa::path(post, path = "/api/repl/start", responses(
    (status = 200, description = "`{session_id}`", body = Value),
    (status = 400, description = "`missing_pause_id`, `invalid_pause`", body = Value),
    (status = 404, description = "`pause_not_found`", body = Value),
    (status = 409, description = "`pause_resumed`", body = Value),
))]
pub(super) async fn open(State(app): State<App>, sent: Sent) -> Response {
    let pause_id = match sent.parse(|fields| fields.text("pause_id")).await {
        Ok(Some(pause_id)) => pause_id,
        Ok(None) => return error(StatusCode::BAD_REQUEST, "missing_pause_id"),
        Err(refusal) => return refusal,
    };
    match app.engine.callpoints().await.open_session(&pause_id).await {
        Ok(session_id) => Json(json!({ "session_id": session_id })).into_response(),
        Err(no) => refusal(no),
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Search {
    /// Words in the function's name, inputs, outputs.
    search: Option<String>,
    /// `active` or `closed`.
    status: Option<String>,
    /// Started at or after, in seconds since 1970.
    from: Option<String>,
    /// Started at or before.
    to: Option<String>,
}

#[utoipa::path(get, path = "/api/repl/sessions", params(Search), responses(
    (status = 200, description = "`{sessions}`, newest first", body = Value),
    (status = 400, description = "`invalid_timestamp`, `invalid_status`", body = Value),
))]
pub(super) async fn list(State(app): State<App>, Query(search): Query<Search>) -> Response {
    let time = |text: &Option<String>| match text.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => text.parse::<f64>().map(Some).map_err(|_| "invalid_timestamp"),
    };
    let closed = match search.status.as_deref() {
        None | Some("") => Ok(None),
        Some("active") => Ok(Some(false)),
        Some("closed") => Ok(Some(true)),
        Some(_) => Err("invalid_status"),
    };
    let query = || -> Result<ReplQuery, &'static str> {
        Ok(ReplQuery {
            from: time(&search.from)?,
            to: time(&search.to)?,
            closed: closed?,
            search: search.search.clone().filter(|it| !it.is_empty()),
            limit: limits::REPL_SESSIONS,
        })
    };
    match query() {
        Ok(query) => {
            let sessions = app.engine.callpoints().await.sessions(query).await;
            Json(json!({ "sessions": sessions })).into_response()
        }
        Err(code) => error(StatusCode::BAD_REQUEST, code),
    }
}

#[utoipa::path(get, path = "/api/repl/{session_id}", params(
    ("session_id" = String, Path, description = "The session"),
), responses(
    (status = 200, description = "`{session}` with its transcript", body = Value),
    (status = 404, description = "`session_not_found`", body = Value),
))]
pub(super) async fn one(State(app): State<App>, Path(session_id): Path<String>) -> Response {
    match app.engine.callpoints().await.session(&session_id).await {
        Some(session) => Json(json!({ "session": session })).into_response(),
        None => error(StatusCode::NOT_FOUND, "session_not_found"),
    }
}

#[utoipa::path(post, path = "/api/repl/{session_id}/eval", params(
    ("session_id" = String, Path, description = "The session"),
), responses(
    (status = 200, description = "`{output, stdout, is_error, result_cid}`, when the app has answered", body = Value),
    (status = 400, description = "`missing_expr`", body = Value),
    (status = 404, description = "`session_not_found`", body = Value),
    (status = 409, description = "`session_closed`, also while waiting", body = Value),
    (status = 504, description = "`eval_timeout`", body = Value),
))]
pub(super) async fn evaluate(
    State(app): State<App>,
    Path(session_id): Path<String>,
    sent: Sent,
) -> Response {
    let expr = match sent.parse(|fields| fields.text("expr")).await {
        Ok(Some(expr)) if !expr.trim().is_empty() => expr,
        Ok(_) => return error(StatusCode::BAD_REQUEST, "missing_expr"),
        Err(refusal) => return refusal,
    };
    let callpoints = app.engine.callpoints().await;
    match callpoints.evaluate(&session_id, &expr, limits::EVAL).await {
        Ok(entry) => Json(json!({
            "output": entry.output,
            "stdout": entry.stdout,
            "is_error": entry.is_error,
            "result_cid": entry.result_cid,
        }))
        .into_response(),
        Err(no) => refusal(no),
    }
}

#[utoipa::path(post, path = "/api/repl/{session_id}/close", params(
    ("session_id" = String, Path, description = "The session"),
), responses(
    (status = 200, description = "`{status: \"ok\"}`", body = Value),
    (status = 404, description = "`session_not_found`", body = Value),
))]
pub(super) async fn close(State(app): State<App>, Path(session_id): Path<String>) -> Response {
    match app.engine.callpoints().await.close_session(&session_id).await {
        true => ok(),
        false => error(StatusCode::NOT_FOUND, "session_not_found"),
    }
}

fn refusal(no: NoRepl) -> Response {
    match no {
        NoRepl::PauseNotFound => error(StatusCode::NOT_FOUND, "pause_not_found"),
        NoRepl::PauseResumed => error(StatusCode::CONFLICT, "pause_resumed"),
        NoRepl::InvalidPause => error(StatusCode::BAD_REQUEST, "invalid_pause"),
        NoRepl::SessionNotFound => error(StatusCode::NOT_FOUND, "session_not_found"),
        NoRepl::SessionClosed => error(StatusCode::CONFLICT, "session_closed"),
        NoRepl::EvalNotFound => error(StatusCode::NOT_FOUND, "eval_not_found"),
        NoRepl::Timeout(message) => {
            let body = json!({ "error": "eval_timeout", "message": message });
            (StatusCode::GATEWAY_TIMEOUT, Json(body)).into_response()
        }
        NoRepl::Item(bad) => (StatusCode::BAD_REQUEST, Json(bad_item(bad))).into_response(),
        NoRepl::Full => error(StatusCode::TOO_MANY_REQUESTS, "too_many_evaluations"),
    }
}
