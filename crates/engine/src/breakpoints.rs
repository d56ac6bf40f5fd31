//! The truth about breakpoints and tracepoints: what was asked for, whichever sessions there are. What became
//! of each in a process is the session's to say.

pub mod aggregate;
pub mod gather;
pub mod hits;
pub mod passes;
mod place;
mod trace;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use tokio::sync::watch;

use self::{
    aggregate::Aggregate,
    gather::{By, Gathered},
    trace::{Progress, Verdict},
};
pub use self::{place::Place, trace::Trace};
use crate::{
    failure::{Code, Failure},
    ids::{BreakpointId, TargetId},
    limits,
    nouns::{Exceptions, Passed, Wanted, WantedFunction},
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakpoint {
    pub id: BreakpointId,
    pub place: Place,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    /// A tracepoint, which does not stop.
    pub trace: Option<Trace>,
    pub enabled: bool,
    /// It disabled itself: all that it was to report is reported.
    pub is_spent: bool,
}

/// What a caller asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub place: Place,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub trace: Option<Trace>,
}

impl Asked {
    /// To stop at a line, always.
    pub fn line(file: PathBuf, line: u32) -> Asked {
        Asked::at(Place::Line { file, line, column: None })
    }

    /// To stop there, always.
    pub fn at(place: Place) -> Asked {
        Asked { place, condition: None, hit_condition: None, trace: None }
    }

    /// Two are the same when they are of one kind at one place.
    fn is(&self, other: &Breakpoint) -> bool {
        self.place == other.place && self.trace.is_some() == other.trace.is_some()
    }
}

impl Breakpoint {
    /// The word for it.
    pub fn kind(&self) -> &'static str {
        if self.trace.is_some() { "tracepoint" } else { "breakpoint" }
    }
}

#[derive(Default)]
pub struct Breakpoints {
    inner: Mutex<Inner>,
    /// Changes when a tracepoint disables itself.
    spent: watch::Sender<u64>,
}

#[derive(Default)]
struct Inner {
    known: BTreeMap<BreakpointId, Breakpoint>,
    progress: BTreeMap<BreakpointId, Progress>,
    /// When each was asked for, as a revision.
    asked: BTreeMap<BreakpointId, u64>,
    generation: u64,
    last: i64,
    exceptions: Exceptions,
    /// Changes with every change, so that a process that was connecting meanwhile can tell.
    revision: u64,
    /// Where hits of tracepoints go instead of to the log.
    gathered: Option<Gathered>,
    /// Files of which is wanted which lines ran, where the runtime counts them by itself.
    surveyed: Vec<PathBuf>,
}

