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
use super::table::Row;
use super::{Bench, Client, Kind, give_up_after};
use crate::chromium::Chromium;
use crate::install::{chromium, debugpy};
use crate::workspace::Workspace;

pub(super) const PAGE: Bench = Bench {
    name: "page",
    about: "first views, a frame's script time, memory over ten minutes, CPU, ten pages beside a tracepoint",
    run: Kind::Table { client: Client::Optimised, rows: measure },
};

/// It takes 17 minutes, ten of them for the memory.
const MEASURE_LIMIT: Duration = Duration::from_secs(40 * 60);

/// What everything here is measured with.
struct Stage {
    ours: PathBuf,
    python: PathBuf,
    browser: PathBuf,
}

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let stage = Stage {
        ours: workspace.optimised("holdpoint")?,
        python: debugpy(workspace)?,
        browser: chromium(workspace, "bench page")?,
    };
    give_up_after(MEASURE_LIMIT)?;
    let mut rows = {
        let mut browser = Chromium::start(&stage.browser)?;
        let filled = Filled::start(&stage)?;
        let mut rows = views::rows(&mut browser, &filled).context("first views")?;
        rows.extend(shown::rows(&mut browser, &filled).context("shown")?);
        rows.extend(frames::rows(&mut browser, &filled).context("frames")?);
        rows.extend(live::rows(&mut browser, &filled).context("ten minutes")?);
        rows
    };
    rows.extend(points::rows(&stage).context("ten pages")?);
    Ok(rows)
}

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
