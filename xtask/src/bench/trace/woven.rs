//! Node's tracepoints that are calls in the program's text: what a hit costs, beside the condition that reports through a
//! binding in the same Node, and how many a second are kept. As [`super::watched`], whose words hold here too.

use std::path::Path;

use anyhow::{Context, Result};

use super::super::client::Server;
use super::super::line::{Target, node, on_path};
use super::super::table::{Goal, Row, Unit};
use super::ours::Ours;
use super::watched::{HIT_GOAL_US, HITS, KEPT_GOAL, KEPT_HITS, THREE_GOAL_US, probe, set};
use super::{Loops, MESSAGES, NODE, TURNS, per_hit};
use crate::install::find_node;
use crate::pins::NODE_MAJOR_FOR_SDKS;
use crate::process::Group;
use crate::workspace::Workspace;

/// The floor takes a quarter of a millisecond a hit.
const FLOOR_HITS: usize = 4_000;
const FLOOR_MESSAGES: [&str; 2] = ["total", "total, label, index"];

pub(super) fn rows(workspace: &Workspace, server: &Server, folder: &Path) -> Result<Vec<Row>> {
    let interpreter = on_path(&find_node(workspace, NODE_MAJOR_FOR_SDKS)?)?;
    let mut target = Target::new(&folder.join("woven.js"), NODE, &interpreter)?;
    let (took, group) = (folder.join("took"), Group::empty()?);
    eprintln!("Node by its text: {TURNS} turns of {HITS} hits, and {KEPT_HITS} kept …");
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
        set(&mut target, &took, FLOOR_HITS);
        node::Session::trace(&target, &group, None).context("the floor")?;
        floor.plain.0.push(per_hit(&took, FLOOR_HITS)?);
        for (samples, message) in floor.traced.iter_mut().zip(FLOOR_MESSAGES) {
            node::Session::trace(&target, &group, Some(message)).context("the floor")?;
            samples.0.push(per_hit(&took, FLOOR_HITS)?);
        }
        set(&mut target, &took, KEPT_HITS);
        probe(server, &target)?;
        rates.push(1.0 / per_hit(&took, KEPT_HITS)?.as_secs_f64());
    }
    rates.sort_unstable_by(f64::total_cmp);
    let rate = rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN);
    let row = |what: &str, unit, ours, floor, goal| Row {
        what: format!("Node by its text: {what}"),
        unit,
        ours,
        floor,
        goal,
    };
    let (us, one, three) = (Unit::Microseconds, HIT_GOAL_US, THREE_GOAL_US);
    let [hit, hits] = [0, 1].map(|at| (ours.overhead(at), floor.overhead(at)));
    Ok(vec![
        row("a hit, one expression", us, hit.0, hit.1, Goal::AtMost(one)),
        row("a hit, three expressions", us, hits.0, hits.1, Goal::AtMost(three)),
        row(
            "hits kept and summed up, none lost",
            Unit::PerSecond,
            rate,
            f64::NAN,
            Goal::AtLeast(KEPT_GOAL),
        ),
    ])
}
