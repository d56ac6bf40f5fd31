//! What events are asked for.

use super::{ClassId, Location, ObjectId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    SingleStep,
    Breakpoint,
    Exception,
    ThreadStart,
    ThreadDeath,
    ClassPrepare,
    VmDeath,
}

impl EventKind {
    pub fn code(self) -> u8 {
        match self {
            EventKind::SingleStep => 1,
            EventKind::Breakpoint => 2,
            EventKind::Exception => 4,
            EventKind::ThreadStart => 6,
            EventKind::ThreadDeath => 7,
            EventKind::ClassPrepare => 8,
            EventKind::VmDeath => 99,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuspendPolicy {
    None,
    EventThread,
    All,
}

impl SuspendPolicy {
    pub fn code(self) -> u8 {
        match self {
            SuspendPolicy::None => 0,
            SuspendPolicy::EventThread => 1,
            SuspendPolicy::All => 2,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepDepth {
    Into,
    Over,
    Out,
}

/// Which of its events a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modifier {
    Count(u32),
    Thread(ObjectId),
    ClassMatch(String),
    ClassExclude(String),
    Location(Location),
    /// `None` for every exception.
    Exception {
        class: Option<ClassId>,
        caught: bool,
        uncaught: bool,
    },
    /// By lines.
    Step {
        thread: ObjectId,
        depth: StepDepth,
    },
    /// `Cart.java`
    SourceName(String),
}