impl Breakpoints {
    /// Sets one; at the same place it takes the other's stead and keeps its id.
    pub fn set(&self, asked: Asked) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let known = inner.known.values().find(|it| asked.is(it)).map(|it| it.id);
        if known.is_none() && inner.known.len() >= limits::BREAKPOINTS {
            let many = limits::BREAKPOINTS;
            return Err(Failure::new(Code::Busy, format!("{many} breakpoints are set already"))
                .hint("`breakpoint_remove` some first"));
        }
        let id = known.unwrap_or(BreakpointId(inner.last + 1));
        Ok(inner.put(id, asked))
    }

    /// Sets one more, whatever there is at its place already.
    pub fn add(&self, asked: Asked) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        if inner.known.len() >= limits::BREAKPOINTS {
            let many = limits::BREAKPOINTS;
            return Err(Failure::new(Code::Busy, format!("{many} breakpoints are set already")));
        }
        let id = BreakpointId(inner.last + 1);
        Ok(inner.put(id, asked))
    }

    /// From now on hits of tracepoints are gathered here, and not told on the log.
    pub fn gather(&self, by: Option<By>) {
        self.inner().gathered = Some(Gathered::new(by));
    }

    /// What was gathered so far.
    pub fn gathered(&self) -> Gathered {
        self.inner().gathered.clone().unwrap_or_default()
    }

    /// Runtimes that count what runs by themselves are to do so, and tell it of this file at the end.
    pub fn survey(&self, file: PathBuf) {
        self.inner().surveyed.push(file);
    }

    pub fn surveyed(&self) -> Vec<PathBuf> {
        self.inner().surveyed.clone()
    }

    /// Makes one something else, on the same id.
    pub fn change(&self, id: BreakpointId, asked: Asked) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        if !inner.known.contains_key(&id) {
            return Err(unknown(id));
        }
        if let Some(other) = inner.known.values().find(|it| asked.is(it) && it.id != id) {
            let text = format!("{} {} is there already", other.kind(), other.id);
            return Err(Failure::new(Code::InvalidParams, text).hint(format!(
                "`breakpoint_remove {{\"id\": {}}}` first, or change that one",
                other.id
            )));
        }
        Ok(inner.put(id, asked))
    }

    /// Moves one to another line of its file, with everything else that it is; from where. `None` where
    /// another one is there already.
    pub fn go_to(&self, id: BreakpointId, to: u32) -> Option<(u32, Breakpoint)> {
        let mut inner = self.inner();
        let mut moved = inner.known.get(&id)?.clone();
        let Place::Line { line, .. } = &mut moved.place else { return None };
        let from = std::mem::replace(line, to);
        let is_same = |it: &Breakpoint| it.place == moved.place && it.kind() == moved.kind();
        if inner.known.values().any(is_same) {
            return None;
        }
        inner.revision += 1;
        let revision = inner.revision;
        inner.asked.insert(id, revision);
        inner.known.insert(id, moved.clone());
        Some((from, moved))
    }

    /// Makes one again what it was before, if it still is there.
    pub fn restore(&self, breakpoint: Breakpoint) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let id = breakpoint.id;
        let known = inner.known.get_mut(&id).ok_or_else(|| unknown(id))?;
        *known = breakpoint.clone();
        inner.revision += 1;
        Ok(breakpoint)
    }

    pub fn remove(&self, id: BreakpointId) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let removed = inner.known.remove(&id).ok_or_else(|| unknown(id))?;
        inner.progress.remove(&id);
        inner.asked.remove(&id);
        inner.revision += 1;
        Ok(removed)
    }

    /// A tracepoint that is enabled begins a new count.
    pub fn enable(&self, id: BreakpointId, enabled: bool) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let breakpoint = inner.known.get_mut(&id).ok_or_else(|| unknown(id))?;
        let was = std::mem::replace(&mut breakpoint.enabled, enabled);
        breakpoint.is_spent = breakpoint.is_spent && !enabled;
        let changed = breakpoint.clone();
        if enabled && !was {
            inner.begin(&changed);
        }
        inner.revision += 1;
        Ok(changed)
    }

    /// Puts back what an earlier server left, with what became of it there.
    pub fn recall(&self, asked: Asked, is_enabled: bool, is_spent: bool) -> Option<Breakpoint> {
        let id = self.set(asked).ok()?.id;
        let mut inner = self.inner();
        let breakpoint = inner.known.get_mut(&id)?;
        breakpoint.enabled = is_enabled;
        breakpoint.is_spent = is_spent && !is_enabled && breakpoint.trace.is_some();
        Some(breakpoint.clone())
    }

    pub fn get(&self, id: BreakpointId) -> Option<Breakpoint> {
        self.inner().known.get(&id).cloned()
    }

    pub fn all(&self) -> Vec<Breakpoint> {
        self.inner().known.values().cloned().collect()
    }

    /// The one that stops at this place, whatever its conditions.
    pub fn at(&self, place: &Place) -> Option<Breakpoint> {
        let asked = Asked::at(place.clone());
        self.inner().known.values().find(|it| asked.is(it)).cloned()
    }

    /// The breakpoints of one file as a process is to have them.
    pub fn wanted(&self, file: &Path) -> Vec<Wanted> {
        let inner = self.inner();
        let all = inner.enabled().filter_map(|it| inner.wanted(it));
        all.filter(|(of, _)| *of == file).map(|(_, it)| it).collect()
    }

    /// Changes whenever its place is asked for anew: a file may have other lines by then.
    pub fn asked(&self, id: BreakpointId) -> Option<u64> {
        self.inner().asked.get(&id).copied()
    }

    /// Everything by line that a new process is to have.
    pub fn by_file(&self) -> Vec<(PathBuf, Vec<Wanted>)> {
        let mut files: BTreeMap<PathBuf, Vec<Wanted>> = BTreeMap::new();
        let inner = self.inner();
        for (file, wanted) in inner.enabled().filter_map(|it| inner.wanted(it)) {
            files.entry(file.to_owned()).or_default().push(wanted);
        }
        files.into_iter().collect()
    }

    /// Everything by function's name that a process is to have.
    pub fn functions(&self) -> Vec<WantedFunction> {
        let inner = self.inner();
        inner.enabled().filter_map(|it| inner.wanted_function(it)).collect()
    }

    /// Counts hits of tracepoints, and says of each whether it is to be reported. A tracepoint whose
    /// last one this was is disabled: see [`Breakpoints::spent`].
    pub fn count(&self, target: TargetId, hits: &[Passed]) -> Vec<bool> {
        let mut inner = self.inner();
        if let Some(gathered) = &mut inner.gathered {
            hits.iter().for_each(|hit| gathered.take(target, hit));
            return vec![false; hits.len()];
        }
        let mut is_spent = false;
        let mut count = |hit: &Passed| {
            let Some(progress) = inner.progress.get_mut(&hit.id) else { return false };
            match progress.take(hit) {
                Verdict::Late => false,
                Verdict::Reported => true,
                Verdict::ReportedLast => {
                    inner.spend(hit.id);
                    is_spent = true;
                    true
                }
            }
        };
        let reported = hits.iter().map(&mut count).collect();
        drop(inner);
        if is_spent {
            self.spent.send_modify(|times| *times += 1);
        }
        reported
    }

    /// The tracepoints that disabled themselves, each with the count that it ended.
    pub fn spent(&self) -> Vec<(Breakpoint, u64)> {
        let inner = self.inner();
        let generation = |it: &Breakpoint| Some(inner.progress.get(&it.id)?.tracing.generation);
        let spent = inner.known.values().filter(|it| it.is_spent);
        spent.filter_map(|it| Some((it.clone(), generation(it)?))).collect()
    }

    /// Tells whenever [`Breakpoints::spent`] has more.
    pub fn spending(&self) -> watch::Receiver<u64> {
        self.spent.subscribe()
    }

    /// What a tracepoint has seen since its count began.
    pub fn aggregate(&self, id: BreakpointId) -> Option<Aggregate> {
        self.inner().progress.get(&id).map(|it| it.aggregate.clone())
    }

    pub fn exceptions(&self) -> Exceptions {
        self.inner().exceptions.clone()
    }

    pub fn set_exceptions(&self, exceptions: Exceptions) {
        let mut inner = self.inner();
        inner.exceptions = exceptions;
        inner.revision += 1;
    }

    pub fn revision(&self) -> u64 {
        self.inner().revision
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn put(&mut self, id: BreakpointId, asked: Asked) -> Breakpoint {
        let Asked { place, condition, hit_condition, trace } = asked;
        let breakpoint = Breakpoint {
            id,
            place,
            condition,
            hit_condition,
            trace,
            enabled: true,
            is_spent: false,
        };
        self.last = self.last.max(id.0);
        self.known.insert(id, breakpoint.clone());
        self.begin(&breakpoint);
        self.revision += 1;
        self.asked.insert(id, self.revision);
        breakpoint
    }

    /// A new count for a tracepoint.
    fn begin(&mut self, breakpoint: &Breakpoint) {
        self.generation += 1;
        match &breakpoint.trace {
            Some(trace) => {
                let progress = Progress::new(trace, self.generation);
                self.progress.insert(breakpoint.id, progress);
            }
            None => drop(self.progress.remove(&breakpoint.id)),
        }
    }

    fn spend(&mut self, id: BreakpointId) {
        if let Some(breakpoint) = self.known.get_mut(&id) {
            breakpoint.enabled = false;
            breakpoint.is_spent = true;
        }
        self.revision += 1;
    }

    fn enabled(&self) -> impl Iterator<Item = &Breakpoint> {
        self.known.values().filter(|it| it.enabled)
    }

    fn wanted<'a>(&self, breakpoint: &'a Breakpoint) -> Option<(&'a Path, Wanted)> {
        let Place::Line { file, line, column } = &breakpoint.place else { return None };
        let wanted = Wanted {
            id: breakpoint.id,
            line: *line,
            column: *column,
            condition: breakpoint.condition.clone(),
            hit_condition: breakpoint.hit_condition.clone(),
            trace: self.progress.get(&breakpoint.id).map(|it| Arc::clone(&it.tracing)),
        };
        Some((file, wanted))
    }

    fn wanted_function(&self, breakpoint: &Breakpoint) -> Option<WantedFunction> {
        let Place::Function { name, file } = &breakpoint.place else { return None };
        Some(WantedFunction {
            id: breakpoint.id,
            name: name.clone(),
            file: file.clone(),
            condition: breakpoint.condition.clone(),
            hit_condition: breakpoint.hit_condition.clone(),
            trace: self.progress.get(&breakpoint.id).map(|it| Arc::clone(&it.tracing)),
        })
    }
}

fn unknown(id: BreakpointId) -> Failure {
    Failure::new(Code::NotFound, format!("no breakpoint {id}")).hint("`breakpoint_list` lists them")
}

#[cfg(test)]
mod tests;
