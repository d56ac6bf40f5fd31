//! How to talk to one debugged process, whatever protocol it speaks.
//!
//! Commands go down through [`Backend`]; what the process does comes up as [`Signal`]s, in order, and
//! nothing else may say that it stopped or runs: answers to commands only say that they were taken.

pub mod cdp;
pub mod dap;
mod tasks;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    breakpoints::{Breakpoint, template::Template},
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
    session::Stream,
};

tokio::task_local! {
    /// How long a debugger may take to answer, where that is not the usual.
    static PATIENCE: Duration;
}

/// How long a debugger may take to answer what is asked now.
fn patience() -> Duration {
    PATIENCE.try_with(|it| *it).unwrap_or(limits::ADAPTER_ANSWER)
}

/// Does something that is to be done however late the program answers: nobody waits for it, or whoever
/// does has a deadline of their own.
pub(crate) fn patiently<F: Future>(work: F) -> impl Future<Output = F::Output> {
    PATIENCE.scope(limits::LATE, work)
}

/// A connection to one process or worker. Cheap to clone.
#[derive(Clone)]
pub enum Backend {
    Dap(dap::Dap),
    Cdp(cdp::Cdp),
}

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
    /// The program's exit code, where its debugger tells.
    Exited {
        code: i64,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Over,
    In,
    Out,
}

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
pub enum Running {
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

#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The backend's handle; good for one stop.
    pub id: FrameId,
    pub function: String,
    pub file: Option<PathBuf>,
    /// Where there is no file: `node:internal/…`, `<string>`.
    pub place: Option<String>,
    pub line: u32,
    pub column: Option<u32>,
    /// Whether it is the user's own code rather than a library's or the runtime's.
    pub is_user: bool,
}

/// What a backend calls a frame; good for one stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrameId {
    name: Name,
    moment: Moment,
}

/// DAP counts what CDP names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Number(i64),
    Text(String),
}

/// When something was got: nothing of a thread's earlier stop means anything at a later one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Moment {
    /// `None` for what was got without a frame.
    thread: Option<i64>,
    epoch: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    pub frames: Vec<Frame>,
    /// How deep the stack is in all, where the backend knows.
    pub total: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    pub name: String,
    pub kind: ScopeKind,
    pub children: Handle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// What the reader of the function sees: its locals, block variables, arguments.
    Local,
    Closure,
    Global,
    /// The processor's, of a program that was compiled.
    Registers,
}

/// Where a value's children are to be had; good for one stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Handle {
    name: Name,
    moment: Moment,
}

/// Both as a backend makes them; when that was, [`Backend`] notes.
macro_rules! named {
    ($($kind:ident),*) => {$(
        impl $kind {
            fn number(number: i64) -> Self {
                $kind { name: Name::Number(number), moment: Moment::default() }
            }

            fn text(text: String) -> Self {
                $kind { name: Name::Text(text), moment: Moment::default() }
            }

            fn as_number(&self) -> Result<i64, Failure> {
                match self.name {
                    Name::Number(number) => Ok(number),
                    Name::Text(_) => Err(Failure::internal("a handle of another protocol")),
                }
            }

            fn as_text(&self) -> Option<&str> {
                match &self.name {
                    Name::Number(_) => None,
                    Name::Text(text) => Some(text),
                }
            }
        }
    )*};
}

named!(FrameId, Handle);

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    pub value: Value,
    /// The expression that reads it again, where the backend gives one.
    pub expression: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// As the language writes it; may be cut by the runtime.
    pub text: String,
    pub kind: Option<String>,
    /// `None` for a value without parts.
    pub children: Option<Handle>,
    /// How many indexed parts, and how many named ones, where the backend says.
    pub indexed: Option<usize>,
    pub named: Option<usize>,
}

/// Which children of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub start: usize,
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExceptionInfo {
    pub kind: String,
    pub message: String,
    /// The runtime's own account, with causes.
    pub trace: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    pub id: i64,
    pub name: String,
}

impl Backend {
    /// Whether text that is to be evaluated is an expression of the file's language.
    pub async fn check_expressions(
        &self,
        file: Option<&Path>,
        expressions: &[&str],
    ) -> Result<(), Failure> {
        let problem = match self {
            Backend::Dap(dap) => dap.first_problem(file, expressions).await?,
            Backend::Cdp(cdp) => cdp.first_problem(file, expressions).await,
        };
        match problem {
            None => Ok(()),
            Some((expression, why)) => Err(Failure::new(
                Code::InvalidParams,
                format!("the expression `{expression}` does not parse: {why}"),
            )
            .hint("it is evaluated in the program's own language; `{{` and `}}` are braces")),
        }
    }

