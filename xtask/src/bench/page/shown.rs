//! How long it takes from what an agent does to the moment in which the page shows it, while other events arrive.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde_json::json;

use super::filled::Filled;
use crate::bench::http::HttpClient;
use crate::bench::table::{Goal, Row, Unit};
use crate::chromium::Chromium;

const NOTES: usize = 40;
const GOAL_MS: f64 = 300.0;

/// Notes the time at which a text is on the page.
const WAITS: &str = "globalThis.got = null; new MutationObserver((_, it) => {
  if (!document.body.textContent.includes(WORDS)) return;
  it.disconnect(); globalThis.got = Date.now();
}).observe(document.body, { subtree: true, childList: true, characterData: true }); true";

pub(super) fn rows(browser: &mut Chromium, filled: &Filled) -> Result<Vec<Row>> {
    eprintln!("{NOTES} notes of an agent …");
    let calling = filled.calling()?;
    let tab = filled.tab(browser)?;
    browser.open(&tab, &filled.address("/timeline"))?;
    browser.until(&tab, "document.querySelector('#live')?.dataset.state === 'live'")?;
    let mut agent = HttpClient::to(filled.server.port)?;
    let mut times = Vec::new();
    for at in 0..NOTES {
        let words = format!("the note of the number {at}.");
        browser.eval(&tab, &WAITS.replace("WORDS", &json!(words).to_string()))?;
        let asked = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let note = json!({ "name": "timeline_note", "arguments": { "text": words } });
        agent.request("tools/call", note)?;
        browser.until(&tab, "globalThis.got !== null")?;
        times.push(browser.number(&tab, "globalThis.got")? - asked.as_secs_f64() * 1e3);
    }
    browser.close(&tab)?;
    calling.end()?;
    times.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| times.get((NOTES * percent).div_ceil(100) - 1).copied();
    let row = |percent, goal| Row {
        what: format!("an agent's note until the timeline shows it, p{percent}"),
        unit: Unit::Milliseconds,
        ours: at(percent).unwrap_or(f64::NAN),
        floor: f64::NAN,
        goal,
    };
    Ok(vec![row(50, Goal::None), row(95, Goal::AtMost(GOAL_MS))])
}
