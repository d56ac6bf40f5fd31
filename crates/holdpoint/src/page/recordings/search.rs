//! The calls that a condition finds: by function, by what they were given and gave, by how long they took.

use std::sync::Arc;

use holdpoint_engine::{
    failure::Failure,
    limits,
    recordings::{CallOrder, CallsAsk, CallsForm, CallsFound, ListedCall, RecordingKnown},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{answered, to, to_call, words};
use crate::{
    app::App,
    page::{
        address::PageAddress,
        pieces::{self, icon},
    },
};

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallsWanted {
    function: String,
    condition: String,
    /// `first`, `last` or `slowest`; empty where nobody chose.
    order: String,
}

impl CallsWanted {
    pub(super) fn of(at: &PageAddress) -> CallsWanted {
        let said = |name: &str| at.chosen(name).trim().to_owned();
        CallsWanted { function: said("function"), condition: said("where"), order: said("order") }
    }

    pub(super) fn is_empty(&self) -> bool {
        let CallsWanted { function, condition, order } = self;
        function.is_empty() && condition.is_empty() && matches!(order.as_str(), "" | "first")
    }
}

pub(super) fn form(id: &str, wanted: &CallsWanted) -> Markup {
    html! {
        form.end.where-form method="get" action=(to(id)) role="search" {
            label.hush for="fn-q" { "Function" }
            input.in.mono.slim #fn-q name="function" placeholder="function" value=(wanted.function) spellcheck="false" autocomplete="off";
            div.find { (icon("search")) label.hush for="where-q" { "Where" }
                input.in.mono #where-q name="where" data-find placeholder="result is None" value=(wanted.condition) spellcheck="false" autocomplete="off"; }
            label.hush for="order-q" { "Order" }
            select.in.slim #order-q name="order" {
                @for (order, word) in [("first", "First"), ("last", "Last"), ("slowest", "Slowest")] { option value=(order) selected[order == wanted.order] { (word) } }
            }
            button.btn.small { "Find" }
            @if !wanted.is_empty() { a.btn.small.bare href=(to(id)) { "As a tree" } }
        }
    }
}

pub(super) async fn found(
    app: &App,
    of: &RecordingKnown,
    wanted: &CallsWanted,
) -> Result<(Arc<Markup>, bool), Failure> {
    let id = of.about.id.clone();
    let some = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
    let ask = CallsAsk {
        function: some(&wanted.function),
        condition: some(&wanted.condition),
        order: match wanted.order.as_str() {
            "last" => CallOrder::Last,
            "slowest" => CallOrder::Slowest,
            _ => CallOrder::First,
        },
        limit: Some(limits::PAGE_RECORDS),
        form: Some(CallsForm::List),
        ..CallsAsk::default()
    };
    answered(app, of, &format!("calls {wanted:?}"), async {
        let asked = app.engine.recordings.ask(Some(&id), move |it| it.recording.calls(&ask));
        Ok(table(app.engine.secrets(), &id, wanted, &asked.await?))
    })
    .await
}

fn table(secrets: &Secrets, id: &str, wanted: &CallsWanted, found: &CallsFound) -> Markup {
    let left = found.matched.saturating_sub(found.rows.len() as u64);
    html! {
        @if found.rows.is_empty() {
            div.empty { b { "No call is like that" } "Of " (words::count(found.considered)) " calls" @if !wanted.function.is_empty() { " of " code { (pieces::line(&wanted.function)) } } ", none." }
        } @else {
            div.scroll {
                table.rows.fixed.found-calls {
                    thead { tr { th scope="col" { "Call" } th scope="col" .c-r { "Came to" } th scope="col" .num.c-d { "Took" } th scope="col" .c-by2 { "Called by" } } }
                    tbody { @for it in &found.rows { (row(secrets, id, it)) } }
                }
            }
        }
        footer.found-n {
            span { (words::count(found.matched)) " of " (words::count(found.considered)) " calls" @if left > 0 { ", " (found.rows.len()) " are shown" } }
            @if found.counted_only > 0 { span { (words::count(found.counted_only)) " more were only counted" } }
            @if found.unsure > 0 { span { "of " (words::count(found.unsure)) " values only a part was kept, so the condition is not sure of them" } }
        }
    }
}

fn row(secrets: &Secrets, id: &str, it: &ListedCall) -> Markup {
    let call = &it.call;
    html! {
        tr id={ "f-" (call.id) } {
            td { span.in-tree { a.row href=(to_call(id, call.id)) { code { b { (pieces::line(&call.function)) } } } code.soft.cut { (words::given(secrets, call)) } } }
            td { (words::came(secrets, &call.end)) @for note in &it.notes { " " span.swallowed { (words::plain(secrets, note)) } } }
            td.num { (words::took(call)) }
            td.quiet { @if let Some((_, name)) = &call.parent { code { (pieces::line(name)) } } @if let Some((file, line)) = &call.site { ", " (words::plain(secrets, file)) ":" (line) } }
        }
    }
}
