//! How long it takes until a view is there.

use anyhow::Result;

use super::filled::Filled;
use crate::bench::median;
use crate::bench::table::{Goal, Row, Unit};
use crate::chromium::{Chromium, Tab};

const LOADS: usize = 7;
const GOAL_MS: f64 = 1_000.0;

/// From the request to the first paint, and to the end of loading: whichever is later.
const TOOK: &str = "new Promise((done) => {
  const took = () => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    const load = performance.getEntriesByType('navigation')[0].loadEventEnd;
    if (paint && load) done(Math.max(paint.startTime, load)); else setTimeout(took, 5);
  };
  took();
})";

pub(super) fn rows(browser: &mut Chromium, filled: &Filled) -> Result<Vec<Row>> {
    eprintln!("first views …");
    let tab = filled.tab(browser)?;
    let floor = view(browser, &tab, &filled.address("/health"))?;
    let mut rows = Vec::new();
    for (name, path) in filled.views() {
        let ours = view(browser, &tab, &filled.address(path))?;
        let (what, unit) =
            (format!("first view: {name}, beside a bare answer"), Unit::Milliseconds);
        rows.push(Row { what, unit, ours, floor, goal: Goal::AtMost(GOAL_MS) });
    }
    browser.close(&tab)?;
    Ok(rows)
}

fn view(browser: &mut Chromium, tab: &Tab, url: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..LOADS {
        browser.open(tab, url)?;
        times.push(browser.number(tab, TOOK)?);
    }
    Ok(median(times))
}
