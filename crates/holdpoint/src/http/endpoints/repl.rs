//! Expressions in a paused app: what whoever asks calls, and what the app fetches and posts.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::{
    actor::Actor,
    limits,
    repl::{EvalOutcome, NoRepl, ReplQuery},
};
use serde::{Deserialize, de::MapAccess};
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{
    body::Sent,
    calls::ok,
    described, error, refuse,
    wire::{
        Object, body,
        fields::{any, text},
    },
};
use crate::{
    app::App,
    view::{points, refused},
};

#[utoipa::path(get, path = "/api/poll-repl/{pause_id}", params(
    ("pause_id" = String, Path, description = "The pause"),
), responses(
    (status = 200, description = "`{eval_id, session_id, pause_id, expr}`, or `{eval_id: null}`", body = Value),
))]
pub(super) async fn fetch(State(app): State<App>, Path(pause_id): Path<String>) -> Json<Value> {
    let found = app.engine.callpoints().await.fetch_eval(&pause_id);
    Json(points::expression(found.as_ref(), &pause_id))
}

/// What an app found, with its value if it sends it.
#[derive(Default)]
pub(super) struct Evaluated(EvalOutcome);

impl<'de> Object<'de> for Evaluated {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        let Evaluated(outcome) = self;
        match name {
            "eval_id" => outcome.eval_id = text(map)?.unwrap_or_default(),
            "session_id" => outcome.session_id = text(map)?.unwrap_or_default(),
            "pause_id" => outcome.pause_id = text(map)?.unwrap_or_default(),
            "result" => outcome.result = text(map)?,
            "stdout" => outcome.stdout = text(map)?.unwrap_or_default(),
            "error" => outcome.error = any(map)?,
            name => {
                let Some(field) = name.strip_prefix("result_") else { return Ok(false) };
                return outcome.value.take(field, map);
            }
        }
        Ok(true)
    }
}

body! {
    /// Where to evaluate.
    Opens {
        /// The paused call.
        pause_id: Option<String> = text,
    }
}

body! {
    /// What to evaluate.
    Evaluates {
        /// An expression, or statements.
        expr: Option<String> = text,
    }
}

#[utoipa::path(post, path = "/api/call/repl-result", request_body = described::Answer, responses(
    (status = 200, description = "`{status: \"ok\"}`", body = Value),
    (status = 400, description = "`missing_fields`, an item error", body = Value),
    (status = 404, description = "`session_not_found`, `eval_not_found`", body = Value),
    (status = 409, description = "`session_closed`", body = Value),
))]
pub(super) async fn answer(State(app): State<App>, sent: Sent) -> Response {
    let Evaluated(outcome) = match sent.body().await {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let ids = [&outcome.eval_id, &outcome.session_id, &outcome.pause_id];
    if ids.iter().any(|id| id.is_empty()) {
        return error(StatusCode::BAD_REQUEST, "missing_fields");
    }
    match app.engine.callpoints().await.answer_eval(outcome).await {
        Ok(()) => ok(),
        Err(no) => refusal(no),
    }
}

#[utoipa::path(post, path = "/api/repl/start", request_body = Opens, responses(
    (status = 200, description = "`{session_id}`", body = Value),
    (status = 400, description = "`missing_pause_id`, `invalid_pause`", body = Value),
    (status = 404, description = "`pause_not_found`", body = Value),
    (status = 409, description = "`pause_resumed`", body = Value),
))]
pub(super) async fn open(State(app): State<App>, sent: Sent) -> Response {
    let pause_id = match sent.body().await {
        Ok(Opens { pause_id: Some(pause_id) }) => pause_id,
        Ok(Opens { pause_id: None }) => return error(StatusCode::BAD_REQUEST, "missing_pause_id"),
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
            let sessions = app.engine.callpoints().await.repl.sessions(query).await;
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
    match app.engine.callpoints().await.repl.session(&session_id).await {
        Some(session) => Json(json!({ "session": session })).into_response(),
        None => error(StatusCode::NOT_FOUND, "session_not_found"),
    }
}

#[utoipa::path(post, path = "/api/repl/{session_id}/eval", request_body = Evaluates, params(
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
    let expr = match sent.body().await {
        Ok(Evaluates { expr: Some(expr) }) if !expr.trim().is_empty() => expr,
        Ok(_) => return error(StatusCode::BAD_REQUEST, "missing_expr"),
        Err(refusal) => return refusal,
    };
    let callpoints = app.engine.callpoints().await;
    match callpoints.evaluate(&session_id, &expr, Actor::Person, limits::EVAL).await {
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
    match app.engine.callpoints().await.repl.close(&session_id).await {
        true => ok(),
        false => error(StatusCode::NOT_FOUND, "session_not_found"),
    }
}

fn refusal(no: NoRepl) -> Response {
    let status = match no {
        NoRepl::PauseNotFound | NoRepl::SessionNotFound | NoRepl::EvalNotFound => {
            StatusCode::NOT_FOUND
        }
        NoRepl::PauseResumed | NoRepl::SessionClosed => StatusCode::CONFLICT,
        NoRepl::InvalidPause | NoRepl::Item(_) => StatusCode::BAD_REQUEST,
        NoRepl::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        NoRepl::Full => StatusCode::TOO_MANY_REQUESTS,
    };
    refuse(status, refused::repl(no))
}
