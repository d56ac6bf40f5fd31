//! The extension's own tests: its jobs, lock, events and scripts, against debuggers that are played.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Site, Step, sdk_js, show};
use crate::install::find_node;
use crate::pins;
use crate::summary::Outcome;

pub(super) const EXTENSION: Step = Step {
    name: "extension",
    about: "editors/vscode without an editor",
    run: extension,
    again: true,
};

const LIMIT: Duration = Duration::from_secs(5 * 60);

/// It has no dependencies, so it runs where it stands.
fn extension(site: &Site) -> Result<Outcome> {
    let node = find_node(site.workspace, pins::NODE_MAJOR_FOR_SDKS)?;
    let mut command = Command::new(node);
    command
        .args(["--test", "--test-reporter=spec", "test/"])
        .current_dir(site.workspace.root.join("editors/vscode"));
    let finished = show(&mut command, LIMIT)?;
    let totals = sdk_js::totals(&finished.stdout);
    Ok(Outcome::of_tests(&finished, totals, "node --test editors/vscode"))
}
