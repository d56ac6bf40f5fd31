//! The writing side: takes commands from the queue, runs them in batches, answers after the commit.

use std::{
    sync::{
        Arc,
        atomic::Ordering::Relaxed,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{Command, Counts, Queued, answer_to};
use crate::{
    error::{Refusal, StoreError},
    limits,
};

pub(super) struct Thread {
    connection: Connection,
    queue: Receiver<Queued>,
    counts: Arc<Counts>,
    /// Something was committed since the last sync.
    unsynced: bool,
}

/// A command with its typed answer inside.
pub(super) trait Write: Send {
    /// Whether to keep what it did.
    fn run(&mut self, connection: &Connection) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), &rusqlite::Error>, counts: &Counts);
}

struct Taken {
    write: Box<dyn Write>,
    place: OwnedSemaphorePermit,
}

impl Thread {
    pub(super) fn new(
        connection: Connection,
        queue: Receiver<Queued>,
        counts: Arc<Counts>,
    ) -> Thread {
        Thread { connection, queue, counts, unsynced: false }
    }

    /// Ends when the [`Writer`](super::Writer) is dropped and the queue is empty.
    pub(super) fn run(mut self) {
        while let Ok(first) = self.queue.recv() {
            let mut next = Some(first);
            while let Some(Queued { command, place }) = next.take() {
                match command {
                    Command::Write(write) => next = self.batch(Taken { write, place }),
                    Command::Read(read) => {
                        drop(place);
                        read(&self.connection);
                    }
                    Command::Flush(reply) => {
                        let flushed = self.flush();
                        drop(place);
                        answer_to(reply, flushed);
                    }
                }
            }
        }
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "closing the store");
        }
    }

    /// Runs and commits `first` and the writes queued behind it. Returns what ended the batch, if
    /// that was another command.
    fn batch(&mut self, first: Taken) -> Option<Queued> {
        let mut batch = vec![first];
        let mut after = None;
        let committed = match self.connection.execute_batch("BEGIN IMMEDIATE") {
            Ok(()) => self.fill(&mut batch, &mut after),
            Err(error) => {
                // Those who queued while we waited for the lock have waited as long.
                while let Some(more) = self.take(&mut after, Duration::ZERO) {
                    batch.push(more);
                }
                Err(error)
            }
        };
        self.settle(batch, committed);
        after
    }

    fn fill(&self, batch: &mut Vec<Taken>, after: &mut Option<Queued>) -> rusqlite::Result<()> {
        let began = Instant::now();
        if let Some(first) = batch.first_mut() {
            self.keep_or_begin_again(&mut *first.write)?;
        }
        loop {
            if batch.len() >= limits::BATCH || began.elapsed() >= limits::BATCH_TIME {
                break;
            }
            let lull = if batch.len() >= limits::BURST { limits::LULL } else { Duration::ZERO };
            let Some(mut more) = self.take(after, lull) else { break };
            let kept = self.keep_or_undo(&mut *more.write);
            batch.push(more);
            kept?;
        }
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    /// The next write, if one is queued within `lull`; another command goes to `after`.
    fn take(&self, after: &mut Option<Queued>, lull: Duration) -> Option<Taken> {
        if after.is_some() {
            return None;
        }
        match self.queue.recv_timeout(lull) {
            Ok(Queued { command: Command::Write(write), place }) => Some(Taken { write, place }),
            Ok(other) => {
                *after = Some(other);
                None
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The first has nothing before it that must stay, and no savepoint: SQLite copies every page
    /// that changes under one, and a batch of calls changes a thousand.
    fn keep_or_begin_again(&self, write: &mut dyn Write) -> rusqlite::Result<()> {
        if write.run(&self.connection) {
            return Ok(());
        }
        self.roll_back();
        self.connection.execute_batch("BEGIN IMMEDIATE")
    }

    fn keep_or_undo(&self, write: &mut dyn Write) -> rusqlite::Result<()> {
        let execute = |sql| self.connection.prepare_cached(sql)?.execute([]);
        execute("SAVEPOINT one")?;
        if !write.run(&self.connection) {
            execute("ROLLBACK TO one")?;
        }
        execute("RELEASE one").map(drop)
    }

    fn settle(&mut self, batch: Vec<Taken>, committed: rusqlite::Result<()>) {
        match &committed {
            Ok(()) => {
                self.unsynced = true;
                self.counts.commits.fetch_add(1, Relaxed);
                self.counts.well();
            }
            Err(error) => {
                tracing::warn!(%error, lost = batch.len(), "a batch of writes was lost");
                self.roll_back();
            }
        }
        for Taken { write, place } in batch {
            // Before the answer: who has all answers finds the queue empty.
            drop(place);
            write.answer(committed.as_ref().copied(), &self.counts);
        }
    }

    /// SQLite does it by itself after some errors and not after others.
    fn roll_back(&self) {
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = self.connection.execute_batch("ROLLBACK") {
            tracing::error!(%error, "the store cannot take a failed batch back");
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if !self.unsynced {
            return Ok(());
        }
        self.sync().map_err(|error| Refusal::from(error).of("flush"))?;
        self.unsynced = false;
        Ok(())
    }

    /// With `synchronous=FULL` a commit syncs the whole log, those before it included; there must
    /// be something to commit.
    fn sync(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        let noted = self.connection.execute(
            "INSERT INTO meta VALUES ('flushed_at', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
             ON CONFLICT DO UPDATE SET value = excluded.value",
            [],
        );
        self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        noted.map(drop)
    }
}

/// A closure and the caller that waits for what it returns.
pub(super) struct Typed<T, F> {
    operation: &'static str,
    /// Taken when run.
    work: Option<F>,
    done: Option<Result<T, Refusal>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Typed<T, F> {
    pub(super) fn new(
        operation: &'static str,
        work: F,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Typed<T, F> {
        Typed { operation, work: Some(work), done: None, reply }
    }
}

impl<T, F> Write for Typed<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Refusal> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        self.done = self.work.take().map(|work| work(connection));
        matches!(self.done, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), &rusqlite::Error>, counts: &Counts) {
        let operation = self.operation;
        let answer = match (committed, self.done) {
            (Ok(()), Some(Ok(value))) => {
                counts.written.fetch_add(1, Relaxed);
                Ok(value)
            }
            (_, Some(Err(refusal))) => {
                let error = refusal.of(operation);
                counts.fail(operation, &error);
                Err(error)
            }
            // The batch was logged as a whole.
            (Err(error), _) => {
                counts.failed.fetch_add(1, Relaxed);
                let error = StoreError::failed(operation, error);
                counts.note(&error);
                Err(error)
            }
            (Ok(()), None) => Err(StoreError::Closed),
        };
        answer_to(self.reply, answer);
    }
}
