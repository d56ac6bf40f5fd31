//! Callpoints over REST: `/api/breakpoints`, their behaviors, the default behavior, and the watch that
//! our own clients keep open.

use std::time::Duration;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::{
    actor::Actor,
    callpoints::{behavior::Behavior, functions::NoChange},
    limits,
    records::{RecordQuery, Recorded},
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{
    body::Sent,
    error, refuse,
    wire::{
        body,
        fields::{any, number, text},
    },
};
use crate::{
    app::App,
    view::{
        call,
        points::{self, Points},
        refused,
    },
};

const BEFORE: &str = "behavior must be 'stop', 'go', or 'yield'";
const AFTER: &str = "behavior must be 'stop', 'go', 'exception', 'stop_exception', or 'yield'";
const DEFAULT: &str = "behavior must be 'stop', 'go', 'exception', or 'stop_exception'";

#[utoipa::path(get, path = "/api/breakpoints", responses(
    (status = 200, description = "`{breakpoints, breakpoint_behaviors, breakpoint_after_behaviors, \
        breakpoint_replacements}`", body = Value),
))]
pub(super) async fn list(State(app): State<App>) -> Json<Value> {
    let points = Points::of(&app.engine.callpoints().await.callpoints());
    Json(json!({
        "breakpoints": points.names,
        "breakpoint_behaviors": points.before,
        "breakpoint_after_behaviors": points.after,
        "breakpoint_replacements": points.replacements,
    }))
}

body! {
    /// A function to be intercepted.
    Added {
        /// The function.
        function_name: Option<String> = text,
        /// `stop`, `go` or `yield`; anything else is passed over.
        behavior: Option<String> = text,
        /// Text, or the number of parameters.
        signature: Value = any,
        /// Who asks for it: `app` or `person`.
        by: Option<String> = text,
        /// What an app's client sends with its own functions: without `by` it says that the app asks.
        timestamp: Option<f64> = number,
    }
}

body! {
    /// A behavior.
    Behaves {
        /// The word for it, or one of its aliases.
        behavior: Option<String> = text,
    }
}

body! {
    /// A function that runs instead.
    Replaced {
        /// Empty, null and the function's own name clear it.
        replacement_function: Value = any,
    }
}

#[utoipa::path(post, path = "/api/breakpoints", request_body = Added, responses(
    (status = 200, description = "`{status: \"ok\", function_name}`; one that is there keeps its behaviors",
        body = Value),
    (status = 400, description = "`function_name required`", body = Value),
))]
pub(super) async fn add(State(app): State<App>, sent: Sent) -> Response {
    let Added { function_name, behavior, signature, by, timestamp } = match sent.body().await {
        Ok(added) => added,
        Err(refusal) => return refusal,
    };
    let Some(name) = function_name else {
        return error(StatusCode::BAD_REQUEST, "function_name required");
    };
    let behavior = behavior.and_then(|it| Behavior::before(&it));
    // The call protocol has no word for it: only what it lets an app's client send tells an app from a person.
    let by = match (by.as_deref(), timestamp) {
        (Some("app"), _) => Actor::App,
        (Some("person"), _) => Actor::Person,
        (_, Some(_)) => Actor::App,
        (_, None) => Actor::Person,
    };
    let callpoints = app.engine.callpoints().await;
    if let Err(NoChange::Full) = callpoints.add(&name, behavior, &by).await {
        // The app goes on; its calls are recorded and do not pause.
        tracing::warn!(name, "a callpoint more than there may be");
    }
    callpoints.register(&name, &signature, Value::Null).await;
    Json(json!({ "status": "ok", "function_name": name })).into_response()
}

#[utoipa::path(delete, path = "/api/breakpoints/{name}", params(
    ("name" = String, Path, description = "The function, percent-encoded as one segment"),
), responses((status = 200, description = "`{status: \"ok\", function_name}`", body = Value)))]
pub(super) async fn remove(State(app): State<App>, Path(name): Path<String>) -> Json<Value> {
    let removed = app.engine.callpoints().await.remove(&name, &Actor::Person).await;
    Json(json!({ "status": "ok", "function_name": name, "removed": removed }))
}

#[utoipa::path(post, path = "/api/breakpoints/{name}/behavior", request_body = Behaves, params(
    ("name" = String, Path, description = "The function"),
), responses(
    (status = 200, description = "`{status: \"ok\", function_name, behavior}`", body = Value),
    (status = 400, description = "No such behavior", body = Value),
    (status = 404, description = "`breakpoint_not_found`", body = Value),
))]
pub(super) async fn set_before(
    State(app): State<App>,
    Path(name): Path<String>,
    sent: Sent,
) -> Response {
    let word = match behavior_word(&sent).await {
        Ok(word) => word,
        Err(refusal) => return refusal,
    };
    let plain = matches!(word.as_str(), "stop" | "go" | "yield" | "continue");
    let Some(behavior) = Behavior::before(&word).filter(|_| plain) else {
        return error(StatusCode::BAD_REQUEST, BEFORE);
    };
    let callpoints = app.engine.callpoints().await;
    let changed = callpoints.set_before(&name, behavior, &Actor::Person).await;
    behaves(changed, &name, behavior)
}

