//! Paused calls: `/api/poll/{id}` for the app that waits, `/api/paused` for whoever decides.

use std::time::Duration;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use holdpoint_engine::{
    actor::Actor,
    callpoints::{decision::Decision, paused::Polled, resume::Resumed},
    calls::lenient,
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{
    body::Sent,
    objects::no_value,
    refuse,
    wire::{
        body,
        fields::{exact, present, text},
    },
};
use crate::{
    app::App,
    view::{self, refused},
};

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
            let ready = json!({ "status": "ready", "action": view::action(&action) });
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
    let paused = app.engine.callpoints().await.paused();
    Json(json!({ "paused": paused.iter().map(view::pause).collect::<Vec<_>>() }))
}

body! {
    /// What is to become of a paused call.
    Decided {
        /// `continue` when not given, `modify`, `skip` or `raise`.
        action: Option<String> = text,
        /// A list: any JSON values, or `{"cid"}` of what the app has.
        modified_args: Option<Value> = exact,
        /// An object, likewise.
        modified_kwargs: Option<Value> = exact,
        /// Any JSON value, for `skip`; null is one.
        fake_result: Option<Value> = present,
        /// The same, already in the app's format.
        fake_result_data: Option<String> = text,
        /// Passed on to the app.
        exception: Option<Value> = exact,
        /// For `raise`: the name of a builtin exception.
        exception_type: Option<String> = text,
        exception_message: Option<String> = text,
        /// Runs instead; wins over `action`.
        replacement_function: Option<String> = text,
    }
}

#[utoipa::path(post, path = "/api/paused/{pause_id}/continue", request_body = Decided, params(
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
    let decision = match sent.body::<Decided>().await {
        Ok(decided) => Decision::from(decided),
        Err(refusal) => return refusal,
    };
    match app.engine.callpoints().await.resume(&pause_id, &decision, &Actor::Person).await {
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
            refuse(StatusCode::BAD_REQUEST, refused::function(&known, usize::MAX))
        }
        Resumed::NoSuchAction => refuse(StatusCode::BAD_REQUEST, refused::action()),
    }
}

impl From<Decided> for Decision {
    fn from(decided: Decided) -> Decision {
        let list = |value| match value {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        };
        let object = |value| match value {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        };
        Decision {
            action: decided.action,
            modified_args: list(decided.modified_args),
            modified_kwargs: object(decided.modified_kwargs),
            fake_result: decided.fake_result,
            fake_result_data: decided.fake_result_data,
            exception: decided.exception,
            exception_type: decided.exception_type,
            exception_message: decided.exception_message,
            replacement_function: decided.replacement_function,
        }
    }
}
