//! Every call that was recorded, newest first: searched, filtered, in pages. While the list stands at its top it is live.

use holdpoint_engine::{
    callpoints::Callpoints,
    failure::Failure,
    limits,
    records::{AppKey, RecordPage, RecordQuery, Recorded},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{AppsKnown, ShownCall, app};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

const OUTCOMES: &[(&str, &str)] =
    &[("", "All"), ("returned", "Returned"), ("raised", "Raised"), ("changed", "Changed")];
/// Seconds ago.
const TIMES: &[(&str, &str)] = &[
    ("", "Any time"),
    ("60", "Last minute"),
    ("600", "Last 10 minutes"),
    ("3600", "Last hour"),
    ("86400", "Last day"),
];
/// Seconds that it took at the least.
const DURATIONS: &[(&str, &str)] = &[
    ("", "Of any length"),
    ("0.001", "1 ms or more"),
    ("0.01", "10 ms or more"),
    ("0.1", "100 ms or more"),
    ("1", "1 s or more"),
    ("10", "10 s or more"),
];

/// What of all records is wanted, as the address says.
struct RecordsChosen<'a> {
    at: &'a PageAddress,
    function: &'a str,
}

impl RecordsChosen<'_> {
    fn query(&self) -> RecordQuery {
        let text = |name: &str| Some(self.at.chosen(name).to_owned()).filter(|it| !it.is_empty());
        let number =
            |name: &str| self.at.chosen(name).parse::<f64>().ok().filter(|it| it.is_finite());
        let seconds = |ms: i64| {
            jiff::Timestamp::from_millisecond(ms).unwrap_or_default().as_duration().as_secs_f64()
        };
        let ago = number("ago").map(|ago| seconds(pieces::now_ms()) - ago);
        let status = match self.at.chosen("outcome") {
            "returned" => Some("success".to_owned()),
            "raised" => Some("exception".to_owned()),
            _ => None,
        };
        RecordQuery {
            name: Some(self.function.to_owned()).filter(|it| !it.is_empty()),
            app: text("app").as_deref().map(AppKey::here),
            status,
            search: text("search"),
            since: number("since").or(ago),
            until: number("until"),
            longer_s: number("took"),
            calls_only: true,
            changed: self.at.chosen("outcome") == "changed",
            before: self.at.chosen("before").parse().ok(),
            after: self.at.chosen("after").parse().ok(),
            limit: limits::PAGE_RECORDS,
            ..RecordQuery::default()
        }
    }

    fn is_filtered(&self) -> bool {
        let names = ["search", "app", "outcome", "ago", "since", "until", "took"];
        !self.function.is_empty() || names.iter().any(|it| !self.at.chosen(it).is_empty())
    }

    /// The same with other values; always at the list's own address.
    fn to(&self, changes: &[(&str, &str)]) -> String {
        let mut all: Vec<(&str, &str)> =
            ["search", "app", "outcome", "ago", "since", "until", "took"]
                .iter()
                .map(|name| (*name, self.at.chosen(name)))
                .collect();
        all.push(("function", self.function));
        for (name, value) in changes {
            all.retain(|(known, _)| known != name);
            all.push((name, value));
        }
        address::to("/calls/records", all.into_iter().filter(|(_, value)| !value.is_empty()))
    }
}

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
    function: Option<&str>,
) -> Result<Sheet, Failure> {
    let function = function.unwrap_or_else(|| at.chosen("function"));
    let chosen = RecordsChosen { at, function };
    let mut parts = LiveParts::default();
    let tabs = super::tabs(app, calls, "/calls/records", &mut parts).await?;
    let question = chosen.to(&[("before", at.chosen("before")), ("after", at.chosen("after"))]);
    let (page, is_late) = super::asked_records(app, calls, question, chosen.query()).await?;
    parts.late(is_late);
    let apps = AppsKnown::of(app, calls).await?;
    parts.late(apps.is_late);
    let secrets = app.engine.secrets();
    let rows = page.calls.iter().map(|it| (row_id(it), row(secrets, it))).collect();
    let main = html! {
        header.bar {
            h1 { "Calls" }
            p.cut { @if function.is_empty() { "Every call of every app, newest first." } @else { "Every call of " code { (pieces::line(function)) } ", newest first." } }
            div.end #holds-list { (parts.put("holds-list", holds(&chosen, &page))) }
        }
        (tabs)
        div.records {
            (filters(&chosen, calls, &apps))
            div.scroll.vbox tabindex="0" role="region" aria-label="Call records" {
                table.rows.fixed.rec {
                    thead { tr { th scope="col" .num.c-n { "No" } th scope="col" .c-t { "Began" } th scope="col" .c-f { "Function" }
                        th scope="col" { "Arguments" } th scope="col" .c-o { "Outcome" } th scope="col" .c-r { "Result" }
                        th scope="col" .num.c-d { "Took" } th scope="col" .c-b { span.hush { "Took, as a bar" } } } }
                    tbody #records data-top="newer" { (parts.rows("records", rows)) }
                }
                div #none { (parts.put("none", none(&chosen, &page))) }
            }
            footer.foot {
                span.foot-in #foot { (parts.put("foot", foot(&chosen, &page))) }
                button.btn.small #newer type="button" data-to-top hidden { "Newer ones came" }
            }
        }
    };
    Ok(Sheet { title: "Records of calls".to_owned(), is_fill: true, shape: "records", main, parts })
}

