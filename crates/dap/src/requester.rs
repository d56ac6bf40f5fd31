//! One connection to an adapter: requests out, answers matched, everything else in order in the inbox.
//!
//! Two tasks own the connection's ends; all that is shared stands in `requester/shared.rs`.
//! There is no deadline in here: callers know how long they can wait. Dropping a request's future forgets
//! the request, and tells an adapter that can cancel.

mod error;
mod inbox;
mod reader;
mod shared;
mod writer;

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::task::AbortOnDropHandle;

pub use self::{
    error::RequestError,
    inbox::{Inbox, Incoming, ReverseRequest},
    shared::Counts,
};
use self::{reader::Reader, shared::Shared};
use crate::{request::Request, tape::Tape, types::Capabilities};

/// Sends requests. Cloning is cheap; all clones are one connection, which ends when the last of them
/// and the [`Inbox`] are gone.
#[derive(Clone)]
pub struct Requester {
    connection: Arc<Connection>,
}

/// What ends the tasks: they are aborted with the last one who holds this.
struct Connection {
    shared: Arc<Shared>,
    _reader: AbortOnDropHandle<()>,
    _writer: AbortOnDropHandle<()>,
}

impl Requester {
    /// Takes over both directions of a connection. Must be called inside a Tokio runtime.
    ///
    /// Someone has to read the inbox: when it is full, nothing more is read from the adapter, answers
    /// included. Do not wait for an answer in the only place that takes from the inbox.
    pub fn start(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        tape: Option<Tape>,
    ) -> (Requester, Inbox) {
        let (shared, outbox) = Shared::new(tape);
        let (entrance, queue) = inbox::queue();
        // Ends at the end of the stream, or aborted.
        let reader = tokio::spawn(Reader::new(Arc::clone(&shared), entrance).run(read));
        // Ends when the connection is closed, or aborted.
        let writer = tokio::spawn(writer::run(Arc::clone(&shared), outbox, write));
        let connection = Arc::new(Connection {
            shared,
            _reader: AbortOnDropHandle::new(reader),
            _writer: AbortOnDropHandle::new(writer),
        });
        let inbox = Inbox::new(queue, Arc::clone(&connection));
        (Requester { connection }, inbox)
    }

    /// Sends a request and waits for its answer.
    pub async fn request<R: Request>(
        &self,
        arguments: R::Arguments,
    ) -> Result<R::Body, RequestError> {
        let malformed = |problem: serde_json::Error| RequestError::Malformed {
            command: R::COMMAND.to_owned(),
            problem: problem.to_string(),
        };
        let arguments = serde_json::to_value(arguments).map_err(malformed)?;
        let body = match self.raw(R::COMMAND, arguments).await? {
            Value::Null => Value::Object(Map::new()),
            body => body,
        };
        serde_json::from_value(body).map_err(malformed)
    }

    /// Sends any request and waits for the body of its answer, null when it has none.
    pub async fn raw(&self, command: &str, arguments: Value) -> Result<Value, RequestError> {
        let shared = &self.connection.shared;
        // Held until the answer is here or nobody waits for it any more.
        let _place = shared.place().await?;
        let slot = shared.slot().await?;
        // Forgets the request when this future is dropped.
        let (_ticket, answer) = shared.send(slot, command, arguments)?;
        answer.await.unwrap_or_else(|_| Err(shared.closed_error()))
    }

    /// Tells what the adapter can do. Until then nothing is cancelled.
    pub fn set_capabilities(&self, capabilities: &Capabilities) {
        self.connection.shared.set_supports_cancel(capabilities.supports_cancel_request);
    }

    /// Why the connection is closed, if it is.
    pub fn closed(&self) -> Option<Arc<str>> {
        self.connection.shared.closed()
    }

    /// What was passed over so far.
    pub fn counts(&self) -> Counts {
        self.connection.shared.counts()
    }
}

impl fmt::Debug for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("closed", &self.closed()).finish_non_exhaustive()
    }
}
