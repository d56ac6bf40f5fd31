//! What is true of a session now, for everyone who asks.

use std::sync::Arc;

use super::state::Stop;
use crate::{
    backend::Stack,
    breakpoints::Breakpoint,
    event::Hit,
    ids::{Epoch, Seq, SessionId, ThreadKey},
    inspect::Standing,
    nouns::Status,
    process::Exit,
};

#[derive(Debug, Clone)]
pub struct View {
    pub status: Status,
    /// It stands, and is shown as soon as it is known where.
    pub is_stopping: bool,
    /// It is over, and what it reported last is still read: its end is told behind that.
    pub is_ending: bool,
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
    /// What the thread is called; not asked of the program's main thread.
    pub thread: Option<String>,
}

impl Shown {
    /// The same moment, of another thread.
    pub fn of_thread(&self, thread: ThreadKey, stack: Stack) -> Shown {
        let stop = Stop { thread, ..self.stop.clone() };
        Shown { stop, stack, seq: self.seq, hits: Vec::new(), thread: None }
    }

    /// To be looked at.
    pub fn standing(&self, session: SessionId) -> Standing<'_> {
        Standing { session, seq: self.seq, stack: &self.stack }
    }
}

/// One process, or worker, of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: Option<u32>,
    /// What it is called by those who wrote the program, once somebody needed to know.
    pub title: Option<String>,
}

/// How often a tracepoint was passed in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct PassCount {
    pub point: Breakpoint,
    /// Hits that were told.
    pub reported: u64,
    /// The number of the last of them, those before it that were not told included.
    pub counted: u64,
    /// Whether it lay anywhere at some time.
    pub is_bound: bool,
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
            is_ending: false,
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
