//! The first stop of a program whose debugger begins in the loader: at the function where its author begins.
//!
//! It is a breakpoint by name that nobody set: it goes with the others to the debugger, and is gone once it was hit.

use holdpoint_dap::types as t;

use super::Dap;
use crate::{
    backend::{StopReason, Stopped, WantedFunction},
    failure::Failure,
};

#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The debugger's number of it.
    number: Option<i64>,
    is_over: bool,
    /// Those that the user wants, to be set again without it.
    wanted: Vec<WantedFunction>,
}

impl Dap {
    /// The breakpoint that is to be set beside those that are wanted.
    pub(super) fn entry_point(&self, wanted: &[WantedFunction]) -> Option<t::FunctionBreakpoint> {
        let mut entry = self.known.entry();
        entry.wanted = wanted.to_vec();
        let name = self.known.dialect.entry().filter(|_| !entry.is_over)?;
        Some(t::FunctionBreakpoint { name: name.to_owned(), condition: None, hit_condition: None })
    }

    pub(super) fn entry_is(&self, answer: Option<&t::Breakpoint>) {
        let mut entry = self.known.entry();
        entry.number = answer.and_then(|it| it.id);
    }

    /// Whether the program has begun with this stop.
    pub(super) fn is_entry(&self, event: &t::StoppedEvent) -> bool {
        let entry = self.known.entry();
        !entry.is_over && entry.number.is_some_and(|it| event.hit_breakpoint_ids.contains(&it))
    }

    /// The stop at it, which is the only one.
    pub(super) async fn entered(&self, mut stopped: Stopped) -> Stopped {
        let wanted = {
            let mut entry = self.known.entry();
            entry.is_over = true;
            entry.wanted.clone()
        };
        if let Err(failure) = self.unset_entry(&wanted).await {
            tracing::debug!(%failure, "the entry stays a breakpoint");
        }
        if stopped.hits.is_empty() {
            stopped.reason = StopReason::Entry;
        }
        stopped
    }

    async fn unset_entry(&self, wanted: &[WantedFunction]) -> Result<(), Failure> {
        self.set_functions(wanted).await.map(drop)
    }
}
