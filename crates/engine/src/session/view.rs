//! What is true of a session now, for everyone who asks.

use std::sync::Arc;

use super::state::{Status, Stop};
use crate::{
    backend::Stack,
    event::Hit,
    ids::{Epoch, Seq, ThreadKey},
    process::Exit,
};

#[derive(Debug, Clone)]
pub struct View {
    pub status: Status,
    /// It stands, and is shown as soon as it is known where.
    pub is_stopping: bool,
    /// The stop that stands; `None` while running.
    pub stop: Option<Arc<Shown>>,
    /// The newest stop there ever was.
    pub newest: Epoch,
    pub threads: Vec<ThreadRow>,
    pub exit: Option<Exit>,
}

/// A stop with its stack, complete when it is shown.
#[derive(Debug)]
pub struct Shown {
    pub stop: Stop,
    /// The first frames; more by asking.
    pub stack: Stack,
    /// Its number on the timeline.
    pub seq: Seq,
    /// What it hit, and how often by now.
    pub hits: Vec<Hit>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ThreadRow {
    pub key: ThreadKey,
    pub name: Option<String>,
    pub is_stopped: bool,
}

impl Default for View {
    fn default() -> Self {
        View {
            status: Status::Starting,
            is_stopping: false,
            stop: None,
            newest: Epoch::default(),
            threads: Vec::new(),
            exit: None,
        }
    }
}

impl View {
    /// Later than any stop that was shown.
    pub fn epoch(&self) -> Epoch {
        self.newest
    }
}
