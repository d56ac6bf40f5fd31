//! The checks that read the source: format, lints, spelling.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Site, Step, show};
use crate::install;
use crate::pins;
use crate::process::{Show, run};
use crate::summary::Outcome;

pub(super) const FMT: Step =
    Step { name: "fmt", about: "every Rust file is formatted", run: fmt, again: false };
pub(super) const CLIPPY: Step =
    Step { name: "clippy", about: "no warnings in any target", run: clippy, again: false };
pub(super) const TYPOS: Step =
    Step { name: "typos", about: "spelling, with typos.toml", run: typos, again: false };
/// What ships as it ships, its fixtures for the conformance suite, and everything else.
const LINTED: &[&[&str]] = &[
    &["-p", "holdpoint", "--all-targets"],
    &["-p", "holdpoint", "--features", "conformance"],
    &["--workspace", "--exclude", "holdpoint", "--all-targets"],
];

/// Reading files only.
const QUICK: Duration = Duration::from_secs(5 * 60);

/// A cold check of every dependency on two slow cores.
const COMPILE: Duration = Duration::from_secs(45 * 60);

fn fmt(site: &Site) -> Result<Outcome> {
    add_component(site, "fmt", "rustfmt")?;
    let finished = show(&mut site.workspace.cargo(["fmt", "--all", "--check"]), QUICK)?;
    Ok(Outcome::of_check(&finished, "cargo fmt --all --check"))
}

fn clippy(site: &Site) -> Result<Outcome> {
    add_component(site, "clippy", "clippy")?;
    let mut runs = Vec::new();
    for what in LINTED {
        let mut command = site.workspace.cargo(["clippy"]);
        command.args(*what).args(["--", "-D", "warnings"]);
        runs.push(Outcome::of_check(&show(&mut command, COMPILE)?, &what.join(" ")));
    }
    Ok(Outcome::of_all(runs))
}

fn typos(site: &Site) -> Result<Outcome> {
    let program = install::typos(site.workspace)?;
    let mut command = Command::new(program);
    command.args(["--config", "typos.toml"]).current_dir(&site.workspace.root);
    let finished = show(&mut command, QUICK)?;
    Ok(Outcome::of_check(&finished, &format!("typos {} from its wheel", pins::TYPOS)))
}

/// A minimal Rust installation lacks these; rustup adds them in seconds.
fn add_component(site: &Site, subcommand: &str, component: &str) -> Result<()> {
    let mut probe = site.workspace.cargo([subcommand, "--version"]);
    if run(&mut probe, QUICK, Show::Nothing)?.success() {
        return Ok(());
    }
    println!("$ rustup component add {component}");
    let mut rustup = Command::new(Path::new("rustup"));
    rustup.args(["component", "add", component]).current_dir(&site.workspace.root);
    if !run(&mut rustup, QUICK, Show::All).is_ok_and(|finished| finished.success()) {
        return Err(install::Missing(format!("`cargo {subcommand}` is not installed")).into());
    }
    Ok(())
}
