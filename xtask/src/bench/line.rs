//! The cost of line debugging through our server, beside the debugger by itself.
//!
//! Both drive the same program with the same interpreter. The floor makes the requests that our
//! tool's answer needs and no more: after a stop also the stack and the locals, because our report
//! tells which of them changed. Each step checks where the program stands: a wrong stop is no time.

mod adapter;
mod dap;
mod jdwp;
mod languages;
pub(super) mod node;
mod ours;
mod packets;
pub(super) mod python;
mod quick;
mod raw;
mod sdb;
mod websocket;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use self::node::Inspector;
use self::ours::Ours;
use super::client::{Home, Server};
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Kind, Samples, give_up_after};
use crate::install::{Missing, debugpy, find_node};
use crate::pins::NODE_MAJOR_FOR_SDKS;
use crate::workspace::Workspace;

pub(super) const LINE: Bench = Bench {
    name: "line",
    about: "launch, continue, step, evaluate, stack and probe, beside debugpy and Node by themselves",
    run: Kind::Chosen { client: Client::Optimised, rows: measure },
};

/// Ours and the floor take turns this often: a launch and a probe each, or some rounds.
const LAUNCHES: usize = 9;
const TURNS: usize = 25;
const ROUNDS_PER_TURN: usize = 10;
const WARM_UP_ROUNDS: usize = 10;

const TIMES: f64 = 1.5;
const PLUS_MS: f64 = 1.0;
const LIMIT_MS: f64 = 5.0;

/// It takes about a minute; a debugger that does not answer would hold us for ever.
const MEASURE_LIMIT: Duration = Duration::from_secs(10 * 60);

fn measure(workspace: &Workspace, options: &[String]) -> Result<Vec<Row>> {
    let ours = workspace.optimised("holdpoint")?;
    let server = Server::new(&ours, &["mcp", "--port", "0"]);
    match options {
        [] => {}
        [flag, language] if flag == "--lang" => {
            give_up_after(MEASURE_LIMIT)?;
            return languages::rows(workspace, server, language).context(language.clone());
        }
        _ => bail!("unexpected arguments: `{}`\nhint: --lang LANGUAGE", options.join(" ")),
    }
    let python = debugpy(workspace)?;
    let node = find_node(workspace, NODE_MAJOR_FOR_SDKS);
    give_up_after(MEASURE_LIMIT)?;
    let folder = Home::new()?;
    let target = Target::new(&folder.0.join("prices.py"), python::SOURCE, &python)?;
    let pair = Pair { ours: Ours::new(&target, &server)?, floor: python::floor(&target)? };
    let mut rows = compare("Python", &target, pair).context("Python")?;
    match node.and_then(|node| node_rows(&folder.0, &node, &server)) {
        Ok(node) => rows.extend(node),
        Err(error) if error.is::<Missing>() || error.is::<Refused>() => {
            eprintln!("no rows for Node: {error:#}");
        }
        Err(error) => return Err(error.context("Node")),
    }
    Ok(rows)
}

fn node_rows(folder: &Path, node: &Path, server: &Server) -> Result<Vec<Row>> {
    let target = Target::new(&folder.join("prices.js"), node::SOURCE, &on_path(node)?)?;
    let mut ours = Ours::new(&target, server)?;
    ours.launch(First::Entry).context(Refused)?;
    ours.end()?;
    compare("Node", &target, Pair { ours, floor: Inspector::new(&target)? })
}

/// A language that our server cannot launch here has no rows, but those of the others count.
#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("our server did not launch it")
    }
}

/// Both are to run the same file, whatever their `PATH` is.
pub(super) fn on_path(program: &Path) -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join(program));
    found
        .find(|file| file.is_file())
        .with_context(|| format!("`{}` is not on PATH", program.display()))
}

/// The program that both debug, and what runs it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) file: PathBuf,
    pub(super) interpreter: PathBuf,
    pub(super) args: Vec<String>,
    /// The lines of the breakpoint and of the statement after it.
    pub(super) hit: u64,
    next: u64,
    /// Where its debugger is to stop at the entry, if by a breakpoint.
    entry: Option<u64>,
    /// What a launch is given in the place of file and interpreter.
    launch: Option<Value>,
    /// One that is 42 at the line `next`.
    expression: String,
}

impl Target {
    pub(super) fn new(file: &Path, source: &str, interpreter: &Path) -> Result<Self> {
        std::fs::write(file, source).with_context(|| format!("writing `{}`", file.display()))?;
        Ok(Self { interpreter: interpreter.to_owned(), ..Self::at(file)? })
    }

    /// One that is there already.
    fn at(file: &Path) -> Result<Self> {
        let source = std::fs::read_to_string(file)
            .with_context(|| format!("reading `{}`", file.display()))?;
        let line = |mark: &str| source.lines().zip(1..).find(|(text, _)| text.ends_with(mark));
        let marked = |mark: &str| {
            line(mark).map(|it| it.1).with_context(|| format!("no line is marked `{mark}`"))
        };
        // Debuggers name files by their real paths.
        let file = file.canonicalize()?;
        let (hit, next) = (marked(" hit")?, marked(" next")?);
        let entry = line(" entry").map(|it| it.1);
        let (interpreter, args) = (PathBuf::new(), Vec::new());
        let expression = "base - base + 42".to_owned();
        Ok(Self { file, interpreter, args, hit, next, entry, launch: None, expression })
    }
}

/// Where a launched program is to stop first.
#[derive(Clone, Copy)]
enum First {
    Entry,
    Hit,
}

/// One way to debug the program. What stops it says the line where it stands.
trait Debugger {
    /// Starts anew where something is kept from launch to launch: the next one is a first one.
    fn forget(&mut self) -> Result<()> {
        Ok(())
    }

