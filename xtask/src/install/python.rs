//! Python virtual environments.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Missing, binary, ensure, install, numbers, version};
use crate::pins;
use crate::workspace::Workspace;

/// The oldest Python that the pinned SDKs accept.
const OLDEST: [u32; 2] = [3, 10];

/// The Python of a private environment made from a requirements file.
pub(crate) fn venv(workspace: &Workspace, name: &str, requirements: &Path) -> Result<PathBuf> {
    let pins = std::fs::read_to_string(requirements)
        .with_context(|| format!("reading `{}`", requirements.display()))?;
    let folder = workspace.cache.join(name);
    make(&folder, &pins, |pip| pip.arg("-r").arg(requirements))?;
    Ok(binary(&folder, "python"))
}

/// The spelling checker; PyPI carries its binary.
pub(crate) fn typos(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.cache.join("typos");
    let pin = format!("typos=={}", pins::TYPOS);
    make(&folder, &pin, |pip| pip.args(["--only-binary", ":all:", &pin]))?;
    Ok(binary(&folder, "typos"))
}

/// The Python of an environment with the debugger that the benches drive.
pub(crate) fn debugpy(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.cache.join("debugpy");
    let pin = format!("debugpy=={}", pins::DEBUGPY);
    make(&folder, &pin, |pip| pip.arg(&pin))?;
    Ok(binary(&folder, "python"))
}

fn make(folder: &Path, pins: &str, what: impl Fn(&mut Command) -> &mut Command) -> Result<()> {
    let python = Path::new("python3");
    let found = version(python).ok_or_else(|| Missing("`python3` is not installed".into()))?;
    if numbers(&found).as_slice() < OLDEST.as_slice() {
        return Err(Missing(format!("Python 3.10 or newer is needed; this is {found}")).into());
    }
    // An environment breaks when the Python it was made with goes away.
    let key = format!("{found}\n{pins}");
    ensure(folder, &key, |folder| {
        create(python, folder)?;
        let mut pip = Command::new(binary(folder, "python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
        install(what(&mut pip))?;
        Ok(())
    })
}

fn create(python: &Path, folder: &Path) -> Result<()> {
    let Err(error) = install(Command::new(python).args(["-m", "venv"]).arg(folder)) else {
        return Ok(());
    };
    let text = format!("{error:#}");
    if text.contains("ensurepip") || text.contains("No module named venv") {
        let hint = "hint: on Debian and Ubuntu it comes with `apt install python3-venv`";
        return Err(Missing(format!("Python has no working `venv` module\n{hint}")).into());
    }
    bail!(text)
}
