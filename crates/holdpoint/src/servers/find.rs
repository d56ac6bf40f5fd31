//! The server that a command means: the one that was named, the one of this folder, or a new one.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use holdpoint_engine::limits;

use super::{Server, choose, project, running, start};
use crate::{home, http::serving::port_file};

pub(crate) struct Destination {
    pub(crate) url: String,
    /// Where the server takes relative paths from, when that is known.
    pub(crate) folder: Option<PathBuf>,
    /// Whether the user named it, rather than that it was found.
    pub(crate) is_named: bool,
}

/// The given server, else the one that runs for this folder, else a new one.
pub(crate) async fn find(
    url: Option<&str>,
    here: &Path,
    idle: Duration,
) -> anyhow::Result<Destination> {
    if let Some(url) = url {
        let url = url.trim_end_matches('/').trim_end_matches("/mcp").to_owned();
        return Ok(Destination { url, folder: None, is_named: true });
    }
    let mut running = running();
    // One that was stopped, or hangs, is entered still.
    running.retain(Server::answers);
    let known = choose(&running, here, &project(here)).cloned();
    let server = match (known, unentered(&running)) {
        (Some(server), _) => server,
        (None, Some(url)) => return Ok(Destination { url, folder: None, is_named: false }),
        (None, None) => start::find_or_start(here, idle).await?,
    };
    Ok(Destination { url: server.url(), folder: Some(server.folder), is_named: false })
}

/// A server that wrote its port and did not enter itself: an older one, or one that could not.
fn unentered(running: &[Server]) -> Option<String> {
    let port = port_file::read(&home::port_file()?)?;
    let is_entered = running.iter().any(|server| server.port == port);
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let answers = || std::net::TcpStream::connect_timeout(&address, limits::HEALTH_ANSWER).is_ok();
    (!is_entered && answers()).then(|| format!("http://127.0.0.1:{port}"))
}
