//! One connection to a virtual machine: commands out, answers matched, events in their order in the inbox.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    JdwpError, limits,
    packet::{HANDSHAKE, Packet, Packets, encode},
    types::{Composite, IdSizes},
    wire::{Fields, Wire},
};

/// Sends commands. Cloning is cheap; all clones are one connection, which ends with the last of them and the [`Inbox`].
#[derive(Clone)]
pub struct Requester {
    shared: Arc<Shared>,
    _tasks: Arc<[AbortOnDropHandle<()>; 2]>,
}

/// What the virtual machine tells by itself. Someone has to take it.
pub struct Inbox {
    events: mpsc::Receiver<Composite>,
    _tasks: Arc<[AbortOnDropHandle<()>; 2]>,
}

struct Shared {
    state: Mutex<State>,
    outbox: mpsc::Sender<Vec<u8>>,
    sizes: OnceLock<IdSizes>,
}

#[derive(Default)]
struct State {
    last: u32,
    waiting: HashMap<u32, oneshot::Sender<Result<Vec<u8>, JdwpError>>>,
    closed: Option<Arc<str>>,
}

impl Inbox {
    /// The next ones; nothing when the connection has ended.
    pub async fn next(&mut self) -> Option<Composite> {
        self.events.recv().await
    }
}

impl Requester {
    /// Shakes hands, asks how wide ids are, and takes over the connection. Must be called inside a Tokio runtime.
    pub async fn start(
        mut read: impl AsyncRead + Send + Unpin + 'static,
        mut write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(Requester, Inbox), JdwpError> {
        let lost = |error: std::io::Error| JdwpError::Closed(error.to_string().into());
        write.write_all(HANDSHAKE).await.map_err(lost)?;
        let mut answer = [0; HANDSHAKE.len()];
        read.read_exact(&mut answer).await.map_err(lost)?;
        if answer != HANDSHAKE {
            return Err(JdwpError::Malformed("it does not shake hands as a virtual machine does"));
        }
        let (outbox, out) = mpsc::channel(limits::OUTBOX);
        let (entrance, events) = mpsc::channel(limits::INBOX);
        let shared = Arc::new(Shared { state: Mutex::default(), outbox, sizes: OnceLock::new() });
        // Ends at the end of the stream, or aborted with the last who holds the connection.
        let reading = tokio::spawn(take(Arc::clone(&shared), entrance, read));
        // Ends with the connection, or aborted so.
        let writing = tokio::spawn(put(Arc::clone(&shared), out, write));
        let tasks = Arc::new([AbortOnDropHandle::new(reading), AbortOnDropHandle::new(writing)]);
        let requester = Requester { shared, _tasks: Arc::clone(&tasks) };
        let sizes = requester.id_sizes().await?;
        requester.shared.sizes.get_or_init(|| sizes);
        Ok((requester, Inbox { events, _tasks: tasks }))
    }

    pub(crate) fn fields(&self) -> Fields {
        Fields::new(self.shared.sizes())
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn send<T>(
        &self,
        (set, command): (u8, u8),
        fields: Fields,
        read: impl FnOnce(&mut Wire<'_>) -> Result<T, JdwpError>,
    ) -> Result<T, JdwpError> {
        let slot = self.shared.outbox.reserve().await.map_err(|_| self.shared.closed())?;
        let (answer, receiver) = oneshot::channel();
        let id = {
            let mut state = self.shared.state();
            if let Some(reason) = &state.closed {
                return Err(JdwpError::Closed(Arc::clone(reason)));
            }
            state.last = state.last.wrapping_add(1);
            let id = state.last;
            state.waiting.insert(id, answer);
            slot.send(encode(id, set, command, &fields.into_bytes()));
            id
        };
        // Forgets the command where nobody waits any more.
        let _ticket = Ticket { shared: &self.shared, id };
        let data = receiver.await.unwrap_or_else(|_| Err(self.shared.closed()))?;
        read(&mut Wire::new(&data, self.shared.sizes()))
    }

    /// Why the connection is closed, if it is.
    pub fn closed(&self) -> Option<Arc<str>> {
        self.shared.state().closed.clone()
    }
}

struct Ticket<'a> {
    shared: &'a Shared,
    id: u32,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.shared.state().waiting.remove(&self.id);
    }
}

impl Shared {
    fn sizes(&self) -> IdSizes {
        self.sizes.get().copied().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent between statements; a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> JdwpError {
        JdwpError::Closed(self.state().closed.clone().unwrap_or_else(|| "it was dropped".into()))
    }

    /// Ends everything under way. The first reason stays.
    fn close(&self, reason: &str) {
        let mut state = self.state();
        let reason: Arc<str> = Arc::clone(state.closed.get_or_insert_with(|| reason.into()));
        for (_, waiting) in state.waiting.drain() {
            // It may have been forgotten in this very moment.
            waiting.send(Err(JdwpError::Closed(Arc::clone(&reason)))).unwrap_or_default();
        }
    }
}

async fn take(
    shared: Arc<Shared>,
    entrance: mpsc::Sender<Composite>,
    mut read: impl AsyncRead + Unpin,
) {
    let mut packets = Packets::default();
    let mut chunk = vec![0; limits::READ_BYTES];
    let reason = 'reading: loop {
        match read.read(&mut chunk).await {
            Ok(0) => break "it has ended".to_owned(),
            Ok(count) => packets.feed(chunk.get(..count).unwrap_or_default()),
            Err(error) => break error.to_string(),
        }
        loop {
            match packets.next() {
                Ok(None) => break,
                Ok(Some(packet)) => {
                    if let Some(composite) = shared.packet(packet)
                        && entrance.send(composite).await.is_err()
                    {
                        tracing::trace!("nobody takes events any more");
                    }
                }
                Err(problem) => break 'reading problem.to_owned(),
            }
        }
    };
    shared.close(&reason);
}

impl Shared {
    fn packet(&self, packet: Packet) -> Option<Composite> {
        match packet {
            Packet::Reply { id, error, data } => {
                // Nobody waits for what was given up.
                let waiting = self.state().waiting.remove(&id)?;
                let answer = if error == 0 { Ok(data) } else { Err(JdwpError::Refused(error)) };
                waiting.send(answer).unwrap_or_default();
                None
            }
            Packet::Command { set: 64, command: 100, data, .. } => {
                let read = Composite::read(&data, self.sizes());
                read.inspect_err(|problem| tracing::warn!(%problem, "an event was passed over"))
                    .ok()
            }
            Packet::Command { set, command, .. } => {
                tracing::debug!(set, command, "a command of the virtual machine was passed over");
                None
            }
        }
    }
}

async fn put(
    shared: Arc<Shared>,
    mut out: mpsc::Receiver<Vec<u8>>,
    mut write: impl AsyncWrite + Unpin,
) {
    while let Some(bytes) = out.recv().await {
        if let Err(error) = write.write_all(&bytes).await {
            return shared.close(&error.to_string());
        }
    }
}
