//! The port, written where clients look for it, and taken away at exit if it is still ours.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::home;

/// Files that hold our port for as long as this lives.
pub(crate) struct PortFiles {
    port: u16,
    written: Vec<PathBuf>,
}

impl PortFiles {
    /// A file that cannot be written is no reason not to serve.
    pub(crate) fn write(port: u16) -> PortFiles {
        let mut written = Vec::new();
        for path in places() {
            match home::put(&path, &port.to_string()) {
                Ok(()) => written.push(path),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "the port file was not written");
                }
            }
        }
        PortFiles { port, written }
    }
}

impl Drop for PortFiles {
    fn drop(&mut self) {
        for path in &self.written {
            // Another server may have taken the file over since.
            if read(path) == Some(self.port)
                && let Err(error) = fs::remove_file(path)
            {
                tracing::debug!(path = %path.display(), %error, "the port file was not removed");
            }
        }
    }
}

/// The port a running server left, if any.
pub(crate) fn read(path: &Path) -> Option<u16> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Ours, and the places where existing clients of the function-level protocol look.
fn places() -> Vec<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let theirs = set("CIDELDILL_PORT_FILE")
        .or_else(|| set("CIDELDILL_HOME").map(|home| home.join("port")))
        .or_else(|| {
            let folder = std::env::home_dir()?.join(".cideldill");
            folder.is_dir().then(|| folder.join("port"))
        });
    home::port_file().into_iter().chain(theirs).collect()
}
