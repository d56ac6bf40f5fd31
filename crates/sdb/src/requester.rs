//! One connection to a runtime: commands out, answers matched, events in order in the inbox.
//!
//! There is no deadline in here: callers know how long they can wait. Dropping a command's future forgets it.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    MonoError,
    codec::{HANDSHAKE, Packet, PacketDecoder, encode},
    event::{COMPOSITE, EVENT_SET, Moment},
    limits,
    wire::WireWriter,
};

/// Sends commands. Cloning is cheap; all clones are one connection, which ends when the last of them and the
/// [`MonoInbox`] are gone.
#[derive(Clone)]
pub struct MonoRequester {
    connection: Arc<Connection>,
}

/// What ends the tasks: they are aborted with the last one who holds this.
struct Connection {
    shared: Arc<Shared>,
    outbox: mpsc::Sender<Vec<u8>>,
    last: AtomicU32,
    _reader: AbortOnDropHandle<()>,
    _writer: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    answers: HashMap<u32, oneshot::Sender<Result<Vec<u8>, MonoError>>>,
    closed: Option<String>,
}

/// Takes what happened, in its order.
pub struct MonoInbox {
    queue: mpsc::Receiver<Moment>,
    connection: Arc<Connection>,
}

impl MonoInbox {
    /// The next moment; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<Moment> {
        self.queue.recv().await
    }

    /// Why it has ended.
    pub fn closed(&self) -> Option<String> {
        self.connection.shared.lock().closed.clone()
    }
}

impl MonoRequester {
    /// Waits for the runtime's greeting, greets, and takes over both directions.
    pub async fn greet(
        mut read: impl AsyncRead + Send + Unpin + 'static,
        mut write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(MonoRequester, MonoInbox), MonoError> {
        let closed = |error: std::io::Error| MonoError::Closed(error.to_string());
        let mut greeting = [0; HANDSHAKE.len()];
        read.read_exact(&mut greeting).await.map_err(closed)?;
        if greeting != *HANDSHAKE {
            return Err(MonoError::Malformed("its greeting is not a debugger agent's"));
        }
        write.write_all(HANDSHAKE).await.map_err(closed)?;
        let shared = Arc::new(Shared::default());
        let (outbox, commands) = mpsc::channel(limits::OUTBOX);
        let (entrance, queue) = mpsc::channel(limits::INBOX);
        // Ends at the end of the stream, or aborted.
        let reader = tokio::spawn(read_all(read, Arc::clone(&shared), entrance));
        // Ends when writing fails, or aborted.
        let writer = tokio::spawn(write_all(write, Arc::clone(&shared), commands));
        let connection = Arc::new(Connection {
            shared,
            outbox,
            last: AtomicU32::new(0),
            _reader: AbortOnDropHandle::new(reader),
            _writer: AbortOnDropHandle::new(writer),
        });
        let inbox = MonoInbox { queue, connection: Arc::clone(&connection) };
        Ok((MonoRequester { connection }, inbox))
    }

    pub(crate) async fn ask(
        &self,
        set: u8,
        command: u8,
        body: WireWriter,
    ) -> Result<Vec<u8>, MonoError> {
        self.send(set, command, body).1.await
    }

    /// The number of the command, by which it can be broken off, and its answer. It is sent when that is polled first.
    pub(crate) fn send(
        &self,
        set: u8,
        command: u8,
        body: WireWriter,
    ) -> (u32, impl Future<Output = Result<Vec<u8>, MonoError>> + Send + use<>) {
        let connection = Arc::clone(&self.connection);
        let id = connection.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        (id, async move {
            let ticket = Ticket { shared: Arc::clone(&connection.shared), id };
            let answer = connection.shared.wait(id)?;
            let packet = encode(id, set, command, &body.0);
            if connection.outbox.send(packet).await.is_err() {
                return Err(connection.shared.reason());
            }
            let answer = answer.await;
            drop(ticket);
            answer.unwrap_or_else(|_| Err(connection.shared.reason()))
        })
    }
}

impl fmt::Debug for MonoRequester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonoRequester").finish_non_exhaustive()
    }
}

/// Forgets a command when nobody waits for it any more.
struct Ticket {
    shared: Arc<Shared>,
    id: u32,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.shared.lock().answers.remove(&self.id);
    }
}

impl Shared {
    /// Consistent between statements; a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, id: u32) -> Result<oneshot::Receiver<Result<Vec<u8>, MonoError>>, MonoError> {
        let mut waiting = self.lock();
        if let Some(reason) = &waiting.closed {
            return Err(MonoError::Closed(reason.clone()));
        }
        let (sender, receiver) = oneshot::channel();
        waiting.answers.insert(id, sender);
        Ok(receiver)
    }

    fn reason(&self) -> MonoError {
        let closed = self.lock().closed.clone();
        MonoError::Closed(closed.unwrap_or_else(|| "the connection ended".to_owned()))
    }

    fn close(&self, reason: &str) {
        let mut waiting = self.lock();
        waiting.closed.get_or_insert_with(|| reason.to_owned());
        // Each learns it by the end of its channel.
        waiting.answers.clear();
    }

    fn answered(&self, id: u32, error: u16, body: Vec<u8>) {
        let Some(waiting) = self.lock().answers.remove(&id) else { return };
        let answer =
            if error == 0 { Ok(body) } else { Err(MonoError::Refused { code: error, body }) };
        // Nobody may wait for it any more.
        waiting.send(answer).unwrap_or_default();
    }
}

async fn read_all(
    mut read: impl AsyncRead + Unpin,
    shared: Arc<Shared>,
    entrance: mpsc::Sender<Moment>,
) {
    let mut decoder = PacketDecoder::default();
    let mut chunk = vec![0; limits::READ_BYTES];
    let reason = 'all: loop {
        match read.read(&mut chunk).await {
            Ok(0) => break "it ended the connection".to_owned(),
            Ok(count) => decoder.feed(chunk.get(..count).unwrap_or_default()),
            Err(error) => break format!("reading failed: {error}"),
        }
        loop {
            match decoder.next_packet() {
                Ok(None) => break,
                Ok(Some(Packet::Reply { id, error, body })) => shared.answered(id, error, body),
                Ok(Some(Packet::Command { set: EVENT_SET, command: COMPOSITE, body })) => {
                    match Moment::read(&body) {
                        // Without a reader events are thrown away, and answers still come.
                        Ok(moment) => entrance.send(moment).await.unwrap_or_default(),
                        Err(error) => break 'all error.to_string(),
                    }
                }
                Ok(Some(Packet::Command { set, command, .. })) => {
                    tracing::debug!(set, command, "a command of the runtime that is not known");
                }
                Err(error) => break 'all error.to_string(),
            }
        }
    };
    shared.close(&reason);
}

async fn write_all(
    mut write: impl AsyncWrite + Unpin,
    shared: Arc<Shared>,
    mut commands: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(packet) = commands.recv().await {
        if let Err(error) = write.write_all(&packet).await {
            return shared.close(&format!("writing failed: {error}"));
        }
    }
}
