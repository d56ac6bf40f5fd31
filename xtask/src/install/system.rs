//! What only the system's package manager has: a browser, headers. The machine's own is used; where there is none,
//! `apt-get` is asked, if whoever runs us allowed it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Missing, install, version, with_retries};
use crate::workspace::Workspace;

const BROWSERS: &[&str] =
    &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Another install may be under way on the machine.
const WAIT_FOR_OTHERS: &str = "-oDPkg::Lock::Timeout=600";

/// A browser; `for_what` waits for it where it is missing.
pub(crate) fn chromium(workspace: &Workspace, for_what: &str) -> Result<PathBuf> {
    provided(workspace, "chromium", BROWSERS, for_what)
}

/// The headers of Kerberos: VS Code's server compiles against them as it is installed.
pub(super) fn kerberos_headers(workspace: &Workspace, for_what: &str) -> Result<PathBuf> {
    let header = Path::new("/usr/include/gssapi/gssapi.h");
    let found = || header.is_file().then(|| header.to_owned());
    provided_as(workspace, "libkrb5-dev", found, for_what)
}

fn provided(
    workspace: &Workspace,
    package: &str,
    names: &[&str],
    for_what: &str,
) -> Result<PathBuf> {
    let found = || names.iter().map(PathBuf::from).find(|name| version(name).is_some());
    provided_as(workspace, package, found, for_what)
}

pub(super) fn provided_as(
    workspace: &Workspace,
    package: &str,
    found: impl Fn() -> Option<PathBuf>,
    for_what: &str,
) -> Result<PathBuf> {
    if let Some(found) = found() {
        return Ok(found);
    }
    let missing =
        |why: &str| Err(Missing(format!("no {package}: {for_what} waits for it; {why}")).into());
    if version(Path::new("apt-get")).is_none() {
        return missing("there is no `apt-get` either");
    }
    if !workspace.may_change_system {
        return missing(&format!(
            "`sudo apt-get install {package}`, or `cargo xtask test --system` does it"
        ));
    }
    eprintln!("  installing {package} with apt-get …");
    with_retries(|| {
        // A new machine has no list of packages yet, an old one has addresses that are gone.
        install(as_root().args(["apt-get", WAIT_FOR_OTHERS, "update"]))?;
        let mut apt = as_root();
        apt.args(["apt-get", WAIT_FOR_OTHERS, "install", "-y", "--no-install-recommends"]);
        install(apt.arg(package))?;
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
