//! `cargo xtask fuzz`: the mutation tests with as many inputs as one likes, at full speed.
//!
//! The same tests run in every `cargo xtask test`, with fewer inputs.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::Command;
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "fuzz", help: HELP, run: fuzz };

const HELP: &str = "\
Feed mutated inputs to a reader, in a release build

Usage: cargo xtask fuzz <TARGET> [--count N] [--seed N]

Targets:
  pickle   pickles, mutated and joined, read, shown and entered

Options:
  --count N   how many; a million unless told
  --seed N    the first one's seed, 1 unless told; a failure prints the seed that failed
";

/// The target's name, its package, and the test that feeds it.
const TARGETS: &[(&str, &str, &str)] = &[("pickle", "holdpoint-pickle", "hostile")];

/// A cold build, and a hundred million inputs.
const LIMIT: Duration = Duration::from_secs(4 * 60 * 60);

fn fuzz(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let Some((name, options)) = arguments.split_first() else { bail!("no target\n{HELP}") };
    let target = TARGETS.iter().find(|(target, ..)| target == name);
    let Some((_, package, test)) = target else { bail!("no target `{name}`\n{HELP}") };
    let (count, seed) = parse(options)?;
    let mut command = workspace.cargo(["test", "--release", "-p", package, "--test", test]);
    command.args(["--", "--nocapture", "fuzz::"]);
    command.env("HOLDPOINT_FUZZ_COUNT", count.to_string());
    command.env("HOLDPOINT_FUZZ_SEED", seed.to_string());
    let finished = run(&mut command, LIMIT, Show::All)?;
    Ok(if finished.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many, and the first seed.
fn parse(options: &[String]) -> Result<(u64, u64)> {
    let (mut count, mut seed) = (1_000_000, 1);
    for option in options.chunks(2) {
        let [name, value] = option else { bail!("`{}` needs a number", option.join(" ")) };
        let value = value.parse().with_context(|| format!("`{name} {value}` is no number"))?;
        match name.as_str() {
            "--count" => count = value,
            "--seed" => seed = value,
            _ => bail!("no option `{name}`\n{HELP}"),
        }
    }
    Ok((count, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_in_any_order() {
        let parse = |text: &str| parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parse("--seed 7 --count 3").unwrap(), (3, 7));
        assert_eq!(parse("--count 3").unwrap(), (3, 1));
        assert!(parse("--count").is_err() && parse("--count x").is_err());
        assert!(parse("--speed 1").is_err());
    }
}
