//! What each debugger says and does in its own way: which of its scopes are a function's own, whose code is
//! the user's, how its exception filters are called, how it writes hit conditions, what its stops say, and
//! whether something of ours works inside the program.
//!
//! The protocol's part asks these questions and knows no debugger. Most answers are rows of a table
//! ([`table`]); only [`Pydevd`] has a helper inside the program and needs more.

mod pydevd;
mod table;

use std::path::Path;

use futures::future::BoxFuture;
use holdpoint_dap::{Event, types as t};

pub use self::{
    pydevd::{About, Pydevd},
    table::{CDT_GDB, CODELLDB, DELVE, GDB, JAVA, JS_DEBUG, LLDB, PERL, PLAIN, RDBG, Table},
};
use super::{Dap, DebuggerState};
use crate::{
    backend::{
        Bound, Exceptions, Loaded, ScopeKind, Signal, Stopped, TraceWay, Value, Wanted,
        WantedFunction,
    },
    breakpoints::hits::HitTest,
    failure::Failure,
};

/// One debugger's way with the protocol.
pub trait Dialect: Send + Sync {
    /// What the debugger is called, for those who read why something is refused.
    fn name(&self) -> &'static str;

    /// Whose variables a scope has. By what the protocol says of it, and by its name where that is silent.
    fn scope_kind(&self, scope: &t::Scope) -> ScopeKind {
        scope_kind(scope)
    }

    /// Whether a frame in this file is of the user's own code, rather than a library's or the runtime's.
    fn is_users(&self, frame: &t::StackFrame, file: &Path) -> bool;

    /// A function's name without what the debugger adds to it.
    fn function<'a>(&self, name: &'a str) -> &'a str {
        name
    }

    /// What a stop says beyond its reason.
    fn stop_text(&self, stopped: &t::StoppedEvent) -> Option<String>;

    /// Whether a breakpoint lies where the answer says; some call verified what only may come to lie.
    fn is_bound(&self, answer: &t::Breakpoint) -> bool {
        answer.verified
    }

    /// Why a breakpoint lies nowhere, where the debugger's own words are for people with an editor.
    fn why_unbound(&self, _message: &str) -> Option<String> {
        None
    }

    fn filters(&self) -> &Filters;

    /// A hit condition as the debugger takes it; `None` where it cannot say that, and it is left to us.
    fn hit_condition(&self, test: HitTest) -> Option<String>;

    /// Whether its stops say which breakpoints were hit. Where they do not, the place tells.
    fn names_hits(&self) -> bool {
        true
    }

    /// What an evaluation is said to be for: to some a `repl` is their own command line.
    fn evaluates_for(&self) -> t::EvaluateContext {
        t::EvaluateContext::Repl
    }

    /// Whether a condition holds whose value is this.
    fn is_true(&self, value: &Value) -> bool {
        !matches!(
            value.text.trim(),
            "" | "0"
                | "0.0"
                | "false"
                | "False"
                | "nil"
                | "null"
                | "None"
                | "undefined"
                | "''"
                | "\"\""
                | "NaN"
        )
    }

    /// The program's exit code, where the debugger has no event for it and writes it out.
    fn exit_code(&self, _output: &str) -> Option<i64> {
        None
    }

    /// What works for us inside the program, if anything does.
    fn inside(&self) -> Option<&dyn Inside> {
        None
    }
}

/// How a debugger calls what we ask of exceptions. Of several names the first that is announced counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filters {
    /// Where nothing catches it.
    pub uncaught: &'static [&'static str],
    /// Where it is raised, caught or not.
    pub caught: &'static [&'static str],
    /// Where it leaves the user's own code.
    pub user_unhandled: &'static [&'static str],
    /// It stops where nothing catches an exception without being asked: such a program aborts.
    pub stops_at_uncaught: bool,
}

