//! The one thread that writes: many commands to a commit, answers after it.
//!
//! A lone write commits at once. A burst fills batches by itself, because commands queue while the
//! one before commits; only a batch that is a burst ([`limits::BURST`]) waits a moment for more.
//! [`limits::BATCH`] and [`limits::BATCH_TIME`] end one. Each command has a savepoint: one that
//! fails takes only itself back. The thread ends when its [`Writer`] is dropped, after all that was
//! queued is on disk.

mod thread;

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::{Builder, JoinHandle},
};

use rusqlite::Connection;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};

use self::thread::{Thread, Typed, Write};
use crate::{
    error::{Refusal, StoreError},
    limits,
};

/// The sending side. Dropping it blocks until the thread has written what was queued: as a rule
/// milliseconds, and at most two waits for a lock ([`limits::BUSY_WAIT`]).
pub(crate) struct Writer {
    /// `None` only while dropping.
    commands: Option<SyncSender<Queued>>,
    /// Has as many permits as `commands` has places; a command keeps one until it is done.
    room: Arc<Semaphore>,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) written: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) commits: AtomicU64,
    /// What the last write failed of; none once one was committed.
    trouble: Mutex<Option<String>>,
    is_troubled: AtomicBool,
}

struct Queued {
    command: Command,
    /// Given back when the command is done.
    place: OwnedSemaphorePermit,
}

enum Command {
    Write(Box<dyn Write>),
    /// On the writer's connection, after what was queued before it.
    Read(Box<dyn FnOnce(&Connection) + Send>),
    Flush(oneshot::Sender<Result<(), StoreError>>),
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> io::Result<Writer> {
        let (commands, queue) = sync_channel(limits::QUEUE);
        let counts = Arc::new(Counts::default());
        let thread = Thread::new(connection, queue, Arc::clone(&counts));
        let thread = Builder::new().name("holdpoint-store".to_owned()).spawn(|| thread.run())?;
        let room = Arc::new(Semaphore::new(limits::QUEUE));
        Ok(Writer { commands: Some(commands), room, counts, thread: Some(thread) })
    }

    /// Answers when `work` is committed. If the caller goes away meanwhile, it is still done.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let write = Command::Write(Box::new(Typed::new(operation, work, reply)));
        match self.call(operation, write, answer).await {
            // The thread counts what reaches it.
            Err(error @ (StoreError::Behind { .. } | StoreError::Closed)) => {
                self.counts.fail(operation, &error);
                Err(error)
            }
            // It may still be written.
            Err(error @ StoreError::Slow { .. }) => {
                self.counts.note(&error);
                Err(error)
            }
            answer => answer,
        }
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let read = Command::Read(Box::new(move |connection| {
            answer_to(reply, work(connection).map_err(|error| error.of(operation)));
        }));
        self.call(operation, read, answer).await
    }

    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.call("flush", Command::Flush(reply), answer).await
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn queued(&self) -> usize {
        limits::QUEUE.saturating_sub(self.room.available_permits())
    }

    async fn call<T>(
        &self,
        operation: &'static str,
        command: Command,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.queue(command).await?;
        match timeout(limits::ANSWER_WAIT, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_gone)) => Err(StoreError::Closed),
            Err(_elapsed) => Err(StoreError::Slow { operation, waited: limits::ANSWER_WAIT }),
        }
    }

    async fn queue(&self, command: Command) -> Result<(), StoreError> {
        let place = timeout(limits::QUEUE_WAIT, Arc::clone(&self.room).acquire_owned())
            .await
            .map_err(|_elapsed| StoreError::Behind { waited: limits::QUEUE_WAIT })?
            .map_err(|_closed| StoreError::Closed)?;
        // Never full: the permit is the place.
        let commands = self.commands.as_ref().ok_or(StoreError::Closed)?;
        commands.try_send(Queued { command, place }).map_err(|_gone| StoreError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread writes what is queued, then finds nobody left to wait for.
        self.commands = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the store's writer panicked; what was queued is lost");
        }
    }
}

impl Counts {
    fn fail(&self, operation: &'static str, error: &StoreError) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.note(error);
        tracing::warn!(operation, %error, "a write was lost");
    }
}

impl Counts {
    fn note(&self, error: &StoreError) {
        if error.is_trouble() {
            *self.lock() = Some(error.to_string());
            self.is_troubled.store(true, Ordering::Relaxed);
        }
    }

    /// Something was committed.
    fn well(&self) {
        if self.is_troubled.swap(false, Ordering::Relaxed) {
            *self.lock() = None;
        }
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer_to<T>(reply: oneshot::Sender<Result<T, StoreError>>, answer: Result<T, StoreError>) {
    if reply.send(answer).is_err() {
        tracing::debug!("the caller went away before its answer");
    }
}
