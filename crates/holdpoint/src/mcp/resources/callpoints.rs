//! `breakpoint://…`: intercepted functions and their calls, as the contract of calls names them.

use futures::future::BoxFuture;
use holdpoint_engine::{
    budget::Budget,
    event::{Event, Topic},
    failure::{Code, Failure},
    limits,
    records::RecordQuery,
};
use rmcp::model::ResourceContents;
use serde_json::{Value, json};

use super::{Resource, always, no_parts};
use crate::{
    app::App,
    view::{call, short},
};

/// Records in `breakpoint://call-history`: fewer than a tool shows, because it is context.
const HISTORY: usize = 50;

pub(super) const STATUS: Resource = Resource {
    uri: "breakpoint://status",
    name: "breakpoint-status",
    about: "How many breakpoints on functions, paused executions and recorded calls there are",
    mime: "application/json",
    topic: Topic::Callpoints,
    concerns: always,
    read: |app, uri, _| answer(uri, status(app)),
    parts: no_parts,
};

pub(super) const BREAKPOINTS: Resource = Resource {
    uri: "breakpoint://breakpoints",
    name: "breakpoints",
    about: "Breakpoints on functions, with their behaviors",
    mime: "application/json",
    topic: Topic::Callpoints,
    concerns: |event, _| matches!(event, Event::CallpointChanged { .. }),
    read: |app, uri, _| answer(uri, async { Ok(short::breakpoints(app).await) }),
    parts: no_parts,
};

pub(super) const PAUSED: Resource = Resource {
    uri: "breakpoint://paused",
    name: "paused",
    about: "Currently paused executions",
    mime: "application/json",
    topic: Topic::Paused,
    concerns: always,
    read: |app, uri, _| {
        answer(uri, async {
            Ok(short::paused(app, Some(Budget::tokens(limits::RESOURCE_TOKENS))).await)
        })
    },
    parts: no_parts,
};

pub(super) const CALL_HISTORY: Resource = Resource {
    uri: "breakpoint://call-history",
    name: "call-history",
    about: "The newest recorded calls; `breakpoint_get_call_records` reads further back",
    mime: "application/json",
    topic: Topic::Calls,
    concerns: always,
    read: |app, uri, _| answer(uri, recent(app, HISTORY)),
    parts: no_parts,
};

pub(super) const FUNCTIONS: Resource = Resource {
    uri: "breakpoint://functions",
    name: "functions",
    about: "Registered functions and their signatures",
    mime: "application/json",
    topic: Topic::Functions,
    concerns: always,
    read: |app, uri, _| answer(uri, async { Ok(short::functions(app).await) }),
    parts: no_parts,
};

fn answer<'a>(
    uri: &'a str,
    json: impl Future<Output = Result<Value, Failure>> + Send + 'a,
) -> BoxFuture<'a, Result<ResourceContents, Failure>> {
    Box::pin(async move { Ok(ResourceContents::text(json.await?.to_string(), uri)) })
}

async fn status(app: &App) -> Result<Value, Failure> {
    let callpoints = app.engine.callpoints().await;
    let wanted = RecordQuery { limit: 1, ..RecordQuery::default() };
    let page = callpoints.records.page(wanted).await;
    let page = page.map_err(|error| Failure::new(Code::StoreFailed, error.to_string()))?;
    Ok(json!({
        "breakpoints": callpoints.callpoints().len(),
        "paused": callpoints.paused_count(),
        "total_calls": page.total,
        "in_flight": callpoints.in_flight_count(),
    }))
}

/// The newest calls in short, newest first.
pub(in crate::mcp) async fn recent(app: &App, limit: usize) -> Result<Value, Failure> {
    let wanted = RecordQuery { limit, ..RecordQuery::default() };
    let page = app.engine.callpoints().await.records.page(wanted).await;
    let page = page.map_err(|error| Failure::new(Code::StoreFailed, error.to_string()))?;
    let budget = Some(Budget::tokens(limits::RESOURCE_TOKENS));
    let calls = page.calls.iter().map(call::record);
    let calls = calls.map(|it| short::call(&short::without(app.engine.secrets(), it)));
    let (calls, left_out) = short::fit(calls, budget);
    let truncated = left_out > 0 || page.next.is_some();
    Ok(json!({ "calls": calls, "total_count": page.total, "truncated": truncated }))
}
