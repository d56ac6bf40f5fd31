//! Which of V8's breakpoints stand for which of ours, and the condition each carries. Pure.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use holdpoint_cdp::{Hold, types};

use super::traces::{self, TraceSite, TraceSites};

use crate::{
    backend::{Binding, Site, Wanted, WantedFunction},
    breakpoints::hits::HitTest,
    ids::BreakpointId,
};

pub(super) const NOT_LOADED: &str = "its file is not loaded yet";

#[derive(Default)]
pub(super) struct Points {
    pub(super) files: BTreeMap<PathBuf, Vec<Point>>,
    pub(super) functions: Vec<Named>,
    /// Files whose functions are known, loaded or not.
    pub(super) scanned: HashSet<PathBuf>,
    /// Tracepoints that V8 would have put on another line, by the line that was asked for.
    pub(super) astray: HashSet<(BreakpointId, u32)>,
    /// The stops before scripts with source maps, once there are any.
    pub(super) hold: Option<Hold>,
    /// Whether the program has come so far that a hold can be set.
    pub(super) has_loader: bool,
    /// The stops at the first statements of files whose breakpoints are not bound yet.
    pub(super) begins: BTreeMap<PathBuf, types::BreakpointId>,
    /// Where a step ends that a stop of ours has interrupted.
    pub(super) step_ends: Vec<types::BreakpointId>,
    /// Where Node tells of an error that nobody handled.
    pub(super) monitor: Option<types::BreakpointId>,
    /// Where the program is to stop first, when V8 does not do it by itself.
    pub(super) entry: Vec<types::BreakpointId>,
    /// The stops before ES modules, as long as it is not known which is the user's first.
    pub(super) entry_modules: Option<types::BreakpointId>,
}

/// One breakpoint of ours by function; each place of it is a [`Point`].
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) wanted: WantedFunction,
    /// Names that are like it, when nothing has it.
    pub(super) near: Vec<String>,
}

/// One breakpoint of ours by line, or one place of one by function.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) is_function: bool,
    pub(super) wanted: Wanted,
    pub(super) binding: Binding,
    pub(super) parts: Vec<Part>,
    /// The program's own text has it, and V8 nothing.
    pub(super) is_woven: bool,
}

/// One of V8's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) id: types::BreakpointId,
    /// The script it was set in through a source map; `None` when it was set by the file's own name.
    pub(super) through: Option<PathBuf>,
}

impl Point {
    /// Takes out a tracepoint that V8 put on another line, whose values it would report.
    pub(super) fn take_astray(&mut self) -> Vec<Part> {
        match self.binding {
            Binding::At { line, .. }
                if self.wanted.trace.is_some() && !self.is_function && line != self.wanted.line =>
            {
                let why = format!(
                    "V8 has no code on that line, as of a function that nothing uses; the nearest \
                     line with code is {line}"
                );
                self.binding = Binding::Not { why };
                std::mem::take(&mut self.parts)
            }
            _ => Vec::new(),
        }
    }
}

impl Points {
    /// Ours, for what V8 says was hit.
    pub(super) fn hits(&self, hit: &[types::BreakpointId]) -> Vec<BreakpointId> {
        let all = self.files.values().flatten();
        let is_hit = |point: &&Point| point.parts.iter().any(|part| hit.contains(&part.id));
        let mut hits: Vec<BreakpointId> = all.filter(is_hit).map(|it| it.wanted.id).collect();
        hits.sort_unstable();
        hits.dedup();
        hits
    }

    /// The tracepoints among what was hit, each with the part of V8's that stands for it.
    pub(super) fn tracing(
        &self,
        hit: &[types::BreakpointId],
    ) -> Vec<(types::BreakpointId, Wanted)> {
        let all = self.files.values().flatten().filter(|point| point.wanted.trace.is_some());
        let parts = all.flat_map(|point| point.parts.iter().map(move |part| (part, point)));
        let hits = parts.filter(|(part, _)| hit.contains(&part.id));
        hits.map(|(part, point)| (part.id.clone(), point.wanted.clone())).collect()
    }

    /// Where tracepoints lie.
    pub(super) fn places(&self) -> TraceSites {
        let all = self.files.iter().flat_map(|(file, here)| here.iter().map(move |it| (file, it)));
        let traced = all.filter(|(_, it)| it.wanted.trace.is_some());
        let at = |(file, it): (&PathBuf, &Point)| {
            ((it.wanted.id, it.wanted.line), TraceSite::new(file, it.wanted.line, &it.binding))
        };
        traced.map(at).collect()
    }

    /// Those without any condition that are bound to a line, wherever in it.
    pub(super) fn plain_on(&self, file: &Path, line: u32) -> Vec<BreakpointId> {
        let here = self.files.get(file).into_iter().flatten();
        let is_plain = |point: &&Point| {
            let wanted = &point.wanted;
            let is_bare = wanted.condition.is_none() && wanted.hit_condition.is_none();
            is_bare && wanted.column.is_none() && wanted.trace.is_none()
        };
        let is_there =
            |point: &&Point| matches!(point.binding, Binding::At { line: at, .. } if at == line);
        here.filter(is_plain).filter(is_there).map(|point| point.wanted.id).collect()
    }

    pub(super) fn has_condition(&self, hits: &[BreakpointId]) -> bool {
        let all = self.files.values().flatten();
        let mut hit = all.filter(|point| hits.contains(&point.wanted.id));
        hit.any(|point| point.wanted.condition.is_some())
    }

