//! What can go wrong with a store, in words a person can act on.
//!
//! No SQLite type leaves this crate. [`StoreError::hint`] is the next step where there is one.

use std::{io, path::PathBuf, time::Duration};

use rusqlite::ErrorCode;

use crate::limits;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file belongs to somebody else. It was not touched.
    #[error("`{}` is not a Holdpoint database: {found}", path.display())]
    Foreign { path: PathBuf, found: String },
    /// The file was written by a later Holdpoint. It was not touched.
    #[error("`{}` has schema version {found}; this Holdpoint knows up to {known}", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// The file is ours and broken. It was not touched.
    #[error("`{}` is damaged: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String },
    /// The file or its folder can't be made, or SQLite can't work there.
    #[error("cannot open `{}`: {detail}", path.display())]
    Open { path: PathBuf, detail: String },
    /// The queue stayed full: nothing was written.
    #[error("the store is behind: {} commands are queued and no room came free in {} ms", limits::QUEUE, waited.as_millis())]
    Behind { waited: Duration },
    /// No answer in time. A write may still happen.
    #[error("the store did not answer `{operation}` in {} ms", waited.as_millis())]
    Slow { operation: &'static str, waited: Duration },
    /// SQLite refused, or the disk did. A failed write left nothing behind.
    #[error("the store failed at `{operation}`: {detail}")]
    Failed { operation: &'static str, detail: String },
    /// The disk is full, cannot be written, or another process keeps the file. A failed write left nothing
    /// behind; the same one may succeed later.
    #[error("the store failed at `{operation}`: {detail}")]
    Unwritable { operation: &'static str, detail: String },
    /// A bound on what is kept is reached.
    #[error("the store holds {most} {what} and takes no more")]
    Full { what: &'static str, most: i64 },
    /// The writer has ended.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StoreError::Foreign { .. } => Some("name another file for the database"),
            StoreError::Newer { .. } => {
                Some("run the newer Holdpoint, or name another file for the database")
            }
            StoreError::Damaged { .. } => {
                Some("move the file away to begin anew; `sqlite3 FILE .recover` may save its rows")
            }
            StoreError::Open { .. } => Some("the folder must be writable and on a local disk"),
            StoreError::Full { .. } => Some("remove some first"),
            StoreError::Unwritable { .. } => {
                Some("make room on the disk, or let this user write the database and its folder")
            }
            StoreError::Behind { .. }
            | StoreError::Slow { .. }
            | StoreError::Failed { .. }
            | StoreError::Closed => None,
        }
    }

    /// Whether the same write may succeed when the disk, or whoever holds the file, has changed.
    pub fn may_pass(&self) -> bool {
        matches!(self, StoreError::Unwritable { .. } | StoreError::Behind { .. })
    }

    /// Whether it is the store that is in trouble, not one of those who use it.
    pub(crate) fn is_trouble(&self) -> bool {
        !matches!(self, StoreError::Full { .. })
    }

    /// What SQLite says of one operation.
    pub(crate) fn failed(operation: &'static str, error: &rusqlite::Error) -> StoreError {
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked,
            ) => StoreError::Unwritable { operation, detail },
            _ => StoreError::Failed { operation, detail },
        }
    }

    pub(crate) fn open(path: impl Into<PathBuf>, error: &io::Error) -> StoreError {
        StoreError::Open { path: path.into(), detail: error.to_string() }
    }
}

/// Why one command failed, before it is known which. Lets commands use `?` on SQLite's errors.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error("{most} {what} are kept")]
    Full { what: &'static str, most: i64 },
}

impl Refusal {
    pub(crate) fn of(self, operation: &'static str) -> StoreError {
        match self {
            Refusal::Sql(error) => StoreError::failed(operation, &error),
            Refusal::Full { what, most } => StoreError::Full { what, most },
        }
    }
}
