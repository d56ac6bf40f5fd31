//! Breakpoints by file and line.
//!
//! pydevd has one breakpoint on each line, and knows no tracepoint that is worth it: its own logpoints lose
//! hits and cost four times as much. So where several of ours share a line, or one needs more than pydevd
//! can, pydevd's breakpoint has a condition that asks our helper in the program.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{MutexGuard, PoisonError},
};

use holdpoint_dap::{request::SetBreakpoints, types as t};
use serde_json::{Value, json};

use super::{
    Dap,
    functions::entry,
    pydevd::{is_python, literal},
    translate,
};
use crate::{
    backend::{Binding, Bound, TraceWay, Wanted},
    failure::Failure,
    ids::BreakpointId,
    inspect::SourceText,
};

/// Those of ours that one breakpoint of the debugger stands for.
type Group<'a> = Vec<&'a Wanted>;

impl Dap {
    /// Replaces a file's breakpoints as a whole: so does the protocol.
    pub async fn set_breakpoints(
        &self,
        file: &Path,
        wanted: &[Wanted],
    ) -> Result<Vec<Bound>, Failure> {
        let is_shared = self.known.way == TraceWay::InProcess;
        let mut groups: Vec<Group<'_>> = match is_shared {
            true => by_line(wanted),
            false => wanted.iter().map(|it| vec![it]).collect(),
        };
        let mut nowhere = Vec::new();
        loop {
            let answers = self.send(file, &groups).await?;
            // A line without code is moved, perhaps to where another one is.
            if let Some(fewer) = astray(&groups, &answers, &mut nowhere) {
                groups = fewer;
                continue;
            }
            match merged(&groups, &answers).filter(|_| is_shared) {
                Some(fewer) => groups = fewer,
                None => {
                    let bound = self.took(file, wanted, &groups, &answers).await?;
                    return Ok(self.without_code(file, wanted, bound.into_iter().chain(nowhere)));
                }
            }
        }
    }

    /// pydevd moves a breakpoint back to the last line with code; where there is none before it, that is
    /// where the module's own code is said to begin, line 0, or the comment itself: nothing comes there.
    fn without_code(
        &self,
        file: &Path,
        wanted: &[Wanted],
        bound: impl Iterator<Item = Bound>,
    ) -> Vec<Bound> {
        let is_python = self.known.is_pydevd && is_python(Some(file));
        let bytes = match self.told_text(file) {
            Some(running) => running.into_bytes(),
            None if is_python => std::fs::read(file).unwrap_or_default(),
            None => Vec::new(),
        };
        let text = SourceText::new(file, &bytes);
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
        bound.map(truly).collect()
    }

    async fn send(
        &self,
        file: &Path,
        groups: &[Group<'_>],
    ) -> Result<Vec<Option<t::Breakpoint>>, Failure> {
        self.tell_helper(file, groups).await?;
        let source = t::Source { path: Some(file.display().to_string()), ..Default::default() };
        let breakpoints = groups.iter().map(|group| self.source_breakpoint(group)).collect();
        let arguments = t::SetBreakpointsArguments { source, breakpoints, source_modified: None };
        let body = self.ask::<SetBreakpoints>(arguments).await?;
        let answers = body.breakpoints.into_iter().map(Some).chain(std::iter::repeat(None));
        Ok(answers.take(groups.len()).collect())
    }

    /// What the helper has to know before the debugger asks it.
    async fn tell_helper(&self, file: &Path, groups: &[Group<'_>]) -> Result<(), Failure> {
        let mut told: BTreeMap<BreakpointId, Vec<Value>> = BTreeMap::new();
        for group in groups.iter().filter(|group| self.needs_helper(group)) {
            let points = group.iter().map(|it| {
                entry(
                    it.id,
                    it.condition.as_deref(),
                    it.hit_condition.as_deref(),
                    it.trace.as_deref(),
                )
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
    }

    fn needs_helper(&self, group: &[&Wanted]) -> bool {
        let is_more = |it: &&Wanted| {
            it.trace.is_some() || (it.condition.is_some() && it.hit_condition.is_some())
        };
        self.known.way == TraceWay::InProcess && (group.len() > 1 || group.iter().any(is_more))
    }

    fn source_breakpoint(&self, group: &[&Wanted]) -> t::SourceBreakpoint {
        let Some(first) = group.first() else { return t::SourceBreakpoint::default() };
        if !self.needs_helper(group) {
            return translate::source_breakpoint(first);
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

    /// The debugger has them: from now on its numbers mean these.
    async fn took(
        &self,
        file: &Path,
        wanted: &[Wanted],
        groups: &[Group<'_>],
        answers: &[Option<t::Breakpoint>],
    ) -> Result<Vec<Bound>, Failure> {
        let mut bound = Vec::new();
        let (mut keys, mut lines) = (Vec::new(), BTreeMap::new());
        {
            let mut numbers = self.numbers();
            // Numbers of an earlier answer for the same breakpoints are dead.
            numbers.retain(|_, ids| !wanted.iter().any(|it| ids.contains(&it.id)));
            for (group, answer) in groups.iter().zip(answers) {
                let state = translate::binding(answer.as_ref());
                if let Some(number) = answer.as_ref().and_then(|answer| answer.id) {
                    numbers.insert(number, group.iter().map(|it| it.id).collect());
                }
                let line = line_of(&state).or(group.first().map(|it| it.line));
                self.traces().at_lines(file, group, line.unwrap_or_default());
                if let Some(key) = key(group).filter(|_| self.needs_helper(group)) {
                    keys.push(key);
                    lines.insert(key, line);
                }
                bound.extend(group.iter().map(|it| Bound { id: it.id, state: state.clone() }));
            }
        }
        if self.known.helper.initialized() {
            let text = json!({ "file": file, "keys": keys, "lines": lines }).to_string();
            self.helper(&format!("lines_set({})", literal(&text))).await?;
        }
        Ok(bound)
    }

    pub(super) fn numbers(&self) -> MutexGuard<'_, BTreeMap<i64, Vec<BreakpointId>>> {
        self.known.breakpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a group in the helper: a breakpoint is in one group only.
fn key(group: &[&Wanted]) -> Option<BreakpointId> {
    group.first().map(|it| it.id)
}

fn by_line(wanted: &[Wanted]) -> Vec<Group<'_>> {
    let mut lines: BTreeMap<u32, Group<'_>> = BTreeMap::new();
    for one in wanted {
        lines.entry(one.line).or_default().push(one);
    }
    lines.into_values().collect()
}

/// Groups that came to lie on one line, as one; `None` when there are none.
fn merged<'a>(groups: &[Group<'a>], answers: &[Option<t::Breakpoint>]) -> Option<Vec<Group<'a>>> {
    let mut lines: BTreeMap<i64, Group<'a>> = BTreeMap::new();
    let mut others = Vec::new();
    for (group, answer) in groups.iter().zip(answers) {
        match answer.as_ref().and_then(|answer| answer.line) {
            Some(line) => lines.entry(line).or_default().extend(group),
            None => others.push(group.clone()),
        }
    }
    let fewer: Vec<Group<'a>> = lines.into_values().chain(others).collect();
    (fewer.len() < groups.len()).then_some(fewer)
}

/// A tracepoint that would report another line's values is taken out again; the rest, if there was one.
fn astray<'a>(
    groups: &[Group<'a>],
    answers: &[Option<t::Breakpoint>],
    nowhere: &mut Vec<Bound>,
) -> Option<Vec<Group<'a>>> {
    let before = nowhere.len();
    let stays = |(group, answer): (&Group<'a>, &Option<t::Breakpoint>)| {
        let line = line_of(&translate::binding(answer.as_ref()));
        let (gone, stays): (Group<'a>, Group<'a>) = group
            .iter()
            .partition(|it| it.trace.is_some() && line.is_some_and(|line| line != it.line));
        nowhere.extend(gone.iter().map(|it| Bound { id: it.id, state: no_code(it.line, line) }));
        stays
    };
    let rest = groups.iter().zip(answers).map(stays).filter(|it| !it.is_empty()).collect();
    (nowhere.len() > before).then_some(rest)
}

fn no_code(line: u32, nearest: Option<u32>) -> Binding {
    let nearest = nearest.map(|it| format!("; the nearest line with code is {it}"));
    Binding::Not { why: format!("line {line} has no code{}", nearest.unwrap_or_default()) }
}

/// Whether nothing but comments and empty lines comes up to this line.
fn is_before_code(text: &SourceText<'_>, line: u32) -> bool {
    (1..=line).all(|it| text.code_at(it).is_err())
}

fn line_of(state: &Binding) -> Option<u32> {
    match state {
        Binding::At { line, .. } => Some(*line),
        Binding::Functions { .. } | Binding::Not { .. } => None,
    }
}
