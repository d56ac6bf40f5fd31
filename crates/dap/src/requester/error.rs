//! Why a request has no answer.

use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Error)]
pub enum RequestError {
    /// The adapter said no. `message` is its best text for a person, `body` all that it said.
    #[error("the adapter refused `{command}`: {message}")]
    Refused { command: String, message: String, body: Value },
    #[error("the connection to the adapter is closed: {reason}")]
    Closed { reason: Arc<str> },
    /// The adapter answered, and the answer cannot be used.
    #[error("the adapter's answer to `{command}` makes no sense: {problem}")]
    Malformed { command: String, problem: String },
}
