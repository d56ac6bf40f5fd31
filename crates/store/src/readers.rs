//! The connections that read beside the writer, each on a blocking thread while it works.
//!
//! A reader sees every write that was answered before it began, and never half a batch.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::{
    sync::Semaphore,
    task::spawn_blocking,
    time::{Instant, timeout_at},
};

use crate::{
    connection,
    error::{Refusal, StoreError},
    limits,
};

pub(crate) struct Readers {
    path: PathBuf,
    room: Arc<Semaphore>,
    /// Opened when first needed, at most [`limits::READERS`].
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Arc<Readers> {
        let room = Arc::new(Semaphore::new(limits::READERS));
        Arc::new(Readers { path, room, idle: Mutex::default() })
    }

    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Readers>,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + limits::ANSWER_WAIT;
        let slow = |_elapsed| StoreError::Slow { operation, waited: limits::ANSWER_WAIT };
        let place = timeout_at(deadline, Arc::clone(&self.room).acquire_owned())
            .await
            .map_err(slow)?
            .map_err(|_closed| StoreError::Closed)?;
        let readers = Arc::clone(self);
        // Ends by itself; past the deadline it only gives its connection back.
        let reading = spawn_blocking(move || {
            let answer = readers.work(work);
            drop(place);
            answer
        });
        match timeout_at(deadline, reading).await.map_err(slow)? {
            Ok(answer) => answer.map_err(|error| error.of(operation)),
            Err(_aborted) => Err(StoreError::Closed),
        }
    }

    /// A connection that failed is not used again: the next one starts clean.
    fn work<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = idle.map_or_else(|| connection::reader(&self.path), Ok)?;
        let answer = work(&connection)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(answer)
    }
}
