//! What the program tells unasked, strictly in order and bounded.
//!
//! Each event holds room in kilobytes until it is taken. When there is none left, console events are
//! dropped and the next event is preceded by their number; for any other event the connection stops
//! reading for a while, and then gives up: whoever owns the inbox is stuck.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::timeout,
};

use crate::{
    error::{Closing, ClosingCell},
    limits::{self, Limits},
    types::{Event, Target},
};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Incoming {
    Event {
        target: Target,
        event: Event,
    },
    /// This many console events came while the inbox was full and are lost.
    Dropped {
        console_events: u64,
    },
    /// The last word, said once.
    Closed(Closing),
}

/// The receiving end of a connection, which it owns: dropping it ends the connection.
#[derive(Debug)]
pub struct Inbox {
    queue: mpsc::Receiver<Queued>,
    closing: ClosingCell,
    said_closed: bool,
    /// Dropped with the inbox, which tells the connection to end.
    _held: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Queued {
    incoming: Incoming,
    /// Room is given back when the event is taken. A count of dropped ones takes none.
    _room: Option<OwnedSemaphorePermit>,
}

/// The connection task's end.
#[derive(Debug)]
pub(crate) struct Outlet {
    queue: mpsc::Sender<Queued>,
    room: Arc<Semaphore>,
    kilobytes: u32,
    stall: Duration,
    dropped: u64,
}

/// The other end, before the task exists that the inbox will own.
#[derive(Debug)]
pub(crate) struct Queue(mpsc::Receiver<Queued>);

pub(crate) fn channel(limits: &Limits) -> (Outlet, Queue) {
    let kilobytes = u32::try_from(limits.inbox_kilobytes.max(1)).unwrap_or(u32::MAX);
    let slots = (kilobytes as usize).min(Semaphore::MAX_PERMITS);
    // An event holds one permit at least and may have a count of dropped ones before it, so the
    // channel is never full.
    let (sender, queue) = mpsc::channel(slots.saturating_mul(2).min(Semaphore::MAX_PERMITS));
    let room = Arc::new(Semaphore::new(slots));
    let stall = limits.inbox_stall;
    (Outlet { queue: sender, room, kilobytes, stall, dropped: 0 }, Queue(queue))
}

impl Inbox {
    pub(crate) fn new(queue: Queue, closing: ClosingCell, held: oneshot::Sender<()>) -> Inbox {
        Inbox { queue: queue.0, closing, said_closed: false, _held: held }
    }

    /// The next thing that happened; `None` after [`Incoming::Closed`]. Cancel-safe.
    pub async fn next(&mut self) -> Option<Incoming> {
        if let Some(queued) = self.queue.recv().await {
            return Some(queued.incoming);
        }
        if self.said_closed {
            return None;
        }
        self.said_closed = true;
        Some(Incoming::Closed(self.closing.reason()))
    }
}

impl Outlet {
    pub(crate) async fn put(
        &mut self,
        target: Target,
        event: Event,
        bytes: usize,
    ) -> Result<(), Closing> {
        let cost = self.cost(bytes);
        let room = match Arc::clone(&self.room).try_acquire_many_owned(cost) {
            Ok(room) => room,
            Err(_) if event.may_be_dropped() => {
                self.dropped += 1;
                return Ok(());
            }
            Err(_) => self.wait_for_room(cost).await?,
        };
        if self.dropped > 0 {
            let console_events = std::mem::take(&mut self.dropped);
            self.push(Incoming::Dropped { console_events }, None).await?;
        }
        self.push(Incoming::Event { target, event }, Some(room)).await
    }

    /// The same while the connection ends: nobody waits for room any more.
    pub(crate) fn offer(&mut self, target: Target, event: Event, bytes: usize) {
        let room = Arc::clone(&self.room).try_acquire_many_owned(self.cost(bytes)).ok();
        if let Some(room) = room {
            let queued = Queued { incoming: Incoming::Event { target, event }, _room: Some(room) };
            // The inbox may be gone already.
            self.queue.try_send(queued).unwrap_or_default();
        }
    }

    /// A message larger than the whole inbox takes all of it.
    fn cost(&self, bytes: usize) -> u32 {
        let weight = bytes.saturating_mul(limits::READ_WEIGHT).div_ceil(1024);
        u32::try_from(weight).unwrap_or(u32::MAX).clamp(1, self.kilobytes)
    }

    async fn wait_for_room(&self, cost: u32) -> Result<OwnedSemaphorePermit, Closing> {
        let room = Arc::clone(&self.room).acquire_many_owned(cost);
        match timeout(self.stall, room).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(_)) | Err(_) => Err(Closing::Undrained),
        }
    }

    async fn push(
        &self,
        incoming: Incoming,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Closing> {
        self.queue.send(Queued { incoming, _room: room }).await.map_err(|_| Closing::Ours)
    }
}
