//! How to talk to one debugged process, whatever protocol it speaks.
//!
//! Commands go down through [`Backend`]; what the process does comes up as [`Signal`]s, in order, and
//! nothing else may say that it stopped or runs: answers to commands only say that they were taken.

pub mod cdp;
pub mod dap;
mod tasks;
mod until;
pub mod vscode;

use std::{path::Path, time::Duration};

use tokio::sync::mpsc;

pub use crate::nouns::{
    Binding, Bound, ExceptionInfo, Exceptions, Frame, FrameId, Handle, Loaded, Passed, Reached,
    RunningText, Scope, ScopeKind, SeenValue, Signal, Site, Slice, Stack, Step, StopReason,
    Stopped, Thread, TraceWay, Tracing, UntilAsked, UntilEnd, UntilSeen, UntilWay, Value, Variable,
    Wanted, WantedFunction, Went,
};
use crate::{
    breakpoints::Breakpoint,
    failure::{Code, Failure},
    limits,
    nouns::StopMoment,
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
    Vscode(vscode::Vscode),
}

/// A process that has come under control and is configured.
pub struct Connected {
    pub backend: Backend,
    pub signals: mpsc::Receiver<Signal>,
    pub pid: Option<u32>,
    /// The state of the breakpoints it was configured with.
    pub revision: u64,
    /// What became of them at that time, unless the signals tell it.
    pub bound: Vec<Bound>,
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
            // The editor's debugger says so when it is hit.
            Backend::Vscode(_) => None,
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
            Backend::Dap(dap) => dap.trace_way(breakpoint.id),
            Backend::Cdp(cdp) => cdp.trace_way(breakpoint),
            Backend::Vscode(_) => TraceWay::InProcess,
        }
    }

    /// Whether the program is stopped at each hit of a breakpoint, for us to look whether it is meant.
    pub fn emulates(&self, breakpoint: &Breakpoint) -> bool {
        match self {
            Backend::Dap(dap) => dap.emulates(breakpoint.id),
            Backend::Cdp(_) | Backend::Vscode(_) => false,
        }
    }
}

impl Backend {
    /// The process on the other end, where its debugger tells.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Backend::Dap(dap) => dap.pid(),
            Backend::Cdp(_) | Backend::Vscode(_) => None,
        }
    }

    /// Whether letting go of the program ends it, though we did not start its process.
    pub fn ends_it(&self) -> bool {
        match self {
            Backend::Dap(_) | Backend::Cdp(_) => false,
            Backend::Vscode(vscode) => vscode.is_started_here(),
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
            Backend::Vscode(vscode) => vscode.stack(thread, slice).await?,
        };
        stack.frames.iter_mut().for_each(|it| it.id.moment = moment);
        Ok(stack)
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        self.is_now(frame.moment)?;
        let mut scopes = match self {
            Backend::Dap(dap) => dap.scopes(frame).await?,
            Backend::Cdp(cdp) => cdp.scopes(frame).await?,
            Backend::Vscode(vscode) => vscode.scopes(frame).await?,
        };
        scopes.iter_mut().for_each(|it| it.children.moment = frame.moment);
        Ok(scopes)
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        self.is_now(of.moment)?;
        let children = match self {
            Backend::Dap(dap) => dap.children(of, slice).await?,
            Backend::Cdp(cdp) => cdp.children(of, slice).await?,
            Backend::Vscode(vscode) => vscode.children(of, slice).await?,
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
            Backend::Vscode(vscode) => vscode.evaluate(frame, expression, patience).await?,
        };
        Ok(value.at(moment))
    }

    /// In the scope of that frame.
    pub async fn assign(
        &self,
        frame: &FrameId,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        self.is_now(container.moment)?;
        let value = match self {
            Backend::Dap(dap) => dap.assign(frame, container, name, value).await?,
            Backend::Cdp(cdp) => cdp.assign(container, name, value).await?,
            Backend::Vscode(vscode) => vscode.assign(container, name, value).await?,
        };
        Ok(value.at(container.moment))
    }

    fn moment(&self, thread: Option<i64>) -> StopMoment {
        let epoch = match self {
            Backend::Dap(dap) => dap.epoch(thread),
            Backend::Cdp(cdp) => cdp.epoch(),
            Backend::Vscode(vscode) => vscode.epoch(),
        };
        StopMoment { thread, epoch }
    }

    fn is_now(&self, moment: StopMoment) -> Result<(), Failure> {
        if self.moment(moment.thread) == moment {
            return Ok(());
        }
        // Not "not found": whoever reads is told that the program ran on meanwhile.
        Err(Failure::new(Code::NotStopped, "that is of an earlier stop")
            .hint("`debug_stack` numbers the frames of this one"))
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
                    Backend::Vscode(backend) => backend.$name($($arg),*).await,
                }
            })*
        }
    };
}

forward! {
    pub async fn resume(&self, thread: i64) -> Went;
    pub async fn step(&self, thread: i64, step: Step) -> ();
    pub async fn pause(&self, thread: Option<i64>) -> ();
    pub async fn set_breakpoints(&self, file: &std::path::Path, wanted: &[Wanted]) -> Vec<Bound>;
    pub async fn set_functions(&self, wanted: &[WantedFunction]) -> Vec<Bound>;
    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> ();
    pub async fn running(&self, file: &std::path::Path) -> RunningText;
    pub async fn loaded(&self) -> Vec<Loaded>;
    pub async fn is_same(&self, file: &std::path::Path) -> Option<bool>;
    pub async fn runs(&self, file: &std::path::Path, text: Option<&str>) -> ();
    pub async fn threads(&self) -> Vec<Thread>;
    pub async fn exception(&self, thread: i64) -> ExceptionInfo;
    pub async fn title(&self) -> String;
    pub async fn detach(&self) -> ();
}
