//! A debugger in a table, with what is known of one program: where it begins, and which folders are not its own.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use holdpoint_dap::types as t;

use super::{Dialect, Filters, InterruptedSteps, Table};
use crate::{
    backend::{ScopeKind, Stopped, Value},
    breakpoints::hits::HitTest,
    failure::Failure,
};

pub struct Launched {
    pub table: Table,
    /// The function at which it is to stop first.
    pub entry: Option<String>,
    /// Folders of code that is not the user's.
    pub libraries: Vec<PathBuf>,
    /// Steps end in the user's own code.
    pub just_my_code: bool,
    /// What is evaluated in it before anything is set, where it ran before.
    pub prelude: Option<String>,
}

impl Dialect for Launched {
    fn entry(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    fn prelude(&self) -> Option<&str> {
        self.prelude.as_deref()
    }

    fn stays_in_users_code(&self) -> bool {
        self.just_my_code
    }

    fn is_users(&self, frame: &t::StackFrame, file: &Path) -> bool {
        let is_library = self.libraries.iter().any(|it| file.starts_with(it));
        !is_library && self.table.is_users(frame, file)
    }

    fn hides_machinery(&self) -> bool {
        (self.just_my_code || self.table.machinery_is_blind) && self.table.hides_machinery()
    }

    fn halts_to_set(&self) -> bool {
        self.table.halts_to_set()
    }

    fn is_over(&self, refusal: &str) -> bool {
        self.table.is_over(refusal)
    }

    fn is_machinery(&self, function: &str) -> bool {
        self.table.is_machinery(function)
    }

    fn name(&self) -> &'static str {
        self.table.name()
    }

    fn scope_kind(&self, scope: &t::Scope) -> ScopeKind {
        self.table.scope_kind(scope)
    }

    fn function<'a>(&self, name: &'a str) -> &'a str {
        self.table.function(name)
    }

    fn guesses_depth(&self) -> bool {
        self.table.guesses_depth()
    }

    fn finishes_inside(&self) -> bool {
        self.table.finishes_inside()
    }

    fn interrupted_steps(&self) -> InterruptedSteps {
        self.table.interrupted_steps()
    }

    fn told(&self, stopped: Stopped) -> Stopped {
        self.table.told(stopped)
    }

    fn thread_name(&self, name: String) -> String {
        self.table.thread_name(name)
    }

    fn is_idle(&self, name: &str) -> bool {
        self.table.is_idle(name)
    }

    fn stop_text(&self, stopped: &t::StoppedEvent) -> Option<String> {
        self.table.stop_text(stopped)
    }

    fn is_bound(&self, answer: &t::Breakpoint) -> bool {
        self.table.is_bound(answer)
    }

    fn why_unbound(&self, message: &str) -> Option<String> {
        self.table.why_unbound(message)
    }

    fn filters(&self) -> &Filters {
        self.table.filters()
    }

    fn hit_condition(&self, test: HitTest) -> Option<String> {
        self.table.hit_condition(test)
    }

    fn takes_conditions(&self) -> bool {
        self.table.takes_conditions()
    }

    fn pages_lists(&self) -> bool {
        self.table.pages_lists()
    }

    fn question(&self, expression: &str, patience: Duration) -> Option<String> {
        self.table.question(expression, patience)
    }

    fn failed(&self, value: &Value) -> Option<Failure> {
        self.table.failed(value)
    }

    fn advice(&self, message: &str) -> Option<&'static str> {
        self.table.advice(message)
    }

    fn assignment(&self, name: &str, value: &str) -> Option<String> {
        self.table.assignment(name, value)
    }

    fn names_hits(&self) -> bool {
        self.table.names_hits()
    }

    fn evaluates_for(&self) -> t::EvaluateContext {
        self.table.evaluates_for()
    }

    fn is_chatter(&self, output: &str) -> bool {
        self.table.is_chatter(output)
    }

    fn exit_code(&self, output: &str) -> Option<i64> {
        self.table.exit_code(output)
    }
}
