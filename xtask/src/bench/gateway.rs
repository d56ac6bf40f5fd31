//! What stands between an agent and another MCP server costs: the same tool through us and without us.
//!
//! The floor is the very server that is called, spoken to directly and in the same way: over pipes where an agent
//! starts it, over HTTP where it has an address. So the difference is all that we add, and the goals are differences.

mod crowd;
mod flat;
mod long;
mod trips;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::client::{Server, StdioClient};
use super::http::Listening;
use super::table::Row;
use super::{Bench, Client, Kind, give_up_after};
use crate::workspace::Workspace;

pub(super) const GATEWAY: Bench = Bench {
    name: "gateway",
    about: "other servers' tools: round trips through us and `wrap`, a thousand at once, memory, 50 MB",
    run: Kind::Table { client: Client::Optimised, rows: measure },
};

/// It takes three minutes; a server that does not answer would hold us for ever.
const MEASURE_LIMIT: Duration = Duration::from_secs(15 * 60);

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let ours = workspace.optimised("holdpoint")?;
    let floor = workspace.optimised("floor")?;
    give_up_after(MEASURE_LIMIT)?;
    let far = Far { http: Listening::floor(&Server::new(&floor, &["http"]))?, ours, floor };
    let mut rows = trips::rows(&far)?;
    rows.extend(crowd::rows(&far)?);
    rows.extend(flat::rows(&far)?);
    rows.extend(long::rows(&far)?);
    Ok(rows)
}

/// The servers on the other side of us, and our own binary.
struct Far {
    ours: PathBuf,
    floor: PathBuf,
    http: Listening,
}

impl Far {
    /// Ours, run as `command`, with other servers of these names: `s…` is started, `h…` listens already.
    fn behind(&self, command: &str, names: &[&str]) -> Result<Server> {
        let mut arguments = vec![command.to_owned(), "--port".to_owned(), "0".to_owned()];
        for name in names {
            let value = match name.starts_with('s') {
                true => format!("{} stdio", text(&self.floor)?),
                false => format!("http://127.0.0.1:{}/mcp", self.http.port),
            };
            arguments.extend(["--mcp-client".to_owned(), format!("{name}:{value}")]);
            // So that they are connected before the first call.
            arguments.extend(["--expose".to_owned(), (*name).to_owned()]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Ok(Server::new(&self.ours, &arguments))
    }

    /// The server itself, without us.
    fn direct(&self) -> Server {
        Server::new(&self.floor, &["stdio"])
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("`{}` is no text", path.display()))
}

/// A client over pipes that has said who it is.
fn ready(server: &Server) -> Result<StdioClient> {
    let mut client = StdioClient::over_pipes(server)?;
    client.initialize()?;
    client.settle()?;
    Ok(client)
}
