//! Everything that happened, in lanes over time: agents and people, programs, apps, other servers; how many calls and
//! hits a second; the numbers that tracepoints saw; and the events themselves below. Where it begins and ends, which
//! kinds and which words are in the address. Everything is counted here: a lane has at most one mark of a kind per
//! pixel, however many events there are.

mod asked;
mod chart;
mod draw;
mod drawn;
mod groups;
mod lanes;
mod list;
mod tell;

use holdpoint_engine::failure::Failure;
use maud::{Markup, html};

pub(crate) use self::drawn::DrawnTimelines;
use self::{
    asked::{AskedTimeline, SPANS, TimeWindow},
    chart::TimeChart,
    groups::EventGroup,
    list::ListedEvents,
};
use super::{
    address::PageAddress,
    pieces::{self, icon},
    sheet::{LiveParts, PageView, Sheet},
};
use crate::app::App;

pub(super) struct TimelineView;

impl PageView for TimelineView {
    const NAME: &'static str = "timeline";
    const TITLE: &'static str = "Timeline";
    const ICON: &'static str = "timeline";
    const KEY: char = 't';

    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        let asked = AskedTimeline::read(&at);
        let (chart, notices) = {
            let mut drawn = app.desk.timelines.lock().await;
            let drawn = drawn.of(&app.engine, asked.run, &asked.text).await?;
            (drawn.chart(&asked), notices(&at, drawn))
        };
        let listed = ListedEvents::read(&app, &asked, &chart).await?;
        Ok(sheet(&app, &at, &asked, &chart, notices, &listed))
    }
}

fn sheet(
    app: &App,
    at: &PageAddress,
    asked: &AskedTimeline,
    chart: &TimeChart,
    notices: Markup,
    listed: &ListedEvents,
) -> Sheet {
    let mut parts = LiveParts::default();
    let window = chart.window;
    let main = html! {
        header.bar {
            h1 { "Timeline" }
            p.tab #range { (parts.put("range", range(window))) }
            (tools(at, asked, window))
        }
        div.tl {
            (filters(asked, chart, &mut parts))
            div #runs { (parts.put("runs", runs(app, at, asked))) }
            div #notices { (parts.put("notices", notices)) }
            div.chart.follows[asked.follows()] data-chart {
                div.cursor hidden { } div.range hidden { }
                div #lanes { (parts.rows("lanes", draw::rows(chart))) }
            }
            p.quiet.lanes-more #lanes-more { (parts.put("lanes-more", more(chart))) }
            div.scroll.ev-table tabindex="0" role="region" aria-label="Events in this range" {
                table.rows.fixed.ev {
                    thead { tr {
                        th scope="col" .num.c-n { "Seq" } th scope="col" .c-t { "When" } th scope="col" .c-k { "Kind" }
                        th scope="col" .c-s { "Of" } th scope="col" { "What" } th scope="col" .c-by { "By" }
                    } }
                    tbody #tl-events data-tells { (parts.rows("tl-events", listed.rows())) }
                }
                p.pager #tl-pager { (parts.put("tl-pager", listed.pager(at, asked, chart))) }
            }
        }
    };
    Sheet { title: "Timeline".to_owned(), is_fill: true, shape: "timeline", main, parts }
}

fn range(window: TimeWindow) -> Markup {
    let end = |at: i64| html! { time data-at=(at) { (pieces::clock(at).0) } };
    html! { (end(window.from)) " to " (end(window.to)) }
}

/// Zoom, range and whether it follows: links, each with its own address.
fn tools(at: &PageAddress, asked: &AskedTimeline, window: TimeWindow) -> Markup {
    let to = |span: i64, end: i64| {
        let end = if asked.to.is_none() { String::new() } else { end.to_string() };
        at.with(&[("span", &span.to_string()), ("to", &end), ("before", "")])
    };
    let moved = |by: i64| {
        let (span, end) = (window.span(), window.to.saturating_add(by));
        at.with(&[("span", &span.to_string()), ("to", &end.to_string()), ("before", "")])
    };
    let zoomed = |is_in| {
        let (span, end) = window.zoomed(is_in);
        to(span, end)
    };
    html! {
        div.end {
            div.btns {
                a.btn.icon.flip href=(moved(-window.span() / 2)) data-press="[" aria-label="Earlier" title="Earlier ( [ )" { (icon("right")) }
                a.btn.icon href=(moved(window.span() / 2)) data-press="]" aria-label="Later" title="Later ( ] )" { (icon("right")) }
            }
            div.btns {
                a.btn.icon href=(zoomed(false)) data-press="-" aria-label="Zoom out" title="Zoom out ( - )" { (icon("zoomout")) }
                a.btn.icon href=(zoomed(true)) data-press="+" aria-label="Zoom in" title="Zoom in ( + )" { (icon("zoomin")) }
            }
            nav.seg.wide.ranges aria-label="Range" {
                @for (word, span) in SPANS {
                    a href=(to(span, window.to)) aria-current=[asked.is_span(span).then_some("true")] { (word) }
                }
                a href=(at.with(&[("span", "all"), ("to", ""), ("before", "")])) aria-current=[asked.is_all().then_some("true")] { "All" }
            }
            a.btn href=(at.with(&[("to", ""), ("before", "")])) data-press="f" aria-current=[asked.follows().then_some("true")] {
                span.beat aria-hidden="true" { } "Follow"
            }
        }
    }
}

