//! VS Code as a server: the editor itself, with its debuggers, for a browser. From npm, with parts in C++ that
//! are compiled here; their optimisation takes twenty minutes and nobody needs it, so there is none.

use std::env::{join_paths, split_paths, var_os};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::node::{npm_with_scripts, pinned_node};
use super::system::kerberos_headers;
use super::{ensure, install_within, version};
use crate::pins;
use crate::workspace::Workspace;

/// Two and a half minutes on two cores that others use as well; one core alone may need ten times that.
const LIMIT: Duration = Duration::from_secs(45 * 60);

/// The Node it runs with, and the file to run.
pub(crate) struct CodeServer {
    pub(crate) node: PathBuf,
    pub(crate) entry: PathBuf,
}

pub(crate) fn code_server(workspace: &Workspace) -> Result<CodeServer> {
    let node = pinned_node(workspace)?;
    let node = std::path::absolute(&node)?;
    let folder = workspace.cache.join("code-server");
    let entry = folder.join("node_modules/code-server/out/node/entry.js");
    let pin = format!("code-server@{} node@{}", pins::CODE_SERVER, pins::NODE);
    ensure(&folder, &pin, |folder| {
        kerberos_headers(workspace, "VS Code")?;
        fill(folder, &node)?;
        if !entry.is_file() {
            bail!("npm installed no `{}`", entry.display());
        }
        Ok(())
    })?;
    Ok(CodeServer { node, entry })
}

fn fill(folder: &Path, node: &Path) -> Result<()> {
    std::fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    let bin = node.parent().context("Node has no folder")?;
    let home = bin.parent().context("Node has no home")?;
    let own = var_os("PATH").unwrap_or_default();
    let path = join_paths(std::iter::once(bin.to_owned()).chain(split_paths(&own)))?;
    version(Path::new("npm")).context("`npm` is not installed")?;
    let mut npm = npm_with_scripts(folder);
    npm.args(["install", "--no-save", &format!("code-server@{}", pins::CODE_SERVER)])
        .env("PATH", path)
        // Its headers are beside it; elsewhere they would be downloaded.
        .env("npm_config_nodedir", home)
        .env("CFLAGS", "-O0")
        .env("CXXFLAGS", "-O0");
    install_within(&mut npm, LIMIT)?;
    Ok(())
}
