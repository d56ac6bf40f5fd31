//! What each debugger says and does in its own way: which of its scopes are a function's own, whose code is
//! the user's, how its exception filters are called, how it writes hit conditions, what its stops say, and
//! whether something of ours works inside the program.
//!
//! The protocol's part asks these questions and knows no debugger. Most answers are rows of a table
//! ([`rows`]); only [`Pydevd`] has a helper inside the program and needs more.

mod launched;
mod lldb;
mod pydevd;
mod rows;
mod said;
mod table;

use std::{path::Path, time::Duration};

use futures::future::BoxFuture;
use holdpoint_dap::{Event, types as t};

pub use self::{
    launched::Launched,
    lldb::{Heard, Lldb},
    pydevd::{About, Pydevd},
    rows::{
        CDT_GDB, CODELLDB, DELVE, GDB, JAVA, JS_DEBUG, LLDB, MONO, NAMES, NETCOREDBG, PERL, PLAIN,
        RDBG, by_name,
    },
    table::Table,
};
use super::{Dap, DebuggerState, translate};
use crate::{
    backend::{
        Bound, Exceptions, FrameId, Loaded, ScopeKind, Signal, StopReason, Stopped, TraceWay,
        UntilAsked, UntilEnd, UntilSeen, Value, Variable, Wanted, WantedFunction,
    },
    breakpoints::hits::HitTest,
    failure::Failure,
    ids::BreakpointId,
};

/// One debugger's way with the protocol.
pub trait Dialect: Send + Sync {
    /// What the debugger is called, for those who read why something is refused.
    fn name(&self) -> &'static str;

    /// Whether an evaluation that failed is answered with a result of nothing.
    fn fails_with_nothing(&self) -> bool {
        false
    }

