//! How long everybody else waits while a result of 50 MB passes through us.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde_json::json;

use super::Far;
use crate::bench::http::{HttpClient, Listening};
use crate::bench::median;
use crate::bench::table::{Goal, Row, Unit};

const PIECE: &str = "fifty bytes of a text, which is not of one letter.";
const PIECES: u32 = 1_000_000;
const PASSES: usize = 5;
const IDLE_CALLS: usize = 2_000;
const WAIT_GOAL_MS: f64 = 50.0;

pub(super) fn rows(far: &Far) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (over, name) in [("pipes", "s"), ("HTTP", "h")] {
        eprintln!("50 MB over {over} …");
        let server = Listening::ours(&far.behind("serve", &[name])?)?;
        let mut other = HttpClient::to(server.port)?;
        let mut idle = Duration::ZERO;
        for _ in 0..IDLE_CALLS {
            idle = idle.max(trivial(&mut other)?);
        }
        let mut waits = Vec::new();
        let mut took = Vec::new();
        for _ in 0..PASSES {
            let pass = pass(&server, name, &mut other)?;
            waits.push(pass.longest_wait.as_secs_f64() * 1e3);
            took.push(pass.took.as_secs_f64() * 1e3);
        }
        let row = |what: &str, ours, floor, goal| Row {
            what: format!("50 MB over {over}, {what}"),
            unit: Unit::Milliseconds,
            ours,
            floor,
            goal,
        };
        let longest = waits.into_iter().fold(0.0, f64::max);
        let idle = idle.as_secs_f64() * 1e3;
        let goal = Goal::AtMost(WAIT_GOAL_MS);
        rows.push(row("another client's longest wait, beside idle", longest, idle, goal));
        rows.push(row("the call itself", median(took), direct(far)?, Goal::None));
    }
    Ok(rows)
}

struct Pass {
    took: Duration,
    longest_wait: Duration,
}

/// One such call, and another client that asks all the while.
fn pass(server: &Listening, name: &str, other: &mut HttpClient) -> Result<Pass> {
    let done = AtomicBool::new(false);
    let mut client = HttpClient::to(server.port)?;
    let arguments = json!({ "text": PIECE, "times": PIECES });
    let arguments = json!({ "tool": format!("{name}/repeat"), "arguments": arguments });
    let params = json!({ "name": "external_call_tool", "arguments": arguments });
    thread::scope(|scope| {
        let call = scope.spawn(|| {
            let took = client.request("tools/call", params);
            done.store(true, Ordering::Relaxed);
            took
        });
        let mut longest_wait = Duration::ZERO;
        while !done.load(Ordering::Relaxed) {
            longest_wait = longest_wait.max(trivial(other)?);
        }
        let took = call.join().map_err(|_| anyhow!("the client panicked"))?;
        Ok(Pass { took: took.context("50 MB")?, longest_wait })
    })
}

fn trivial(client: &mut HttpClient) -> Result<Duration> {
    let arguments = json!({ "since": u32::MAX });
    client.request("tools/call", json!({ "name": "timeline_query", "arguments": arguments }))
}

/// The same from the server itself.
fn direct(far: &Far) -> Result<f64> {
    let mut client = HttpClient::to(far.http.port)?;
    let arguments = json!({ "text": PIECE, "times": PIECES });
    let params = json!({ "name": "repeat", "arguments": arguments });
    let took = client.request("tools/call", params)?;
    Ok(took.as_secs_f64() * 1e3)
}
