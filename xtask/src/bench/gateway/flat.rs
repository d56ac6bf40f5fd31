//! Memory over a hundred thousand calls, once what is bounded is full: the newest 65,536 events are kept, and each call
//! is two of them at the least.

use anyhow::Result;
use serde_json::json;

use super::{Far, ready};
use crate::bench::table::{Goal, Row, Unit};

const FIRST: u32 = 10_000;
const FULL: u32 = 40_000;
const ALL: u32 = FULL + 100_000;
/// Twenty bytes a call would not fit in it.
const MORE_MB: f64 = 2.0;

pub(super) fn rows(far: &Far) -> Result<Vec<Row>> {
    eprintln!("{ALL} calls, one after the other …");
    let mut client = ready(&far.behind("mcp", &["s", "h"])?)?;
    let (mut first, mut full) = (f64::NAN, f64::NAN);
    for at in 0..ALL {
        match at {
            FIRST => first = client.rss_mb()?,
            FULL => full = client.rss_mb()?,
            _ => {}
        }
        // None is like another: what is kept of each is its own.
        let arguments = json!({ "text": format!("call {at}") });
        let tool = if at % 2 == 0 { "s/echo" } else { "h/echo" };
        client.call("external_call_tool", json!({ "tool": tool, "arguments": arguments }))?;
    }
    let row = |(after, ours), (before, floor), goal| Row {
        what: format!("RSS after {after} calls, beside after {before}"),
        unit: Unit::Megabytes,
        ours,
        floor,
        goal,
    };
    let flat = Goal::NearFloor { times: 1.0, plus: MORE_MB };
    Ok(vec![
        row((FULL, full), (FIRST, first), Goal::None),
        row((ALL, client.rss_mb()?), (FULL, full), flat),
    ])
}
