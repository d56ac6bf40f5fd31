//! Calls over time as bars, those inside of others below them. Geometry is in attributes, so nothing is redrawn when the
//! window changes.

use maud::{Markup, html};

use super::pieces;

/// One call, with where it leads.
pub(super) struct TimeBar {
    pub(super) href: String,
    /// In the bar, where there is room.
    pub(super) name: String,
    /// All of it, for whoever points at it.
    pub(super) told: String,
    /// A class: `c1` to `c4`, `cx` for what raised.
    pub(super) hue: &'static str,
    /// In seconds.
    pub(super) began: f64,
    pub(super) ended: f64,
    pub(super) row: usize,
}

const ROW: usize = 22;
/// Percent of the width from which a bar has its name in it.
const NAMED: f64 = 4.0;
/// Percent of the width that the shortest call has.
const LEAST: f64 = 0.15;

/// Where something begins and how wide it is, in percent of a span.
pub(super) fn place((from, to): (f64, f64), (began, ended): (f64, f64)) -> (String, String) {
    let all = ended - began;
    let x = ((from - began) * 100.0 / all).clamp(0.0, 100.0 - LEAST);
    let width = ((to - from) * 100.0 / all).clamp(LEAST, 100.0 - x);
    (format!("{x:.3}"), format!("{width:.3}"))
}

/// The axis, and the bars below it.
pub(super) fn drawing(bars: &[TimeBar], rows: usize, span: (f64, f64)) -> Markup {
    html! {
        div.axis aria-hidden="true" { @for part in 0..6_u32 { span { (pieces::took((span.1 - span.0) * f64::from(part) / 5.0)) } } }
        svg width="100%" height=(rows * ROW) role="group" aria-label="Calls over time; the table below says the same" {
            @for it in bars { (bar(it, span)) }
        }
    }
}

fn bar(it: &TimeBar, span: (f64, f64)) -> Markup {
    let (x, width) = place((it.began, it.ended), span);
    let is_named = width.parse::<f64>().is_ok_and(|width| width > NAMED);
    html! {
        a href=(it.href) {
            svg x={ (x) "%" } y=(it.row * ROW) width={ (width) "%" } height=(ROW - 1) {
                rect class=(it.hue) width="100%" height=(ROW - 1) rx="2" {}
                @if is_named { text x="6" y="15" { (pieces::line(&it.name)) } }
                title { (pieces::line(&it.told)) }
            }
        }
    }
}
