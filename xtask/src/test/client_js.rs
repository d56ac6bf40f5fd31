//! The JavaScript client's own tests, against the server that was built.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Site, Step, sdk_js, show};
use crate::install::{chromium, find_node};
use crate::pins;
use crate::summary::Outcome;

pub(super) const CLIENT_JS: Step =
    Step { name: "client-js", about: "clients/js against the server", run: client_js };

const LIMIT: Duration = Duration::from_secs(10 * 60);

/// It has no dependencies, so it runs where it stands; a page of it runs in a real browser.
fn client_js(site: &Site) -> Result<Outcome> {
    let node = find_node(site.workspace, pins::NODE_MAJOR_FOR_SDKS)?;
    let mut command = Command::new(node);
    command
        .args(["--test", "--test-reporter=spec", "test/"])
        .current_dir(site.workspace.root.join("clients/js"))
        .env("HOLDPOINT_BIN", site.holdpoint()?)
        .env("HOLDPOINT_CHROMIUM", chromium(site.workspace, "client-js")?);
    let finished = show(&mut command, LIMIT)?;
    let totals = sdk_js::totals(&finished.stdout);
    Ok(Outcome::of_tests(&finished, totals, "node --test clients/js"))
}
