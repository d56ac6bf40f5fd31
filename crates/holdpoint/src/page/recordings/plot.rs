//! Numbers in their order, as a line from write to write. Geometry is in percentages, so nothing is redrawn when the
//! window changes; the list below says the same.

use holdpoint_engine::recordings::{SeriesPoint, ValueSeries};
use maud::{Markup, html};

use super::{to_call, words};
use crate::page::pieces;

/// Points up to which each is a dot that leads to its call.
const DOTS: usize = 80;

/// Percent of the height that stays free above and below.
const EDGE: f64 = 6.0;

pub(super) fn markup(id: &str, of: &str, series: &ValueSeries) -> Markup {
    let values = || series.points.iter().map(|it| it.value);
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    // One number is no line.
    if series.points.len() < 2 {
        return html! {};
    }
    let place = |it: &SeriesPoint| {
        let last = (series.writes.max(2) - 1) as f64;
        let x = (it.nth - 1) as f64 * 98.0 / last + 1.0;
        let height = if high > low { (it.value - low) / (high - low) } else { 0.5 };
        (format!("{x:.2}%"), format!("{:.2}%", 100.0 - EDGE - height * (100.0 - 2.0 * EDGE)))
    };
    let pairs = series.points.iter().zip(series.points.iter().skip(1));
    let label =
        format!("{of} over its {} writes, from {} to {}", series.writes, shown(low), shown(high));
    html! {
        figure.plot {
            div.plot-scale aria-hidden="true" { span { (shown(high)) } span { (shown(low)) } }
            svg width="100%" height="140" role="group" aria-label=(pieces::line(&label)) {
                @for (one, other) in pairs {
                    @let ((x1, y1), (x2, y2)) = (place(one), place(other));
                    line x1=(x1) y1=(y1) x2=(x2) y2=(y1) {} line x1=(x2) y1=(y1) x2=(x2) y2=(y2) {}
                }
                @if series.points.len() <= DOTS {
                    @for it in &series.points {
                        @let (x, y) = place(it);
                        a href=(to_call(id, it.call)) { circle cx=(x) cy=(y) r="3.5" { title { (it.call) @if it.line > 0 { ":" (it.line) } ": " (shown(it.value)) } } }
                    }
                }
            }
            figcaption.quiet {
                (words::count(series.points.len() as u64)) " numbers" @if series.stride > 1 { ", of every " (words::count(series.stride)) " writes one" } ", from write 1 to " (words::count(series.writes))
            }
        }
    }
}

/// A number as it is read: no more digits than tell.
fn shown(value: f64) -> String {
    let rounded = format!("{value:.6}");
    let rounded = rounded.trim_end_matches('0').trim_end_matches('.');
    if value.abs() >= 1e15 || (value != 0.0 && value.abs() < 1e-4) {
        return format!("{value:e}");
    }
    rounded.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_more_digits_than_tell() {
        assert_eq!(
            [0.0, 2.25, -3.0, 0.1 + 0.2, 1e20, 1e-9].map(shown),
            ["0", "2.25", "-3", "0.3", "1e20", "1e-9"]
        );
    }
}
