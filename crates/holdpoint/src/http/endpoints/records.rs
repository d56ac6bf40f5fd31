//! What was recorded: `/api/calls` with filters, pages and search, one call, calls under way, apps and
//! the tree of an app's calls.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdpoint_engine::{
    calls::call::CallKind,
    limits,
    records::{AppKey, CallNode, RecordQuery},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{error, trouble};
use crate::{app::App, view::call};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Filter {
    /// Only calls of this function.
    function_name: Option<String>,
    /// Only calls of this app.
    process_key: Option<String>,
    /// `success`, `exception`, …
    status: Option<String>,
    /// `call`, `tool`, `resource` or `event`.
    kind: Option<String>,
    /// Words that are all in the call's line, in any case.
    search: Option<String>,
    /// Completed at or after, in seconds since 1970.
    since: Option<f64>,
    /// Completed at or before.
    until: Option<f64>,
    /// `next` of the page before.
    before: Option<i64>,
    /// How many at the most; 100 when not given.
    limit: Option<usize>,
}

#[utoipa::path(get, path = "/api/calls", params(Filter), responses(
    (status = 200, description = "`{calls, total_count, truncated, next}`, newest first", body = Value),
))]
pub(super) async fn list(State(app): State<App>, Query(filter): Query<Filter>) -> Response {
    let kind = match filter.kind.as_deref() {
        None | Some("") => None,
        Some(word) => match CallKind::parse(word) {
            Some(kind) => Some(kind.as_str()),
            None => {
                let kinds: Vec<String> =
                    CallKind::ALL.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
                let known = format!("kind must be one of {}", kinds.join(", "));
                return error(StatusCode::BAD_REQUEST, &known);
            }
        },
    };
    let wanted = RecordQuery {
        name: filter.function_name,
        app: filter.process_key.as_deref().map(AppKey::here),
        status: filter.status,
        kind,
        search: filter.search,
        since: filter.since,
        until: filter.until,
        before: filter.before,
        limit: filter.limit.unwrap_or(limits::RECORDS_PAGE),
        ..RecordQuery::default()
    };
    match app.engine.callpoints().await.records.page(wanted).await {
        Ok(page) => Json(json!({
            "calls": page.calls.iter().map(call::record).collect::<Vec<_>>(),
            "total_count": page.total,
            "truncated": page.next.is_some(),
            "next": page.next,
        }))
        .into_response(),
        Err(error) => trouble(&error),
    }
}

#[utoipa::path(get, path = "/api/calls/in-flight", responses(
    (status = 200, description = "`{calls, total_count}`: calls that have begun and not ended, oldest first",
        body = Value),
))]
pub(super) async fn in_flight(State(app): State<App>) -> Json<Value> {
    let callpoints = app.engine.callpoints().await;
    let calls: Vec<Value> = callpoints.in_flight().iter().map(call::in_flight).collect();
    Json(json!({ "calls": calls, "total_count": callpoints.in_flight_count() }))
}

#[utoipa::path(get, path = "/api/calls/{call_id}", params(
    ("call_id" = String, Path, description = "The call"),
), responses(
    (status = 200, description = "`{call}`", body = Value),
    (status = 404, description = "`call_not_found`", body = Value),
))]
pub(super) async fn one(State(app): State<App>, Path(call_id): Path<String>) -> Response {
    match app.engine.callpoints().await.records.one(&call_id).await {
        Ok(Some(found)) => Json(json!({ "call": call::record(&found) })).into_response(),
        Ok(None) => error(StatusCode::NOT_FOUND, "call_not_found"),
        Err(error) => trouble(&error),
    }
}

#[utoipa::path(get, path = "/api/call-tree", responses(
    (status = 200, description = "`{processes}`: the apps whose calls are recorded, the last heard of first",
        body = Value),
))]
pub(super) async fn apps(State(app): State<App>) -> Response {
    let apps = match app.engine.callpoints().await.records.apps().await {
        Ok(apps) => apps,
        Err(error) => return trouble(&error),
    };
    let about = |text: Option<String>| {
        text.and_then(|text| serde_json::from_str::<Value>(&text).ok()).unwrap_or(Value::Null)
    };
    let rows = apps.into_iter().map(|(app, calls)| {
        json!({
            "process_key": app.process,
            "process_pid": app.pid,
            "process_start_time": app.started_at,
            "page_url": app.page_url,
            "about": about(app.about),
            "last_seen": app.seen_at,
            "calls": calls,
        })
    });
    Json(json!({ "processes": rows.collect::<Vec<_>>() })).into_response()
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Size {
    /// How many calls at the most, the newest; 10000 when not given.
    limit: Option<usize>,
}

/// Written as it is: ten thousand calls as a JSON value first take longer than all the rest.
#[derive(Serialize)]
struct Tree<'a> {
    process_key: &'a str,
    calls: &'a [CallNode],
    total_count: u64,
}

#[utoipa::path(get, path = "/api/call-tree/{process_key}", params(
    ("process_key" = String, Path, description = "The app"), Size,
), responses(
    (status = 200, description = "`{process_key, calls, total_count}`: in the order they began, each with the \
        place of its `parent` in the list and its `depth`; `total_count` counts up to 100,000", body = Value),
    (status = 404, description = "`process_not_found`", body = Value),
))]
pub(super) async fn tree(
    State(app): State<App>,
    Path(process): Path<String>,
    Query(size): Query<Size>,
) -> Response {
    let limit = size.limit.unwrap_or(limits::TREE_CALLS / 2);
    match app.engine.callpoints().await.records.tree(&process, None, limit).await {
        Ok((_, 0)) => error(StatusCode::NOT_FOUND, "process_not_found"),
        Ok((calls, total_count)) => {
            Json(Tree { process_key: &process, calls: &calls, total_count }).into_response()
        }
        Err(error) => trouble(&error),
    }
}
