//! The things that every room speaks of: what a process does, its stops, frames and values, what is set in it, and
//! how a session is. Data alone, and a leaf: nothing of the rooms is known here.

mod points;
mod until;
mod values;

use serde::Serialize;

pub(crate) use self::values::StopMoment;
pub use self::{
    points::{
        Binding, Bound, Exceptions, Loaded, Passed, Reached, RunningText, Site, TraceWay, Tracing,
        Wanted, WantedFunction,
    },
    until::{SeenValue, UntilAsked, UntilEnd, UntilSeen, UntilWay},
    values::{
        ExceptionInfo, Frame, FrameId, Handle, Scope, ScopeKind, Slice, Stack, Thread, Value,
        Variable,
    },
};
use crate::ids::BreakpointId;

/// Something the process did.
#[derive(Debug)]
pub enum Signal {
    Stopped(Stopped),
    /// `thread: None` means all of them.
    Continued {
        thread: Option<i64>,
    },
    ThreadStarted {
        thread: i64,
        name: Option<String>,
    },
    ThreadEnded {
        thread: i64,
    },
    /// Text the runtime itself wants shown, and what a program that we did not start writes: that of one
    /// that we did comes by its pipes.
    Output {
        stream: Stream,
        text: String,
    },
    /// A breakpoint was bound, moved or lost after the answer that set it.
    Breakpoint(Bound),
    /// What the process is called by those who wrote the program.
    Titled(String),
    /// Tracepoints were passed, in this order.
    Passed(Vec<Passed>),
    /// What ran so far of files that were surveyed.
    Reached(Vec<Reached>),
    /// The person at the debugger itself took control, or gave it back.
    Held {
        by_person: bool,
    },
    /// The program's exit code, where its debugger tells.
    Exited {
        code: i64,
    },
    /// The signal that ended the program, where its debugger tells.
    Killed {
        signal: i32,
    },
    /// The program told that it ends; its process may live a little longer.
    Ended,
    /// The connection is gone. Always the last signal.
    Gone {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stopped {
    pub thread: i64,
    pub reason: StopReason,
    pub hits: Vec<BreakpointId>,
    /// What the runtime says about it: an exception's message, for instance.
    pub text: Option<String>,
    /// Whether every thread of the process stands still.
    pub all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    Entry,
    Breakpoint,
    Step,
    Pause,
    Exception,
    Other(String),
}

impl StopReason {
    pub fn as_str(&self) -> &str {
        match self {
            StopReason::Entry => "entry",
            StopReason::Breakpoint => "breakpoint",
            StopReason::Step => "step",
            StopReason::Pause => "pause",
            StopReason::Exception => "exception",
            StopReason::Other(text) => text,
        }
    }
}

/// Which threads of a process went on when one was told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    All,
    /// That one only; the others stand as they stood.
    Alone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Over,
    In,
    Out,
}

/// Where the program, or its debugger, writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    Stdout,
    Stderr,
    /// What the debugger itself has to say.
    Debugger,
}

impl Stream {
    pub(crate) const ALL: [Stream; 3] = [Stream::Stdout, Stream::Stderr, Stream::Debugger];

    pub const fn as_str(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
            Stream::Debugger => "debugger",
        }
    }
}

/// How a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The program is being started; nothing of it has run.
    Starting,
    Running,
    /// What [`Stop`] says.
    Stopped,
    /// The program is gone; the session can still be read.
    Ended,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Starting => "starting",
            Status::Running => "running",
            Status::Stopped => "stopped",
            Status::Ended => "ended",
        }
    }
}
