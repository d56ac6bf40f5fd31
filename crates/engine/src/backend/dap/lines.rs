//! Breakpoints by file and line.
//!
//! Debuggers have one breakpoint on each line, whatever they answer to several. So those of ours that share
//! a line are one to the debugger, and which of them is meant is found out at its stops.

use std::{collections::BTreeMap, path::Path};

use futures::future::BoxFuture;
use holdpoint_dap::{
    request::{Evaluate, SetBreakpoints},
    types as t,
};

use super::{
    Dap,
    share::{Left, share},
    translate,
};
use crate::{
    backend::{Binding, Bound, Site, Wanted},
    failure::Failure,
    ids::BreakpointId,
};

/// Those of ours that one breakpoint of the debugger stands for.
pub(super) type Group<'a> = Vec<&'a Wanted>;

/// What became of breakpoints, and which of them are one to the debugger, on which line.
pub(super) struct Placed<'a> {
    pub(super) bound: Vec<Bound>,
    pub(super) groups: Vec<(Group<'a>, Option<u32>)>,
}

/// Who words the breakpoints of a file for the debugger.
pub(super) trait Setter: Sync {
    /// Comes before the debugger hears of them.
    fn prepare<'a>(
        &'a self,
        _file: &'a Path,
        _groups: &'a [Group<'a>],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn point(&self, group: &[&Wanted]) -> t::SourceBreakpoint;

    /// What of them the debugger is not told, and is left to us.
    fn left(&self, _group: &[&Wanted]) -> Vec<(BreakpointId, Left)> {
        Vec::new()
    }
}

/// By the protocol alone.
impl Setter for Dap {
    fn point(&self, group: &[&Wanted]) -> t::SourceBreakpoint {
        let Some(first) = group.first() else { return t::SourceBreakpoint::default() };
        let mut point = t::SourceBreakpoint {
            line: i64::from(first.line),
            column: first.column.map(i64::from),
            ..Default::default()
        };
        if let [only] = group {
            let share = share(&self.known, (*only).into());
            (point.condition, point.hit_condition) = (share.condition, share.hit_condition);
        }
        point
    }

    fn left(&self, group: &[&Wanted]) -> Vec<(BreakpointId, Left)> {
        let all = group.iter().map(|it| match group {
            [_] => (it.id, share(&self.known, (*it).into()).left),
            _ => (it.id, Left::all((*it).into())),
        });
        all.collect()
    }
}

impl Dap {
    /// Replaces a file's breakpoints as a whole: so does the protocol.
    pub async fn set_breakpoints(
        &self,
        file: &Path,
        wanted: &[Wanted],
    ) -> Result<Vec<Bound>, Failure> {
        match self.known.inside() {
            Some(inside) => inside.set_breakpoints(self, file, wanted).await,
            None => Ok(self.set_lines(file, wanted, self).await?.bound),
        }
    }

