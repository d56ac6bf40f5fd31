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
Feed mutated inputs to whoever reads them, in a release build

Usage: cargo xtask fuzz <TARGET> [--count N] [--seed N]

Targets:
  pickle    pickles, mutated and joined, read, shown and entered
  recording streams and files of recordings, mutated, read, asked and compared
  jsonrpc   lines on the stdin of a server
  http      requests on every route of a server
  dap       what a debug adapter says to a server that attached to it
  cdp       what an inspector says to a server that attached to it

A server must go on answering, within its memory, and nothing in it may panic.

Options:
  --count N   how many; a million unless told
  --seed N    the first one's seed, 1 unless told; a failure prints the seed that failed
";

/// What is fed, and by which test.
struct Target {
    name: &'static str,
    package: &'static str,
    test: &'static str,
    filter: &'static str,
}

const TARGETS: &[Target] = &[
    Target { name: "pickle", package: "holdpoint-pickle", test: "hostile", filter: "fuzz::" },
    Target {
        name: "recording",
        package: "holdpoint-recording",
        test: "hostile",
        filter: "mutated",
    },
    Target { name: "jsonrpc", filter: "fuzz::jsonrpc::", ..SERVER },
    Target { name: "http", filter: "fuzz::http::", ..SERVER },
    Target { name: "dap", filter: "fuzz::dap::", ..SERVER },
    Target { name: "cdp", filter: "fuzz::cdp::", ..SERVER },
];

const SERVER: Target = Target { name: "", package: "holdpoint", test: "e2e", filter: "" };

/// A cold build, and a hundred million inputs.
const LIMIT: Duration = Duration::from_secs(4 * 60 * 60);

fn fuzz(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let Some((name, options)) = arguments.split_first() else { bail!("no target\n{HELP}") };
    let target = TARGETS.iter().find(|target| target.name == name);
    let Some(target) = target else { bail!("no target `{name}`\n{HELP}") };
    let Target { package, test, filter, .. } = target;
    let (count, seed) = parse(options)?;
    let mut command = workspace.cargo(["test", "--release", "-p", package, "--test", test]);
    command.args(["--", "--nocapture", filter]);
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
