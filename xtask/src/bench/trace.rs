//! The cost of a tracepoint: to the program at each hit, and from the hit to the client that hears of it.
//!
//! The same program runs with nothing set, with a message of one expression and with one of three; ours,
//! and the debugger's own log point by itself (on Node a condition that reports through a binding).
//! The program measures its loop itself and writes the time into a file, so that no start counts.

mod ours;
mod watched;
mod woven;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::ours::{Heard, Ours};
use super::client::{Home, Server};
use super::line::{Target, node, on_path, python};
use super::parts::Parts;
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Kind, Samples, give_up_after};
use crate::install::{debugpy, find_node};
use crate::pins::NODE_MAJOR_FOR_SDKS;
use crate::process::Group;
use crate::workspace::Workspace;

pub(super) const TRACE: Bench = Bench {
    name: "trace",
    about: "a tracepoint's cost per hit, hits per second, and the time to the client",
    run: Kind::Chosen { client: Client::Optimised, rows: measure },
};

/// Each configuration runs so often, in turns; the median counts.
const TURNS: usize = 3;
/// The same for the cost of looking for secrets: of two bursts, one is easily a tenth faster.
const SECRET_TURNS: usize = 11;
const PARTS: &[&str] = &["hits", "secrets", "inside"];
const TIMES: f64 = 1.3;
const LATENCY_GOAL_MS: f64 = 20.0;
const THREE_GOAL_MS: f64 = 5.0;
/// Looking for secrets costs less than one part in twenty.
const SECRETS: Goal = Goal::ShareOfFloor(0.95);
/// Hits of the slow loop, a millisecond apart.
const PACED_HITS: usize = 1_500;

const MEASURE_LIMIT: Duration = Duration::from_secs(15 * 60);

const PYTHON: &str = r#"import sys
import time


def price(index, names):
    label = names[index % len(names)]
    total = index * 3 + len(label)
    return total  # hit


def main(hits, file, pause, group):
    names = ["apple", "pear", "plum", "fig"]
    start = time.perf_counter_ns()
    for index in range(hits):
        price(index, names)
        if pause and index % group == 0:
            time.sleep(pause)
    took = time.perf_counter_ns() - start  # next
    with open(file, "w") as out:
        out.write(str(took))


main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
for stay in sys.argv[5:]:
    # For a debugger that is behind; one more hit says that the time is written.
    price(0, ["fig"])
    time.sleep(float(stay))
"#;

const NODE: &str = r#"const { writeFileSync } = require("node:fs");

function price(index, names) {
  const label = names[index % names.length];
  const total = index * 3 + label.length;
  return total; // hit
}

function main(hits, file, pause, group) {
  const names = ["apple", "pear", "plum", "fig"];
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const start = process.hrtime.bigint();
  for (let index = 0; index < hits; index++) {
    price(index, names);
    if (pause && index % group === 0) Atomics.wait(sleeper, 0, 0, pause * 1000);
  }
  writeFileSync(file, String(process.hrtime.bigint() - start)); // next
}

const [hits, file, pause, group] = process.argv.slice(2);
main(Number(hits), file, Number(pause), Number(group));
"#;

/// How a language is traced without us: the program, its process group, and what to report.
type Floor = fn(&Target, &Group, Option<&str>) -> Result<usize>;

