//! Memory after a hundred thousand calls beside what it was after the first ten thousand, and after as many again:
//! what is bounded has filled by then.

use anyhow::Result;
use serde_json::json;

use super::{Far, ready};
use crate::bench::table::{Goal, Row, Unit};

const FIRST: u32 = 10_000;
const ALL: u32 = 100_000;
const TWICE: u32 = 2 * ALL;
/// Caches that are bounded fill meanwhile.
const FILLS_MB: f64 = 4.0;
/// Twenty bytes a call would not fit in it.
const MORE_MB: f64 = 2.0;

pub(super) fn rows(far: &Far) -> Result<Vec<Row>> {
    eprintln!("{TWICE} calls, one after the other …");
    let mut client = ready(&far.behind("mcp", &["s", "h"])?)?;
    let (mut first, mut all) = (f64::NAN, f64::NAN);
    for at in 0..TWICE {
        match at {
            FIRST => first = client.rss_mb()?,
            ALL => all = client.rss_mb()?,
            _ => {}
        }
        // None is like another: what is kept of each is its own.
        let arguments = json!({ "text": format!("call {at}") });
        let tool = if at % 2 == 0 { "s/echo" } else { "h/echo" };
        client.call("external_call_tool", json!({ "tool": tool, "arguments": arguments }))?;
    }
    let row = |(after, ours), (before, floor), plus| Row {
        what: format!("RSS after {after} calls, beside after {before}"),
        unit: Unit::Megabytes,
        ours,
        floor,
        goal: Goal::NearFloor { times: 1.0, plus },
    };
    Ok(vec![
        row((ALL, all), (FIRST, first), FILLS_MB),
        row((TWICE, client.rss_mb()?), (ALL, all), MORE_MB),
    ])
}
