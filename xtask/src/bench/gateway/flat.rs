//! Memory after a hundred thousand calls beside what it was after the first ten thousand.

use anyhow::Result;
use serde_json::json;

use super::{Far, ready};
use crate::bench::table::{Goal, Row, Unit};

const FIRST: u32 = 10_000;
const ALL: u32 = 100_000;
/// Caches and queues fill within the first calls; ninety thousand more may add this, a byte or two a call would not
/// fit in it.
const MORE_MB: f64 = 4.0;

pub(super) fn rows(far: &Far) -> Result<Vec<Row>> {
    eprintln!("{ALL} calls, one after the other …");
    let mut client = ready(&far.behind("mcp", &["s", "h"])?)?;
    let mut first = f64::NAN;
    for at in 0..ALL {
        if at == FIRST {
            first = client.rss_mb()?;
        }
        // None is like another: what is kept of each is its own.
        let arguments = json!({ "text": format!("call {at}") });
        let tool = if at % 2 == 0 { "s/echo" } else { "h/echo" };
        client.call("external_call_tool", json!({ "tool": tool, "arguments": arguments }))?;
    }
    Ok(vec![Row {
        what: format!("RSS after {ALL} calls, beside after {FIRST}"),
        unit: Unit::Megabytes,
        ours: client.rss_mb()?,
        floor: first,
        goal: Goal::NearFloor { times: 1.0, plus: MORE_MB },
    }])
}
