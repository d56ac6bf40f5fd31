//! Newtypes for every id and count that crosses a boundary.
//!
//! Two `u64` arguments in a row are a bug waiting; these make it a compile error.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of an event in the log. The first event is 1; 0 means "before everything".
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The place before the first event: reading from here reads everything that is kept.
    pub const START: Seq = Seq(0);

    pub fn next(self) -> Seq {
        Seq(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One connected client of a face: an agent over MCP, for instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// One program under line-level debugging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl Serialize for SessionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A line breakpoint, for as long as it exists; sessions come and go under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BreakpointId(pub i64);

impl fmt::Display for BreakpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One process or worker of a session: the program itself is 1, its children follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u32);

impl TargetId {
    pub const MAIN: TargetId = TargetId(1);
}

/// A thread of a target. Written `7` in the program itself and `2/7` in its second process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    pub target: TargetId,
    pub thread: i64,
}

impl ThreadKey {
    /// The thread that everybody means who names none.
    pub fn is_main(self) -> bool {
        self.target == TargetId::MAIN && self.thread == 1
    }
}

impl fmt::Display for ThreadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            TargetId::MAIN => self.thread.fmt(f),
            TargetId(target) => write!(f, "{target}/{}", self.thread),
        }
    }
}

impl std::str::FromStr for ThreadKey {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (target, thread) = match text.split_once('/') {
            Some((target, thread)) => (TargetId(target.parse()?), thread),
            None => (TargetId::MAIN, text),
        };
        Ok(ThreadKey { target, thread: thread.parse()? })
    }
}

impl Serialize for ThreadKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Counts the stops of a session. Frame and variable handles live for one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    pub fn next(self) -> Epoch {
        Epoch(self.0.saturating_add(1))
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