    pub(super) fn by_part(&mut self, id: &types::BreakpointId) -> Option<&mut Point> {
        let mut all = self.files.values_mut().flatten();
        all.find(|point| point.parts.iter().any(|part| part.id == *id))
    }

    /// Whether something stops on a line, wherever in it.
    pub(super) fn stops_on(&self, file: &Path, line: u32) -> bool {
        let mut here = self.files.get(file).into_iter().flatten();
        here.any(|it| {
            let at = match it.binding {
                Binding::At { line, .. } => line,
                Binding::Functions { .. } | Binding::Not { .. } => it.wanted.line,
            };
            it.wanted.trace.is_none() && at == line
        })
    }

    /// Whether its file has not run its first statement yet, at which V8 stops.
    pub(super) fn is_beginning(&self, id: BreakpointId) -> bool {
        let mut files = self.files.iter().filter(|(file, _)| self.begins.contains_key(*file));
        files.any(|(_, points)| points.iter().any(|it| it.wanted.id == id))
    }

    pub(super) fn is_woven(&self, id: BreakpointId) -> bool {
        self.files.values().flatten().any(|it| it.is_woven && it.wanted.id == id)
    }

    pub(super) fn all_bound(&self) -> bool {
        let mut all = self.files.values().flatten();
        all.all(|point| matches!(point.binding, Binding::At { .. }))
    }

    /// Takes out what is no longer wanted as it was; what stays keeps its hit counts.
    pub(super) fn take_stale(&mut self, file: &Path, wanted: &[Wanted]) -> Vec<Point> {
        let Some(points) = self.files.get_mut(file) else { return Vec::new() };
        let is_stale = |it: &mut Point| !it.is_function && !wanted.contains(&it.wanted);
        points.extract_if(.., is_stale).collect()
    }

    /// The same for breakpoints by function.
    pub(super) fn take_stale_functions(&mut self, wanted: &[WantedFunction]) -> Vec<Point> {
        self.functions.retain(|it| wanted.contains(&it.wanted));
        let kept: Vec<BreakpointId> = self.functions.iter().map(|it| it.wanted.id).collect();
        let is_stale = |it: &mut Point| it.is_function && !kept.contains(&it.wanted.id);
        let files = self.files.values_mut();
        files.flat_map(|points| points.extract_if(.., is_stale)).collect()
    }

    /// What became of a breakpoint by function.
    pub(super) fn of_function(&self, named: &Named) -> Binding {
        let id = named.wanted.id;
        let all = self.files.iter().flat_map(|(file, here)| here.iter().map(move |it| (file, it)));
        let mine: Vec<(&PathBuf, &Point)> =
            all.filter(|(_, it)| it.is_function && it.wanted.id == id).collect();
        let bound = mine.iter().filter_map(|(file, it)| match it.binding {
            Binding::At { line, .. } => Some(Site { file: (*file).clone(), line }),
            Binding::Functions { .. } | Binding::Not { .. } => None,
        });
        let places: Vec<Site> = bound.collect();
        if !places.is_empty() {
            return Binding::Functions { total: places.len(), places };
        }
        let name = &named.wanted.name;
        let why = match (mine.first(), named.near.as_slice()) {
            (Some((file, point)), _) => match &point.binding {
                Binding::Not { why } if why != NOT_LOADED => why.clone(),
                _ => {
                    let line = point.wanted.line;
                    format!("{}:{line} has it and is not loaded yet", file.display())
                }
            },
            (None, []) => format!("no function `{name}` is loaded or in the program's folder"),
            (None, near) => format!(
                "no function `{name}` is loaded or in the program's folder; near: {}",
                near.join(", ")
            ),
        };
        Binding::Not { why }
    }
}

/// Where the counts of hits are kept in the program: under a name that no program uses by accident.
const STORE: &str = "(globalThis[Symbol.for('holdpoint')] ??= {hits: {}, error: undefined})";

/// The expression that gives and clears what went wrong in a condition.
pub(super) const CONDITION_ERROR: &str = "(() => { const kept = globalThis[Symbol.for('holdpoint')]; \
     const error = kept?.error; if (kept) kept.error = undefined; return error; })()";

/// The condition V8 is to have: ours, and the counting of hits. A condition that throws stops the program,
/// for nobody would ever learn of it otherwise.
pub(super) fn condition(wanted: &Wanted, bad: &HashSet<String>) -> Result<Option<String>, String> {
    let hits = wanted.hit_condition.as_deref().map(HitTest::parse).transpose();
    let hits = hits.map_err(|failure| failure.message.to_string())?;
    if let Some(tracing) = &wanted.trace {
        let test = hits.map(HitTest::as_test);
        return Ok(Some(traces::condition(wanted, tracing, test.as_deref(), bad)));
    }
    let count = hits.map(|test| {
        let (id, test) = (wanted.id, test.as_test());
        format!("(n => {test})({STORE}.hits[{id}] = ({STORE}.hits[{id}] ?? 0) + 1)")
    });
    Ok(match (&wanted.condition, count) {
        (None, None) => None,
        (None, Some(count)) => Some(count),
        (Some(condition), count) => {
            let count = count.unwrap_or_else(|| "true".to_owned());
            Some(format!(
                "try {{ (({condition}\n) && {count}) }} \
                 catch (error) {{ {STORE}.error = String(error); true }}"
            ))
        }
    })
}
