//! What the adapter says by itself, in its order.

use std::{fmt, sync::Arc};

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{Connection, RequestError, shared::Shared};
use crate::{event::Event, limits};

/// Something that is not an answer.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are events: a box would cost each an allocation and save nothing"
)]
pub enum Incoming {
    Event(Event),
    Request(ReverseRequest),
    /// The last one: nothing comes after it.
    Closed(Arc<str>),
}

/// Takes what comes in. Bounded in number and in bytes; while it is full the adapter waits. Dropped
/// alone, events are thrown away and the adapter's requests refused, and answers still come.
pub struct Inbox {
    queue: mpsc::Receiver<Queued>,
    _connection: Arc<Connection>,
}

impl Inbox {
    pub(super) fn new(queue: mpsc::Receiver<Queued>, connection: Arc<Connection>) -> Self {
        Inbox { queue, _connection: connection }
    }

    /// The next one; nothing after [`Incoming::Closed`]. Safe to drop and call again.
    pub async fn next(&mut self) -> Option<Incoming> {
        self.queue.recv().await.map(|queued| queued.incoming)
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("queued", &self.queue.len()).finish_non_exhaustive()
    }
}

/// The reader's end of the inbox.
pub(super) struct Entrance {
    queue: mpsc::Sender<Queued>,
    room_kib: Arc<Semaphore>,
}

pub(super) struct Queued {
    incoming: Incoming,
    /// Given back when the message is taken or thrown away.
    _room: Option<OwnedSemaphorePermit>,
}

pub(super) fn queue() -> (Entrance, mpsc::Receiver<Queued>) {
    let (sender, receiver) = mpsc::channel(limits::INBOX);
    let room_kib = Arc::new(Semaphore::new(limits::INBOX_KIB as usize));
    (Entrance { queue: sender, room_kib }, receiver)
}

impl Entrance {
    /// Waits for room. Even a message larger than all the room passes, alone.
    pub(super) async fn put(&self, incoming: Incoming, bytes: usize) {
        let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).min(limits::INBOX_KIB);
        // The semaphore is never closed; without its permit the message only weighs nothing.
        let room = Arc::clone(&self.room_kib).acquire_many_owned(kib).await.ok();
        if self.queue.send(Queued { incoming, _room: room }).await.is_err() {
            tracing::trace!("nobody reads what the adapter says");
        }
    }
}

/// A request of the adapter: `runInTerminal`, `startDebugging`. Refused when dropped without an answer.
pub struct ReverseRequest {
    pub command: String,
    pub arguments: Value,
    seq: i64,
    shared: Arc<Shared>,
    answered: bool,
}

impl ReverseRequest {
    pub(super) fn new(command: String, arguments: Value, seq: i64, shared: Arc<Shared>) -> Self {
        ReverseRequest { command, arguments, seq, shared, answered: false }
    }

    /// Answers with a body, or refuses with a text for the adapter's user.
    pub async fn answer(mut self, answer: Result<Value, String>) -> Result<(), RequestError> {
        let shared = Arc::clone(&self.shared);
        let slot = shared.slot().await?;
        self.answered = true;
        shared.reply(slot, self.seq, &self.command, answer);
        Ok(())
    }
}

impl Drop for ReverseRequest {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let refusal = Err(format!("`{}` is not supported here", self.command));
        match self.shared.free_slot() {
            Some(slot) => self.shared.reply(slot, self.seq, &self.command, refusal),
            None => {
                tracing::debug!(command = %self.command, "could not refuse: no room, or closed")
            }
        }
    }
}

impl fmt::Debug for ReverseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReverseRequest")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