struct Language {
    name: &'static str,
    /// In one burst.
    hits: usize,
    per_second: f64,
    /// Hits between two pauses of a millisecond, where they come steadily: a little above `per_second`.
    group: usize,
    floor: Floor,
    /// What the floor reports for one expression and for three.
    floor_messages: [&'static str; 2],
}

const LANGUAGES: [Language; 2] = [
    Language {
        name: "Python",
        hits: 20_000,
        per_second: 8_000.0,
        group: 14,
        floor: python::trace,
        floor_messages: ["total {total}", "total {total} of {label} at {index}"],
    },
    Language {
        name: "Node",
        hits: 8_000,
        per_second: 4_000.0,
        group: 16,
        floor: node::Session::trace,
        floor_messages: ["total", "total, label, index"],
    },
];

const MESSAGES: [&str; 2] = ["total {total}", "total {total} of {label} at {index}"];

fn measure(workspace: &Workspace, options: &[String]) -> Result<Vec<Row>> {
    let parts = Parts::chosen(options, PARTS)?;
    let ours = workspace.optimised("holdpoint")?;
    let server = Server::new(&ours, &["mcp", "--port", "0"]);
    let shows = Server::new(&ours, &["mcp", "--port", "0", "--show-secrets"]);
    let interpreters = [debugpy(workspace)?, on_path(&find_node(workspace, NODE_MAJOR_FOR_SDKS)?)?];
    let sources = [("loop.py", PYTHON), ("loop.js", NODE)];
    give_up_after(MEASURE_LIMIT)?;
    let folder = Home::new()?;
    let mut rows = Vec::new();
    for ((language, interpreter), (file, source)) in LANGUAGES.iter().zip(interpreters).zip(sources)
    {
        let target = Target::new(&folder.0.join(file), source, &interpreter)?;
        let took = folder.0.join("took");
        let mut run = Run { language, target, took, group: Group::empty()? };
        if parts.has("hits") {
            rows.extend(run.rows(&server).context(language.name)?);
        }
        if parts.has("secrets") {
            rows.push(run.secrets(&server, &shows).context(language.name)?);
        }
    }
    if !parts.has("inside") {
        return Ok(rows);
    }
    rows.extend(watched::rows(workspace, &server, &folder.0).context("Python by sys.monitoring")?);
    rows.extend(woven::rows(workspace, &server, &folder.0).context("Node by its text")?);
    Ok(rows)
}

/// One language's measurements.
struct Run<'a> {
    language: &'a Language,
    target: Target,
    /// Where the program writes how long its loop took.
    took: PathBuf,
    group: Group,
}

/// What the loop took in microseconds per hit, without a point and with each message.
#[derive(Default)]
struct Loops {
    plain: Samples,
    traced: [Samples; 2],
}

impl Loops {
    /// What a hit of this message adds, in microseconds.
    fn overhead(&self, message: usize) -> f64 {
        let traced = self.traced.get(message).map_or(f64::NAN, |it| it.percentile(50));
        traced - self.plain.percentile(50)
    }
}

