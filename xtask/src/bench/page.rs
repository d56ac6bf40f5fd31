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

use anyhow::{Context, Result, bail};

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
    let (parts, is_quick) = chosen(options)?;
    let stage = Stage {
        ours: workspace.optimised("holdpoint")?,
        python: debugpy(workspace)?,
        browser: chromium(workspace, "bench page")?,
        fixture: workspace.root.join("fixtures/mcp/server.py"),
        is_quick,
    };
    give_up_after(MEASURE_LIMIT)?;
    let is_chosen = |part: &str| parts.iter().any(|it| it == part);
    let mut rows = Vec::new();
    if parts.iter().any(|it| it != "points") {
        let mut browser = Chromium::start(&stage.browser)?;
        let filled = Filled::start(&stage)?;
        let measures: [(&str, Measured); 4] = [
            ("views", views::rows),
            ("shown", shown::rows),
            ("frames", frames::rows),
            ("minutes", live::rows),
        ];
        for (part, measured) in measures.into_iter().filter(|it| is_chosen(it.0)) {
            rows.extend(measured(&mut browser, &filled).context(part)?);
        }
    }
    if is_chosen("points") {
        rows.extend(points::rows(&stage).context("points")?);
    }
    Ok(rows)
}

type Measured = fn(&mut Chromium, &Filled<'_>) -> Result<Vec<Row>>;

/// The parts that are asked for, all when none is; and whether they are to be short.
fn chosen(options: &[String]) -> Result<(Vec<String>, bool)> {
    let (mut parts, mut is_quick) = (Vec::new(), false);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.as_str() {
            "--quick" => is_quick = true,
            "--only" => {
                let names = options.next().context("`--only` names no part")?;
                parts.extend(names.split(',').map(str::to_owned));
            }
            other => bail!("unexpected argument `{other}`"),
        }
    }
    if let Some(unknown) = parts.iter().find(|it| !PARTS.contains(&it.as_str())) {
        bail!("no part `{unknown}`\nhint: the parts are {}", PARTS.join(", "));
    }
    if parts.is_empty() {
        parts = PARTS.iter().map(|it| (*it).to_owned()).collect();
    }
    Ok((parts, is_quick))
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