    pub fn trace_way(&self, breakpoint: &Breakpoint) -> TraceWay {
        match self {
            Backend::Dap(dap) => dap.trace_way(),
            Backend::Cdp(_) => cdp::trace_way(breakpoint),
        }
    }
}

/// Reading a stopped program. What is got at one stop is refused at another.
impl Backend {
    pub async fn stack(&self, thread: i64, slice: Slice) -> Result<Stack, Failure> {
        let moment = self.moment(Some(thread));
        let mut stack = match self {
            Backend::Dap(dap) => dap.stack(thread, slice).await?,
            Backend::Cdp(cdp) => cdp.stack(thread, slice).await?,
        };
        stack.frames.iter_mut().for_each(|it| it.id.moment = moment);
        Ok(stack)
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        self.is_now(frame.moment)?;
        let mut scopes = match self {
            Backend::Dap(dap) => dap.scopes(frame).await?,
            Backend::Cdp(cdp) => cdp.scopes(frame).await?,
        };
        scopes.iter_mut().for_each(|it| it.children.moment = frame.moment);
        Ok(scopes)
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        self.is_now(of.moment)?;
        let children = match self {
            Backend::Dap(dap) => dap.children(of, slice).await?,
            Backend::Cdp(cdp) => cdp.children(of, slice).await?,
        };
        let at = |it: Variable| Variable { value: it.value.at(of.moment), ..it };
        Ok(children.into_iter().map(at).collect())
    }

    pub async fn evaluate(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let moment = frame.map_or_else(|| self.moment(None), |it| it.moment);
        self.is_now(moment)?;
        let value = match self {
            Backend::Dap(dap) => dap.evaluate(frame, expression, patience).await?,
            Backend::Cdp(cdp) => cdp.evaluate(frame, expression, patience).await?,
        };
        Ok(value.at(moment))
    }

    pub async fn assign(
        &self,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        self.is_now(container.moment)?;
        let value = match self {
            Backend::Dap(dap) => dap.assign(container, name, value).await?,
            Backend::Cdp(cdp) => cdp.assign(container, name, value).await?,
        };
        Ok(value.at(container.moment))
    }

    fn moment(&self, thread: Option<i64>) -> Moment {
        let epoch = match self {
            Backend::Dap(dap) => dap.epoch(thread),
            Backend::Cdp(cdp) => cdp.epoch(),
        };
        Moment { thread, epoch }
    }

    fn is_now(&self, moment: Moment) -> Result<(), Failure> {
        if self.moment(moment.thread) == moment {
            return Ok(());
        }
        // Not "not found": whoever reads is told that the program ran on meanwhile.
        Err(Failure::new(Code::NotStopped, "that is of an earlier stop")
            .hint("`debug_stack` numbers the frames of this one"))
    }
}

impl Value {
    fn at(mut self, moment: Moment) -> Value {
        self.children = self.children.map(|it| Handle { moment, ..it });
        self
    }
}

/// Calls the same method of whichever backend it is.
macro_rules! forward {
    ($(pub async fn $name:ident(&self $(, $arg:ident: $kind:ty)*) -> $answer:ty;)*) => {
        impl Backend {
            $(pub async fn $name(&self $(, $arg: $kind)*) -> Result<$answer, Failure> {
                match self {
                    Backend::Dap(backend) => backend.$name($($arg),*).await,
                    Backend::Cdp(backend) => backend.$name($($arg),*).await,
                }
            })*
        }
    };
}

forward! {
    pub async fn resume(&self, thread: i64) -> ();
    pub async fn step(&self, thread: i64, step: Step) -> ();
    pub async fn pause(&self, thread: Option<i64>) -> ();
    pub async fn set_breakpoints(&self, file: &std::path::Path, wanted: &[Wanted]) -> Vec<Bound>;
    pub async fn set_functions(&self, wanted: &[WantedFunction]) -> Vec<Bound>;
    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> ();
    pub async fn running(&self, file: &std::path::Path) -> Running;
    pub async fn loaded(&self) -> Vec<Loaded>;
    pub async fn is_same(&self, file: &std::path::Path) -> Option<bool>;
    pub async fn runs(&self, file: &std::path::Path, text: Option<&str>) -> ();
    pub async fn threads(&self) -> Vec<Thread>;
    pub async fn exception(&self, thread: i64) -> ExceptionInfo;
    pub async fn title(&self) -> String;
    pub async fn detach(&self) -> ();
}
