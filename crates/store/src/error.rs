//! What can go wrong with a store, in words a person can act on.
//!
//! No SQLite type leaves this crate. [`StoreError::hint`] is the next step where there is one.

use std::{io, path::PathBuf, time::Duration};

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
            StoreError::Behind { .. }
            | StoreError::Slow { .. }
            | StoreError::Failed { .. }
            | StoreError::Closed => None,
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
            Refusal::Sql(error) => StoreError::Failed { operation, detail: error.to_string() },
            Refusal::Full { what, most } => StoreError::Full { what, most },
        }
    }
}
