//! Debuggers that need no code of their own here: what they say is told by tables, each row seen in a
//! recording of the debugger (`crates/dap/tests/recordings`).

use std::{path::Path, time::Duration};

use holdpoint_dap::types as t;

use super::{Dialect, Filters, InterruptedSteps, scope_kind};
use crate::{
    backend::{ScopeKind, Stopped, Value},
    breakpoints::hits::{HitTest, How},
    failure::Failure,
};

/// A debugger in a table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub name: &'static str,
    /// Scopes whose names the protocol does not know, in lower case.
    pub scopes: &'static [(&'static str, ScopeKind)],
    /// Parts of the paths of files that are not the user's.
    pub libraries: &'static [&'static str],
    /// How the names of functions begin that are not the user's, whatever file they are said to be in.
    pub foreign: &'static [&'static str],
    /// How the names of functions begin by which the runtime carries a panic, or waits.
    pub machinery: &'static [&'static str],
    /// Nothing can be seen or evaluated in such a frame.
    pub machinery_is_blind: bool,
    /// How a step is refused where the program has only its end before it.
    pub over: &'static [&'static str],
    /// It halts a program to set breakpoints, and now and then leaves it so.
    pub halts_to_set: bool,
    pub function: fn(&str) -> &str,
    pub thread_name: fn(String) -> String,
    pub filters: Filters,
    pub hits: Hits,
    pub takes_conditions: bool,
    pub pages_lists: bool,
    /// The size of a stack that is not shown whole is made up.
    pub guesses_depth: bool,
    /// A step out ends at the end of the function that is left.
    pub finishes_inside: bool,
    pub interrupted_steps: InterruptedSteps,
    pub told: fn(Stopped) -> Stopped,
    pub question: fn(&str, Duration) -> Option<String>,
    pub failed: fn(&Value) -> Option<Failure>,
    /// Pieces of its refusals, and what to do about them.
    pub advice: &'static [(&'static str, &'static str)],
    pub assignment: fn(&str, &str) -> Option<String>,
    pub names_hits: bool,
    pub evaluates_for: Purpose,
    /// What a debugger says of a breakpoint that it calls verified and that lies nowhere.
    pub unbound: Option<&'static str>,
    /// The request by which it breaks off what the program computes for us.
    pub interrupts: Option<&'static str>,
    /// How what it says to everybody begins.
    pub chatter: &'static [&'static str],
    /// The program's exit code, where it is only written out.
    pub exit_code: fn(&str) -> Option<i64>,
    /// What it announces and cannot, as the protocol names it.
    pub ignores: &'static [&'static str],
    /// An evaluation that failed is answered with nothing.
    pub fails_with_nothing: bool,
}

/// How hit conditions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hits {
    /// `>= 5`, as we write them.
    Operators,
    /// A number, and all hits from it on.
    From,
    /// Not at all, whatever is announced.
    Ours,
}

/// What an evaluation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Repl,
    /// To these a `repl` is their own command line.
    Watch,
}

