//! The chart as markup: one row per lane, each an `svg` whose geometry is in its attributes. It stretches with its
//! column, so nothing is drawn again when a window changes its size.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{
    chart::{LaneChart, PlotChart, RateCurve, SpanChart, TimeChart, ValuePart},
    lanes::{LaneGroup, SpanKind},
    tell::YOU,
};
use crate::page::{
    address::word,
    pieces::{self, icon, line, mark},
    sheet,
};

const BINS: f64 = 300.0;

/// A range in which seconds do not tell its marks apart.
const BRIEF: i64 = 7_000;

/// Every row of the chart, by the id of its element.
pub(super) fn rows(chart: &TimeChart) -> Vec<(String, Markup)> {
    let mut rows = vec![("tl-axis".to_owned(), axis(chart)), ("tl-rates".to_owned(), rates(chart))];
    let mut before = None;
    for lane in &chart.lanes {
        if before != Some(lane.group) {
            rows.push((format!("tl-h-{}", lane.group.word()), heading(lane.group)));
            before = Some(lane.group);
        }
        let id = format!("tl-{}-{}", lane.group.word(), sheet::mark(&lane.key));
        rows.push((id.clone(), row(&id, lane)));
    }
    if !chart.plots.is_empty() {
        rows.push(("tl-h-values".to_owned(), html! { div #tl-h-values .lane-head { "Values" } }));
    }
    for plot in &chart.plots {
        let id = sheet::mark(&format!("{} {} {}", plot.session, plot.place, plot.expression));
        let id = format!("tl-v-{id}");
        rows.push((id.clone(), values(&id, plot)));
    }
    rows
}

fn axis(chart: &TimeChart) -> Markup {
    const LABELS: i64 = 6;
    let window = chart.window;
    let at = |label: i64| window.from + window.span().saturating_mul(label) / LABELS;
    html! {
        div #tl-axis .lane.axis-row {
            div.lane-name { }
            div.axis.plot {
                @for label in 0..=LABELS {
                    @let (time, rest) = pieces::clock(at(label));
                    span { time data-at=(at(label)) { (time) @if window.span() < BRIEF { span { (rest) } } } }
                }
            }
        }
    }
}

fn heading(group: LaneGroup) -> Markup {
    html! { div id={ "tl-h-" (group.word()) } .lane-head { (group.heading()) } }
}

fn rates(chart: &TimeChart) -> Markup {
    let (calls, hits) = (rate(chart.calls.most), rate(chart.hits.most));
    html! {
        div #tl-rates .lane.tall-lane {
            div.lane-name.two-l title="The most within this range" {
                b.l-call-t { (calls) " calls/s" } b.l-hit-t { (hits) " hits/s" }
            }
            svg.rates viewBox="0 0 100 48" preserveAspectRatio="none" width="100%" height="48" role="img"
                aria-label={ "At most " (calls) " calls and " (hits) " hits a second" } {
                (curve(&chart.calls, "call")) (curve(&chart.hits, "hit"))
            }
        }
    }
}

/// `1,284`; what is less than ten has a decimal.
fn rate(most: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is no more than the events there are"
    )]
    let whole = most.round() as usize;
    if most < 9.95 && most > 0.0 { format!("{most:.1}") } else { pieces::number(whole) }
}

fn curve(curve: &RateCurve, hue: &str) -> Markup {
    if curve.most <= 0.0 {
        return html! {};
    }
    let mut top = String::new();
    for (at, each) in (0_u32..).zip(&curve.each) {
        let y = 48.0 - each / curve.most * 42.0;
        // Writing to a string cannot fail.
        write!(top, "{}{at} {y:.1}L{} {y:.1}", if at == 0 { "" } else { "L" }, at + 1)
            .unwrap_or_default();
    }
    html! {
        path class={ "a-" (hue) } d={ "M0 48L" (top) "L100 48Z" } {}
        path class={ "l-" (hue) } d={ "M" (top) } {}
    }
}

fn row(id: &str, lane: &LaneChart) -> Markup {
    html! {
        div id=(id) .lane {
            (name(lane))
            svg.plot-row width="100%" height="26" role="img" aria-label={ (line(&lane.name)) ": " (pieces::number(lane.events)) " events in this range" } {
                svg viewBox="0 0 300 26" preserveAspectRatio="none" width="100%" height="26" {
                    @for span in lane.spans.iter().filter(|it| it.kind == SpanKind::Runs) { (runs(span)) }
                    (bars(&lane.calls, "cd")) (bars(&lane.hits, "td"))
                    (ticks(&lane.ticks, "tk", 7, 12)) (ticks(&lane.ended, "ex", 5, 16)) (ticks(&lane.failed, "er", 5, 16))
                }
                @for span in lane.spans.iter().filter(|it| it.kind != SpanKind::Runs) { (held(span)) }
                @for (part, text) in &lane.notes { (note(*part, text)) }
            }
        }
    }
}

