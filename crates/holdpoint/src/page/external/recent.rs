//! What was called: the last call of one tool with what came of it, and the newest calls of every server.

use std::sync::Arc;

use holdpoint_engine::{
    budget,
    calls::call::CallKind,
    failure::Failure,
    limits,
    records::{RecordPage, RecordQuery, Recorded},
};
use maud::{Markup, html};
use serde_json::Value;

use crate::{
    app::App,
    external::{call::texts_of, server::ExternalTool},
    page::{
        address, calls,
        pieces::{self, block, icon, line},
        rail,
        sheet::LiveParts,
    },
};

/// Rows of the table: what is read at a glance.
const ROWS: usize = 12;

/// As the store has them, or had them a moment ago.
async fn newest(
    app: &App,
    name: Option<&str>,
    limit: usize,
    parts: &mut LiveParts,
) -> Result<Arc<RecordPage>, Failure> {
    let kind = Some(CallKind::Tool.as_str());
    let question = format!("external {limit} {}", name.unwrap_or_default());
    let name = name.map(str::to_owned);
    let wanted = RecordQuery { name, kind, limit, ..RecordQuery::default() };
    let known = calls::asked_records(app, app.engine.callpoints().await, question, wanted);
    let (page, is_late) = known.await?;
    parts.late(is_late);
    Ok(page)
}

/// What the last call of a tool gave, and those of it that wait.
pub(super) async fn last(
    app: &App,
    tool: &ExternalTool,
    parts: &mut LiveParts,
) -> Result<Markup, Failure> {
    let page = newest(app, Some(&tool.name), 1, parts).await?;
    let waiting: Vec<_> =
        rail::held(app).into_iter().filter(|it| it.is_call && it.what == tool.name).collect();
    Ok(html! {
        @for hold in &waiting {
            p.note.held-note { (icon("paused")) span { "A call of it is paused for " (pieces::age(hold.since_ms)) ". " a href=(hold.to) { "Decide" } } }
        }
        @match page.calls.first() {
            Some(call) => (result(app, call)),
            None => { h3 #res-h { "Result" } p.quiet { "It has not been called from here." } },
        }
    })
}

fn result(app: &App, call: &Recorded) -> Markup {
    let end = call.seen.call.end.as_ref();
    let is_failed = end.is_some_and(|it| it.failed);
    let text = came(call);
    let text = app.engine.secrets().text(&text);
    let shown = budget::cut(&text, limits::PAGE_OUTPUT);
    html! {
        h3 #res-h {
            "Result "
            @if is_failed { (pieces::badge("fail", "fail", "failed")) } @else { (pieces::badge("run", "check", "ok")) }
            span.quiet.tab { (took(call)) ", " (pieces::number(text.len())) " bytes" }
        }
        pre.out.boxed.res tabindex="0" aria-label="Result" { (block(&shown)) }
        p.quiet { a href={ "/calls/call/" (address::word(&call.seen.call.id)) } { "The whole call" } }
    }
}

/// The texts of a result, or why there is none.
fn came(call: &Recorded) -> String {
    let outcome = call.seen.outcome.as_ref();
    let end = call.seen.call.end.as_ref();
    match outcome.map(|it| &it.result) {
        Some(Value::Null) | None => {
            let field = |it: Option<&String>| it.cloned().unwrap_or_default();
            let kind = field(end.and_then(|it| it.exception_type.as_ref()));
            let message = field(end.and_then(|it| it.exception_message.as_ref()));
            if kind.is_empty() { message } else { format!("{kind}: {message}") }
        }
        // A long one is shown by its beginning, which is no JSON.
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_or_else(|_| text.clone(), |it: Value| texts_of(&it))
        }
        Some(result) => texts_of(result),
    }
}

fn took(call: &Recorded) -> String {
    let ended = call.seen.call.end.as_ref().map(|it| it.completed_at);
    pieces::took(ended.unwrap_or_default() - call.seen.call.started_at)
}

/// The newest calls of every server.
pub(super) async fn table(app: &App, parts: &mut LiveParts) -> Result<Markup, Failure> {
    let page = newest(app, None, ROWS, parts).await?;
    let (calls, total) = (&page.calls, page.total);
    Ok(html! {
        @if calls.is_empty() { div.empty { b { "Nothing was called yet." } "An agent calls with " code { "external_call_tool" } "; you can call above." } }
        @else {
            table.rows.fixed {
                thead { tr {
                    th scope="col" .c-t { "When" } th scope="col" .c-tool { "Tool" } th scope="col" { "Arguments" }
                    th scope="col" .c-o { "Outcome" } th scope="col" .num.c-d { "Took" }
                } }
                tbody { @for call in calls { (row(app, call)) } }
            }
            p.pager { span.quiet { (calls.len()) " of " (pieces::number(usize::try_from(total).unwrap_or_default())) } }
        }
    })
}

fn row(app: &App, call: &Recorded) -> Markup {
    let is_failed = call.seen.call.end.as_ref().is_some_and(|it| it.failed);
    let mut given = call.seen.kwargs.clone();
    app.engine.secrets().json(&mut given);
    html! {
        tr data-k=(call.id) {
            td.mono.quiet { (pieces::moment(call.seen.call.started_at)) }
            td { a.row href={ "/calls/call/" (address::word(&call.seen.call.id)) } { code { (line(&call.seen.call.name)) } } }
            td.what { code.soft { (line(&budget::cut(&given.to_string(), limits::PAGE_VALUE))) } }
            td { @if is_failed { span.oc.fail { (icon("fail")) "failed" } } @else { span.oc { "ok" } } }
            td.num { (took(call)) }
        }
    }
}
