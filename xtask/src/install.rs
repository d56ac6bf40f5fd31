//! Installs what the checks need, under `target/xtask/`, once per pin.
//!
//! A folder is complete when its stamp says which pins it was made from; the stamp is written
//! last, so an interrupted install starts again. Two runs at once wait for each other.
//! Nothing here names a registry: pip and npm know the machine's own.

mod delve;
mod editor;
mod languages;
mod new_python;
mod node;
mod packages;
mod python;
mod system;

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

pub(crate) use self::delve::{delve, go_modules};
pub(crate) use self::editor::code_server;
pub(crate) use self::languages::languages;
pub(crate) use self::node::{find_node, node_modules, runners};
pub(crate) use self::packages::packages;
pub(crate) use self::python::{debugpy, monitoring_debugpy, newest_python, typos, venv, venv_of};
pub(crate) use self::system::chromium;
use crate::Command as Subcommand;
use crate::process::{Finished, Show, run};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Subcommand =
    Subcommand { name: "install", help: HELP, run: |workspace, _| only_install(workspace) };

const HELP: &str = "\
Install what the Rust tests need under target/xtask, and run nothing

Usage: cargo xtask install

`cargo xtask test` does it by itself; this is for whoever runs `cargo test` alone.
";

fn only_install(workspace: &Workspace) -> Result<ExitCode> {
    packages(workspace)?;
    languages(workspace)?;
    delve(workspace)?;
    go_modules(workspace)?;
    Ok(ExitCode::SUCCESS)
}

/// Slow networks take minutes for a hundred packages.
const INSTALL_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Asking a program for its version.
const VERSION_LIMIT: Duration = Duration::from_secs(60);

/// Before the second and the third attempt: most network failures are over by then.
const BACK_OFF: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(15)];

/// Something only the machine's owner can install; the step that needs it is skipped.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Makes sure that `folder` holds what `pins` asks for; `fill` installs into the empty folder.
fn ensure(folder: &Path, pins: &str, fill: impl Fn(&Path) -> Result<()>) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lock = File::create(folder.with_extension("lock"))
        .with_context(|| format!("creating the lock of `{}`", folder.display()))?;
    // Released when the file is closed, also by a crash.
    lock.lock().with_context(|| format!("waiting for another install of `{name}`"))?;
    let stamp = folder.join(".xtask-stamp");
    if fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == pins) {
        return Ok(());
    }
    eprintln!("  installing {name} into target/xtask …");
    let start = Instant::now();
    with_retries(|| {
        empty(folder)?;
        fill(folder)
    })?;
    fs::write(&stamp, pins).with_context(|| format!("writing `{}`", stamp.display()))?;
    eprintln!("  installed {name} in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn with_retries(attempt: impl Fn() -> Result<()>) -> Result<()> {
    for pause in BACK_OFF {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(error) if error.is::<Missing>() => return Err(error),
            Err(error) => eprintln!("  {error:#}\n  trying again in {} s", pause.as_secs()),
        }
        thread::sleep(pause);
    }
    attempt()
}

/// Makes a folder, or makes it empty.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("removing `{}`", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("creating `{}`", folder.display()))
}

/// Runs one install command; what it says is shown only when it fails.
fn install(command: &mut Command) -> Result<Finished> {
    install_within(command, INSTALL_LIMIT)
}

fn install_within(command: &mut Command, limit: Duration) -> Result<Finished> {
    let finished = run(command, limit, Show::Nothing)?;
    if !finished.success() {
        bail!(
            "`{}` failed ({})\n{}",
            command_line(command),
            finished.how_it_ended(),
            finished.last_words()
        );
    }
    Ok(finished)
}

/// The version a program prints, or nothing when there is no such program.
fn version(program: &Path) -> Option<String> {
    let finished =
        run(Command::new(program).arg("--version"), VERSION_LIMIT, Show::Nothing).ok()?;
    finished.success().then(|| format!("{}{}", finished.stdout, finished.stderr).trim().to_owned())
}

/// Copies files and folders, but nothing that was installed or generated beside them.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("creating `{}`", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("reading `{}`", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "node_modules" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            fs::copy(&source, &target)
                .with_context(|| format!("copying `{}`", source.display()))?;
        }
    }
    Ok(())
}

/// A command as one would type it: `cargo`, wherever it is installed.
pub(crate) fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or_else(|| command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The numbers of a version: 20, 20, 2 of `v20.20.2`.
fn numbers(version: &str) -> Vec<u32> {
    version
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map_while(|part| part.parse().ok())
        .collect()
}

/// A program beside those that a folder's installer put into it.
fn binary(folder: &Path, name: &str) -> PathBuf {
    folder.join("bin").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn an_install_happens_once_per_pin() {
        let scratch = scratch("once");
        let folder = scratch.join("thing");
        let installs = std::cell::Cell::new(0);
        let fill = |folder: &Path| {
            installs.set(installs.get() + 1);
            assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "the folder starts empty");
            fs::write(folder.join("file"), "x").context("writing")
        };
        for pins in ["a 1", "a 1", "a 2", "a 2"] {
            ensure(&folder, pins, fill).unwrap();
        }
        assert_eq!(installs.get(), 2);
        fs::remove_dir_all(scratch).unwrap();
    }

    #[test]
    fn what_is_missing_is_not_tried_again() {
        let scratch = scratch("missing");
        let tries = std::cell::Cell::new(0);
        let error = ensure(&scratch.join("thing"), "a", |_| {
            tries.set(tries.get() + 1);
            Err(Missing("no `python3`".into()).into())
        });
        assert!(error.unwrap_err().is::<Missing>());
        assert_eq!(tries.get(), 1);
        fs::remove_dir_all(scratch).unwrap();
    }

    #[test]
    fn versions_become_numbers() {
        assert_eq!(numbers("v20.20.2"), [20, 20, 2]);
        assert_eq!(numbers("Python 3.11.7"), [3, 11, 7]);
        assert!(numbers("unknown").is_empty());
    }
}