fn name(lane: &LaneChart) -> Markup {
    html! {
        div.lane-name {
            @match lane.group {
                LaneGroup::People if lane.name == YOU => (pieces::you()),
                LaneGroup::People => (pieces::who(&lane.name)),
                LaneGroup::Sessions => (mark("bp", "bp")),
                LaneGroup::Apps => (mark("cp", "cp")),
                LaneGroup::Servers => (icon("external")),
            }
            @match lane.group {
                LaneGroup::Sessions => a.cut href={ "/sessions/" (word(&lane.key)) } { (line(&lane.name)) },
                LaneGroup::Servers => a.cut href={ "/external/" (word(&lane.key)) } { (line(&lane.name)) },
                LaneGroup::People | LaneGroup::Apps => b.cut { (line(&lane.name)) },
            }
            small { (line(&lane.small)) }
        }
    }
}

fn place(part: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap_or_default())
}

/// Of the lane's width.
fn percent(part: usize) -> String {
    format!("{:.2}%", place(part) / BINS * 100.0)
}

fn width(span: &SpanChart) -> f64 {
    place(span.last.saturating_sub(span.first)).max(1.0)
}

fn runs(span: &SpanChart) -> Markup {
    html! { rect.ru x=(span.first) y="12" width=(width(span)) height="2" {} }
}

fn held(span: &SpanChart) -> Markup {
    let class = if span.kind == SpanKind::Paused { "pa" } else { "st" };
    let wide = format!("{:.2}%", width(span) / BINS * 100.0);
    html! {
        rect.(class).on[span.is_on] x=(percent(span.first)) y="8" width=(wide) height="10" rx="3" {
            title { (line(&span.text)) @if span.is_on { ", now" } }
        }
    }
}

/// How many fell into each part, as bars.
fn bars(counts: &[u32], class: &str) -> Markup {
    let most = f64::from(counts.iter().copied().max().unwrap_or_default());
    if most < 1.0 {
        return html! {};
    }
    let mut path = String::new();
    for (part, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let high = 4.0 + f64::from(*count) / most * 12.0;
        write!(path, "M{part} 22v-{high:.1}h.8v{high:.1}z").unwrap_or_default();
    }
    html! { path class=(class) d=(path) {} }
}

fn ticks(there: &[bool], class: &str, from: u32, high: u32) -> Markup {
    let mut path = String::new();
    for (part, _) in there.iter().enumerate().filter(|(_, is)| **is) {
        write!(path, "M{part}.5 {from}v{high}").unwrap_or_default();
    }
    html! { @if !path.is_empty() { path class={ "tick " (class) } d=(path) {} } }
}

fn note(part: usize, text: &str) -> Markup {
    html! {
        svg.fl x=(percent(part)) y="3" overflow="visible" {
            path d="M0 20V0h9l-2.5 3.5 2.5 3.5H0" {} title { (line(text)) }
        }
    }
}

fn values(id: &str, plot: &PlotChart) -> Markup {
    let PlotChart { expression, place, least, most, first, last, hits, .. } = plot;
    let middle = f64::midpoint(*least, *most);
    html! {
        div id=(id) .lane.value-lane {
            div.lane-name {
                (mark("tp", "tp"))
                span.grow { b.cut { code { (line(expression)) } } small.cut title={ (pieces::number(*hits)) " hits" } { (line(place)) } }
                span.scale aria-hidden="true" { i { (figure(*most)) } i { (figure(middle)) } i { (figure(*least)) } }
            }
            svg.vals-plot width="100%" height="100" role="img"
                aria-label={ (line(expression)) " at " (line(place)) ": from " (figure(*first)) " to " (figure(*last)) ", between " (figure(*least)) " and " (figure(*most)) } {
                @for y in ["8", "50", "92"] { line.gl x1="0" x2="100%" y1=(y) y2=(y) {} }
                svg viewBox="0 0 300 100" preserveAspectRatio="none" width="100%" height="100" {
                    path.l-hit d=(plotted(plot)) {}
                }
            }
        }
    }
}

fn plotted(plot: &PlotChart) -> String {
    let high = plot.most - plot.least;
    let y = |value: f64| match high > 0.0 {
        true => 92.0 - (value - plot.least) / high * 84.0,
        false => 50.0,
    };
    let mut path = String::new();
    for (part, ValuePart { least, most, last }) in
        plot.parts.iter().enumerate().filter_map(|(part, it)| it.map(|it| (part, it)))
    {
        let to = if path.is_empty() { "M" } else { "L" };
        let ends =
            if least < most { format!("{:.1}V{:.1}V", y(least), y(most)) } else { String::new() };
        write!(path, "{to}{part} {ends}{:.1}h1", y(last)).unwrap_or_default();
    }
    path
}

/// A number as short as it says the same: `49,996`, `0.25`, `1.2e-9`.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e12 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and below 1e12"
        )]
        let whole = value.abs() as usize;
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", pieces::number(whole));
    }
    if value.abs() >= 1e9 || value.abs() < 1e-3 {
        format!("{value:.2e}")
    } else {
        format!("{value:.2}")
    }
}
