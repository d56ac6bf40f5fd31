//! Python's tracepoints by `sys.monitoring`, where a Python from 3.12 on is here: what a hit costs, beside the
//! debugger's log point in the same Python, and how many a second are kept.
//!
//! A burst fits into what may be on its way; the hits of the longer run do not, so that it waits for the server. A
//! probe gathers those: it says how often the line was passed and sums up what was seen, and loses none.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::super::client::{Server, StdioClient};
use super::super::line::{Target, python};
use super::super::table::{Goal, Row, Unit};
use super::ours::Ours;
use super::{Loops, MESSAGES, PYTHON, TURNS, per_hit};
use crate::install::{Missing, monitoring_debugpy};
use crate::process::Group;
use crate::workspace::Workspace;

pub(super) const HITS: usize = 20_000;
pub(super) const KEPT_HITS: usize = 100_000;
pub(super) const HIT_GOAL_US: f64 = 5.0;
pub(super) const THREE_GOAL_US: f64 = 8.0;
pub(super) const KEPT_GOAL: f64 = 100_000.0;
const PROBE_S: u32 = 120;

/// None where no such Python is here.
pub(super) fn rows(workspace: &Workspace, server: &Server, folder: &Path) -> Result<Vec<Row>> {
    let interpreter = match monitoring_debugpy(workspace) {
        Ok(found) => found,
        Err(error) if error.is::<Missing>() => {
            eprintln!("no rows for Python by sys.monitoring: {error:#}");
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut target = Target::new(&folder.join("watched.py"), PYTHON, &interpreter)?;
    let (took, group) = (folder.join("took"), Group::empty()?);
    eprintln!("Python by sys.monitoring: {TURNS} turns of {HITS} hits, and {KEPT_HITS} kept …");
    let (mut ours, mut floor) = (Loops::default(), Loops::default());
    let mut rates = Vec::new();
    for _ in 0..TURNS {
        set(&mut target, &took, HITS);
        Ours::run(server, &target, None)?;
        ours.plain.0.push(per_hit(&took, HITS)?);
        for (samples, message) in ours.traced.iter_mut().zip(MESSAGES) {
            Ours::run(server, &target, Some(message))?.is_whole(HITS)?;
            samples.0.push(per_hit(&took, HITS)?);
        }
        python::trace(&target, &group, None).context("the floor")?;
        floor.plain.0.push(per_hit(&took, HITS)?);
        for (samples, message) in floor.traced.iter_mut().zip(MESSAGES) {
            python::trace(&target, &group, Some(message)).context("the floor")?;
            samples.0.push(per_hit(&took, HITS)?);
        }
        set(&mut target, &took, KEPT_HITS);
        probe(server, &target)?;
        rates.push(1.0 / per_hit(&took, KEPT_HITS)?.as_secs_f64());
    }
    rates.sort_unstable_by(f64::total_cmp);
    let rate = rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN);
    let row = |what: &str, unit, ours, floor, goal| Row {
        what: format!("Python by sys.monitoring: {what}"),
        unit,
        ours,
        floor,
        goal,
    };
    let us = Unit::Microseconds;
    Ok(vec![
        row(
            "a hit, one expression",
            us,
            ours.overhead(0),
            floor.overhead(0),
            Goal::AtMost(HIT_GOAL_US),
        ),
        row(
            "a hit, three expressions",
            us,
            ours.overhead(1),
            floor.overhead(1),
            Goal::AtMost(THREE_GOAL_US),
        ),
        row(
            "hits kept and summed up, none lost",
            Unit::PerSecond,
            rate,
            f64::NAN,
            Goal::AtLeast(KEPT_GOAL),
        ),
    ])
}

pub(super) fn set(target: &mut Target, took: &Path, hits: usize) {
    target.args = vec![hits.to_string(), took.display().to_string(), "0".into(), "1".into()];
}

/// Runs the program with every pass gathered, and checks that they all were.
pub(super) fn probe(server: &Server, target: &Target) -> Result<()> {
    let mut client = StdioClient::over_pipes(server)?;
    client.initialize()?;
    client.settle()?;
    let asked = json!({
        "program": target.file, "args": target.args, "interpreter": target.interpreter,
        "file": target.file, "line": target.hit, "expressions": ["total"], "hits": "all",
        "timeout_s": PROBE_S,
    });
    let said = client.call_text("debug_probe", asked)?;
    if !said.contains(&format!("total: {KEPT_HITS} values")) {
        bail!("not all of {KEPT_HITS} passes were gathered: {said}");
    }
    Ok(())
}
