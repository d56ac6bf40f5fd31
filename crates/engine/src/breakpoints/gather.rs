//! What a probe gathers of its tracepoints: every hit as it comes, in one order, and nothing of it on the log.

use std::collections::BTreeMap;

use super::passes::Passes;
use crate::{
    ids::{BreakpointId, TargetId},
    nouns::Passed,
};

/// What makes passes a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The last expression of each tracepoint.
    Value,
    /// A new one begins whenever this tracepoint is passed.
    Place(BreakpointId),
}

#[derive(Debug, Clone, Default)]
pub struct Gathered {
    by: Option<By>,
    passes: BTreeMap<BreakpointId, Passes>,
    /// How often the place that begins groups was passed.
    turn: u64,
    /// Passes of all places so far.
    count: u64,
}

impl Gathered {
    pub(super) fn new(by: Option<By>) -> Gathered {
        Gathered { by, ..Gathered::default() }
    }

    /// Of one tracepoint; empty for one that was never passed.
    pub fn of(&self, id: BreakpointId) -> Passes {
        self.passes.get(&id).cloned().unwrap_or_default()
    }

    /// How often the place that begins groups was passed.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    pub fn total(&self, id: BreakpointId) -> u64 {
        self.passes.get(&id).map_or(0, |it| it.total)
    }

    pub(super) fn take(&mut self, target: TargetId, hit: &Passed) {
        if self.by == Some(By::Place(hit.id)) {
            self.turn += 1;
        }
        let mut values = hit.values.clone();
        let key = match self.by.filter(|_| hit.tracing.is_literal) {
            Some(By::Value) => values.pop().map(|it| match it {
                Ok(value) => value,
                Err(error) => format!("<{error}>"),
            }),
            Some(By::Place(_)) => Some(self.turn.to_string()),
            None => None,
        };
        self.count += 1;
        let passes = self.passes.entry(hit.id).or_default();
        if passes.site.is_none() {
            let function = hit.function.as_deref().map(str::to_owned);
            passes.site = Some((hit.file.to_string(), hit.line, function));
        }
        let who = who(target, hit.thread_name.as_deref());
        passes.add(self.count, who, values, key.as_deref());
    }
}

/// A thread or process that is not the program's main one.
pub fn who(target: TargetId, thread: Option<&str>) -> Option<String> {
    match (target, thread) {
        (TargetId::MAIN, thread) => thread.map(str::to_owned),
        (TargetId(number), None) => Some(format!("process {number}")),
        (TargetId(number), Some(thread)) => Some(format!("process {number} {thread}")),
    }
}
