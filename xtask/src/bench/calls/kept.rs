//! A million records in one server, with what it drops by itself: its memory, and the tree of an app's calls.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::super::Samples;
use super::super::http::{Connection, Listening};
use super::super::wire::{Ended, Process, Value, now};

pub(super) const RECORDS: u32 = 1_000_000;
const BATCH: u32 = 2_000;
const TREE: u32 = 10_000;
const TREES: usize = 15;
/// Calls that are inside of one another, in the app whose tree is asked for.
const NESTED: u32 = 10;

pub(super) struct Kept {
    pub(super) per_second: f64,
    pub(super) rss_mb: f64,
    pub(super) peak_mb: f64,
    pub(super) tree_ms: f64,
    pub(super) newest_ms: f64,
}

pub(super) fn measure(server: &Listening) -> Result<Kept> {
    let mut connection = Connection::to(server.port)?;
    let (many, few) = (Process::number(1), Process::number(2));
    let start = Instant::now();
    for batch in 0..RECORDS / BATCH {
        ship(&mut connection, many, batch, |_| (0.0, 0.0))?;
    }
    // Answered when everything that was acknowledged before is in the store.
    connection.get("/api/calls?limit=1")?.json()?;
    let per_second = f64::from(RECORDS) / start.elapsed().as_secs_f64();
    let (rss_mb, peak_mb) = (server.rss_mb()?, server.peak_mb()?);
    for batch in 0..TREE / BATCH {
        ship(&mut connection, few, batch, |call| {
            // The outermost spans all of its group, and each next one a little less.
            let depth = f64::from(call % NESTED);
            (depth * 1e-6, f64::from(NESTED) * 2e-6 - depth * 1e-6)
        })?;
    }
    let tree_ms = tree(&mut connection, few)?;
    let newest_ms = tree(&mut connection, many)?;
    Ok(Kept { per_second, rss_mb, peak_mb, tree_ms, newest_ms })
}

/// One batch; `span` gives when a call begins and ends, from the moment of its group.
fn ship(
    connection: &mut Connection,
    process: Process,
    batch: u32,
    span: impl Fn(u32) -> (f64, f64),
) -> Result<()> {
    let now = now();
    let calls = (batch * BATCH..(batch + 1) * BATCH).map(|call| {
        let (from, until) = span(call);
        let group = now + f64::from(call / NESTED) * 3e-5;
        Ended {
            argument: Value::of(&format!("order {call} of app {}", process.key())),
            result: Value::of(&format!("price {call} of app {}", process.key())),
            from: group + from,
            until: group + until,
        }
    });
    let body = process.batch_body(&calls.collect::<Vec<_>>());
    let answer = connection.post("/api/call/batch", &body)?.json()?;
    if answer.get("accepted").and_then(Json::as_u64) != Some(u64::from(BATCH))
        || answer.pointer("/missing_cids/0").is_some()
    {
        bail!("a batch was not taken: {answer}");
    }
    Ok(())
}

/// The median time of an app's tree, in milliseconds.
fn tree(connection: &mut Connection, process: Process) -> Result<f64> {
    let path = format!("/api/call-tree/{}?limit={TREE}", process.key().replace('+', "%2B"));
    let mut times = Samples::default();
    for _ in 0..TREES {
        let answer = connection.get(&path)?;
        let tree = answer.json()?;
        let calls = tree.get("calls").and_then(Json::as_array).context("no calls")?;
        if calls.len() != usize::try_from(TREE)? {
            bail!("the tree has {} calls", calls.len());
        }
        times.0.push(answer.elapsed);
    }
    Ok(times.percentile(50) / 1e3)
}
