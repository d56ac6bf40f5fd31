//! The debugger of Go programs, built by the machine's Go: the one that a system packages is older than its Go.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Missing, ensure, install, version};
use crate::pins::DELVE;
use crate::workspace::Workspace;

/// Modules whose code nobody here wrote, and is debugged: copied before anything is changed in them.
pub(crate) fn go_modules(workspace: &Workspace) -> Result<()> {
    let pins = std::fs::read_to_string(workspace.root.join("tests/packages/go/modules.txt"))?;
    ensure(&workspace.cache.join("packages-go"), &pins, |folder| {
        // In a cache of its own, without the rights that Go takes from it: it is to be copied and removed.
        let mut command = Command::new("go");
        command.args(["mod", "download"]).args(pins.lines());
        command.env("GOMODCACHE", folder).env("GOFLAGS", "-modcacherw").current_dir(folder);
        install(&mut command)?;
        Ok(())
    })
}

/// The folder that has `dlv` in it.
pub(crate) fn delve(workspace: &Workspace) -> Result<PathBuf> {
    // `go --version` is no command, but says so on its stderr.
    let asked = Command::new("go").arg("version").output();
    let Ok(go) = asked else {
        return Err(
            Missing("no Go: its programs wait for it; install Go 1.25 or newer".into()).into()
        );
    };
    let pins = format!("{DELVE} by {}", String::from_utf8_lossy(&go.stdout).trim());
    let folder = workspace.cache.join("delve");
    ensure(&folder, &pins, |folder| {
        let package = format!("github.com/go-delve/delve/cmd/dlv@v{DELVE}");
        let mut command = Command::new("go");
        command.args(["install", &package]).env("GOBIN", folder).env_remove("GOFLAGS");
        install(&mut command)?;
        Ok(())
    })?;
    let built = folder.join("dlv");
    if version(&built).is_none() && !built.is_file() {
        anyhow::bail!("`{}` was not built", built.display());
    }
    Ok(folder)
}
