//! Getting a debugger: by its registry's own program, whose progress is shown as it comes.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, bail};
use holdpoint_engine::{
    adapter::{Adapter, debugger},
    language::{DebuggerProgram, Install},
};

use super::version;
use crate::out;

/// Seconds for which the system's packages wait for whoever else installs some.
const LOCK_S: u32 = 120;

pub(super) fn run(language: &'static dyn Adapter, home: &Path) -> anyhow::Result<ExitCode> {
    let name = language.language();
    let Some(wanted) = language.debugger() else {
        let step = language.wants().map(|it| it.install).unwrap_or("nothing is to be done");
        out::line(format!(
            "{name}: its debugger is brought along at the first launch\nnext: {step}, if it is not here"
        ));
        return Ok(ExitCode::SUCCESS);
    };
    let folder = debugger::folder(home, name);
    for mut command in commands(&wanted, &folder)? {
        carry_out(&mut command)?;
    }
    let Some(path) = debugger::seek(name, &wanted, home) else {
        let names = wanted.programs.join("`, `");
        bail!(
            "it was installed, and none of `{names}` is to be found\nhint: look at what was printed above"
        );
    };
    let version = version(&path, wanted.version).unwrap_or_default();
    out::line(format!(
        "{name}: {} {version} at {}\nnext: `debug_launch` a program of {}",
        wanted.name,
        path.display(),
        language.called()
    ));
    Ok(ExitCode::SUCCESS)
}

/// What is run, in order.
fn commands(wanted: &DebuggerProgram, folder: &Path) -> anyhow::Result<Vec<Command>> {
    Ok(match wanted.install {
        Install::Apt(packages) => {
            if !rustix::process::geteuid().is_root() {
                bail!(
                    "packages of the system are installed by root\nhint: sudo {}",
                    wanted.install.command()
                );
            }
            let mut install = apt();
            install.args(["install", "-y", "--no-install-recommends"]).args(packages);
            let mut update = apt();
            update.arg("update");
            vec![update, install]
        }
        Install::Go(package) => {
            let bin = folder.join("bin");
            std::fs::create_dir_all(&bin)
                .with_context(|| format!("cannot make `{}`", bin.display()))?;
            let mut go = Command::new("go");
            // It names each package that it builds: that is the progress.
            go.args(["install", "-v", package]).env("GOBIN", bin).env_remove("GOFLAGS");
            vec![go]
        }
        Install::Npm(packages) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make `{}`", folder.display()))?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(folder).args(packages);
            vec![npm]
        }
        Install::Provided => Vec::new(),
        Install::ByHand(step) => bail!("no registry has `{}`\nhint: {step}", wanted.name),
    })
}

fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.arg("-o").arg(format!("DPkg::Lock::Timeout={LOCK_S}"));
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

/// Shows what is run and what it says.
fn carry_out(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let words: Vec<String> =
        command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
    out::line(format!("$ {program} {}", words.join(" ")));
    let status = match command.stdin(std::process::Stdio::null()).status() {
        Ok(status) => status,
        Err(error) => {
            bail!("`{program}` cannot be started: {error}\nhint: install `{program}` first")
        }
    };
    if !status.success() {
        bail!("`{program}` failed with {status}\nhint: what it printed above says why");
    }
    Ok(())
}
