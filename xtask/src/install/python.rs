//! Python virtual environments.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Missing, binary, ensure, install, numbers, version};
use crate::pins;
use crate::workspace::Workspace;

/// The oldest Python that the pinned SDKs accept.
const OLDEST: [u32; 2] = [3, 10];

const DEFAULT: &str = "python3";

/// Those of Python 3 that the compiled recorder serves, and that have `sys.monitoring`.
const RECORDED_MINORS: std::ops::RangeInclusive<u32> = 12..=14;

/// The Python of a private environment made from a requirements file.
pub(crate) fn venv(workspace: &Workspace, name: &str, requirements: &Path) -> Result<PathBuf> {
    venv_of(workspace, name, requirements, PathBuf::from(DEFAULT))
}

/// The same of another Python than the machine's own.
pub(crate) fn venv_of(
    workspace: &Workspace,
    name: &str,
    requirements: &Path,
    python: PathBuf,
) -> Result<PathBuf> {
    let pins = std::fs::read_to_string(requirements)
        .with_context(|| format!("reading `{}`", requirements.display()))?;
    let folder = workspace.cache.join(name);
    make_of(&python, &folder, &pins, |pip| pip.arg("-r").arg(requirements))?;
    Ok(binary(&folder, "python"))
}

/// The newest Python whose lines are recorded: on the path by its own name, or of pyenv.
pub(crate) fn newest_python() -> Result<PathBuf> {
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".pyenv")));
    let mut found: Vec<(Vec<u32>, PathBuf)> = Vec::new();
    let kept = home.and_then(|it| std::fs::read_dir(it.join("versions")).ok());
    for folder in kept.into_iter().flatten().flatten().map(|it| it.path()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push((numbers(&name), binary(&folder, "python")));
    }
    for minor in RECORDED_MINORS {
        found.push((vec![3, minor], PathBuf::from(format!("python3.{minor}"))));
    }
    found.push((Vec::new(), PathBuf::from(DEFAULT)));
    // The name of a folder is a promise; what the program says counts.
    let mut able: Vec<(Vec<u32>, PathBuf)> = Vec::new();
    for (_, python) in found {
        let is_one = |it: &[u32]| matches!(it, [3, minor, ..] if RECORDED_MINORS.contains(minor));
        if let Some(is) = version(&python).map(|it| numbers(&it)).filter(|it| is_one(it)) {
            able.push((is, python));
        }
    }
    able.sort();
    let newest = able.pop().map(|(_, python)| python);
    newest.ok_or_else(|| Missing("Python 3.12 or newer is needed: it records lines".into()).into())
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

/// The same of the newest Python here that has `sys.monitoring`.
pub(crate) fn monitoring_debugpy(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.cache.join("debugpy-monitoring");
    let pin = format!("debugpy=={}", pins::DEBUGPY);
    make_of(&newest_python()?, &folder, &pin, |pip| pip.arg(&pin))?;
    Ok(binary(&folder, "python"))
}

fn make(folder: &Path, pins: &str, what: impl Fn(&mut Command) -> &mut Command) -> Result<()> {
    make_of(Path::new(DEFAULT), folder, pins, what)
}

fn make_of(
    python: &Path,
    folder: &Path,
    pins: &str,
    what: impl Fn(&mut Command) -> &mut Command,
) -> Result<()> {
    let found = version(python)
        .ok_or_else(|| Missing(format!("`{}` is not installed", python.display())))?;
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