    /// What it announces and cannot, as the protocol names it.
    fn ignores(&self) -> &'static [&'static str] {
        &[]
    }

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

    /// Why it stopped, where the debugger has another word for it than everybody else.
    fn reason(&self, _stopped: &t::StoppedEvent) -> Option<StopReason> {
        None
    }

    /// The signal that a stop is for: a program that goes on with it may end by it.
    fn signal(&self, _stopped: &t::StoppedEvent) -> Option<i32> {
        None
    }

    /// Whether it made up this exit code, for it does not know how the program ended.
    fn makes_up(&self, _exit_code: i64) -> bool {
        false
    }

    /// The signal by which the program ended, where the debugger writes it out.
    fn killed_by(&self, _output: &str) -> Option<i32> {
        None
    }

    /// Whether what the debugger says of itself tells anybody anything.
    fn is_news(&self, _output: &str) -> bool {
        true
    }

    /// Why text is not to be evaluated: to the debugger it would be more than an expression.
    fn check_text(&self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// What is wrong, of all that the debugger says about an expression that it refused.
    fn problem(&self, message: &str) -> String {
        translate::last_line(message)
    }

    /// A value as its language writes it.
    fn shown(&self, value: Value) -> Value {
        value
    }

    /// Whether a stop is looked into by [`Dialect::complete`] before anybody is told of it.
    fn looks_into(&self, _stopped: &Stopped) -> bool {
        false
    }

    /// The stop with what there is to say of it; nothing, where the program was sent on.
    fn complete<'a>(&'a self, _dap: &'a Dap, stopped: Stopped) -> BoxFuture<'a, Option<Stopped>> {
        Box::pin(std::future::ready(Some(stopped)))
    }

    /// Whether a frame above the user's own is how the runtime carries an exception, or waits: nobody asks
    /// about it who asks where the program stands.
    fn is_machinery(&self, _function: &str) -> bool {
        false
    }

    /// Whether there is such a thing.
    fn hides_machinery(&self) -> bool {
        false
    }

    /// Whether a step was refused for the program has only its end before it: it goes on to that.
    fn is_over(&self, _refusal: &str) -> bool {
        false
    }

    /// Whether it halts a program that runs to set breakpoints in it, and now and then leaves it so.
    fn halts_to_set(&self) -> bool {
        false
    }

    /// Whether a stack is so dear that it is asked for once at a stop.
    fn keeps_stacks(&self) -> bool {
        false
    }

    /// Whether the size of a stack that it does not show whole is made up.
    fn guesses_depth(&self) -> bool {
        false
    }

    /// Whether a step out ends at the end of the function that is left, rather than behind its call.
    fn finishes_inside(&self) -> bool {
        false
    }

    fn interrupted_steps(&self) -> InterruptedSteps {
        InterruptedSteps::Forgotten
    }

    /// Whether steps are to end in the user's own code, and the debugger does not see to that itself.
    fn stays_in_users_code(&self) -> bool {
        false
    }

    /// The function at which a program is to stop first, where the debugger's own entry is the loader's.
    fn entry(&self) -> Option<&str> {
        None
    }

    /// What is evaluated in a program that ran before, while it stands for us: before anything is set in it.
    fn prelude(&self) -> Option<&str> {
        None
    }

    /// A stop as it is to be told, where the debugger says it in words of its own.
    fn told(&self, stopped: Stopped) -> Stopped {
        stopped
    }

    /// A thread's name without what the debugger adds for its own display.
    fn thread_name(&self, name: String) -> String {
        name
    }

    /// Whether a thread of that name waits inside the runtime.
    fn is_idle(&self, _name: &str) -> bool {
        false
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

    /// Whether it may be told conditions. Some pass a line in silence where theirs does not hold, though a step
    /// was to end there.
    fn takes_conditions(&self) -> bool {
        true
    }

    /// Whether it stops without a word where it cannot tell whether a condition holds.
    fn doubts_conditions(&self) -> bool {
        false
    }

    /// The debugger's own command after breakpoints were set, where it would stop several times at one pass of a line.
    fn tidies(&self) -> Option<&'static str> {
        None
    }

    /// Whether the parts of a list are shown only to who asks for some of them by number.
    fn pages_lists(&self) -> bool {
        false
    }

    /// How an expression is asked for, where the debugger answers what it throws as if it were its value, or does
    /// not end what does not end.
    fn question(&self, _expression: &str, _patience: Duration) -> Option<String> {
        None
    }

    /// What an answer says that is no value: why there is none.
    fn failed(&self, _value: &Value) -> Option<Failure> {
        None
    }

    /// What to do about an evaluation that was refused so.
    fn advice(&self, _message: &str) -> Option<&'static str> {
        None
    }

    /// The statement that gives a variable of a frame another value, where the debugger has no request for it.
    fn assignment(&self, _name: &str, _value: &str) -> Option<String> {
        None
    }

    /// The statement that gives another value to what a variable refers to, where the debugger's request would
    /// make it refer to something else.
    fn writes_through(&self, _variable: &Variable, _value: &str) -> Option<String> {
        None
    }

    /// Whether [`Dialect::writes_through`] ever has one.
    fn has_references(&self) -> bool {
        false
    }

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

    /// The request by which the debugger breaks off what a stopped thread computes for us, where it has one.
    fn interrupts(&self) -> Option<&'static str> {
        None
    }

    /// Whether it says this to everybody, and it is of no use here.
    fn is_chatter(&self, _output: &str) -> bool {
        false
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

/// What becomes of a step that a breakpoint interrupts, when the program goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptedSteps {
    Forgotten,
    /// It ends somewhere later: who wants it carried out is led there step by step.
    Kept,
    /// It ends where it was to end.
    CarriedOut,
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
    /// What is asked for beside that, wherever it is announced.
    pub with_uncaught: &'static [&'static str],
    /// It stops where nothing catches an exception without being asked: such a program aborts.
    pub stops_at_uncaught: bool,
    /// Functions that run where one is raised: breakpoints in them do what no filter does.
    pub thrown_at: &'static [&'static str],
}

/// What can be done with a helper of ours inside the program. Everything here is more than the protocol has.
pub trait Inside: Send + Sync {
    /// How a tracepoint works.
    fn trace_way(&self, id: BreakpointId) -> TraceWay;

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

    /// Evaluates what a variable is to become and says how to call the result: the debugger itself keeps quiet about an
    /// expression that fails.
    fn staged<'a>(
        &'a self,
        dap: &'a Dap,
        frame: &'a FrameId,
        expression: &'a str,
    ) -> BoxFuture<'a, Result<&'static str, Failure>>;

    /// What an evaluation that showed nothing came to.
    fn nothing<'a>(&'a self, dap: &'a Dap, expression: &'a str) -> BoxFuture<'a, Option<Value>>;

    /// Watches a value from this stop on: a step into the next line goes on until it turns.
    fn until<'a>(
        &'a self,
        dap: &'a Dap,
        asked: &'a UntilAsked,
    ) -> BoxFuture<'a, Result<UntilSeen, Failure>>;

    /// Ends that, and tells what was seen.
    fn until_ends<'a>(
        &'a self,
        dap: &'a Dap,
        end: UntilEnd,
    ) -> BoxFuture<'a, Result<Option<UntilSeen>, Failure>>;

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
