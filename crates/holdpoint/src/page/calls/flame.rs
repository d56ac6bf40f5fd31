//! A window of calls over time, one bar each, those inside of others below them; threads below each other.

use std::collections::BTreeMap;

use holdpoint_engine::{limits, records::CallNode};
use maud::{Markup, html};

use super::tree::{TreeRow, is_raised};
use crate::page::{
    address,
    bars::{self, TimeBar},
    pieces,
};

/// From the first call to the last end.
pub(super) fn span(rows: &[&TreeRow<'_>]) -> (f64, f64) {
    let began = rows.iter().map(|it| it.node.started_at).fold(f64::MAX, f64::min);
    let ended = rows.iter().map(|it| it.node.completed_at).fold(f64::MIN, f64::max);
    if rows.is_empty() { (0.0, 1.0) } else { (began, ended.max(began + 1e-6)) }
}

/// Where a call begins and how wide it is, in percent.
pub(super) fn place(node: &CallNode, began: f64, ended: f64) -> (String, String) {
    bars::place((node.started_at, node.completed_at), (began, ended))
}

pub(super) fn markup(rows: &[&TreeRow<'_>]) -> Markup {
    let (began, ended) = span(rows);
    let lanes = lanes(rows);
    let depth: usize = lanes.values().map(|(_, rows)| *rows).sum::<usize>().min(limits::PAGE_FLAME);
    let left_out = rows.iter().filter(|it| row_of(it, &lanes) >= limits::PAGE_FLAME).count();
    let drawn = rows.iter().map(|row| (row, row_of(row, &lanes)));
    let drawn: Vec<TimeBar> =
        drawn.filter(|(_, at)| *at < limits::PAGE_FLAME).map(|(row, at)| bar(row, at)).collect();
    html! {
        @if rows.is_empty() { p.quiet { "Nothing to draw." } } @else {
            (bars::drawing(&drawn, depth, (began, ended)))
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

fn bar(row: &TreeRow<'_>, at: usize) -> TimeBar {
    let node = row.node;
    let short = node.name.rsplit([':', '/']).next().unwrap_or(&node.name);
    let took = pieces::took(node.completed_at - node.started_at);
    TimeBar {
        href: format!("/calls/call/{}", address::word(&node.call_id)),
        name: short.to_owned(),
        told: format!("{}, {took}", row.line),
        hue: if is_raised(node) { "cx" } else { row.hue },
        began: node.started_at,
        ended: node.completed_at,
        row: at,
    }
}
