//! What only the system's package manager has: a browser, and the debugger that attaching to a running
//! Python goes through. The machine's own is used; where there is none, `apt-get` is asked.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Missing, install, version, with_retries};

const BROWSERS: &[&str] =
    &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub(crate) fn chromium() -> Result<PathBuf> {
    provided("chromium", BROWSERS)
}

pub(crate) fn gdb() -> Result<PathBuf> {
    provided("gdb", &["gdb"])
}

fn provided(package: &str, names: &[&str]) -> Result<PathBuf> {
    let found = || names.iter().map(PathBuf::from).find(|name| version(name).is_some());
    if let Some(found) = found() {
        return Ok(found);
    }
    if version(Path::new("apt-get")).is_none() {
        return Err(Missing(format!("no {package} is installed, and there is no `apt-get`")).into());
    }
    eprintln!("  installing {package} with apt-get …");
    with_retries(|| {
        // A new machine has no list of packages yet, an old one has addresses that are gone.
        install(as_root().args(["apt-get", "update"]))?;
        install(as_root().args(["apt-get", "install", "-y", "--no-install-recommends", package]))?;
        Ok(())
    })?;
    found().ok_or_else(|| Missing(format!("apt-get installed no {package} that runs")).into())
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
