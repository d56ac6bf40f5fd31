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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}
