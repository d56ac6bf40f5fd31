//! All Rust tests of the workspace.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{SHAKY, Site, Step, show};
use crate::install::{chromium, delve, go_modules, languages, packages};
use crate::summary::{Counts, Outcome};

pub(super) const RUST: Step = Step {
    name: "rust",
    about: "unit, integration and doc tests of every crate",
    run: rust,
    again: false,
};

/// A cold build of every dependency on two slow cores, then the tests.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// What ships is built with its own features and nobody else's; `floor` has other ones, and no tests.
const TESTED: &[&[&str]] =
    &[&["-p", "holdpoint"], &["--workspace", "--exclude", "holdpoint", "--exclude", "floor"]];

fn rust(site: &Site) -> Result<Outcome> {
    // The tests that need them fail and say so; that is no reason not to run the others.
    if let Err(error) = packages(site.workspace) {
        eprintln!("error: {error:#}");
    }
    if let Err(error) = languages(site.workspace) {
        eprintln!("error: {error:#}");
    }
    let browser =
        chromium(site.workspace, "the page").inspect_err(|error| eprintln!("error: {error:#}"));
    // In CI a language whose debugger is missing fails its tests; elsewhere they say so.
    let delve = delve(site.workspace).inspect_err(|error| eprintln!("error: {error:#}"));
    if let Err(error) = go_modules(site.workspace) {
        eprintln!("error: {error:#}");
    }
    let path = delve.ok().map(|it| before(&it)).transpose()?;
    let cargo_test = |which: &[&str], threads: usize| {
        let mut command = site.workspace.cargo(["test", "--no-fail-fast"]);
        command.env("RUST_TEST_THREADS", threads.to_string());
        if let Ok(browser) = &browser {
            command.env("HOLDPOINT_CHROMIUM", browser);
        }
        if let Some(path) = &path {
            command.env("PATH", path);
        }
        command.args(which);
        command
    };
    let mut runs = Vec::new();
    for which in TESTED {
        let finished = show(&mut cargo_test(which, threads()), LIMIT)?;
        let totals = totals(&finished.stdout);
        let ran = format!("cargo test {}", which.join(" "));
        let outcome = Outcome::of_tests(&finished, totals, &ran);
        let failed = failures(&finished.stdout);
        let may_be_shaky = (1..=SHAKY).contains(&failed.len())
            && totals.is_some_and(|it| it.failed as usize == failed.len());
        if !may_be_shaky {
            runs.push(outcome);
            continue;
        }
        println!("once more, each by itself: {}", failed.join(" "));
        let mut alone = cargo_test(which, 1);
        alone.args(["--", "--exact"]).args(&failed);
        let alone = show(&mut alone, LIMIT)?;
        let again = self::totals(&alone.stdout).unwrap_or_default();
        let all_pass = alone.success() && again.passed as usize == failed.len();
        runs.push(if all_pass { outcome.shaky(&failed.join(", ")) } else { outcome });
    }
    Ok(Outcome::of_all(runs))
}

/// The names of the tests that failed.
fn failures(output: &str) -> Vec<&str> {
    let failed =
        output.lines().filter_map(|it| it.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    failed.collect()
}

/// The search path with a folder before all others.
fn before(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("a folder with a colon in its name")
}

/// Most tests wait for a debugger or a program half of their time.
fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores + cores.div_ceil(2)
}

/// The sum of libtest's `test result:` lines, one per test binary.
fn totals(output: &str) -> Option<Counts> {
    output.lines().filter_map(result_line).reduce(Counts::plus)
}

fn result_line(line: &str) -> Option<Counts> {
    let (_, counts) = line.split_once("test result: ")?.1.split_once(". ")?;
    let mut sum = Counts::default();
    for part in counts.split(';') {
        let Some((number, word)) = part.trim().split_once(' ') else { continue };
        match (number.parse::<u32>(), word) {
            (Ok(number), "passed") => sum.passed += number,
            (Ok(number), "failed") => sum.failed += number,
            (Ok(number), "ignored") => sum.skipped += number,
            _ => {}
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_lines_of_all_binaries_are_added() {
        let output = "
running 2 tests
test a ... ok
test b ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 40 tests
test result: ok. 39 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 1.20s
";
        assert_eq!(totals(output), Some(Counts { passed: 40, failed: 1, skipped: 1 }));
    }

    #[test]
    fn the_tests_that_failed_are_named() {
        let output = "test a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n    a::c\n";
        assert_eq!(failures(output), ["a::c"]);
    }

    #[test]
    fn a_build_that_failed_has_no_totals() {
        assert_eq!(totals("error[E0425]: cannot find value `x` in this scope\n"), None);
    }
}
