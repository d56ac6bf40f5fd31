//! While events arrive at 500 a second: what our script does in each frame, and the frames that come late.
//!
//! A frame's script is told twice: by the clock, in which it may stand aside while the machine does something else, and
//! by what its thread computed. On a machine that is busy only the second is the script's own.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::filled::Filled;
use crate::bench::table::{Goal, Row, Unit};
use crate::chromium::{Chromium, Tab};

const SPAN: Duration = Duration::from_secs(20);
const QUICK_SPAN: Duration = Duration::from_secs(8);
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
        let time = if filled.is_quick() { QUICK_SPAN } else { SPAN };
        eprintln!("500 events a second: {name} …");
        let calling = filled.calling()?;
        let blank = browser.tab()?;
        let nothing = span(browser, &blank, time)?;
        browser.close(&blank)?;
        let tab = filled.tab(browser)?;
        browser.open(&tab, &filled.address(path))?;
        let seen = span(browser, &tab, time)?;
        browser.close(&tab)?;
        let rate = calling.end()?;
        let row = |what: String, unit, ours, floor, goal| Row { what, unit, ours, floor, goal };
        let unit = Unit::FineMilliseconds;
        let goal = Goal::AtMost(SCRIPT_GOAL_MS);
        let what = format!("{name} at {rate:.0} events/s: our script in a frame, p99");
        rows.push(row(what, unit, at(&seen.script, 99), f64::NAN, goal));
        let what = format!("{name}: the same, as its thread computed");
        rows.push(row(what, unit, at(&seen.computed, 99), f64::NAN, goal));
        let what = format!("{name}: the most that it computed in one frame");
        rows.push(row(what, unit, at(&seen.computed, 100), f64::NAN, Goal::None));
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
    /// Of each frame, in microseconds, sorted: by the clock, and as its thread computed.
    script: Vec<f64>,
    computed: Vec<f64>,
    late: f64,
}

/// A percentile of sorted microseconds, in milliseconds.
fn at(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(f64::NAN, |it| it / 1e3)
}

fn span(browser: &mut Chromium, tab: &Tab, time: Duration) -> Result<Seen> {
    browser.eval(tab, &counting())?;
    browser.begin_trace("devtools.timeline")?;
    thread::sleep(time);
    let late = browser.number(tab, "late")?;
    let events = browser.end_trace()?;
    let spans = ours(&events);
    let [script, computed] = [0, 1].map(|which| per_frame(&spans, which, time));
    Ok(Seen { script, computed, late })
}

/// When our script ran, and how long: by the clock, and as its thread computed. In microseconds.
type Ran = (f64, [f64; 2]);

/// Each time that it ran; a call inside of another is the other's.
fn ours(events: &[Value]) -> Vec<Ran> {
    let is_ours = |it: &&Value| {
        it.get("name").and_then(Value::as_str) == Some("FunctionCall")
            && it
                .pointer("/args/data/url")
                .and_then(Value::as_str)
                .is_some_and(|url| url.contains(SCRIPT))
    };
    let time = |it: &Value, name: &str| it.get(name).and_then(Value::as_f64);
    let all = events.iter().filter(is_ours);
    let mut all: Vec<Ran> = all
        .filter_map(|it| Some((time(it, "ts")?, [time(it, "dur")?, time(it, "tdur")?])))
        .collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut done = f64::NEG_INFINITY;
    all.retain(|(from, took)| {
        let is_outer = *from >= done;
        done = done.max(from + took[0]);
        is_outer
    });
    all
}

/// Its time in each frame of the span.
fn per_frame(spans: &[Ran], which: usize, time: Duration) -> Vec<f64> {
    let frames = time.as_secs_f64() * 1e6 / FRAME_US;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a thousand")]
    let mut script = vec![0.0; frames as usize];
    let first = spans.first().map_or(0.0, |it| it.0);
    for (from, took) in spans {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a thousand")]
        let frame = ((from - first) / FRAME_US) as usize;
        if let (Some(sum), Some(took)) = (script.get_mut(frame), took.get(which)) {
            *sum += took;
        }
    }
    script.sort_unstable_by(f64::total_cmp);
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_inside_of_others_count_once() {
        let ran = |ts: u32, dur: u32| {
            json!({ "name": "FunctionCall", "ts": ts, "dur": dur, "tdur": dur / 2,
                    "args": { "data": { "url": "http://127.0.0.1/page.js" } } })
        };
        let spans = ours(&[ran(20_000, 1_000), ran(0, 3_000), ran(1_000, 1_000)]);
        let busy = |which| -> Vec<f64> {
            per_frame(&spans, which, SPAN).into_iter().filter(|it| *it > 0.0).collect()
        };
        assert_eq!(busy(0), [1_000.0, 3_000.0]);
        assert_eq!(busy(1), [500.0, 1_500.0]);
    }
}
