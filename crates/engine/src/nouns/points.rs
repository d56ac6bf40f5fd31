//! What is set in a process, what became of it, and what it reports.

use std::{path::PathBuf, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{ids::BreakpointId, template::Template};

/// A breakpoint as a backend is to set it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub id: BreakpointId,
    pub line: u32,
    pub column: Option<u32>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    /// A tracepoint: the program is to pass, and its hits are to be told.
    pub trace: Option<Arc<Tracing>>,
}

/// What a tracepoint is to do in a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracing {
    /// Counts begin anew with each: hits of an earlier one are told apart.
    pub generation: u64,
    /// None for a tracepoint that only says that it was passed.
    pub template: Option<Template>,
    /// Report each hit whose number is a multiple of it; 0 for every hit.
    pub multiple: u64,
    /// Report so many at the most; 0 for all.
    pub max: u64,
    /// Values as the language writes them, so that `'1'` is not `1`.
    pub is_literal: bool,
    /// Reported once, and out of the program's way from then on.
    pub is_mark: bool,
}

/// The program passed a tracepoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    pub id: BreakpointId,
    pub tracing: Arc<Tracing>,
    /// In this process, those that were not reported included.
    pub hit_count: u64,
    /// The program's own clock.
    pub at: Timestamp,
    pub thread: i64,
    /// Its name, where the program tells it and it is not the main one.
    pub thread_name: Option<Arc<str>>,
    pub file: Arc<str>,
    pub line: u32,
    pub column: Option<u32>,
    pub function: Option<Arc<str>>,
    /// Of each expression of the template: its value, or the type of what it threw.
    pub values: Vec<Result<String, String>>,
}

/// The lines of a file that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    pub file: PathBuf,
    pub lines: Vec<u32>,
}

/// How a tracepoint of a process works; what costs the program more is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceWay {
    /// The runtime itself calls what evaluates and tells, at the traced line alone: no debugger has a part in it.
    Watched,
    /// A call in the program's own text evaluates and tells: no debugger has a part in it.
    Woven,
    /// The program evaluates and tells by itself, and never stops.
    InProcess,
    /// The same, but the first evaluation is done where the program stands: it may not end.
    Tried,
    /// The program is stopped at each hit, looked at and resumed.
    Emulated,
}

/// A breakpoint by a function's name, as a backend is to set it.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedFunction {
    pub id: BreakpointId,
    /// `total`, `Cart.total`: its own name, and before it whatever it is in.
    pub name: String,
    /// Only functions of this file.
    pub file: Option<PathBuf>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    /// A tracepoint: the program is to pass, and its hits are to be told.
    pub trace: Option<Arc<Tracing>>,
}

impl WantedFunction {
    /// The function's own name, without what it is in.
    pub fn last(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// What became of it in one process.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub id: BreakpointId,
    pub state: Binding,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    At {
        line: u32,
        column: Option<u32>,
    },
    /// A function's name was found: where each of them begins, the first of them at least.
    Functions {
        places: Vec<Site>,
        total: usize,
    },
    /// Not yet, or not at all, and why.
    Not {
        why: String,
    },
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub file: PathBuf,
    pub line: u32,
}

/// The text that a process runs for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunningText {
    Text(String),
    /// It has not loaded the file.
    NotLoaded,
    /// Its runtime keeps no text.
    Unknown,
}

/// A file that a process has loaded. Where it loads it again, `which` is another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Loaded {
    pub file: PathBuf,
    pub which: u64,
}

/// Which exceptions stop the program. Its serialised form is kept in the store: a field that is not there
/// has its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exceptions {
    /// Where nothing catches it.
    pub uncaught: bool,
    /// Where it is raised, caught or not: once, in the user's own code.
    pub caught: bool,
    /// Where it leaves the user's own code for a library that called it, such as a test runner.
    pub user_unhandled: bool,
    /// Only exceptions of a class of these names, or of one derived from it; empty for all.
    pub types: Vec<String>,
}

impl Default for Exceptions {
    fn default() -> Self {
        Exceptions { uncaught: true, caught: false, user_unhandled: false, types: Vec::new() }
    }
}
