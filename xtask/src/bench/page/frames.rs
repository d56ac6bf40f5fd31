//! While events arrive at 500 a second: what our script does in each frame, and the frames that come late.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::filled::Filled;
use crate::bench::table::{Goal, Row, Unit};
use crate::chromium::{Chromium, Tab};

const SPAN: Duration = Duration::from_secs(20);
const SCRIPT_GOAL_MS: f64 = 8.0;
const FRAME_US: f64 = 1e6 / 60.0;
/// What the browser itself calls a long task.
const LONG_MS: u32 = 50;
const SCRIPT: &str = "page.js";

/// Frames that come late are counted by the page itself.
fn counting() -> String {
    format!(
        "globalThis.late = 0; globalThis.before = performance.now();
         (function next(now) {{
           if (now - before > {LONG_MS}) late += 1;
           before = now; requestAnimationFrame(next);
         }})(before); true"
    )
}

pub(super) fn rows(browser: &mut Chromium, filled: &Filled) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, path) in filled.views() {
        eprintln!("500 events a second: {name} …");
        let calling = filled.calling()?;
        let blank = browser.tab()?;
        let nothing = span(browser, &blank)?;
        browser.close(&blank)?;
        let tab = filled.tab(browser)?;
        browser.open(&tab, &filled.address(path))?;
        let seen = span(browser, &tab)?;
        browser.close(&tab)?;
        let rate = calling.end()?;
        let row = |what: String, unit, ours, floor, goal| Row { what, unit, ours, floor, goal };
        let unit = Unit::FineMilliseconds;
        let goal = Goal::AtMost(SCRIPT_GOAL_MS);
        let what = format!("{name} at {rate:.0} events/s: our script in a frame, p99");
        rows.push(row(what, unit, seen.script_ms(99), f64::NAN, goal));
        let what = format!("{name}: the most in one frame");
        rows.push(row(what, unit, seen.script_ms(100), f64::NAN, Goal::None));
        let what = format!("{name}: frames over {LONG_MS} ms, beside a blank page's");
        rows.push(row(
            what,
            Unit::Pieces,
            seen.late,
            nothing.late,
            Goal::NearFloor { times: 1.0, plus: 0.0 },
        ));
    }
    Ok(rows)
}

struct Seen {
    /// Of each frame, in microseconds, sorted.
    script: Vec<f64>,
    late: f64,
}

impl Seen {
    fn script_ms(&self, percent: usize) -> f64 {
        let rank = (self.script.len() * percent).div_ceil(100).max(1);
        self.script.get(rank - 1).map_or(f64::NAN, |it| it / 1e3)
    }
}

fn span(browser: &mut Chromium, tab: &Tab) -> Result<Seen> {
    browser.eval(tab, &counting())?;
    browser.begin_trace("devtools.timeline")?;
    thread::sleep(SPAN);
    let late = browser.number(tab, "late")?;
    let events = browser.end_trace()?;
    Ok(Seen { script: per_frame(&ours(&events)), late })
}

/// When our script ran, in microseconds: from, until.
fn ours(events: &[Value]) -> Vec<(f64, f64)> {
    let is_ours = |it: &&Value| {
        it.get("name").and_then(Value::as_str) == Some("FunctionCall")
            && it
                .pointer("/args/data/url")
                .and_then(Value::as_str)
                .is_some_and(|url| url.contains(SCRIPT))
    };
    let time = |it: &Value, name: &str| it.get(name).and_then(Value::as_f64);
    let spans = events.iter().filter(is_ours).filter_map(|it| {
        let from = time(it, "ts")?;
        Some((from, from + time(it, "dur")?))
    });
    let mut spans: Vec<_> = spans.collect();
    spans.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    spans
}

/// Its time in each frame of the span; a call inside of another counts once.
fn per_frame(spans: &[(f64, f64)]) -> Vec<f64> {
    let frames = SPAN.as_secs_f64() * 1e6 / FRAME_US;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a thousand")]
    let mut script = vec![0.0; frames as usize];
    let first = spans.first().map_or(0.0, |it| it.0);
    let mut done = first;
    for (from, until) in spans {
        let from = from.max(done);
        done = done.max(*until);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a thousand")]
        let frame = ((from - first) / FRAME_US) as usize;
        if let Some(time) = script.get_mut(frame) {
            *time += (until - from).max(0.0);
        }
    }
    script.sort_unstable_by(f64::total_cmp);
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_inside_of_others_count_once() {
        let script = per_frame(&[(0.0, 3_000.0), (1_000.0, 2_000.0), (20_000.0, 21_000.0)]);
        let busy: Vec<f64> = script.into_iter().filter(|it| *it > 0.0).collect();
        assert_eq!(busy, [1_000.0, 3_000.0]);
    }
}
