//! `cargo xtask soak`: one server under everything at once for an hour; what it holds must not grow.
//!
//! The same test runs in every `cargo xtask test`, for some seconds and without a verdict.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::Command;
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "soak", help: HELP, run: soak };

const HELP: &str = "\
Run one server under everything at once, in a release build, and say whether what it holds grows

Usage: cargo xtask soak [--minutes M] [--events N]

Tracepoints in Python and Node, launches, steps, recorded and paused calls, clients that come and go over every
transport. Memory, handles, threads, children and disk are looked at every five seconds. It fails where the median of
the last sixth is more than that of the second one and a little: in an hour, the last ten minutes against the second
ten. Runs of less than twenty minutes are not judged.

Options:
  --minutes M   how long, 60 unless told
  --events N    how many events and recorded calls in that time, 5,000,000 unless told
";

/// A cold build, and as long as anybody would wait.
const LIMIT: Duration = Duration::from_secs(12 * 60 * 60);

fn soak(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let (mut minutes, mut events) = (60, 5_000_000);
    for option in arguments.chunks(2) {
        let [name, value] = option else { bail!("`{}` needs a number", option.join(" ")) };
        let number: u64 =
            value.parse().with_context(|| format!("`{name} {value}` is no number"))?;
        match name.as_str() {
            "--minutes" => minutes = number,
            "--events" => events = number,
            _ => bail!("no option `{name}`\n{HELP}"),
        }
    }
    let mut command = workspace.cargo(["test", "--release", "-p", "holdpoint", "--test", "e2e"]);
    command.args(["--", "--nocapture", "soak::"]);
    command.env("HOLDPOINT_SOAK_SECONDS", (minutes * 60).to_string());
    command.env("HOLDPOINT_SOAK_EVENTS", events.to_string());
    let finished = run(&mut command, LIMIT, Show::All)?;
    Ok(if finished.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
