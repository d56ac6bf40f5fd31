//! A browser. It is the machine's own; where there is none, the system's package manager is asked,
//! because no registry that a project may use by itself carries one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Missing, install, version, with_retries};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(found) = found() {
        return Ok(found);
    }
    if version(Path::new("apt-get")).is_none() {
        return Err(Missing("no Chromium is installed, and there is no `apt-get`".into()).into());
    }
    eprintln!("  installing Chromium with apt-get …");
    with_retries(|| {
        // A new machine has no list of packages yet, an old one has addresses that are gone.
        install(as_root().args(["apt-get", "update"]))?;
        let packages = ["install", "-y", "--no-install-recommends", "chromium"];
        install(as_root().arg("apt-get").args(packages))?;
        Ok(())
    })?;
    found().ok_or_else(|| Missing("apt-get installed no Chromium that runs".into()).into())
}

fn found() -> Option<PathBuf> {
    NAMES.iter().map(PathBuf::from).find(|name| version(name).is_some())
}

/// `env` runs the command as it is: whoever may install needs no more, others have `sudo`.
fn as_root() -> Command {
    let is_root = std::env::var_os("USER").is_none_or(|user| user == "root")
        || version(Path::new("sudo")).is_none();
    let mut command = Command::new(if is_root { "env" } else { "sudo" });
    if !is_root {
        command.arg("-n");
    }
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
