//! Breakpoints by file and line, where pydevd needs help.
//!
//! It has one breakpoint on each line, and knows no tracepoint that is worth it: its own logpoints lose
//! hits and cost four times as much. So where several of ours share a line, or one needs more than pydevd
//! can, its breakpoint has a condition that asks our helper in the program. From Python 3.12 on the helper
//! takes tracepoints out of pydevd again as soon as they are placed, and lets the interpreter call it.

use std::{collections::BTreeMap, path::Path};

use futures::future::BoxFuture;
use holdpoint_dap::types as t;
use serde_json::{Value, json};

use super::{Talk, functions::entry, is_python, literal};
use crate::{
    backend::{
        Bound, Wanted,
        dap::lines::{Group, Placed, Setter, line_of, no_code},
    },
    failure::Failure,
    ids::BreakpointId,
    language::SourceText,
};

impl Talk<'_> {
    pub(super) async fn set_breakpoints(
        self,
        file: &Path,
        wanted: &[Wanted],
    ) -> Result<Vec<Bound>, Failure> {
        let Placed { bound, groups } = if self.own.is_in_process() {
            self.dap.set_lines(file, wanted, &self).await?
        } else {
            self.dap.set_lines(file, wanted, self.dap).await?
        };
        if self.own.helper.initialized() {
            self.tell_lines(file, &groups).await?;
        }
        Ok(self.without_code(file, wanted, bound))
    }

    /// Where they came to lie, for the helper.
    async fn tell_lines(
        self,
        file: &Path,
        groups: &[(Group<'_>, Option<u32>)],
    ) -> Result<(), Failure> {
        let ours = groups.iter().filter(|(group, _)| self.needs_helper(group));
        let lines: BTreeMap<BreakpointId, Option<u32>> =
            ours.filter_map(|(group, line)| Some((key(group)?, *line))).collect();
        let keys: Vec<BreakpointId> = lines.keys().copied().collect();
        let text = json!({ "file": file, "keys": keys, "lines": lines }).to_string();
        let watched = self.helper(&format!("lines_set({})", literal(&text))).await?;
        let watched = serde_json::from_str(&watched).unwrap_or_default();
        self.own.watched().insert(file.to_owned(), watched);
        Ok(())
    }

    /// pydevd moves a breakpoint back to the last line with code; where there is none before it, that is
    /// where the module's own code is said to begin, line 0, or the comment itself: nothing comes there.
    fn without_code(self, file: &Path, wanted: &[Wanted], bound: Vec<Bound>) -> Vec<Bound> {
        let bytes = match self.told_text(file) {
            Some(running) => running.into_bytes(),
            None if is_python(Some(file)) => std::fs::read(file).unwrap_or_default(),
            None => Vec::new(),
        };
        let text = SourceText::new(self.own.about.reading, &bytes);
        let truly = |bound: Bound| {
            let asked = wanted.iter().find(|it| it.id == bound.id).map(|it| it.line);
            let is_nowhere =
                |line: u32, asked: u32| line == 0 || (line == asked && is_before_code(&text, line));
            match (line_of(&bound.state), asked) {
                (Some(line), Some(asked)) if is_nowhere(line, asked) => {
                    let next = text.code_at(asked).err().flatten();
                    Bound { state: no_code(asked, next), ..bound }
                }
                _ => bound,
            }
        };
        bound.into_iter().map(truly).collect()
    }

    fn needs_helper(self, group: &[&Wanted]) -> bool {
        let is_more = |it: &&Wanted| {
            it.trace.is_some() || (it.condition.is_some() && it.hit_condition.is_some())
        };
        self.own.is_in_process() && (group.len() > 1 || group.iter().any(is_more))
    }
}

impl Setter for Talk<'_> {
    /// What the helper has to know before the debugger asks it.
    fn prepare<'a>(
        &'a self,
        file: &'a Path,
        groups: &'a [Group<'a>],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let runs = self.own.about.runs || self.dap.known.pid().is_some();
            if runs && !groups.is_empty() {
                // What waits in the program is seen by the helper when it goes on.
                self.is_installed().await?;
            }
            let mut told: BTreeMap<BreakpointId, Vec<Value>> = BTreeMap::new();
            for group in groups.iter().filter(|group| self.needs_helper(group)) {
                let points = group.iter().map(|it| {
                    let (condition, hits) = (it.condition.as_deref(), it.hit_condition.as_deref());
                    entry(it.id, condition, hits, it.trace.as_deref())
                });
                if let Some(key) = key(group) {
                    told.insert(key, points.collect::<Result<_, _>>()?);
                }
            }
            if told.is_empty() {
                return Ok(());
            }
            let text = json!({ "file": file, "groups": told }).to_string();
            self.helper(&format!("lines({})", literal(&text))).await.map(drop)
        })
    }

    fn point(&self, group: &[&Wanted]) -> t::SourceBreakpoint {
        let Some(first) = group.first() else { return t::SourceBreakpoint::default() };
        if !self.needs_helper(group) {
            return self.dap.point(group);
        }
        let how = match (group, &first.trace) {
            ([_], Some(trace)) if trace.is_mark => "mark",
            ([_], Some(_)) => "trace",
            _ => "line",
        };
        t::SourceBreakpoint {
            line: i64::from(first.line),
            column: first.column.map(i64::from),
            condition: Some(format!("__import__('_holdpoint').{how}({})", first.id)),
            ..Default::default()
        }
    }
}

/// The name of a group in the helper: a breakpoint is in one group only.
fn key(group: &[&Wanted]) -> Option<BreakpointId> {
    group.first().map(|it| it.id)
}

/// Whether nothing but comments and empty lines comes up to this line.
fn is_before_code(text: &SourceText<'_>, line: u32) -> bool {
    (1..=line).all(|it| text.code_at(it).is_err())
}