impl Dialect for Table {
    fn name(&self) -> &'static str {
        self.name
    }

    fn scope_kind(&self, scope: &t::Scope) -> ScopeKind {
        let name = scope.name.to_ascii_lowercase();
        let own = self.scopes.iter().find(|(it, _)| *it == name);
        own.map_or_else(|| scope_kind(scope), |(_, kind)| *kind)
    }

    fn is_users(&self, frame: &t::StackFrame, file: &Path) -> bool {
        let path = file.to_string_lossy();
        let is_library = self.libraries.iter().any(|it| path.contains(it));
        !is_library && !self.foreign.iter().any(|it| frame.name.starts_with(it))
    }

    fn function<'a>(&self, name: &'a str) -> &'a str {
        (self.function)(name)
    }

    fn is_machinery(&self, function: &str) -> bool {
        self.machinery.iter().any(|it| function.starts_with(it))
    }

    fn halts_to_set(&self) -> bool {
        self.halts_to_set
    }

    fn is_over(&self, refusal: &str) -> bool {
        self.over.iter().any(|it| refusal.contains(it))
    }

    fn hides_machinery(&self) -> bool {
        !self.machinery.is_empty()
    }

    fn guesses_depth(&self) -> bool {
        self.guesses_depth
    }

    fn finishes_inside(&self) -> bool {
        self.finishes_inside
    }

    fn interrupted_steps(&self) -> InterruptedSteps {
        self.interrupted_steps
    }

    fn told(&self, stopped: Stopped) -> Stopped {
        (self.told)(stopped)
    }

    fn thread_name(&self, name: String) -> String {
        (self.thread_name)(name)
    }

    fn is_idle(&self, name: &str) -> bool {
        let function = name.rsplit(' ').next().unwrap_or(name);
        self.is_machinery(function)
    }

    fn takes_conditions(&self) -> bool {
        self.takes_conditions
    }

    fn pages_lists(&self) -> bool {
        self.pages_lists
    }

    fn question(&self, expression: &str, patience: Duration) -> Option<String> {
        (self.question)(expression, patience)
    }

    fn failed(&self, value: &Value) -> Option<Failure> {
        (self.failed)(value)
    }

    fn advice(&self, message: &str) -> Option<&'static str> {
        self.advice.iter().find(|(piece, _)| message.contains(piece)).map(|(_, what)| *what)
    }

    fn assignment(&self, name: &str, value: &str) -> Option<String> {
        (self.assignment)(name, value)
    }

    /// `Paused on breakpoint`, `step over`, `breakpoint 1.1`: nothing that the reason does not say.
    fn stop_text(&self, stopped: &t::StoppedEvent) -> Option<String> {
        use t::StopReason as R;
        if matches!(
            stopped.reason,
            R::Breakpoint | R::FunctionBreakpoint | R::Step | R::Pause | R::Entry
        ) {
            return None;
        }
        let (text, description) = (stopped.text.as_deref(), stopped.description.as_deref());
        let said = match (text.map(str::trim), description.map(str::trim)) {
            (Some(text), Some(more)) if text != more && !more.is_empty() => {
                format!("{text}: {more}")
            }
            (text, description) => text.or(description)?.to_owned(),
        };
        Some(said).filter(|it| !it.is_empty())
    }

    fn is_bound(&self, answer: &t::Breakpoint) -> bool {
        let message = answer.message.as_deref();
        answer.verified && (self.unbound.is_none() || message != self.unbound)
    }

    fn why_unbound(&self, message: &str) -> Option<String> {
        let is_provisional = self.unbound == Some(message) || message.starts_with("breakpoint.");
        is_provisional.then(|| "its file is not loaded yet".to_owned())
    }

    fn filters(&self) -> &Filters {
        &self.filters
    }

    fn hit_condition(&self, test: HitTest) -> Option<String> {
        match (self.hits, test.how) {
            (Hits::Operators, how) => Some(format!("{} {}", how.as_str(), test.number)),
            (Hits::From, How::AtLeast) => Some(test.number.to_string()),
            (Hits::From | Hits::Ours, _) => None,
        }
    }

    fn names_hits(&self) -> bool {
        self.names_hits
    }

    fn evaluates_for(&self) -> t::EvaluateContext {
        match self.evaluates_for {
            Purpose::Repl => t::EvaluateContext::Repl,
            Purpose::Watch => t::EvaluateContext::Watch,
        }
    }

    fn interrupts(&self) -> Option<&'static str> {
        self.interrupts
    }

    fn is_chatter(&self, output: &str) -> bool {
        self.chatter.iter().any(|it| output.starts_with(it))
    }

    fn exit_code(&self, output: &str) -> Option<i64> {
        (self.exit_code)(output)
    }

    fn fails_with_nothing(&self) -> bool {
        self.fails_with_nothing
    }

    fn ignores(&self) -> &'static [&'static str] {
        self.ignores
    }
}