fn filters(asked: &AskedTimeline, chart: &TimeChart, parts: &mut LiveParts) -> Markup {
    html! {
        form.filters.strip role="search" method="get" action="/timeline" {
            input type="hidden" name="only" value="1";
            @if let Some(to) = asked.to { input type="hidden" name="to" value=(to); }
            @if asked.is_all() { input type="hidden" name="span" value="all"; }
            @else { input type="hidden" name="span" value=(chart.window.span()); }
            @if let Some(run) = asked.run { input type="hidden" name="run" value=(run); }
            div.find {
                (icon("search")) label.hush for="q" { "Search" }
                input.in #q data-find type="search" name="q" value=(asked.text) placeholder="Text in events  ( / )" autocomplete="off" spellcheck="false";
            }
            fieldset.chips {
                legend.hush { "Kinds" }
                @for group in EventGroup::ALL {
                    @let id = format!("n-{}", group.word());
                    @let count = chart.counts.get(group.place()).copied().unwrap_or_default();
                    label class={ "chip " (group.hue()) } {
                        input type="checkbox" name=(group.word()) value="1" checked[asked.shows(group)] data-acts;
                        span { (group.word()) " " i.tab id=(id) { (parts.put(id.clone(), html! { (pieces::number(count)) })) } }
                    }
                }
            }
            noscript { button.btn.small { "Show" } }
        }
    }
}

/// Servers before this one, whose events are kept.
fn runs(app: &App, at: &PageAddress, asked: &AskedTimeline) -> Markup {
    let earlier = app.engine.kept().map(|it| it.earlier.as_slice()).unwrap_or_default();
    let none = [("to", ""), ("before", ""), ("span", "all")];
    html! {
        @if !earlier.is_empty() {
            nav.strip.runs aria-label="Servers" {
                a href=(at.with(&[("run", ""), ("to", ""), ("before", "")])) aria-current=[asked.run.is_none().then_some("true")] { "This server" }
                @for run in earlier {
                    @let id = run.id.0.to_string();
                    a href=(at.with(&[&[("run", id.as_str())], &none[..]].concat())) aria-current=[(asked.run == Some(run.id.0)).then_some("true")] {
                        "An earlier one"
                        @if let Some(last) = run.last_at { ", until " time data-at=(last.as_millisecond()) { (pieces::clock(last.as_millisecond()).0) } }
                        " " span.quiet { (pieces::number(usize::try_from(run.events).unwrap_or_default())) }
                    }
                }
            }
        }
    }
}

/// What is not in the chart, named.
fn notices(at: &PageAddress, drawn: &drawn::DrawnTimeline) -> Markup {
    let begins = drawn.begins;
    html! {
        @for (first, last) in &drawn.gaps {
            p.lost-bar.behind {
                (icon("alert"))
                span { "A gap: seq " (first) " to " (last) " are no longer kept. What is left begins behind them." }
                span.end { a href=(at.with(&[("before", &last.next().next().to_string())])) { "The events around it" } }
            }
        }
        @if begins.0 > 0 && drawn.gaps.iter().all(|(_, last)| *last < begins) {
            p.strip.quiet.older {
                "Drawn from seq " (begins.next()) " on. What was before is kept: "
                a href=(at.with(&[("before", &begins.next().to_string())])) { "older events" } "."
            }
        }
    }
}

fn more(chart: &TimeChart) -> Markup {
    let TimeChart { silent, plots_more, .. } = chart;
    html! {
        @if *silent > 0 { (silent) @if *silent == 1 { " lane has" } @else { " lanes have" } " nothing in this range. " }
        @if *plots_more > 0 { (plots_more) " more values are not plotted." }
    }
}
