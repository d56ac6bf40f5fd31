//! Paused calls: `/api/poll/{id}` for the app that waits, `/api/paused` for whoever decides.

use std::time::Duration;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use holdpoint_engine::callpoints::{
    decision::Decision,
    lenient,
    paused::{Polled, Resumed},
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{
    calls::{body::Sent, wire::Fields},
    objects::no_value,
};
use crate::app::App;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Hold {
    /// Seconds for which the app can wait for the answer.
    hold_s: Option<String>,
}

#[utoipa::path(get, path = "/api/poll/{pause_id}", params(
    ("pause_id" = String, Path, description = "From the `poll_url` of an answer"), Hold,
), responses(
    (status = 200, description = "`{status: \"waiting\"}`, or `{status: \"ready\", action}`; held until there \
        is something to say", body = Value),
))]
pub(super) async fn poll(
    State(app): State<App>,
    Path(pause_id): Path<String>,
    Query(hold): Query<Hold>,
) -> Response {
    // An app that says it oddly waits as long as is usual.
    let seconds = hold.hold_s.and_then(|text| text.parse().ok());
    let hold = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match app.engine.callpoints().await.poll(&pause_id, hold).await {
        Polled::Waiting => Json(json!({ "status": "waiting" })).into_response(),
        Polled::Ready(action) => {
            let ready = json!({ "status": "ready", "action": action });
            ([(CONTENT_TYPE, "application/json")], lenient::plain(ready.to_string()))
                .into_response()
        }
    }
}

#[utoipa::path(get, path = "/api/paused", responses(
    (status = 200, description = "`{paused: [{id, call_data, paused_at, repl_sessions, phase, waiting, …}]}`, \
        oldest first", body = Value),
))]
pub(super) async fn paused(State(app): State<App>) -> Json<Value> {
    Json(json!({ "paused": app.engine.callpoints().await.paused() }))
}

#[utoipa::path(post, path = "/api/paused/{pause_id}/continue", params(
    ("pause_id" = String, Path, description = "The pause"),
), responses(
    (status = 200, description = "`{status: \"ok\", pause_id, resumed, action?, warning?}`; `resumed` is \
        false when nothing waited, `warning` says that a change came too late", body = Value),
    (status = 400, description = "`invalid_action`, `cid_ambiguous`, `function_not_found`", body = Value),
    (status = 404, description = "`cid_not_found`", body = Value),
))]
pub(super) async fn resume(
    State(app): State<App>,
    Path(pause_id): Path<String>,
    sent: Sent,
) -> Response {
    let decision = match sent.parse(|fields| Some(decision(fields))).await {
        Ok(decision) => decision.unwrap_or_default(),
        Err(refusal) => return refusal,
    };
    match app.engine.callpoints().await.resume(&pause_id, &decision).await {
        Resumed::Done { action, warning } => {
            let mut answer = json!({
                "status": "ok", "pause_id": pause_id, "resumed": true, "action": action,
            });
            if let (Some(answer), Some(warning)) = (answer.as_object_mut(), warning) {
                answer.insert("warning".to_owned(), json!(warning));
            }
            Json(answer).into_response()
        }
        Resumed::NotFound | Resumed::Already => {
            Json(json!({ "status": "ok", "pause_id": pause_id, "resumed": false })).into_response()
        }
        Resumed::NoSuchValue(no) => no_value(&no),
        Resumed::NoSuchFunction { known } => {
            let error = json!({
                "error": "function_not_found",
                "message": "the app has no such function and would raise; the call is still paused",
                "functions": known,
            });
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
        Resumed::NoSuchAction => {
            let error = json!({
                "error": "invalid_action",
                "message": "action must be 'continue', 'modify', 'skip' or 'raise'; \
                    to replace, name a replacement_function",
            });
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
    }
}

fn decision(fields: &Fields<'_>) -> Decision {
    let given = |name: &str| Some(fields.exact(name)).filter(|it| !it.is_null());
    Decision {
        action: fields.text("action"),
        modified_args: given("modified_args").and_then(|it| it.as_array().cloned()),
        modified_kwargs: given("modified_kwargs").and_then(|it| it.as_object().cloned()),
        // A result of `null` is one.
        fake_result: fields.has("fake_result").then(|| fields.exact("fake_result")),
        fake_result_data: fields.text("fake_result_data"),
        exception: given("exception"),
        exception_type: fields.text("exception_type"),
        exception_message: fields.text("exception_message"),
        replacement_function: fields.text("replacement_function"),
    }
}
