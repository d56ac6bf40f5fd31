//! The tests of a core, built once, and run with one mutant on.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::list::Core;
use super::plant::VARIABLE;
use crate::process::{Finished, Show, run};
use crate::workspace::Workspace;

/// A cold build of every dependency on two slow cores.
const BUILD_LIMIT: Duration = Duration::from_secs(45 * 60);

/// A mutant may have this many times what the tests need without one: more is a loop that does not end.
const PATIENCE: u32 = 10;

/// However quick they are: a busy machine is no verdict.
const LEAST_LIMIT: Duration = Duration::from_secs(20);

/// Tests that draw inputs draw the same ones every time.
const SEED: &str = "20261116";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    KilledBy(usize),
    Crashed,
    TimedOut,
    Survived,
    DoesNotCompile,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::KilledBy(1) => f.write_str("killed by 1 test"),
            Verdict::KilledBy(count) => write!(f, "killed by {count} tests"),
            Verdict::Crashed => f.write_str("killed by a crash"),
            Verdict::TimedOut => f.write_str("timed out"),
            Verdict::Survived => f.write_str("SURVIVED"),
            Verdict::DoesNotCompile => f.write_str("does not compile"),
        }
    }
}

pub(super) struct Trial<'a> {
    core: &'a Core,
    executable: PathBuf,
    /// Where cargo would run them.
    folder: PathBuf,
    limit: Duration,
}

impl<'a> Trial<'a> {
    /// None when the core's crate does not compile; the compiler has said why, with the mutant's name there.
    pub(super) fn build(
        workspace: &Workspace,
        copy: &Path,
        core: &'a Core,
    ) -> Result<Option<Self>> {
        let mut command = workspace.cargo(["test", "--no-run", "--offline", "--quiet"]);
        command.arg("--message-format=json-render-diagnostics").args(["-p", &core.package]);
        command.args(&core.target).current_dir(copy);
        // The dependencies are there already; the copy's own crates have another version.
        if std::env::var_os("CARGO_TARGET_DIR").is_none() {
            command.arg("--target-dir").arg(workspace.root.join("target"));
        }
        let finished = run(&mut command, BUILD_LIMIT, Show::Nothing)?;
        if !finished.success() {
            eprintln!("{}", errors(&finished.stderr));
            return Ok(None);
        }
        let (executable, folder) = built(&finished.stdout).context("cargo named no tests")?;
        let trial = Trial { core, executable, folder, limit: BUILD_LIMIT };
        let start = Instant::now();
        let healthy = trial.tests("")?;
        let passed = healthy.stdout.lines().filter(|line| line.ends_with("... ok")).count();
        if !healthy.success() || passed == 0 {
            bail!("{}: {passed} tests pass without a mutant\n{}", core.name, healthy.last_words());
        }
        eprintln!("{}: {passed} tests", core.name);
        let limit = LEAST_LIMIT.max(start.elapsed().saturating_mul(PATIENCE));
        Ok(Some(Trial { limit, ..trial }))
    }

    pub(super) fn run(&self, name: &str) -> Result<Verdict> {
        let finished = self.tests(name)?;
        Ok(verdict(finished.success(), finished.timed_out(), &finished.stdout))
    }

    fn tests(&self, mutant: &str) -> Result<Finished> {
        let mut command = Command::new(&self.executable);
        command.args(&self.core.tests).current_dir(&self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder).env(VARIABLE, mutant);
        command.env("PROPTEST_RNG_SEED", SEED);
        // An input that failed once would be tried first for every other mutant.
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true").env_remove("UPDATE_EXPECT");
        run(&mut command, self.limit, Show::Nothing)
    }
}

fn verdict(success: bool, timed_out: bool, output: &str) -> Verdict {
    let failed = output.lines().filter(|line| line.ends_with("... FAILED")).count();
    match (success, failed) {
        (true, _) => Verdict::Survived,
        (false, 0) if timed_out => Verdict::TimedOut,
        (false, 0) => Verdict::Crashed,
        (false, count) => Verdict::KilledBy(count),
    }
}

/// The tests that cargo built, and the folder of their package.
fn built(messages: &str) -> Option<(PathBuf, PathBuf)> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.into_iter().find_map(|message| {
        let executable = message.get("executable")?.as_str()?;
        let manifest = message.get("manifest_path")?.as_str()?;
        let is_test = message.get("profile")?.get("test")?.as_bool()?;
        let folder = Path::new(manifest).parent()?;
        is_test.then(|| (PathBuf::from(executable), folder.to_owned()))
    })
}

/// What a compiler said, without its warnings: mutants leave brackets and names unused.
fn errors(said: &str) -> String {
    let blocks = said.split("\n\n").filter(|block| block.trim_start().starts_with("error"));
    blocks.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let failed = "running 2 tests\ntest a ... FAILED\ntest b ... ok\n";
        assert_eq!(verdict(false, false, failed), Verdict::KilledBy(1));
        // One failed and another does not end: it is known already.
        assert_eq!(verdict(false, true, failed), Verdict::KilledBy(1));
        assert_eq!(verdict(false, true, "test b ... ok\n"), Verdict::TimedOut);
        assert_eq!(verdict(false, false, "test b ... ok\n"), Verdict::Crashed);
        assert_eq!(verdict(true, false, "test b ... ok\n"), Verdict::Survived);
    }

    #[test]
    fn the_tests_are_found_among_what_was_built() {
        let messages = r#"
{"reason":"compiler-artifact","executable":null,"manifest_path":"/c/store/Cargo.toml","profile":{"test":false}}
{"reason":"compiler-artifact","executable":"/t/debug/helper","manifest_path":"/c/p/Cargo.toml","profile":{"test":false}}
{"reason":"compiler-artifact","executable":"/t/debug/deps/p-1","manifest_path":"/c/p/Cargo.toml","profile":{"test":true}}
{"reason":"build-finished","success":true}"#;
        let expected = (PathBuf::from("/t/debug/deps/p-1"), PathBuf::from("/c/p"));
        assert_eq!(built(messages), Some(expected));
        assert_eq!(built(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn only_errors_are_shown_of_a_build() {
        let said =
            "warning: unused\n --> a.rs\n\nerror[E0308]: mismatched\n --> b.rs\n\nerror: aborting";
        assert_eq!(errors(said), "error[E0308]: mismatched\n --> b.rs\n\nerror: aborting");
    }
}
