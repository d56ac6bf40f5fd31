//! What recording costs the program: CPU time of a program that is hard to record beside the same unrecorded, turn by turn,
//! the best of several; the same with a recorder that is there and off, with viztracer, and the texts of 200 files.
//!
//! The workloads time themselves, so no start counts. Recorded is as from a shell: `holdpoint record -- …`.

mod seen;
mod transform;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::client::Home;
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Kind};
use crate::install::{Missing, find_node, newest_python, venv_of};
use crate::pins::NODE_MAJOR_FOR_SDKS;
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(super) const RECORDER: Bench = Bench {
    name: "recorder",
    about: "what recording costs the program, on and off; texts of 200 files; the first view of a large recording",
    run: Kind::Table { client: Client::Any, rows: measure },
};

const TURNS: usize = 5;
const RUN_LIMIT: Duration = Duration::from_secs(10 * 60);
/// A recorder that is there and off may not be seen in the noise.
const OFF: Goal = Goal::TimesFloor(1.05);

/// A program that times itself, and what runs it.
struct Workload {
    name: String,
    words: Vec<PathBuf>,
    /// What its first printed number is to be multiplied by, to be milliseconds.
    to_ms: f64,
}

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let ours = workspace.optimised("holdpoint")?;
    let folder = Home::new()?;
    let mut rows = Vec::new();
    let node = find_node(workspace, NODE_MAJOR_FOR_SDKS)?;
    let script = workspace.root.join("clients/js/test/record/workload.cjs");
    let node_work = workload("Node", &node, &script, &folder.0, "2000", 1.0)?;
    rows.extend(node_work.rows(&ours, &folder.0, 6.0, Some("record-node"))?);
    match newest_python() {
        Ok(python) => {
            let script = workspace.root.join("clients/python/record/bench/workload.py");
            let work = workload("newest Python", &python, &script, &folder.0, "700", 1e3)?;
            rows.extend(work.rows(&ours, &folder.0, 12.0, Some("record-python"))?);
            rows.extend(viztracer(workspace, &python, &script, &folder.0)?);
        }
        Err(error) if error.is::<Missing>() => eprintln!("no rows for Python: {error:#}"),
        Err(error) => return Err(error),
    }
    rows.extend(transform::rows(&ours, &node, &folder.0, &script_texts(workspace))?);
    rows.extend(seen::rows(&ours, &node_work, &folder.0)?);
    Ok(rows)
}

/// The workload copied, so that nothing of ours lies beside it.
fn workload(
    name: &str,
    runs: &Path,
    script: &Path,
    folder: &Path,
    size: &str,
    to_ms: f64,
) -> Result<Workload> {
    let project = folder.join(format!("project-{}", name.replace(' ', "-")));
    std::fs::create_dir_all(&project)?;
    let copy = project.join(script.file_name().context("no name")?);
    std::fs::copy(script, &copy)?;
    Ok(Workload { name: name.to_owned(), words: vec![runs.into(), copy, size.into()], to_ms })
}

/// Real texts, as many as there are.
fn script_texts(workspace: &Workspace) -> Vec<PathBuf> {
    let folder = workspace.root.join("clients/js/record");
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    all.filter(|it| it.extension().is_some_and(|it| it == "cjs")).collect()
}

impl Workload {
    /// What the program says it took, in milliseconds of CPU time.
    fn took(&self, command: &mut Command) -> Result<f64> {
        let finished = run(command, RUN_LIMIT, Show::Nothing)?;
        if !finished.success() {
            bail!("`{}` failed: {}", self.name, finished.last_words());
        }
        if finished.stderr.contains("kept    0 calls") {
            bail!("nothing was recorded of `{}`: {}", self.name, finished.stderr);
        }
        let number = finished.stdout.split_whitespace().next().and_then(|it| it.parse().ok());
        let number: f64 = number.with_context(|| format!("no time in `{}`", finished.stdout))?;
        Ok(number * self.to_ms)
    }

    fn plain(&self) -> Result<Command> {
        let (program, words) = self.words.split_first().context("no program")?;
        let mut command = Command::new(program);
        command.args(words);
        Ok(command)
    }

    fn recorded(&self, ours: &Path, home: &Path, level: &str) -> Command {
        let mut command = Command::new(ours);
        command.args(["record", "--level", level, "--"]).args(&self.words);
        command.env("HOLDPOINT_HOME", home);
        // As somebody who stands in the project.
        if let Some(folder) = self.words.get(1).and_then(|it| it.parent()) {
            command.current_dir(folder);
        }
        command
    }

    fn rows(
        &self,
        ours: &Path,
        home: &Path,
        worst: f64,
        recorder: Option<&str>,
    ) -> Result<Vec<Row>> {
        eprintln!("{}: {TURNS} turns …", self.name);
        let mut best = [f64::INFINITY; 5];
        let mut least = |at: usize, took: f64| {
            best.get_mut(at).into_iter().for_each(|it| *it = it.min(took));
        };
        for _ in 0..TURNS {
            least(0, self.took(&mut self.plain()?)?);
            least(1, self.took(&mut self.recorded(ours, home, "calls"))?);
            least(2, self.took(&mut self.recorded(ours, home, "auto"))?);
            least(3, self.took(&mut self.recorded(ours, home, "lines"))?);
            least(4, self.took(&mut off(self.plain()?, home, recorder))?);
        }
        let [plain, calls, auto, lines, off] = best;
        let row = |what: &str, ours, goal| Row {
            what: format!("{}: {what}", self.name),
            unit: Unit::Milliseconds,
            ours,
            floor: plain,
            goal,
        };
        Ok(vec![
            row("calls alone", calls, Goal::None),
            row("as by default", auto, Goal::TimesFloor(worst)),
            row("every line and write", lines, Goal::TimesFloor(worst)),
            row("a recorder that is off", off, OFF),
        ])
    }
}

/// The recorder's files are loaded, and nothing is to be recorded.
fn off(mut command: Command, home: &Path, recorder: Option<&str>) -> Command {
    match recorder {
        Some("record-node") => {
            let file = home.join("record-node/register.cjs");
            command.env("NODE_OPTIONS", format!("--require={}", file.display()));
        }
        Some(folder) => {
            command.env("PYTHONPATH", home.join(folder));
        }
        None => {}
    }
    command.env_remove("HOLDPOINT_RECORD");
    command
}

/// What a tool that keeps calls with arguments and results costs.
fn viztracer(
    workspace: &Workspace,
    python: &Path,
    script: &Path,
    folder: &Path,
) -> Result<Vec<Row>> {
    let pins = workspace.root.join("tests/packages/bench/requirements.txt");
    let traced = venv_of(workspace, "bench-viztracer", &pins, python.to_owned())?;
    let work = workload("viztracer", &traced, script, folder, "700", 1e3)?;
    let (mut plain, mut ours) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        plain = plain.min(work.took(&mut work.plain()?)?);
        let mut command = Command::new(&traced);
        command.args(["-m", "viztracer", "--quiet", "--log_func_args", "--log_func_retval", "-o"]);
        command.arg(folder.join("viztracer.json")).arg("--").args(work.words.iter().skip(1));
        ours = ours.min(work.took(&mut command)?);
    }
    let what = "viztracer with arguments and results, calls alone".to_owned();
    Ok(vec![Row { what, unit: Unit::Milliseconds, ours, floor: plain, goal: Goal::None }])
}
