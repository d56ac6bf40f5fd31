//! `cargo xtask bench`: what things cost, beside the floor, in one run.
//!
//! One file per bench and one line in [`BENCHES`]. Ours and the floor take turns in small
//! batches, so that whatever else the machine does hits both; only the ratio is comparable
//! from one machine to the next. A missed goal is shown, not an error: noise would cry wolf.
//! [`agent`] is another kind: it counts calls and characters, so its goals hold or fail.

mod agent;
mod bridge;
mod calls;
mod client;
mod gateway;
mod http;
mod line;
mod one_core;
mod page;
mod parts;
mod record;
mod recorder;
mod server;
mod table;
mod trace;
mod wire;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::Command;
use crate::bench::table::{Row, render};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "bench", help: HELP, run: bench };

const HELP: &str = "\
Measure the binary that is handed out (profile `dist`) beside the floor, taking turns in one run

The floor is the least that could do the same: for `server` a minimal rmcp server,
for `line` and `trace` the language's debugger itself, without any server in between,
for `calls` an HTTP handler that does nothing, for `gateway` the other server itself,
for `bridge` the time that the editor's end takes by itself,
for `page` a page that holds nothing, in the same browser, for `recorder` the program unrecorded.

Usage: cargo xtask bench [NAME] [OPTION…]

Arguments:
  [NAME]   which bench; `server` when left out

Options:
  --list           print the benches and what each measures
  --binaries DIR   the `holdpoint`, `floor` and `xtask` of this folder instead of a build

`line` measures Python and Node:
  --lang L   instead a language of the suite, as `[bench]` of fixtures/L/suite/suite.toml says

`trace` takes 8 minutes:
  --only PART,…   some of its parts: hits, secrets, inside

`page` takes 17 minutes, ten of them for the memory:
  --only PART,…   some of its parts: views, shown, frames, minutes, points
  --quick         each for a short while: for whoever changes something and looks again

`agent` asks questions about runs of real packages, of our tools and of a shell:
  --question NAME     only those whose names begin so, with both transcripts
  --transcripts DIR   write what each side wrote and read
  --binary PATH       this holdpoint instead of a build
  --packages DIR      packages that are installed there already

A missed goal is shown in the table; only for `agent`, which times nothing, it is a failure.
Round trips of microseconds depend on where the scheduler puts the two processes: `server`
measures them on one core, which repeats, and `free`, which does not.
";

const BENCHES: &[Bench] = &[
    server::SERVER,
    line::LINE,
    trace::TRACE,
    calls::CALLS,
    gateway::GATEWAY,
    bridge::BRIDGE,
    page::PAGE,
    record::RECORD,
    recorder::RECORDER,
    agent::AGENT,
];

/// One bench; its rows are the table.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: Kind,
}

enum Kind {
    /// Times beside a floor's.
    Table { client: Client, rows: fn(&Workspace) -> Result<Vec<Row>> },
    /// The same with options of its own.
    Chosen { client: Client, rows: fn(&Workspace, &[String]) -> Result<Vec<Row>> },
    /// With options of its own, and its own words.
    Whole(fn(&Workspace, &[String]) -> Result<ExitCode>),
}

/// Who speaks for the floor: where it is our own client, that client has to be optimised.
#[derive(Clone, Copy)]
enum Client {
    /// It waits for whole servers, and its own work is outside the times.
    Any,
    /// Its own work is in the times: unoptimised it is slower than the server it should undercut.
    Optimised,
}

fn bench(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let (name, options) = match arguments {
        [] => ("server", arguments),
        [flag] if flag == "--list" => {
            for Bench { name, about, .. } in BENCHES {
                println!("{name:10}{about}");
            }
            return Ok(ExitCode::SUCCESS);
        }
        [name, options @ ..] => (name.as_str(), options),
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        bail!("no bench `{name}`\nhint: the benches are {}", known.join(", "));
    };
    let (client, binaries, options) = match bench.run {
        Kind::Whole(run) => return run(workspace, options),
        Kind::Table { client, .. } | Kind::Chosen { client, .. } => {
            let (binaries, rest) = binaries(options)?;
            (client, binaries, rest)
        }
    };
    let workspace = &Workspace { built: binaries, ..workspace.clone() };
    if matches!(client, Client::Optimised) {
        become_optimised(workspace, arguments)?;
    }
    let rows = match bench.run {
        Kind::Chosen { rows, .. } => rows(workspace, &options)?,
        Kind::Table { rows, .. } if options.is_empty() => rows(workspace)?,
        _ => bail!("unexpected arguments: `{}`\n{HELP}", options.join(" ")),
    };
    print!("\n{}\n{}", machine(), render(&rows));
    Ok(ExitCode::SUCCESS)
}

/// The folder of `--binaries`, and the other options.
fn binaries(options: &[String]) -> Result<(Option<PathBuf>, Vec<String>)> {
    let Some(at) = options.iter().position(|it| it == "--binaries") else {
        return Ok((None, options.to_vec()));
    };
    let folder = options.get(at + 1).context("`--binaries` names no folder")?;
    let rest = options.iter().enumerate().filter(|(place, _)| *place != at && *place != at + 1);
    Ok((Some(PathBuf::from(folder)), rest.map(|(_, it)| it.clone()).collect()))
}

/// Goes on as the optimised build of this program, unless it is that already.
fn become_optimised(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let optimised = workspace.optimised("xtask")?;
    if std::env::current_exe()?.canonicalize()? == optimised.canonicalize()? {
        return Ok(());
    }
    // Returns only when it fails.
    let mut command = std::process::Command::new(&optimised);
    let error = command.arg(COMMAND.name).args(arguments).exec();
    Err(error).with_context(|| format!("starting `{}`", optimised.display()))
}

/// What the numbers were taken on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cores} cores, load {load} at the end\n")
}

/// Ends the whole program, and with it every server it started, when measuring takes too long.
fn give_up_after(limit: Duration) -> Result<()> {
    std::thread::Builder::new().name("deadline".into()).spawn(move || {
        std::thread::sleep(limit);
        eprintln!("error: no result after {} s, a server does not answer", limit.as_secs());
        std::process::exit(1);
    })?;
    Ok(())
}

/// Times of one thing, many times over.
#[derive(Default)]
struct Samples(Vec<Duration>);

impl Samples {
    /// The nearest-rank percentile, in microseconds.
    fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let samples = Samples((1..=200).rev().map(Duration::from_micros).collect());
        assert!((samples.percentile(50) - 100.0).abs() < 1e-6);
        assert!((samples.percentile(99) - 198.0).abs() < 1e-6);
        assert!(Samples::default().percentile(50).is_nan());
    }
}
