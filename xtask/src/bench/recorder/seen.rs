//! A recording of five million events as it is first looked at from a shell: the time of the answer, and the memory.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::super::table::{Goal, Row, Unit};
use super::{RUN_LIMIT, Workload};
use crate::process::{Show, run};

/// Of the workload of Node: about five million events when every line is kept.
const SIZE: &str = "3200";

/// The most memory that any child had, in kilobytes, behind what it wrote.
const WATCHED: &str = "import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
";

pub(super) fn rows(ours: &Path, work: &Workload, home: &Path) -> Result<Vec<Row>> {
    eprintln!("a recording of five million events …");
    let mut words = work.words.clone();
    words.truncate(2);
    words.push(SIZE.into());
    let large = Workload { name: work.name.clone(), words, to_ms: work.to_ms };
    large.took(&mut large.recorded(ours, home, "lines"))?;
    let start = Instant::now();
    let mut command = Command::new("python3");
    command.args(["-c", WATCHED]).arg(ours).args(["record", "show"]).env("HOLDPOINT_HOME", home);
    let finished = run(&mut command, RUN_LIMIT, Show::Nothing)?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    if !finished.success() {
        bail!("`holdpoint record show` failed: {}", finished.last_words());
    }
    let kilobytes: f64 = finished.stdout.trim().parse().context("no memory")?;
    let row = |what: &str, unit, ours| Row {
        what: what.to_owned(),
        unit,
        ours,
        floor: f64::NAN,
        goal: Goal::None,
    };
    Ok(vec![
        row("first view of 5 million events, with its process", Unit::Milliseconds, took),
        row("the same, memory", Unit::Megabytes, kilobytes / 1e3),
    ])
}
