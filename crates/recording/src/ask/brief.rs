//! A run in one line of a list: read from the tables alone, so that fifty of them can be listed.

use crate::recording::{Process, Recording, is_failure};

#[derive(Debug, Clone, PartialEq)]
pub struct RunBrief {
    /// As [`crate::Overview::verdict`] says it.
    pub verdict: String,
    pub calls: u64,
    pub lines: u64,
    pub events: u64,
    pub took_ms: f64,
    pub missing: Vec<String>,
}

impl Recording {
    pub fn brief(&self) -> RunBrief {
        let processes = self.process_facts();
        let tests = || processes.iter().flat_map(|it| &it.tests);
        let outcomes = || tests().filter_map(|it| it.outcome.as_deref());
        let failed = outcomes().filter(|it| is_failure(it)).count();
        let tests = (outcomes().count() - failed, failed, tests().count());
        let sum = |of: fn(&Process) -> u64| self.processes().iter().map(of).sum();
        RunBrief {
            verdict: crate::tell::verdict(tests, &processes),
            calls: sum(|it| u64::from(it.head.calls)),
            lines: sum(|it| it.head.lines),
            events: sum(|it| it.head.events),
            took_ms: processes.iter().map(|it| it.took_ms).fold(0.0, f64::max),
            missing: self.missing_of_run(),
        }
    }
}
