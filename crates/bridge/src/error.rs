//! What went wrong on the way to the editor or inside of it: a code, a text, the next step.

use std::{path::PathBuf, time::Duration};

use serde_json::Value;

use crate::Candidate;

/// Whether the script of a failed call was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// It was taken back before anybody took it.
    No,
    /// It was taken; how far it came is not known.
    Maybe,
}

#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error("no workspace at `{0}`")]
    NoWorkspace(PathBuf),
    #[error("no editor bridge for `{workspace}`{}", told(dead))]
    NotFound { workspace: PathBuf, dead: Vec<Candidate> },
    #[error("several editor bridges are live: {}", listed(.0))]
    Several(Vec<Candidate>),
    #[error("`{0}` belongs to another user")]
    OtherUser(PathBuf),
    #[error("the editor bridge does not answer: {why}")]
    Unavailable { why: String, ran: Ran },
    #[error("the editor's window was opened anew meanwhile")]
    Restarted { ran: Ran },
    #[error("two editor windows answer for one folder: `{owner}` and `{other}`")]
    Split { owner: String, other: String },
    #[error("no answer to `{script}` within {} s", .after.as_secs_f64())]
    Timeout { script: String, after: Duration, ran: Ran },
    #[error("`{script}` was cancelled")]
    Cancelled { script: String, ran: Ran },
    #[error("the editor bridge takes no jobs for {} s: too many have failed", .retry_after.as_secs())]
    Closed { retry_after: Duration },
    #[error("the editor bridge has no room for another job")]
    Full,
    /// What the script itself said.
    #[error("{message}")]
    Script { code: String, message: String, hint: Option<String>, details: Option<Box<Value>> },
    #[error("the answer to `{script}` cannot be read: {why}")]
    Malformed { script: String, why: String },
    #[error("`{0}` is no script that is sent")]
    Forbidden(String),
    #[error("{what}: {error}")]
    Io { what: String, error: std::io::Error },
}

impl BridgeError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> BridgeError {
        let what = what.into();
        move |error| BridgeError::Io { what, error }
    }

    /// As agents branch on it.
    pub fn code(&self) -> &str {
        match self {
            BridgeError::NoWorkspace(_) => "E_NOT_FOUND",
            BridgeError::NotFound { .. } | BridgeError::Several(_) => "E_BRIDGE_NOT_FOUND",
            BridgeError::OtherUser(_)
            | BridgeError::Unavailable { .. }
            | BridgeError::Restarted { .. }
            | BridgeError::Split { .. }
            | BridgeError::Io { .. } => "E_BRIDGE_UNAVAILABLE",
            BridgeError::Timeout { .. } => "E_TIMEOUT",
            BridgeError::Cancelled { .. } => "E_CANCELLED",
            BridgeError::Closed { .. } | BridgeError::Full => "E_BUSY",
            BridgeError::Script { code, .. } => code,
            BridgeError::Malformed { .. } => "E_ADAPTER_FAILED",
            BridgeError::Forbidden(_) => "E_INVALID_PARAMS",
        }
    }

    /// The next step.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            BridgeError::NoWorkspace(_) => {
                "pass `--workspace DIR`, the folder that the editor has open"
            }
            BridgeError::NotFound { .. } => {
                "open the folder in VS Code with the Holdpoint extension (or VSC-Bridge) installed"
            }
            BridgeError::Several(_) => "pass `--workspace DIR`, exactly one of their folders",
            BridgeError::OtherUser(_) => {
                "only what this user owns is trusted; open the folder as its owner"
            }
            BridgeError::Unavailable { .. } => {
                "see that the editor's window is open and not busy; \"Developer: Reload Window\" starts its bridge anew"
            }
            BridgeError::Restarted { ran: Ran::No } => "call again; nothing was run",
            BridgeError::Restarted { ran: Ran::Maybe } => {
                "whether it was carried out is not known: look first, then call again"
            }
            BridgeError::Split { .. } => {
                "close one of the two windows on this folder: each knows only its own debug sessions"
            }
            BridgeError::Timeout { ran: Ran::No, .. } => {
                "nobody took it, so nothing was run; the editor may be busy"
            }
            BridgeError::Timeout { ran: Ran::Maybe, .. } => {
                "it was told to stop; pass a larger `timeout_s` where it needs longer"
            }
            BridgeError::Cancelled { .. } => return None,
            BridgeError::Closed { .. } => {
                "wait that long; calls that fail count, so look at why they did"
            }
            BridgeError::Full => "wait for calls under way, then call again",
            BridgeError::Script { hint, .. } => return hint.clone(),
            BridgeError::Malformed { .. } => "the extension may be of another version; update it",
            BridgeError::Forbidden(_) => "only the scripts of the catalogue are sent, never code",
            BridgeError::Io { .. } => "see that the bridge's folder can be written",
        };
        Some(text.to_owned())
    }

    /// Whether the same call may go through later as it is.
    pub fn is_retryable(&self) -> bool {
        match self {
            BridgeError::Unavailable { ran, .. }
            | BridgeError::Restarted { ran }
            | BridgeError::Timeout { ran, .. } => *ran == Ran::No,
            BridgeError::Closed { .. } | BridgeError::Full => true,
            BridgeError::NoWorkspace(_)
            | BridgeError::NotFound { .. }
            | BridgeError::Several(_)
            | BridgeError::OtherUser(_)
            | BridgeError::Split { .. }
            | BridgeError::Cancelled { .. }
            | BridgeError::Script { .. }
            | BridgeError::Malformed { .. }
            | BridgeError::Forbidden(_)
            | BridgeError::Io { .. } => false,
        }
    }

    /// Facts a program may branch on.
    pub fn details(&self) -> Option<Value> {
        match self {
            BridgeError::Script { details, .. } => details.as_deref().cloned(),
            BridgeError::Closed { retry_after } => {
                Some(serde_json::json!({ "retry_after_s": retry_after.as_secs() }))
            }
            BridgeError::Several(all) => {
                let folders: Vec<String> =
                    all.iter().map(|it| it.folder.display().to_string()).collect();
                Some(serde_json::json!({ "candidates": folders }))
            }
            _ => None,
        }
    }
}

fn told(dead: &[Candidate]) -> String {
    if dead.is_empty() {
        return String::new();
    }
    let each = |it: &Candidate| {
        let why = it.dead.as_deref().unwrap_or("it lives");
        format!("`{}` is stale: {why}", it.folder.display())
    };
    format!("; {}", dead.iter().map(each).collect::<Vec<_>>().join("; "))
}

fn listed(all: &[Candidate]) -> String {
    let each = |it: &Candidate| format!("`{}`", it.folder.display());
    all.iter().map(each).collect::<Vec<_>>().join(", ")
}
