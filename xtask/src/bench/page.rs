//! The page, measured in a real browser: how long a first view takes with much behind it, and what it costs the tab,
//! the server and a program under tracepoints while events arrive.
//!
//! The floor is a page that holds nothing in the same browser: machines have pauses of their own.

mod filled;
mod frames;
mod live;
mod points;
mod shown;
mod views;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use self::filled::Filled;
use super::client::{Home, Server};
use super::parts::Parts;
use super::table::Row;
use super::{Bench, Client, Kind, give_up_after};
use crate::chromium::Chromium;
use crate::install::{chromium, debugpy};
use crate::workspace::Workspace;

pub(super) const PAGE: Bench = Bench {
    name: "page",
    about: "first views, a frame's script time, memory over ten minutes, CPU, ten pages beside a tracepoint",
    run: Kind::Chosen { client: Client::Optimised, rows: measure },
};

/// It takes 17 minutes, ten of them for the memory.
const MEASURE_LIMIT: Duration = Duration::from_secs(40 * 60);

/// Its parts, in their order.
const PARTS: &[&str] = &["views", "shown", "frames", "minutes", "points"];

/// What everything here is measured with.
struct Stage {
    ours: PathBuf,
    python: PathBuf,
    browser: PathBuf,
    /// Another MCP server.
    fixture: PathBuf,
    /// For a short while each.
    is_quick: bool,
}

fn measure(workspace: &Workspace, options: &[String]) -> Result<Vec<Row>> {
    let parts = Parts::chosen(options, PARTS)?;
    let stage = Stage {
        ours: workspace.optimised("holdpoint")?,
        python: debugpy(workspace)?,
        browser: chromium(workspace, "bench page")?,
        fixture: workspace.root.join("fixtures/mcp/server.py"),
        is_quick: parts.is_quick,
    };
    give_up_after(MEASURE_LIMIT)?;
    let mut rows = Vec::new();
    if PARTS.iter().any(|it| *it != "points" && parts.has(it)) {
        let mut browser = Chromium::start(&stage.browser)?;
        let filled = Filled::start(&stage)?;
        let measures: [(&str, Measured); 4] = [
            ("views", views::rows),
            ("shown", shown::rows),
            ("frames", frames::rows),
            ("minutes", live::rows),
        ];
        for (part, measured) in measures.into_iter().filter(|it| parts.has(it.0)) {
            rows.extend(measured(&mut browser, &filled).context(part)?);
        }
    }
    if parts.has("points") {
        rows.extend(points::rows(&stage).context("points")?);
    }
    Ok(rows)
}

type Measured = fn(&mut Chromium, &Filled<'_>) -> Result<Vec<Row>>;

impl Stage {
    fn server(&self, command: &str) -> Server {
        Server::new(&self.ours, &[command, "--port", "0"])
    }

    /// An address that signs one browser in.
    fn entrance(&self, home: &Home) -> Result<String> {
        let mut command = std::process::Command::new(&self.ours);
        command.args(["open", "--print"]).env("HOLDPOINT_HOME", &home.0).env("HOME", &home.0);
        let said = command.output().context("holdpoint open")?;
        let text = String::from_utf8(said.stdout)?;
        let address = text.split_whitespace().find(|word| word.starts_with("http://"));
        address.map(str::to_owned).with_context(|| format!("no address in `{text}`"))
    }
}
