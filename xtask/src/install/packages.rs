//! Real packages for the tests: some with their own test suites, whose code nobody here wrote and is debugged;
//! the picklers, whose output is read.
//!
//! The tests look for them in these places, and copy them before they change anything
//! (`crates/testkit/src/packages.rs`).

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{ensure, install, new_python::new_python, node_modules, runners, venv};
use crate::workspace::Workspace;

/// Unpacks what pip downloaded; archives from outside may hold anything, so only as plain data.
const UNPACK: &str = "import sys, tarfile
for name in sys.argv[2:]:
    with tarfile.open(name) as archive:
        archive.extractall(sys.argv[1], filter='data')
";

pub(crate) fn packages(workspace: &Workspace) -> Result<()> {
    let pins = workspace.root.join("tests").join("packages");
    let python = venv(workspace, "packages-python", &pins.join("python/requirements.txt"))?;
    sources(workspace, &python, &pins.join("python/sources.txt"))?;
    venv(workspace, "packages-picklers", &pins.join("picklers/requirements.txt"))?;
    // npm's archives are what it installs.
    node_modules(workspace, "packages-node", &pins.join("node"))?;
    runners(workspace, "packages-runners", &pins.join("runners"))?;
    node_modules(workspace, "servers-node", &pins.join("servers"))?;
    node_modules(workspace, "packages-page", &pins.join("page"))?;
    venv(workspace, "servers-python", &pins.join("servers/requirements.txt"))?;
    new_python(workspace)?;
    Ok(())
}

/// The source archives that a requirements file names, unpacked.
fn sources(workspace: &Workspace, python: &Path, requirements: &Path) -> Result<()> {
    let pins = std::fs::read_to_string(requirements)?;
    ensure(&workspace.cache.join("packages-python-sources"), &pins, |folder| {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]);
        pip.args(["--no-deps", "--no-binary", ":all:", "--require-hashes", "--dest"]);
        install(pip.arg(folder).arg("-r").arg(requirements))?;
        let mut archives = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            archives.push(entry?.path());
        }
        install(Command::new(python).args(["-c", UNPACK]).arg(folder).args(archives))?;
        Ok(())
    })
}
