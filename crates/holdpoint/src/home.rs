//! Where Holdpoint keeps its own files: `$HOLDPOINT_HOME`, or `.holdpoint` in the user's home.

use std::path::PathBuf;

pub(crate) fn folder() -> Option<PathBuf> {
    let set = std::env::var_os("HOLDPOINT_HOME").filter(|value| !value.is_empty());
    set.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".holdpoint")))
}

/// Where running servers enter themselves, and those that `holdpoint tool` started keep their logs.
pub(crate) fn servers() -> Option<PathBuf> {
    Some(folder()?.join("servers"))
}

/// Holds the port of the server that started last and still runs.
pub(crate) fn port_file() -> Option<PathBuf> {
    Some(folder()?.join("port"))
}
