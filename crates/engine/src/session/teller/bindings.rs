//! Where breakpoints lie in the processes of a session: what of it becomes an event, and what is asked.

use std::path::Path;

use super::Teller;
use crate::{
    adapter,
    backend::{Binding, Bound, Site},
    breakpoints::{Breakpoint, Place},
    budget,
    event::{BoundAt, Event},
    ids::{BreakpointId, TargetId},
    limits,
};

impl Teller {
    /// What became of breakpoints in one process. A file's are always sent together, so most say nothing
    /// new.
    pub(in crate::session) fn bound(&self, target: TargetId, all: &[Bound]) {
        for Bound { id, state } in all {
            // debugpy calls every file's breakpoints bound, whatever is in it.
            if self.breakpoints.get(*id).is_some_and(|it| self.is_foreign(&it)) {
                continue;
            }
            let before = {
                let mut told = self.told();
                match state {
                    Binding::Not { why } => drop(told.unbound.insert(*id, why.clone())),
                    _ => drop(told.ever_bound.insert(*id)),
                }
                told.bound.insert((target, *id), state.clone())
            };
            if before.as_ref() != Some(state) {
                for event in self.binding(*id, state) {
                    self.log.append(event);
                }
            }
        }
    }

    /// A process has not answered what it was sent: nobody knows yet what became of it.
    pub(in crate::session) fn unanswered(&self, target: TargetId, place: &Place) {
        let why = "the program does not answer now; it is set as soon as it does".to_owned();
        let all = self.breakpoints.all().into_iter().filter(|it| it.enabled && it.place == *place);
        let bound: Vec<Bound> =
            all.map(|it| Bound { id: it.id, state: Binding::Not { why: why.clone() } }).collect();
        self.bound(target, &bound);
    }

    /// What a process had before it ran. That nothing is loaded yet is no event.
    pub(in crate::session) fn begins_with(&self, target: TargetId, all: Vec<Bound>) {
        let is_not = |it: &Bound| matches!(it.state, Binding::Not { .. });
        let (pending, bound): (Vec<Bound>, Vec<Bound>) = all.into_iter().partition(is_not);
        for Bound { id, state } in pending {
            let mut told = self.told();
            if let Binding::Not { why } = &state {
                told.unbound.insert(id, why.clone());
            }
            told.bound.insert((target, id), state);
        }
        self.bound(target, &bound);
    }

    /// What was hit lies where it was hit, whatever its debugger has said of it: nobody looks into modules
    /// without a source file, and they stop all the same.
    pub(super) fn were_hit(
        &self,
        target: TargetId,
        ids: &[BreakpointId],
        file: Option<&Path>,
        line: u32,
    ) {
        let is_unbound = |id: &&BreakpointId| {
            let told = self.told();
            matches!(told.bound.get(&(target, **id)), None | Some(Binding::Not { .. }))
        };
        let unbound: Vec<BreakpointId> = ids.iter().filter(is_unbound).copied().collect();
        let place = |id| self.breakpoints.get(id).map(|it: Breakpoint| it.place);
        let bound = unbound.into_iter().filter_map(|id| {
            let state = match (place(id)?, file) {
                (Place::Line { .. }, _) => Binding::At { line, column: None },
                (Place::Function { .. }, Some(file)) => {
                    let places = vec![Site { file: file.to_owned(), line }];
                    Binding::Functions { places, total: 1 }
                }
                (Place::Function { .. }, None) => return None,
            };
            Some(Bound { id, state })
        });
        self.bound(target, &bound.collect::<Vec<_>>());
    }

    fn binding(&self, id: BreakpointId, state: &Binding) -> Vec<Event> {
        let session = self.session;
        let bound = |file: &Path, line: u32, column: Option<u32>, moved: bool| {
            let file = file.display().to_string();
            Event::BreakpointBound(BoundAt { session, breakpoint: id, file, line, column, moved })
        };
        match state {
            Binding::At { line, column } => match self.breakpoints.get(id).map(|it| it.place) {
                Some(Place::Line { file, line: asked, .. }) => {
                    vec![bound(&file, *line, *column, asked != *line)]
                }
                // A function is bound by its name.
                Some(Place::Function { .. }) | None => Vec::new(),
            },
            Binding::Functions { places, .. } => {
                places.iter().map(|it| bound(&it.file, it.line, None, false)).collect()
            }
            Binding::Not { why } => {
                let why = budget::cut(why, limits::STOP_TEXT);
                vec![Event::BreakpointUnbound { session, breakpoint: id, why }]
            }
        }
    }

    /// Where a breakpoint lies in the processes of the session, or why it does not; `None` when no process
    /// has said anything of it.
    pub(in crate::session) fn binding_of(&self, id: BreakpointId) -> Option<Binding> {
        let told = self.told();
        let mine = told.bound.iter().filter(|((_, it), _)| *it == id).map(|(_, state)| state);
        // Bound in one process is bound.
        mine.min_by_key(|it| matches!(it, Binding::Not { .. })).cloned()
    }

    /// Why one lay nowhere, also after the end; `None` for one that did, or of which nothing was told.
    pub(in crate::session) fn why_unbound(&self, id: BreakpointId) -> Option<String> {
        let told = self.told();
        told.unbound.get(&id).filter(|_| !told.ever_bound.contains(&id)).cloned()
    }

    /// What is enabled and lies nowhere, with the reason where one was told.
    pub(in crate::session) fn pending(&self) -> Vec<(Breakpoint, Option<String>)> {
        let all = self.breakpoints.all().into_iter();
        let enabled = all.filter(|it| it.enabled && !self.is_foreign(it));
        let why = |it: Breakpoint| match self.binding_of(it.id) {
            None => Some((it, None)),
            Some(Binding::Not { why }) => Some((it, Some(why))),
            Some(Binding::At { .. } | Binding::Functions { .. }) => None,
        };
        enabled.filter_map(why).collect()
    }

    /// Breakpoints that are to stop and never did, and whether each is known to have lain anywhere.
    pub(in crate::session) fn never_hit(&self) -> Vec<(Breakpoint, bool)> {
        let told = self.told();
        let all = self.breakpoints.all().into_iter();
        let stops = all.filter(|it| it.enabled && it.trace.is_none() && !self.is_foreign(it));
        let never = stops.filter(|it| !told.hits.contains_key(&Some(it.id)));
        let with_fate = |it: Breakpoint| {
            let is_bound = told.ever_bound.contains(&it.id);
            (it, is_bound)
        };
        never.map(with_fate).collect()
    }

    /// Whether it is in a file of another language, so that it is for other programs.
    pub(super) fn is_foreign(&self, breakpoint: &Breakpoint) -> bool {
        // An editor debugs languages that are not ours to know.
        let is_known = adapter::languages().contains(&self.language);
        let language = breakpoint.place.file().and_then(adapter::language_of);
        is_known && language.is_some_and(|it| it != self.language)
    }
}
