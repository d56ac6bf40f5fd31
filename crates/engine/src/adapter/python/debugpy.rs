//! The debugger inside the program: the interpreter's own debugpy, or one we provide in a folder of ours,
//! pinned, without touching the user's environment.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::interpreter::Interpreter;
use crate::{
    adapter::{
        Around,
        provided::{self, write_once},
    },
    failure::{Code, Failure},
    process::command,
};

/// The version we test with.
const PINNED: &str = "1.8.22";
/// The oldest that dials us and brings its children along.
const OLDEST: (u32, u32) = (1, 8);
/// A download on a slow line.
const INSTALL: Duration = Duration::from_secs(180);

/// What Python runs: it sees to tracebacks, then runs the debugger.
const BOOT: &str = include_str!("boot.py");
/// The debugger leaves files alone whose names end so.
const BOOT_NAME: &str = "holdpoint_debugpy_launcher.py";

pub(super) enum Debugger {
    /// The interpreter's own.
    Own,
    /// Ours, in this folder.
    Provided(PathBuf),
}

impl Debugger {
    /// With it what had to be done first, if anything: whoever waited is to know for what.
    pub(super) async fn find(
        interpreter: &Interpreter,
        around: &Around,
    ) -> Result<(Debugger, Option<String>), Failure> {
        if interpreter.facts.debugpy.as_deref().is_some_and(is_recent) {
            return Ok((Debugger::Own, None));
        }
        if let Some(found) = installed(interpreter, &around.home) {
            return Ok((Debugger::Provided(found), None));
        }
        let begun = Instant::now();
        let home = provided::writable(&around.home);
        let home = home.map_err(|error| failed(interpreter, &error.to_string()))?;
        let folder = folder(interpreter, &home);
        install(interpreter, &folder, around).await?;
        let told = format!(
            "debugpy {PINNED} was installed into {} for it, which took {:.1} s, this once",
            folder.display(),
            begun.elapsed().as_secs_f64()
        );
        Ok((Debugger::Provided(folder.join("debugpy")), Some(told)))
    }

    /// The script to run, and its first argument.
    pub(super) fn words(&self, home: &Path) -> Result<[OsString; 2], Failure> {
        let bring = |home: &Path| {
            let boot = home.join("python").join(BOOT_NAME);
            write_once(&boot, BOOT).map(|()| boot)
        };
        let boot = provided::below(home, bring).map_err(|error| {
            let text = format!("`{BOOT_NAME}` cannot be written to `{}`: {error}", home.display());
            Failure::new(Code::LaunchFailed, text)
        })?;
        Ok(match self {
            Debugger::Own => [boot.into(), OsString::new()],
            Debugger::Provided(folder) => [boot.into(), folder.into()],
        })
    }
}

fn is_recent(version: &str) -> bool {
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= OLDEST
}

/// Where it was installed before.
fn installed(interpreter: &Interpreter, home: &Path) -> Option<PathBuf> {
    let is_there = |folder: &PathBuf| folder.join("__main__.py").is_file();
    let at = |home: &Path| folder(interpreter, home).join("debugpy");
    let spare = || provided::spare().ok().map(|spare| at(&spare));
    Some(at(home)).filter(is_there).or_else(|| spare().filter(is_there))
}

/// One per minor version: parts of it are compiled.
fn folder(interpreter: &Interpreter, home: &Path) -> PathBuf {
    let (major, minor, _) = interpreter.facts.version;
    home.join("debugpy").join(format!("{PINNED}-py{major}.{minor}"))
}

async fn install(interpreter: &Interpreter, folder: &Path, around: &Around) -> Result<(), Failure> {
    let text = format!(
        "installing debugpy {PINNED} for {} into {}",
        interpreter.path.display(),
        folder.display()
    );
    tracing::info!("{text}");
    // Nobody may be listening; that is no reason not to install.
    around.progress.try_send(text).unwrap_or_default();
    // Beside its place first: an install that breaks off leaves nothing half done.
    let fresh = folder.with_extension(format!("{}.new", std::process::id()));
    let ran = command(&interpreter.path)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--target",
        ])
        .arg(&fresh)
        .arg(format!("debugpy=={PINNED}"))
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(INSTALL, ran)
        .await
        .map_err(|_| failed(interpreter, "pip took longer than three minutes"))?
        .map_err(|error| failed(interpreter, &error.to_string()))?;
    if !output.status.success() {
        return Err(failed(interpreter, String::from_utf8_lossy(&output.stderr).trim()));
    }
    match std::fs::rename(&fresh, folder) {
        Ok(()) => Ok(()),
        // Another server was faster; its copy is as good.
        Err(_) if folder.join("debugpy").is_dir() => {
            std::fs::remove_dir_all(&fresh).map_err(|error| failed(interpreter, &error.to_string()))
        }
        Err(error) => Err(failed(interpreter, &error.to_string())),
    }
}

fn failed(interpreter: &Interpreter, why: &str) -> Failure {
    let path = interpreter.path.display();
    let why = crate::budget::cut(why, 600);
    Failure::new(Code::LaunchFailed, format!("no debugger for `{path}`: {why}"))
        .hint(format!("install it yourself: {path} -m pip install debugpy"))
}
