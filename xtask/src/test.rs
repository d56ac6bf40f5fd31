//! `cargo xtask test`: every check of the project, one summary.
//!
//! One entry per step in [`STEPS`]. A failing step never stops the others: who waited for the
//! whole run wants to know everything that is wrong.

mod client_js;
mod client_python;
mod conformance;
mod deny;
mod extension;
mod lint;
mod record_python;
mod rust;
mod sdk_js;
mod sdk_python;
mod vscode;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use crate::Command;
use crate::install::{Missing, command_line};
use crate::process::{Finished, Show, run};
use crate::summary::{Outcome, Row, Verdict, render, total};
use crate::workspace::{Workspace, in_ci};

pub(crate) const COMMAND: Command = Command { name: "test", help: HELP, run: test };

const HELP: &str = "\
Run the checks; install what they need under target/xtask first

Usage: cargo xtask test [STEP…]
       cargo xtask test --vscode

Arguments:
  [STEP…]   run only these; `sdk-python` means `sdk-python-1` and `sdk-python-2`

Options:
  --list     print the steps and what each does
  --system   let `apt-get` install what only the system has (a browser, for client-js)
  --vscode   a real VS Code with our extension, and nothing else: installs it first, in minutes;
             HOLDPOINT_BIN names a server that is built already

Nothing outside target/xtask is touched without `--system` or CI=true.
A step that lacks something on this machine is skipped and says what to install.
With CI=true a skip is a failure.
The last line is `N passed, N failed`, and the exit code says whether anything failed.
";

/// In the order they run: what is quick and often wrong comes first.
const STEPS: &[Step] = &[
    lint::FMT,
    lint::CLIPPY,
    lint::TYPOS,
    deny::DENY,
    rust::RUST,
    sdk_python::MCP_1,
    sdk_python::MCP_2,
    sdk_js::SDK_1,
    sdk_js::CLIENT_2,
    client_js::CLIENT_JS,
    client_python::CLIENT_PYTHON,
    extension::EXTENSION,
    record_python::RECORD_PYTHON,
    // With features of its own: its build replaces the one that ships.
    conformance::CONFORMANCE,
    conformance::CONFORMANCE_CLIENT,
];

/// Only when they are asked for by their flag: what they need takes long to install.
const ASKED: &[Step] = &[vscode::VSCODE];

/// One row of the summary.
struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Site) -> Result<Outcome>,
    /// Many tests with real programs in them: where a few fail, all are run once more.
    again: bool,
}

/// So many tests may fail and pass the second time: real debuggers, browsers and programs share two cores. They are
/// named in the table, for somebody to find out why. More are no accident.
const SHAKY: usize = 3;

/// What the steps share.
struct Site<'a> {
    workspace: &'a Workspace,
    /// Several steps drive the binary that ships; it is built by the first of them that runs.
    binary: OnceCell<Result<PathBuf, String>>,
}

impl Site<'_> {
    fn holdpoint(&self) -> Result<&Path> {
        let build = || {
            let built = self.workspace.debug_holdpoint();
            built.map_err(|error| format!("{error:#}"))
        };
        match self.binary.get_or_init(build) {
            Ok(path) => Ok(path),
            Err(error) => Err(anyhow!("{error}")),
        }
    }
}

fn test(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    if arguments.iter().any(|argument| argument == "--list") {
        for Step { name, about, .. } in STEPS.iter().chain(ASKED) {
            println!("{name:14}{about}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (flags, names): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| *flag == name);
    if let Some(flag) = flags.iter().find(|flag| !["--system", "--vscode"].contains(&flag.as_str()))
    {
        bail!("no option `{flag}`\n{HELP}");
    }
    let steps = match (has("--vscode"), names.is_empty()) {
        (true, true) => ASKED.iter().collect(),
        (true, false) => select(&names)?.into_iter().chain(ASKED).collect(),
        (false, _) => select(&names)?,
    };
    let in_ci = in_ci();
    let may_change_system = workspace.may_change_system || has("--system");
    let workspace = &Workspace { may_change_system, ..workspace.clone() };
    let site = Site { workspace, binary: OnceCell::new() };
    let rows: Vec<Row> = steps.into_iter().map(|step| run_step(step, &site, in_ci)).collect();
    print!("\n{}", render(&rows));
    Ok(if total(&rows).failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The steps with these names, in their own order; all when no name is given.
fn select(names: &[&String]) -> Result<Vec<&'static Step>> {
    let matches = |step: &Step, name: &str| {
        step.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    for name in names {
        if !STEPS.iter().any(|step| matches(step, name)) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step `{name}`\nhint: the steps are {}", known.join(", "));
        }
    }
    let wanted = |step: &&Step| names.is_empty() || names.iter().any(|name| matches(step, name));
    Ok(STEPS.iter().filter(wanted).collect())
}

fn run_step(step: &'static Step, site: &Site, in_ci: bool) -> Row {
    println!("\n── {} {}", step.name, "─".repeat(70usize.saturating_sub(step.name.len())));
    let start = Instant::now();
    let mut outcome = attempt(step, site);
    let failed = outcome.counts.failed as usize;
    if step.again && (1..=SHAKY).contains(&failed) && outcome.counts.passed > 0 {
        println!("once more: {failed} failed");
        let second = attempt(step, site);
        if second.verdict == Verdict::Passed {
            outcome = second.shaky(&format!("{failed} of the first run"));
        }
    }
    let outcome = if in_ci { outcome.judged_in_ci() } else { outcome };
    let elapsed = start.elapsed();
    println!("   {} in {:.1} s", outcome.verdict.word(), elapsed.as_secs_f64());
    Row { step: step.name, outcome, elapsed }
}

fn attempt(step: &Step, site: &Site) -> Outcome {
    (step.run)(site).unwrap_or_else(|error| match error.downcast::<Missing>() {
        Ok(missing) => {
            println!("skipped: {missing}");
            Outcome::skipped(first_line(&missing.0))
        }
        Err(error) => {
            println!("error: {error:#}");
            Outcome::failed(first_line(&format!("{error:#}")))
        }
    })
}

/// Runs a step's command in full view.
fn show(command: &mut Process, limit: Duration) -> Result<Finished> {
    println!("$ {}", command_line(command));
    run(command, limit, Show::All)
}

/// The table has one line per step.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let names: Vec<&String> = names.iter().collect();
        let selected: Vec<&str> = select(&names).unwrap().iter().map(|step| step.name).collect();
        assert_eq!(selected, expected);
    }

    #[test]
    fn a_name_selects_a_step_or_a_family() {
        check(&["rust"], &["rust"]);
        check(&["sdk-python"], &["sdk-python-1", "sdk-python-2"]);
        check(&["sdk-js-2", "fmt"], &["fmt", "sdk-js-2"]);
        check(&["sdk"], &["sdk-python-1", "sdk-python-2", "sdk-js-1", "sdk-js-2"]);
        assert_eq!(select(&[]).unwrap().len(), STEPS.len());
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_known_ones() {
        let error = select(&[&"sdk-pyth".to_owned()]).err().unwrap().to_string();
        assert!(
            error.starts_with("no step `sdk-pyth`\nhint: the steps are fmt, clippy,"),
            "{error}"
        );
    }
}