#[utoipa::path(post, path = "/api/breakpoints/{name}/after_behavior", request_body = Behaves, params(
    ("name" = String, Path, description = "The function"),
), responses(
    (status = 200, description = "`{status: \"ok\", function_name, behavior}`", body = Value),
    (status = 400, description = "No such behavior", body = Value),
    (status = 404, description = "`breakpoint_not_found`", body = Value),
))]
pub(super) async fn set_after(
    State(app): State<App>,
    Path(name): Path<String>,
    sent: Sent,
) -> Response {
    let word = match behavior_word(&sent).await {
        Ok(word) => word,
        Err(refusal) => return refusal,
    };
    let Some(behavior) = Behavior::after(&word) else {
        return error(StatusCode::BAD_REQUEST, AFTER);
    };
    let callpoints = app.engine.callpoints().await;
    let changed = callpoints.set_after(&name, behavior, &Actor::Person).await;
    behaves(changed, &name, behavior)
}

async fn behavior_word(sent: &Sent) -> Result<String, Response> {
    let Behaves { behavior } = sent.body().await?;
    Ok(behavior.unwrap_or_default())
}

fn behaves(changed: Result<(), NoChange>, name: &str, behavior: Behavior) -> Response {
    match changed {
        Ok(()) => Json(json!({
            "status": "ok", "function_name": name, "behavior": behavior.as_str(),
        }))
        .into_response(),
        Err(no) => no_change(no),
    }
}

fn no_change(no: NoChange) -> Response {
    let status = match no {
        NoChange::NotFound => StatusCode::NOT_FOUND,
        NoChange::SignatureMismatch | NoChange::Full => StatusCode::BAD_REQUEST,
    };
    refuse(status, refused::change(no))
}

#[utoipa::path(post, path = "/api/breakpoints/{name}/replacement", request_body = Replaced, params(
    ("name" = String, Path, description = "The function"),
), responses(
    (status = 200, description = "`{status: \"ok\", function_name, replacement_function}`; empty, null and the \
        function's own name clear it", body = Value),
    (status = 400, description = "`signature_mismatch`", body = Value),
    (status = 404, description = "`breakpoint_not_found`", body = Value),
))]
pub(super) async fn set_replacement(
    State(app): State<App>,
    Path(name): Path<String>,
    sent: Sent,
) -> Response {
    let given = match sent.body().await {
        Ok(Replaced { replacement_function }) => replacement_function,
        Err(refusal) => return refusal,
    };
    let callpoints = app.engine.callpoints().await;
    match callpoints.set_replacement(&name, given.as_str(), &Actor::Person).await {
        Ok(()) => Json(json!({
            "status": "ok", "function_name": name, "replacement_function": given,
        }))
        .into_response(),
        Err(no) => no_change(no),
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Limit {
    /// How many at the most.
    limit: Option<usize>,
}

#[utoipa::path(get, path = "/api/breakpoints/{name}/history", params(
    ("name" = String, Path, description = "The function"), Limit,
), responses(
    (status = 200, description = "`{function_name, history: [{id, function_name, call_data, completed_at}]}`, \
        newest first", body = Value),
))]
pub(super) async fn history(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(limit): Query<Limit>,
) -> Response {
    let wanted = RecordQuery {
        name: Some(name.clone()),
        calls_only: true,
        limit: limit.limit.unwrap_or(limits::RECORDS_PAGE),
        ..RecordQuery::default()
    };
    let page = match app.engine.callpoints().await.records.page(wanted).await {
        Ok(page) => page,
        Err(trouble) => return error(StatusCode::INTERNAL_SERVER_ERROR, &trouble.to_string()),
    };
    let entry = |recorded: &Recorded| {
        let call = &recorded.seen.call;
        json!({
            "id": call.id,
            "function_name": name,
            "call_data": call::record(recorded),
            "completed_at": call.end.as_ref().map(|end| end.completed_at),
        })
    };
    let history: Vec<Value> = page.calls.iter().map(entry).collect();
    Json(json!({ "function_name": name, "history": history, "total_count": page.total }))
        .into_response()
}

#[utoipa::path(get, path = "/api/behavior", responses(
    (status = 200, description = "`{behavior}`: the default", body = Value),
))]
pub(super) async fn default(State(app): State<App>) -> Json<Value> {
    let behavior = app.engine.callpoints().await.default_behavior();
    Json(json!({ "behavior": behavior.as_str() }))
}

#[utoipa::path(post, path = "/api/behavior", request_body = Behaves, responses(
    (status = 200, description = "`{status: \"ok\", behavior}`", body = Value),
    (status = 400, description = "No such behavior", body = Value),
))]
pub(super) async fn set_default(State(app): State<App>, sent: Sent) -> Response {
    let word = match behavior_word(&sent).await {
        Ok(word) => word,
        Err(refusal) => return refusal,
    };
    let Some(behavior) = Behavior::default(&word) else {
        return error(StatusCode::BAD_REQUEST, DEFAULT);
    };
    app.engine.callpoints().await.set_default_behavior(behavior, &Actor::Person).await;
    Json(json!({ "status": "ok", "behavior": behavior.as_str() })).into_response()
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Watch {
    /// The version that the client has.
    version: Option<u64>,
    /// Seconds to wait for another; at most 25.
    wait_s: Option<f64>,
}

#[utoipa::path(get, path = "/api/callpoints/watch", params(Watch), responses(
    (status = 200, description = "`{version, server, default_behavior, callpoints}`: at once when the version \
        differs, else at the next change", body = Value),
))]
pub(super) async fn watch(State(app): State<App>, Query(watch): Query<Watch>) -> Json<Value> {
    let wait = watch.wait_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let callpoints = app.engine.callpoints().await;
    let watched = callpoints.watch(watch.version, wait.unwrap_or(limits::WATCH)).await;
    Json(points::watched(&watched, &callpoints.server))
}
