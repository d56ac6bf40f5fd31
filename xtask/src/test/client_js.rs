//! The JavaScript client's own tests, against the server that was built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Site, Step, sdk_js, show};
use crate::install::{chromium, find_node};
use crate::pins;
use crate::summary::Outcome;

pub(super) const CLIENT_JS: Step =
    Step { name: "client-js", about: "clients/js against the server", run: client_js, again: true };

const LIMIT: Duration = Duration::from_secs(10 * 60);

/// It has no dependencies, so it runs where it stands; a page of it runs in a real browser.
fn client_js(site: &Site) -> Result<Outcome> {
    let node = find_node(site.workspace, pins::NODE_MAJOR_FOR_SDKS)?;
    let folder = site.workspace.root.join("clients/js");
    let mut command = Command::new(node);
    command
        .args(["--test", "--test-reporter=spec"])
        .args(tests(&folder.join("test"))?)
        .current_dir(&folder)
        .env("HOLDPOINT_BIN", site.holdpoint()?)
        .env("HOLDPOINT_CHROMIUM", chromium(site.workspace, "client-js")?);
    let finished = show(&mut command, LIMIT)?;
    let totals = sdk_js::totals(&finished.stdout);
    Ok(Outcome::of_tests(&finished, totals, "node --test clients/js"))
}

/// What is called a test, wherever it stands below the folder: beside them are commands, which Node would run, too.
fn tests(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading `{}`", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(tests(&path)?);
        } else if path.to_string_lossy().ends_with(".test.mjs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
