//! The one value callers hold, and the two ways in: `write` and `read`.

use std::{
    path::{Path, PathBuf, absolute},
    sync::{Arc, atomic::Ordering::Relaxed},
};

use rusqlite::Connection;

use crate::{
    connection::{self, Location},
    error::{Refusal, StoreError},
    readers::Readers,
    values::Folder,
    writer::Writer,
};

/// An open database. Needs a tokio runtime with time for its calls, not for opening.
///
/// Dropping it waits until everything queued is on disk; that blocks, as a rule for milliseconds.
/// A server that stops calls [`Store::flush`] first.
pub struct Store {
    /// `None` in memory: there the writer's connection is the only one, and reads too. Before the
    /// writer, because fields drop in order: the last connection to close puts the log away, and
    /// one that only reads cannot.
    file: Option<File>,
    writer: Writer,
    pub(crate) folder: Folder,
}

struct File {
    path: PathBuf,
    readers: Arc<Readers>,
}

/// Counted since this store was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Writes committed.
    pub written: u64,
    /// Writes lost: refused, failed, or never queued.
    pub failed: u64,
    /// Transactions that `written` took.
    pub commits: u64,
    /// Commands that wait or work right now.
    pub queued: usize,
    /// What the last write failed of, until one succeeds.
    pub trouble: Option<String>,
    /// Bytes of the database and its log; none in memory.
    pub file_bytes: Option<u64>,
}

impl Store {
    /// Opens or makes the database and brings its schema up to date. Blocks for milliseconds. A
    /// file that is not ours, is damaged, or has a newer schema is refused and not touched.
    pub fn open(location: &Location) -> Result<Store, StoreError> {
        let (file, connection, shown) = match location {
            Location::Memory => {
                let connection =
                    connection::memory().map_err(|error| Refusal::from(error).of("open"))?;
                (None, connection, PathBuf::from(":memory:"))
            }
            Location::File(path) => {
                // Kept absolute: neither a later change of directory nor a name like `file:x`,
                // which SQLite would read as an address, makes it another file.
                let path = absolute(path).map_err(|error| StoreError::open(path, &error))?;
                let connection = connection::writer(&path)?;
                let readers = Readers::new(path.clone());
                (Some(File { path: path.clone(), readers }), connection, path)
            }
        };
        let writer = Writer::start(connection).map_err(|error| StoreError::open(shown, &error))?;
        let folder = file.as_ref().map(|file| Folder::beside(&file.path)).unwrap_or_default();
        Ok(Store { file, writer, folder })
    }

    /// The file, if there is one, as an absolute path.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| &*file.path)
    }

    /// Waits until every write queued before it is on disk, safe from a power cut too. Those that
    /// failed have told their own callers.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush().await
    }

    pub fn stats(&self) -> Stats {
        let counts = self.writer.counts();
        Stats {
            written: counts.written.load(Relaxed),
            failed: counts.failed.load(Relaxed),
            commits: counts.commits.load(Relaxed),
            queued: self.writer.queued(),
            trouble: counts.trouble(),
            file_bytes: self.path().map(bytes),
        }
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.write(operation, work).await
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.file {
            Some(file) => file.readers.read(operation, work).await,
            None => self.writer.read(operation, work).await,
        }
    }
}

/// What is gone counts as nothing.
fn bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let size = |path: &Path| path.metadata().map_or(0, |it| it.len());
    size(path) + size(Path::new(&log))
}