impl Run<'_> {
    /// `shows` is ours as well, and looks for no secrets.
    fn secrets(&mut self, server: &Server, shows: &Server) -> Result<Row> {
        let Language { name, hits, .. } = self.language;
        eprintln!("{name}: {SECRET_TURNS} turns of {hits} hits, secrets hidden and shown …");
        let (mut hidden, mut shown) = (Heard::default(), Heard::default());
        for turn in 0..SECRET_TURNS {
            if turn % 2 == 0 {
                hidden.add(self.burst(server)?);
            }
            shown.add(self.burst(shows)?);
            if turn % 2 == 1 {
                hidden.add(self.burst(server)?);
            }
        }
        Ok(Row {
            what: format!("{name}: hits, secrets hidden beside shown"),
            unit: Unit::PerSecond,
            ours: hidden.rate(),
            floor: shown.rate(),
            goal: SECRETS,
        })
    }

    fn rows(&mut self, server: &Server) -> Result<Vec<Row>> {
        let Language { name, hits, per_second, group, .. } = self.language;
        let (mut ours, mut floor) = (Loops::default(), Loops::default());
        let mut burst = Heard::default();
        eprintln!("{name}: {TURNS} turns of {hits} hits …");
        for _ in 0..TURNS {
            self.turn(server, &mut ours, &mut floor, &mut burst)?;
        }
        eprintln!("{name}: {PACED_HITS} hits a millisecond apart …");
        let [one, three] = MESSAGES;
        let alone = self.paced(server, one, PACED_HITS, 1)?;
        let three = self.paced(server, three, PACED_HITS, 1)?;
        eprintln!("{name}: {hits} hits, up to {group} a millisecond …");
        let mut steady = Heard::default();
        steady.add(self.paced(server, one, *hits, *group)?);
        let row = |what: &str, unit, ours, floor, goal| Row {
            what: format!("{name}: {what}"),
            unit,
            ours,
            floor,
            goal,
        };
        let late = |what: &str, heard: &Heard, percent, goal| {
            let ms = heard.late.percentile(percent) / 1e3;
            row(&format!("{what}, p{percent}"), Unit::FineMilliseconds, ms, f64::NAN, goal)
        };
        let raw = |message| {
            1e6 / floor.traced.get(message).map_or(f64::NAN, |it: &Samples| it.percentile(50))
        };
        let (times, goal, rate) =
            (Goal::TimesFloor(TIMES), Goal::AtLeast(*per_second), Unit::PerSecond);
        Ok(vec![
            row(
                "a hit, one expression",
                Unit::Microseconds,
                ours.overhead(0),
                floor.overhead(0),
                times,
            ),
            row(
                "a hit, three expressions",
                Unit::Microseconds,
                ours.overhead(1),
                floor.overhead(1),
                times,
            ),
            row("hits in order, none lost", rate, burst.rate(), raw(0), goal),
            late("hit → client at full speed", &burst, 50, Goal::None),
            late("hit → client at full speed", &burst, 99, Goal::None),
            row("hits at a steady rate", rate, steady.rate(), f64::NAN, goal),
            late("hit → client at that rate", &steady, 50, Goal::None),
            late("hit → client at that rate", &steady, 99, Goal::AtMost(LATENCY_GOAL_MS)),
            late("hit → client, a hit alone", &alone, 50, Goal::None),
            late("hit → client, a hit alone", &alone, 99, Goal::AtMost(LATENCY_GOAL_MS)),
            late("three expressions, alone", &three, 50, Goal::AtMost(THREE_GOAL_MS)),
            late("three expressions, alone", &three, 99, Goal::None),
        ])
    }

    fn turn(
        &mut self,
        server: &Server,
        ours: &mut Loops,
        floor: &mut Loops,
        burst: &mut Heard,
    ) -> Result<()> {
        let hits = self.language.hits;
        self.set(hits, 0.0, 1);
        Ours::run(server, &self.target, None)?;
        ours.plain.0.push(self.per_hit(hits)?);
        (self.language.floor)(&self.target, &self.group, None).context("the floor")?;
        floor.plain.0.push(self.per_hit(hits)?);
        for (number, message) in MESSAGES.into_iter().enumerate() {
            let heard = Ours::run(server, &self.target, Some(message)).context("ours")?;
            let raw = self.language.floor_messages.get(number).copied();
            let time = self.per_hit(hits)?;
            if let Some(samples) = ours.traced.get_mut(number) {
                samples.0.push(time);
            }
            heard.is_whole(hits)?;
            if number == 0 {
                burst.add(heard);
            }
            let count =
                (self.language.floor)(&self.target, &self.group, raw).context("the floor")?;
            if count < hits {
                bail!("the floor reported {count} of {hits} hits");
            }
            let time = self.per_hit(hits)?;
            if let Some(samples) = floor.traced.get_mut(number) {
                samples.0.push(time);
            }
        }
        Ok(())
    }

    /// All hits at once, with the message of one expression.
    fn burst(&mut self, server: &Server) -> Result<Heard> {
        let hits = self.language.hits;
        self.set(hits, 0.0, 1);
        let [one, _] = MESSAGES;
        let heard = Ours::run(server, &self.target, Some(one)).context("ours, with secrets")?;
        self.per_hit(hits)?;
        heard.is_whole(hits)?;
        Ok(heard)
    }

    /// So many hits, with a pause of a millisecond after each group.
    fn paced(
        &mut self,
        server: &Server,
        message: &str,
        hits: usize,
        group: usize,
    ) -> Result<Heard> {
        self.set(hits, 0.001, group);
        let heard = Ours::run(server, &self.target, Some(message))?;
        heard.is_whole(hits)?;
        Ok(heard)
    }

    fn set(&mut self, hits: usize, pause_s: f64, group: usize) {
        let file = self.took.display().to_string();
        self.target.args = vec![hits.to_string(), file, pause_s.to_string(), group.to_string()];
    }

    fn per_hit(&self, hits: usize) -> Result<Duration> {
        per_hit(&self.took, hits)
    }
}

/// What the program wrote, once for each run.
fn per_hit(file: &Path, hits: usize) -> Result<Duration> {
    let text = std::fs::read_to_string(file).context("the program did not finish its loop")?;
    std::fs::remove_file(file)?;
    let nanoseconds: u64 = text.trim().parse()?;
    Ok(Duration::from_nanos(nanoseconds) / u32::try_from(hits)?)
}