    fn launch(&mut self, first: First) -> Result<u64>;
    fn resume(&mut self) -> Result<u64>;
    fn step(&mut self) -> Result<u64>;
    fn evaluate(&mut self, expression: &str) -> Result<String>;
    /// The stack and the locals; says how many locals.
    fn look(&mut self) -> Result<usize>;
    fn end(&mut self) -> Result<()>;

    /// Launch, hit, stack and locals, end. A raw debugger has seen the last two with the stop.
    fn probe(&mut self) -> Result<u64> {
        let line = self.launch(First::Hit)?;
        self.end()?;
        Ok(line)
    }
}

/// The two that are compared.
struct Pair<O, F> {
    ours: O,
    floor: F,
}

/// What one of them took.
#[derive(Default)]
struct Times {
    /// A server's first launch has yet to learn what the interpreter is.
    first: Samples,
    entry: Samples,
    hit: Samples,
    resume: Samples,
    step: Samples,
    evaluate: Samples,
    look: Samples,
    probe: Samples,
}

fn compare<O: Debugger, F: Debugger>(
    language: &str,
    target: &Target,
    mut pair: Pair<O, F>,
) -> Result<Vec<Row>> {
    let mut times = Pair { ours: Times::default(), floor: Times::default() };
    eprintln!("{language}: {LAUNCHES} launches and probes of each …");
    // The first of each fills the caches of the disk and of Python.
    launches(&mut pair.ours, target, &mut Times::default()).context("ours")?;
    launches(&mut pair.floor, target, &mut Times::default()).context("the floor")?;
    for _ in 0..LAUNCHES {
        launches(&mut pair.ours, target, &mut times.ours).context("ours")?;
        launches(&mut pair.floor, target, &mut times.floor).context("the floor")?;
    }
    eprintln!("{language}: {} rounds of each …", TURNS * ROUNDS_PER_TURN);
    pair.ours.launch(First::Entry).context("ours")?;
    pair.floor.launch(First::Entry).context("the floor")?;
    rounds(&mut pair.ours, target, WARM_UP_ROUNDS, &mut Times::default()).context("ours")?;
    rounds(&mut pair.floor, target, WARM_UP_ROUNDS, &mut Times::default()).context("the floor")?;
    for _ in 0..TURNS {
        rounds(&mut pair.ours, target, ROUNDS_PER_TURN, &mut times.ours).context("ours")?;
        rounds(&mut pair.floor, target, ROUNDS_PER_TURN, &mut times.floor).context("the floor")?;
    }
    pair.ours.end()?;
    pair.floor.end()?;
    Ok(rows(language, &times))
}

fn launches(debugger: &mut impl Debugger, target: &Target, times: &mut Times) -> Result<()> {
    debugger.forget()?;
    times.first.time(|| debugger.launch(First::Entry))?;
    debugger.end()?;
    let entry = times.entry.time(|| debugger.launch(First::Entry))?;
    debugger.end()?;
    let hit = times.hit.time(|| debugger.launch(First::Hit))?;
    debugger.end()?;
    let probed = times.probe.time(|| debugger.probe())?;
    if entry == target.hit {
        bail!("the launch did not stop at the entry");
    }
    same("the launch's first hit", hit, target.hit)?;
    same("the probe", probed, target.hit)
}

fn rounds(
    debugger: &mut impl Debugger,
    target: &Target,
    count: usize,
    times: &mut Times,
) -> Result<()> {
    for _ in 0..count {
        let hit = times.resume.time(|| debugger.resume())?;
        same("continue", hit, target.hit)?;
        let next = times.step.time(|| debugger.step())?;
        same("step", next, target.next)?;
        let sum = times.evaluate.time(|| debugger.evaluate(&target.expression))?;
        if !sum.contains("42") {
            bail!("evaluate said `{sum}`");
        }
        // Three parameters, the label and the base are there before the total is.
        let locals = times.look.time(|| debugger.look())?;
        if locals < 5 {
            bail!("only {locals} locals");
        }
    }
    Ok(())
}

fn same(what: &str, line: u64, wanted: u64) -> Result<()> {
    if line != wanted {
        bail!("{what} stands at line {line}, not {wanted}");
    }
    Ok(())
}

fn rows(language: &str, times: &Pair<Times, Times>) -> Vec<Row> {
    let Pair { ours, floor } = times;
    let near = Goal::NearFloor { times: TIMES, plus: PLUS_MS };
    let quick = Goal::NearFloorAtMost { times: TIMES, plus: PLUS_MS, limit: LIMIT_MS };
    let steps = [
        ("first launch → entry", &ours.first, &floor.first, near),
        ("launch → entry", &ours.entry, &floor.entry, near),
        ("launch → first hit", &ours.hit, &floor.hit, near),
        ("continue → hit", &ours.resume, &floor.resume, near),
        ("step", &ours.step, &floor.step, quick),
        ("evaluate", &ours.evaluate, &floor.evaluate, quick),
        ("stack + locals", &ours.look, &floor.look, near),
        ("probe", &ours.probe, &floor.probe, near),
    ];
    let row = |what: &str, percent, ours: &Samples, floor: &Samples, goal| Row {
        what: format!("{language}: {what}, p{percent}"),
        unit: Unit::FineMilliseconds,
        ours: ours.percentile(percent) / 1e3,
        floor: floor.percentile(percent) / 1e3,
        goal,
    };
    let both = steps.iter().flat_map(|(what, ours, floor, goal)| {
        [row(what, 50, ours, floor, *goal), row(what, 95, ours, floor, Goal::None)]
    });
    both.collect()
}

impl Samples {
    /// Does something and keeps how long it took.
    fn time<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let done = work()?;
        self.0.push(start.elapsed());
        Ok(done)
    }
}
