//! End-to-end tests with the official Python SDK, once per major version.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Site, Step, show};
use crate::install::venv;
use crate::summary::{Counts, Outcome};

pub(super) const MCP_1: Step = Step {
    name: "sdk-python-1",
    about: "tests/sdk/python with PyPI `mcp` 1.x",
    run: |site| sdk_python(site, "1"),
    again: true,
};
pub(super) const MCP_2: Step = Step {
    name: "sdk-python-2",
    about: "tests/sdk/python with PyPI `mcp` 2.x",
    run: |site| sdk_python(site, "2"),
    again: true,
};

const LIMIT: Duration = Duration::from_secs(10 * 60);

fn sdk_python(site: &Site, major: &str) -> Result<Outcome> {
    let folder = site.workspace.root.join("tests/sdk/python");
    let requirements = folder.join(format!("requirements-{major}.txt"));
    let python = venv(site.workspace, &format!("sdk-python-{major}"), &requirements)?;
    let binary = site.holdpoint()?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-ra", "-p", "no:cacheprovider", "tests/sdk/python"])
        .current_dir(&site.workspace.root)
        .env("HOLDPOINT_BIN", binary)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let finished = show(&mut command, LIMIT)?;
    let ran = format!("pytest with mcp {major}.x");
    Ok(Outcome::of_tests(&finished, totals(&finished.stdout), &ran))
}

/// pytest's last line: `== 1 failed, 3 passed, 2 skipped in 0.12s ==`.
pub(super) fn totals(output: &str) -> Option<Counts> {
    let line = output.lines().rev().find(|line| line.contains(" in ") && line.contains('s'))?;
    let mut sum = Counts::default();
    let words = line.trim_matches(|c: char| c == '=' || c == ' ');
    for part in words.split_once(" in ")?.0.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        match word {
            "passed" | "xfailed" => sum.passed += number,
            "failed" | "error" | "errors" | "xpassed" => sum.failed += number,
            "skipped" => sum.skipped += number,
            // Warnings, and tests that this SDK's folder of tests leaves out by itself.
            _ => {}
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, passed: u32, failed: u32, skipped: u32) {
        assert_eq!(totals(output), Some(Counts { passed, failed, skipped }));
    }

    #[test]
    fn the_last_line_is_read() {
        check("=================== 12 passed in 3.41s ===================\n", 12, 0, 0);
        check(
            "FAILED a.py::b - in vain\n= 1 failed, 3 passed, 2 skipped, 1 warning in 0.12s =\n",
            3,
            1,
            2,
        );
        check("==== 2 passed, 1 error in 61.07s (0:01:01) ====", 2, 1, 0);
    }

    #[test]
    fn no_tests_are_no_totals() {
        assert_eq!(totals("===== no tests ran in 0.01s ====="), None);
        assert_eq!(totals("/x/python: No module named pytest"), None);
    }
}
