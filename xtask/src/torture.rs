//! `cargo xtask torture`: the seeded walks of the end-to-end tests, as long as one likes.
//!
//! The same walk runs in every `cargo xtask test`, with a few rounds of fixed seeds.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::Command;
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "torture", help: HELP, run: torture };

const HELP: &str = "\
Walk over everything a client can do to programs, killing what is there at random points

Usage: cargo xtask torture [--lang LANGUAGE] [--seed N] [--rounds K] [--minutes M] [--jobs J]

Each round has a seed of its own, the first one's plus its number: a failure prints it with the way that led
there, and the others go on; the exit code is 1 then. What is said is checked against what the program wrote down, and against /proc.

Options:
  --lang L      the loop of fixtures/L/suite and nothing else; Python's and Node's own programs unless told
  --seed N      the first round's seed, 1 unless told
  --rounds K    how many, 500 unless told
  --minutes M   no round begins after this
  --jobs J      rounds at once, 2 unless told: each waits a lot
";

/// As long as anybody would wait.
const LIMIT: Duration = Duration::from_secs(12 * 60 * 60);

fn torture(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let mut command = workspace.cargo(["test", "-p", "holdpoint", "--test", "e2e"]);
    command.args(["--", "--nocapture", "--exact", "torture::a_walk_of_fixed_seeds"]);
    command.env("HOLDPOINT_TORTURE_ROUNDS", "500");
    for option in arguments.chunks(2) {
        let [name, value] = option else { bail!("`{}` needs a value", option.join(" ")) };
        if name == "--lang" {
            command.env("HOLDPOINT_TORTURE_LANG", value);
            continue;
        }
        let variable = match name.as_str() {
            "--seed" => "HOLDPOINT_TORTURE_SEED",
            "--rounds" => "HOLDPOINT_TORTURE_ROUNDS",
            "--jobs" => "HOLDPOINT_TORTURE_JOBS",
            "--minutes" => "HOLDPOINT_TORTURE_MINUTES",
            _ => bail!("no option `{name}`\n{HELP}"),
        };
        let number: u64 =
            value.parse().with_context(|| format!("`{name} {value}` is no number"))?;
        command.env(variable, number.to_string());
    }
    let finished = run(&mut command, LIMIT, Show::All)?;
    Ok(if finished.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