fn filters(chosen: &RecordsChosen<'_>, calls: &Callpoints, apps: &AppsKnown) -> Markup {
    let at = chosen.at;
    let select = |name: &str, label: &str, words: &[(&str, &str)]| {
        html! {
            label.hush for={ "f-" (name) } { (label) }
            select.in id={ "f-" (name) } name=(name) data-acts {
                @for (value, word) in words { option value=(value) selected[*value == at.chosen(name)] { (word) } }
            }
        }
    };
    html! {
        form.filters.strip role="search" method="get" action="/calls/records" {
            div.find { (icon("search")) label.hush for="q" { "Search" }
                input.in #q name="search" data-find type="search" placeholder="Words in function, arguments, result  ( / )" value=(at.chosen("search")); }
            label.hush for="f-function" { "Function" }
            input.in.mono.slim #f-function name="function" list="fns" data-acts placeholder="Every function" value=(chosen.function) spellcheck="false" autocomplete="off";
            datalist #fns { @for name in names(calls) { option value=(name) {} } }
            label.hush for="f-app" { "App" }
            select.in #f-app name="app" data-acts {
                option value="" { "Every app" }
                @for (row, count) in apps.all().iter().take(limits::CALLS_LISTED) {
                    option value=(row.process) selected[row.process == at.chosen("app")] { (pieces::line(&app::name(row))) ", " (count) " calls" }
                }
            }
            fieldset.seg {
                legend.hush { "Outcome" }
                @for (value, word) in OUTCOMES { label { input type="radio" name="outcome" value=(value) data-acts checked[*value == at.chosen("outcome")]; span { (word) } } }
            }
            (select("ago", "Time", TIMES))
            (select("took", "Duration", DURATIONS))
            @for name in ["since", "until"] { @if !at.chosen(name).is_empty() { input type="hidden" name=(name) value=(at.chosen(name)); } }
            // Enter sends a form of several fields only where it has a button.
            button.hush tabindex="-1" { "Show" }
            noscript { button.btn { "Show" } }
            @if chosen.is_filtered() { a.btn.bare href="/calls/records" { "All calls" } }
        }
    }
}

/// Functions to choose from.
fn names(calls: &Callpoints) -> Vec<String> {
    let all = calls.functions().into_iter().filter(|(_, it)| it.listed).map(|(name, _)| name);
    all.take(limits::CALLS_LISTED).collect()
}

fn row_id(it: &Recorded) -> String {
    format!("r{}", it.id)
}

fn row(secrets: &Secrets, it: &Recorded) -> Markup {
    let call = ShownCall::recorded(secrets, it);
    let (came, raised) = call.came();
    let (word, hue, symbol) = call.outcome();
    html! {
        tr id=(row_id(it)) {
            td.num.quiet { (pieces::number(usize::try_from(it.id).unwrap_or_default())) }
            td.mono.quiet { (pieces::moment(call.began())) }
            td { a.row href={ "/calls/call/" (address::word(&it.seen.call.id)) } { code { (pieces::line(call.name())) } } }
            td { code.soft { (pieces::line(&call.given())) } }
            td { span class={ "oc " (hue) } { @if let Some(symbol) = symbol { svg.i.duo aria-hidden="true" { (pieces::using(symbol)) } } (pieces::line(&word)) } }
            td { code class=(if raised { "fail-t" } else { "soft" }) { (pieces::line(&came)) } }
            td.num { (pieces::took(call.took())) }
            td { svg.db aria-hidden="true" { rect width={ (bar(call.took())) "%" } height="100%" {} } }
        }
    }
}

/// A bar for a time: a microsecond has none, ten seconds have all of it, by powers of ten.
fn bar(seconds: f64) -> String {
    let powers = (seconds.max(1e-6) * 1e6).log10();
    format!("{:.0}", (powers * 100.0 / 7.0).clamp(0.0, 100.0))
}

/// Stops the list where it is, or lets it go on.
fn holds(chosen: &RecordsChosen<'_>, page: &RecordPage) -> Markup {
    let is_held = !chosen.at.chosen("before").is_empty() || !chosen.at.chosen("after").is_empty();
    let newest = page.calls.first().map(|it| (it.id + 1).to_string());
    html! {
        @match (is_held, newest) {
            (true, _) => a.btn href=(chosen.to(&[])) { (icon("play")) span { "Follow the newest" } },
            (false, Some(newest)) => a.btn href=(chosen.to(&[("before", &newest)])) { (icon("pause")) span { "Hold the list" } },
            (false, None) => {},
        }
    }
}

fn none(chosen: &RecordsChosen<'_>, page: &RecordPage) -> Markup {
    html! {
        @if page.calls.is_empty() {
            div.empty {
                @if chosen.is_filtered() { b { "No call is like that" } a.btn href="/calls/records" { "All calls" } }
                @else { b { "No call was recorded yet" } "An app under " code { "holdpoint run" } " records its calls here." }
            }
        }
    }
}

fn foot(chosen: &RecordsChosen<'_>, page: &RecordPage) -> Markup {
    let number = |count: u64| pieces::number(usize::try_from(count).unwrap_or_default());
    let last = page.newer + page.calls.len() as u64;
    let first = page.calls.first().map(|it| it.id.to_string()).unwrap_or_default();
    let next = page.next.map(|it| it.to_string()).unwrap_or_default();
    html! {
        span.tab { @if page.calls.is_empty() { "0 of " (number(page.total)) } @else { (number(page.newer + 1)) " to " (number(last)) " of " (number(page.total)) } }
        span.end.btns-row {
            @if page.newer > 0 { a.btn.small href=(chosen.to(&[("after", &first)])) rel="prev" { (number(page.newer)) " newer" } }
            @if !next.is_empty() && last < page.total { a.btn.small href=(chosen.to(&[("before", &next)])) rel="next" { "Older calls" } }
        }
    }
}