/// What can be done with a helper of ours inside the program. Everything here is more than the protocol has.
pub trait Inside: Send + Sync {
    /// How tracepoints work.
    fn trace_way(&self) -> TraceWay;

    /// Whether the debugger outlives the program and waits to hear that we go.
    fn waits_for_goodbye(&self) -> bool;

    /// The process on the other end.
    fn pid<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, Option<u32>>;

    /// What the process is called by those who wrote the program.
    fn title<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, Result<String, Failure>>;

    /// Whether a condition is one.
    fn check_condition<'a>(
        &'a self,
        dap: &'a Dap,
        file: Option<&'a Path>,
        condition: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// What is wrong with each of these expressions.
    fn problems<'a>(
        &'a self,
        dap: &'a Dap,
        file: Option<&'a Path>,
        expressions: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Option<String>>, Failure>>;

    /// The files that the program has loaded.
    fn loaded<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, Result<Vec<Loaded>, Failure>>;

    /// Whether what is loaded of a file is what it says now; `None` where nothing tells.
    fn is_same<'a>(
        &'a self,
        dap: &'a Dap,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<Option<bool>, Failure>>;

    /// Tells which text the program runs for a file; `None` for what the file says.
    fn runs<'a>(
        &'a self,
        dap: &'a Dap,
        file: &'a Path,
        text: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>>;

    fn set_breakpoints<'a>(
        &'a self,
        dap: &'a Dap,
        file: &'a Path,
        wanted: &'a [Wanted],
    ) -> BoxFuture<'a, Result<Vec<Bound>, Failure>>;

    fn set_functions<'a>(
        &'a self,
        dap: &'a Dap,
        wanted: &'a [WantedFunction],
    ) -> BoxFuture<'a, Result<Vec<Bound>, Failure>>;

    /// How to ask for these exceptions, where the debugger's filters are not enough.
    fn exceptions<'a>(
        &'a self,
        dap: &'a Dap,
        exceptions: &'a Exceptions,
    ) -> BoxFuture<'a, Result<Option<t::SetExceptionBreakpointsArguments>, Failure>>;

    /// What an evaluation that showed nothing came to.
    fn nothing<'a>(&'a self, dap: &'a Dap, expression: &'a str) -> BoxFuture<'a, Option<Value>>;

    /// Breaks off what a stopped thread computes for us; best effort.
    fn interrupt<'a>(&'a self, dap: &'a Dap) -> BoxFuture<'a, ()>;

    /// What an event of its own means; `None` for one that is the protocol's.
    fn event(&self, known: &DebuggerState, event: &Event) -> Option<Vec<Signal>>;

    /// A stop as it is to be told.
    fn stopped(&self, known: &DebuggerState, stopped: Stopped) -> Stopped;

    /// Looks into a stop before anybody is told of it; `None` where there is nothing to look into. What
    /// comes of it is told; nothing, where the program goes on.
    fn look(
        &self,
        dap: &Dap,
        event: &t::StoppedEvent,
        stopped: &Stopped,
    ) -> Option<BoxFuture<'static, Option<Stopped>>>;
}

/// The protocol's own words for a scope, else the usual names.
fn scope_kind(scope: &t::Scope) -> ScopeKind {
    let name = scope.name.to_ascii_lowercase();
    let by_name = match name.as_str() {
        "globals" | "global" | "global variables" => ScopeKind::Global,
        "closure" | "nonlocals" => ScopeKind::Closure,
        "registers" => ScopeKind::Registers,
        _ => ScopeKind::Local,
    };
    match &scope.presentation_hint {
        Some(t::ScopeHint::Arguments | t::ScopeHint::Locals | t::ScopeHint::ReturnValue) => {
            ScopeKind::Local
        }
        Some(t::ScopeHint::Registers) => ScopeKind::Registers,
        Some(t::ScopeHint::Other(hint)) if hint == "globals" => ScopeKind::Global,
        Some(t::ScopeHint::Other(_)) | None => by_name,
    }
}
