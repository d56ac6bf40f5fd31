//! The store as its callers meet it: rows, files, batches, several processes, kill -9.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod calls;
mod files;
mod processes;
mod rows;
mod timeline;
mod writing;

use std::path::Path;

use holdpoint_store::{KeptBreakpoint, Location, Store, StoreError};

fn open(path: &Path) -> Store {
    try_open(path).unwrap()
}

fn try_open(path: &Path) -> Result<Store, StoreError> {
    Store::open(&Location::File(path.to_owned()))
}

fn at(file: &str, line: u32) -> KeptBreakpoint {
    KeptBreakpoint {
        kind: "line".into(),
        file: Some(file.into()),
        line: Some(line),
        enabled: true,
        ..KeptBreakpoint::default()
    }
}
