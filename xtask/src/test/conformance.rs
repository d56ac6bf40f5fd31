//! The official MCP conformance suite, against our transports and boundary, and against our gateway as a client.
//!
//! The newest pre-release runs once per frozen requirement set; the stable release is a second
//! opinion. Every failing check counts, scored by the suite or not, unless its scenario is
//! listed with its reason in `tests/conformance/expected-failures.yml`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Site, Step, show};
use crate::install::{find_node, node_modules};
use crate::pins;
use crate::process::{Background, Finished};
use crate::summary::{Counts, Outcome};

pub(super) const CONFORMANCE: Step = Step {
    name: "conformance",
    about: "the official suite: 2025-11-25, 2026-07-28, and the stable release",
    run: conformance,
    again: true,
};

pub(super) const CONFORMANCE_CLIENT: Step = Step {
    name: "conformance-client",
    about: "the same suite's scenarios for clients, logins among them, against the gateway",
    run: conformance_client,
    again: true,
};

/// The whole suite takes 2 to 12 seconds; each scenario has 30 of its own.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// From start to the line that names the address.
const SERVER_START: Duration = Duration::from_secs(20);

const ADDRESS_PREFIX: &str = "conformance server on ";

/// The package's name in `tests/conformance/package.json`, and what to ask of it.
const RUNS: &[(&str, &[&str])] = &[
    ("conformance-next", &["--requirements", "2025-11-25"]),
    ("conformance-next", &["--requirements", "2026-07-28"]),
    ("conformance-stable", &[]),
];

/// The same for clients. What is newer than both revisions is not asked of us: the suite `all` of the pre-release.
const CLIENT_RUNS: &[(&str, &[&str])] = &[
    ("conformance-next", &["--requirements", "2025-11-25"]),
    ("conformance-next", &["--requirements", "2026-07-28"]),
    ("conformance-stable", &["--suite", "all"]),
];

fn conformance_client(site: &Site) -> Result<Outcome> {
    let suite = Suite::new(site)?;
    let binary = site.workspace.debug_holdpoint_with_conformance()?;
    let ours = format!("{} conformance-client", binary.display());
    let runs: Result<Vec<Outcome>> = CLIENT_RUNS
        .iter()
        .map(|(package, options)| suite.run(package, options, &["client", "--command", &ours]))
        .collect();
    Ok(Outcome::of_all(runs?))
}

fn conformance(site: &Site) -> Result<Outcome> {
    let suite = Suite::new(site)?;
    let mut command = Command::new(site.workspace.debug_holdpoint_with_conformance()?);
    command.args(["conformance", "--port", "0"]).env("HOLDPOINT_HOME", &suite.home);
    let server = Background::start(&mut command)?;
    let line = server.line(SERVER_START).context("`holdpoint conformance` did not start")?;
    let url = line
        .strip_prefix(ADDRESS_PREFIX)
        .with_context(|| format!("`{line}` does not begin with `{ADDRESS_PREFIX}`"))?;
    let runs: Result<Vec<Outcome>> = RUNS
        .iter()
        .map(|(package, options)| suite.run(package, options, &["server", "--url", url]))
        .collect();
    Ok(Outcome::of_all(runs?))
}

struct Suite {
    node: PathBuf,
    folder: PathBuf,
    expected_failures: PathBuf,
    /// Of ours, while it runs.
    home: PathBuf,
}

impl Suite {
    fn new(site: &Site) -> Result<Suite> {
        let source = site.workspace.root.join("tests/conformance");
        Ok(Suite {
            node: find_node(site.workspace, pins::NODE_MAJOR_FOR_CONFORMANCE)?,
            folder: node_modules(site.workspace, "conformance", &source)?,
            expected_failures: source.join("expected-failures.yml"),
            home: site.workspace.cache.join("conformance-home"),
        })
    }

    /// `whom` says what is tried.
    fn run(&self, package: &str, options: &[&str], whom: &[&str]) -> Result<Outcome> {
        let script = Path::new("node_modules").join(package).join("dist/index.js");
        let mut command = Command::new(&self.node);
        command
            .arg(script)
            .args(whom)
            .args(options)
            .arg("--expected-failures")
            .arg(&self.expected_failures)
            .env("HOLDPOINT_HOME", &self.home)
            .current_dir(&self.folder);
        let finished = show(&mut command, LIMIT)?;
        let expected = std::fs::read_to_string(&self.expected_failures)
            .with_context(|| format!("reading `{}`", self.expected_failures.display()))?;
        Ok(outcome(&finished, &entries(&expected), options.last().unwrap_or(&"stable")))
    }
}

