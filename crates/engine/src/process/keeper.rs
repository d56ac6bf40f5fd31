//! A process that keeps a connection open beyond our own end, if we are killed, and closes it in good order.

use std::{os::fd::OwnedFd, path::Path, process::Stdio};

use tokio::process::{Child, ChildStdin};

/// Dropped when the connection is over; its process ends with that.
pub struct Keeper {
    _process: Child,
    _until: Option<ChildStdin>,
}

impl Keeper {
    /// `binary` is our own. A connection without a keeper is none the worse until we are killed.
    pub fn start(binary: &Path, connection: OwnedFd) -> Option<Keeper> {
        let mut command = super::command(binary);
        command.arg("leave").stdin(Stdio::piped()).stdout(connection).stderr(Stdio::null());
        // A terminal's Ctrl-C is for us alone.
        command.process_group(0);
        match command.spawn() {
            Ok(mut process) => {
                let until = process.stdin.take();
                Some(Keeper { _process: process, _until: until })
            }
            Err(error) => {
                tracing::debug!(%error, "a connection is not kept beyond our end");
                None
            }
        }
    }
}
