//! End-to-end tests with the official TypeScript SDKs, the first and the second line.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Site, Step, show};
use crate::install::{copy_tree, empty, find_node, node_modules};
use crate::pins;
use crate::summary::{Counts, Outcome};

pub(super) const SDK_1: Step = Step {
    name: "sdk-js-1",
    about: "tests/sdk/js with npm `@modelcontextprotocol/sdk` 1.x",
    run: |site| sdk_js(site, "sdk1.test.mjs"),
    again: true,
};
pub(super) const CLIENT_2: Step = Step {
    name: "sdk-js-2",
    about: "tests/sdk/js with npm `@modelcontextprotocol/client` 2.x",
    run: |site| sdk_js(site, "client2.test.mjs"),
    again: true,
};

const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Runs in a copy: Node looks for packages beside the test, and none may land in the source tree.
fn sdk_js(site: &Site, file: &str) -> Result<Outcome> {
    let source = site.workspace.root.join("tests/sdk/js");
    let node = find_node(site.workspace, pins::NODE_MAJOR_FOR_SDKS)?;
    // Below the packages, in a folder that starts empty: a deleted file must not be found.
    let copy = node_modules(site.workspace, "sdk-js", &source)?.join("tests");
    empty(&copy)?;
    copy_tree(&source, &copy).context("copying the tests")?;
    let binary = site.holdpoint()?;
    let mut command = Command::new(node);
    command
        .args(["--test", "--test-reporter=spec", file])
        .current_dir(copy)
        .env("HOLDPOINT_BIN", binary);
    let finished = show(&mut command, LIMIT)?;
    let totals = totals(&finished.stdout);
    Ok(Outcome::of_tests(&finished, totals, &format!("node --test {file}")))
}

/// The totals that Node's reporter ends with: `ℹ pass 3`, `ℹ fail 0` and so on.
pub(super) fn totals(output: &str) -> Option<Counts> {
    let total = |word: &str| {
        output.lines().rev().find_map(|line| {
            line.trim_start_matches(['ℹ', '#', ' ']).strip_prefix(word)?.trim().parse::<u32>().ok()
        })
    };
    Some(Counts {
        passed: total("pass ")?,
        failed: total("fail ")? + total("cancelled ")?,
        skipped: total("skipped ")? + total("todo ")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_totals_at_the_end_are_read() {
        let output = "\
✔ initialize (12.1ms)
✖ subscribe (3.2ms)
ℹ tests 5
ℹ suites 0
ℹ pass 3
ℹ fail 1
ℹ cancelled 0
ℹ skipped 1
ℹ todo 0
ℹ duration_ms 58.7
";
        assert_eq!(totals(output), Some(Counts { passed: 3, failed: 1, skipped: 1 }));
    }

    #[test]
    fn a_file_that_is_not_there_has_no_totals() {
        assert_eq!(totals("Could not find '/x/sdk1.test.mjs'\n"), None);
    }
}