    pub(super) async fn set_lines<'a>(
        &self,
        file: &Path,
        wanted: &'a [Wanted],
        setter: &dyn Setter,
    ) -> Result<Placed<'a>, Failure> {
        let mut groups = by_line(wanted);
        let mut nowhere = Vec::new();
        loop {
            setter.prepare(file, &groups).await?;
            self.expect(file, &groups, setter);
            let answers = self.send(file, &groups, setter).await?;
            // A line without code is moved, perhaps to where another one is.
            if let Some(fewer) = self.astray(&groups, &answers, &mut nowhere) {
                groups = fewer;
                continue;
            }
            match merged(&groups, &answers) {
                Some(fewer) => groups = fewer,
                None => {
                    let mut placed = self.took(file, wanted, groups, &answers, setter);
                    placed.bound.extend(nowhere);
                    // While it runs, what would be taken out may be hit in that moment.
                    let stands = !self.known.standing().is_empty();
                    if stands {
                        self.tidy().await;
                    }
                    return Ok(placed);
                }
            }
        }
    }

    /// Has the debugger stop once where it would several times for one pass.
    pub(super) async fn tidy(&self) {
        let Some(command) = self.known.dialect.tidies() else { return };
        let arguments = t::EvaluateArguments {
            expression: command.to_owned(),
            context: Some(t::EvaluateContext::Repl),
            ..Default::default()
        };
        if let Err(failure) = self.ask::<Evaluate>(arguments).await {
            tracing::debug!(%failure, "a line may be passed several times at once");
        }
    }

    async fn send(
        &self,
        file: &Path,
        groups: &[Group<'_>],
        setter: &dyn Setter,
    ) -> Result<Vec<Option<t::Breakpoint>>, Failure> {
        let source = t::Source { path: Some(file.display().to_string()), ..Default::default() };
        let breakpoints = groups.iter().map(|group| setter.point(group)).collect();
        let arguments = t::SetBreakpointsArguments { source, breakpoints, source_modified: None };
        let body = self.ask::<SetBreakpoints>(arguments).await?;
        let answers = body.breakpoints.into_iter().map(Some).chain(std::iter::repeat(None));
        Ok(answers.take(groups.len()).collect())
    }

    /// One may be hit before we are told that it is there.
    fn expect(&self, file: &Path, groups: &[Group<'_>], setter: &dyn Setter) {
        let known = &self.known;
        for group in groups {
            let is_new = |it: &&&Wanted| !known.sites().contains_key(&it.id);
            let new: Group<'_> = group.iter().filter(is_new).copied().collect();
            let left = setter.left(group);
            for it in &new {
                let hits = |_| left.iter().find(|(id, _)| *id == it.id)?.1.hit_condition;
                known.traces().at_lines(file, &[it], it.line, hits);
                let site = Site { file: file.to_owned(), line: it.line };
                known.sites().insert(it.id, site);
            }
            let is_news = |(id, _): &(BreakpointId, Left)| new.iter().any(|it| it.id == *id);
            known.lefts().put(left.into_iter().filter(is_news).collect());
        }
    }

    /// The debugger has them: from now on its numbers mean these.
    fn took<'a>(
        &self,
        file: &Path,
        wanted: &[Wanted],
        groups: Vec<Group<'a>>,
        answers: &[Option<t::Breakpoint>],
        setter: &dyn Setter,
    ) -> Placed<'a> {
        let mut bound = Vec::new();
        let mut placed = Vec::new();
        let known = &self.known;
        // Numbers of an earlier answer for the same breakpoints are dead.
        known.numbers().retain(|_, ids| !wanted.iter().any(|it| ids.contains(&it.id)));
        let mut sites = Vec::new();
        for (group, answer) in groups.into_iter().zip(answers) {
            let asked = group.first().map(|it| it.line);
            let state = translate::binding(&*known.dialect, answer.as_ref(), asked);
            if let Some(number) = answer.as_ref().and_then(|answer| answer.id) {
                known.numbers().insert(number, group.iter().map(|it| it.id).collect());
            }
            let line = line_of(&state).or(asked);
            let left = setter.left(&group);
            let hits =
                |id| left.iter().find(|(of, _)| *of == id).and_then(|(_, left)| left.hit_condition);
            known.traces().at_lines(file, &group, line.unwrap_or_default(), hits);
            for it in &group {
                let site = Site { file: file.to_owned(), line: line.unwrap_or(it.line) };
                sites.push((it.id, site));
                bound.push(Bound { id: it.id, state: state.clone() });
            }
            known.lefts().put(left);
            placed.push((group, line_of(&state)));
        }
        // At once: a stop may be looked at meanwhile.
        let mut all = known.sites();
        all.retain(|_, site| site.file != file);
        all.extend(sites);
        drop(all);
        Placed { bound, groups: placed }
    }

    /// A tracepoint that would report another line's values is taken out again; the rest, if there was one.
    fn astray<'a>(
        &self,
        groups: &[Group<'a>],
        answers: &[Option<t::Breakpoint>],
        nowhere: &mut Vec<Bound>,
    ) -> Option<Vec<Group<'a>>> {
        let before = nowhere.len();
        let stays = |(group, answer): (&Group<'a>, &Option<t::Breakpoint>)| {
            let line = line_of(&translate::binding(&*self.known.dialect, answer.as_ref(), None));
            let (gone, stays): (Group<'a>, Group<'a>) = group
                .iter()
                .partition(|it| it.trace.is_some() && line.is_some_and(|line| line != it.line));
            nowhere
                .extend(gone.iter().map(|it| Bound { id: it.id, state: no_code(it.line, line) }));
            stays
        };
        let rest = groups.iter().zip(answers).map(stays).filter(|it| !it.is_empty()).collect();
        (nowhere.len() > before).then_some(rest)
    }
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

pub(super) fn no_code(line: u32, nearest: Option<u32>) -> Binding {
    let nearest = nearest.map(|it| format!("; the nearest line with code is {it}"));
    Binding::Not { why: format!("line {line} has no code{}", nearest.unwrap_or_default()) }
}

pub(super) fn line_of(state: &Binding) -> Option<u32> {
    match state {
        Binding::At { line, .. } => Some(*line),
        Binding::Functions { .. } | Binding::Not { .. } => None,
    }
}
