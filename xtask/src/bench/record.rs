//! What a recording costs to keep and to ask: a synthetic run of five million events, read, packed and asked.
//!
//! What recording costs the program itself is `bench recorder`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::{Bench, Kind};
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(super) const RECORD: Bench = Bench {
    name: "record",
    about: "a recording's bytes an event, the time until it can be asked, and of each question",
    run: Kind::Whole(measure),
};

/// As many as the goals are about: 3 bytes each, ready in a second, a question in 20 ms.
const EVENTS: &str = "5000000";

/// A cold build, and the run.
const LIMIT: Duration = Duration::from_secs(30 * 60);

fn measure(workspace: &Workspace, _options: &[String]) -> Result<ExitCode> {
    let words = [
        "test",
        "--release",
        "-p",
        "holdpoint-recording",
        "--test",
        "figures",
        "--",
        "--nocapture",
    ];
    let mut command = workspace.cargo(words);
    command.env("HOLDPOINT_FIGURES", EVENTS);
    let finished = run(&mut command, LIMIT, Show::All)?;
    Ok(if finished.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
