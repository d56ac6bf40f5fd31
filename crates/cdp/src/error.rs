//! What can go wrong, by whose fault.

use std::sync::{Arc, OnceLock};

/// Why a call has no answer that can be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The inspector answered with an error: the caller's fault, or the wrong moment.
    #[error("`{method}` was refused: {message} ({code})")]
    Refused { method: String, code: i64, message: String },
    /// The connection, or the worker, is gone.
    #[error("the inspector connection is closed: {reason}")]
    Closed { reason: Closing },
    /// Something arrived, but not what the protocol says; or the caller's parameters are not JSON.
    #[error("`{what}` is malformed: {detail}")]
    Malformed { what: String, detail: String },
    /// Nobody answered at the address, or it was no inspector.
    #[error("no inspector at `{address}`: {detail}")]
    Unreachable { address: String, detail: String },
    /// More calls are under way than [`crate::Limits::calls`].
    #[error("`{method}` was not sent: {calls} calls are unanswered already")]
    Busy { method: String, calls: usize },
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closing {
    #[error("it was closed on this side")]
    Ours,
    #[error("the program closed it{0}")]
    Theirs(String),
    #[error("it was lost: {0}")]
    Lost(String),
    #[error("the inbox stayed full: nobody takes its events")]
    Undrained,
    #[error("the worker ended")]
    WorkerEnded,
}

/// Where the connection task leaves its reason, for everyone who still holds a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClosingCell(Arc<OnceLock<Closing>>);

impl ClosingCell {
    /// The first reason stays.
    pub(crate) fn set(&self, reason: Closing) {
        self.0.get_or_init(|| reason);
    }

    /// A task that was aborted leaves no reason: only this side aborts.
    pub(crate) fn reason(&self) -> Closing {
        self.0.get().cloned().unwrap_or(Closing::Ours)
    }

    pub(crate) fn error(&self) -> Error {
        Error::Closed { reason: self.reason() }
    }
}
