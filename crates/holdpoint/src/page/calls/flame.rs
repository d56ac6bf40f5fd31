//! A window of calls over time, one bar each, those inside of others below them; threads below each other. Geometry is in
//! attributes, so nothing is redrawn when the window changes.

use std::collections::BTreeMap;

use holdpoint_engine::{limits, records::CallNode};
use maud::{Markup, html};

use super::tree::{TreeRow, is_raised};
use crate::page::{address, pieces};

const ROW: usize = 22;
/// Percent of the width from which a bar has its name in it.
const NAMED: f64 = 4.0;
/// Percent of the width that the shortest call has.
const LEAST: f64 = 0.15;

/// From the first call to the last end.
pub(super) fn span(rows: &[&TreeRow<'_>]) -> (f64, f64) {
    let began = rows.iter().map(|it| it.node.started_at).fold(f64::MAX, f64::min);
    let ended = rows.iter().map(|it| it.node.completed_at).fold(f64::MIN, f64::max);
    if rows.is_empty() { (0.0, 1.0) } else { (began, ended.max(began + 1e-6)) }
}

/// Where a call begins and how wide it is, in percent.
pub(super) fn place(node: &CallNode, began: f64, ended: f64) -> (String, String) {
    let all = ended - began;
    let x = ((node.started_at - began) * 100.0 / all).clamp(0.0, 100.0 - LEAST);
    let width = ((node.completed_at - node.started_at) * 100.0 / all).clamp(LEAST, 100.0 - x);
    (format!("{x:.3}"), format!("{width:.3}"))
}

pub(super) fn markup(rows: &[&TreeRow<'_>]) -> Markup {
    let (began, ended) = span(rows);
    let lanes = lanes(rows);
    let depth: usize = lanes.values().map(|(_, rows)| *rows).sum::<usize>().min(limits::PAGE_FLAME);
    let left_out = rows.iter().filter(|it| row_of(it, &lanes) >= limits::PAGE_FLAME).count();
    html! {
        @if rows.is_empty() { p.quiet { "Nothing to draw." } } @else {
            div.axis aria-hidden="true" { @for part in 0..6_u32 { span { (pieces::took((ended - began) * f64::from(part) / 5.0)) } } }
            svg width="100%" height=(depth * ROW) role="group" aria-label="Calls over time; the table below says the same" {
                @for row in rows { @let at = row_of(row, &lanes); @if at < limits::PAGE_FLAME { (bar(row, at, began, ended)) } }
            }
            @if left_out > 0 { p.quiet.small-t { (left_out) " calls lie deeper than is drawn; the table has them." } }
        }
    }
}

/// By thread: its first row, and how many it has.
type FlameLanes<'a> = BTreeMap<Option<&'a str>, (usize, usize)>;

fn lanes<'a>(rows: &[&'a TreeRow<'a>]) -> FlameLanes<'a> {
    let mut lanes: FlameLanes<'a> = BTreeMap::new();
    for row in rows {
        let lane = lanes.entry(row.node.thread.as_deref()).or_default();
        lane.1 = lane.1.max(row.depth + 1);
    }
    let mut first = 0;
    for lane in lanes.values_mut() {
        lane.0 = first;
        first += lane.1;
    }
    lanes
}

fn row_of(row: &TreeRow<'_>, lanes: &FlameLanes<'_>) -> usize {
    let first = lanes.get(&row.node.thread.as_deref()).map_or(0, |it| it.0);
    first + row.depth
}

fn bar(row: &TreeRow<'_>, at: usize, began: f64, ended: f64) -> Markup {
    let node = row.node;
    let (x, width) = place(node, began, ended);
    let hue = if is_raised(node) { "cx" } else { row.hue };
    let short = node.name.rsplit([':', '/']).next().unwrap_or(&node.name);
    let is_named = width.parse::<f64>().is_ok_and(|width| width > NAMED);
    html! {
        a href={ "/calls/call/" (address::word(&node.call_id)) } {
            svg x={ (x) "%" } y=(at * ROW) width={ (width) "%" } height=(ROW - 1) {
                rect class=(hue) width="100%" height=(ROW - 1) rx="2" {}
                @if is_named { text x="6" y="15" { (pieces::line(short)) } }
                title { (pieces::line(&row.line)) ", " (pieces::took(node.completed_at - node.started_at)) }
            }
        }
    }
}