fn outcome(finished: &Finished, expected: &[String], name: &str) -> Outcome {
    let totals = totals(&finished.stdout, expected);
    let mut note = name.to_owned();
    if let Some(Counts { passed, failed, skipped }) = totals {
        note += &format!(" {passed}/{}", passed + failed);
        if skipped > 0 {
            note += &format!(" and {skipped} expected failures");
        }
    }
    // The suite asks more of us than its counts say: with a list of expected failures, also
    // that no check warns and that nothing on the list passes.
    for complaint in ["Unexpected failures (not in baseline)", "Stale baseline entries"] {
        let names = listed_under(&finished.stdout, complaint);
        if !names.is_empty() {
            note += &format!(", {}: {}", complaint.to_lowercase(), names.join(" "));
        }
    }
    // An expected failure is a decision with a reason, not something missing: CI allows it.
    let totals = totals.map(|counts| Counts { skipped: 0, ..counts });
    Outcome::of_tests(finished, totals, &note)
}

/// The entries of the expected-failures file: `scenario` or `scenario:check`.
fn entries(yaml: &str) -> Vec<String> {
    let items = yaml.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let words = items.filter_map(|item| item.split_whitespace().next());
    words.map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
}

/// The suite's summary, scenario by scenario; failures that were expected become `skipped`.
///
/// Its own `Total:` line does not tell expected failures from others.
fn totals(output: &str, expected: &[String]) -> Option<Counts> {
    if let Some((_, summary)) = output.split_once("=== SUITE SUMMARY ===") {
        let scenarios = summary.lines().filter_map(|line| scenario(line, expected));
        return scenarios.map(observed).reduce(Counts::plus);
    }
    let (_, summary) = output.split_once("=== SUMMARY ===")?;
    summary.lines().filter_map(|line| scenario(line, expected)).reduce(Counts::plus)
}

/// Of a client: one that gave up before anything was looked at has not passed.
fn observed(counts: Counts) -> Counts {
    match counts {
        Counts { passed: 0, failed: 0, skipped: 0 } => Counts { failed: 1, ..counts },
        counts => counts,
    }
}

/// `✗ dns-rebinding-protection: 0 passed, 2 failed`
fn scenario(line: &str, expected: &[String]) -> Option<Counts> {
    let (name, counts) = line.strip_prefix(['✓', '✗'])?.trim().split_once(": ")?;
    let number = |word: &str| {
        let part = counts.split(", ").find_map(|part| part.strip_suffix(word))?;
        part.trim().parse::<u32>().ok()
    };
    let (passed, failed) = (number("passed")?, number("failed")?);
    let checks = expected.iter().filter_map(|entry| entry.split_once(':'));
    let checks = checks.filter(|(scenario, _)| *scenario == name).count();
    let is_expected = expected.iter().any(|entry| entry == name);
    let excused = if is_expected { failed } else { failed.min(u32::try_from(checks).ok()?) };
    Some(Counts { passed, failed: failed - excused, skipped: excused })
}

/// The names below one of the suite's headings.
fn listed_under<'a>(output: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = output.lines().skip_while(|line| !line.contains(heading)).skip(1);
    let names = lines.take_while(|line| !line.trim().is_empty());
    names.filter_map(|line| line.split_whitespace().nth(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
=== Running scenario: ping ===
Running client scenario 'ping' against server: http://127.0.0.1:1/mcp

=== SUMMARY ===
✓ server-initialize: 2 passed, 0 failed
✗ ping: 1 passed, 1 failed
✗ dns-rebinding-protection: 0 passed, 2 failed
✗ json-schema-2020-12: 1 passed, 1 failed

Total: 4 passed, 4 failed

Not scored for 2025-11-25: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ json-schema-2020-12 (pending)
";

    #[track_caller]
    fn check(yaml: &str, passed: u32, failed: u32, skipped: u32) {
        assert_eq!(totals(OUTPUT, &entries(yaml)), Some(Counts { passed, failed, skipped }));
    }

    #[test]
    fn scenarios_are_added_scored_or_not() {
        check("server: []", 4, 4, 0);
    }

    #[test]
    fn expected_failures_are_told_apart() {
        check("server:\n  # Why.\n  - ping\n", 4, 3, 1);
        check("server:\n  - \"dns-rebinding-protection\" # Why.\n", 4, 2, 2);
        check("server:\n  - dns-rebinding-protection:host\n  - ping\n", 4, 2, 2);
        check("server:\n  - server-initialize\n", 4, 4, 0);
    }

    #[test]
    fn complaints_name_their_scenarios() {
        let output = format!(
            "{OUTPUT}\n\u{1b}[31mUnexpected failures (not in baseline):\u{1b}[0m\n  ✗ caching\n  ✗ a:b\n\nmore\n"
        );
        let names = listed_under(&output, "Unexpected failures (not in baseline)");
        assert_eq!(names, ["caching", "a:b"]);
        assert!(listed_under(&output, "Stale baseline entries").is_empty());
    }

    #[test]
    fn a_scenario_that_looked_at_nothing_has_failed() {
        let output = "=== SUITE SUMMARY ===\n\n✓ initialize: 0 passed, 0 failed\n✓ tools: 2 passed, 0 failed\n";
        let counts = Counts { passed: 2, failed: 1, skipped: 0 };
        assert_eq!(totals(output, &[]), Some(counts));
    }

    #[test]
    fn a_crash_has_no_totals() {
        assert_eq!(totals("TypeError: fs.globSync is not a function\n", &[]), None);
    }
}
