//! A Python that has `sys.monitoring`, for machines whose own are all older: tests that need one find it there.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Missing, ensure, install, python::newest_python, version};
use crate::workspace::Workspace;

const SCRIPT: &str = include_str!("new_python.sh");

/// The folder below `target/xtask`; `crates/testkit` looks there.
const NAME: &str = "python-new";

/// Does nothing where there is one, or where nobody can fetch one: then those tests say that they have none.
pub(super) fn new_python(workspace: &Workspace) -> Result<()> {
    match newest_python() {
        Err(error) if error.is::<Missing>() => {}
        Ok(_) => return Ok(()),
        Err(error) => return Err(error),
    }
    let is_debian = ["apt-get", "dpkg"].iter().all(|it| version(Path::new(it)).is_some());
    if !is_debian {
        eprintln!("  no Python of 3.12 or later, and no `apt-get` to fetch one by");
        return Ok(());
    }
    ensure(&workspace.cache.join(NAME), SCRIPT, |folder| {
        install(Command::new("sh").args(["-c", SCRIPT, "sh"]).arg(folder)).map(drop)
    })
}
