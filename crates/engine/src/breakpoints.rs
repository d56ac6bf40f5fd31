//! The truth about line breakpoints: what was asked for, whichever sessions there are. What became of each
//! in a process is the session's to say.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

use crate::{
    backend::{Exceptions, Wanted},
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakpoint {
    pub id: BreakpointId,
    pub file: PathBuf,
    pub line: u32,
    pub column: Option<u32>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub enabled: bool,
}

/// What a caller asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub file: PathBuf,
    pub line: u32,
    pub column: Option<u32>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
}

#[derive(Default)]
pub struct Breakpoints(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    known: BTreeMap<BreakpointId, Breakpoint>,
    last: i64,
    exceptions: Exceptions,
    /// Changes with every change, so that a process that was connecting meanwhile can tell.
    revision: u64,
}

impl Breakpoints {
    /// Sets one; at the same place it takes the other's stead and keeps its id.
    pub fn set(&self, place: Place) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let same = |it: &&Breakpoint| {
            (&it.file, it.line, it.column) == (&place.file, place.line, place.column)
        };
        let known = inner.known.values().find(same).map(|it| it.id);
        if known.is_none() && inner.known.len() >= limits::BREAKPOINTS {
            let many = limits::BREAKPOINTS;
            return Err(Failure::new(Code::Busy, format!("{many} breakpoints are set already"))
                .hint("`breakpoint_remove` some first"));
        }
        let id = known.unwrap_or(BreakpointId(inner.last + 1));
        let Place { file, line, column, condition, hit_condition } = place;
        let breakpoint =
            Breakpoint { id, file, line, column, condition, hit_condition, enabled: true };
        inner.last = inner.last.max(id.0);
        inner.known.insert(id, breakpoint.clone());
        inner.revision += 1;
        Ok(breakpoint)
    }

    pub fn remove(&self, id: BreakpointId) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let removed = inner.known.remove(&id).ok_or_else(|| unknown(id))?;
        inner.revision += 1;
        Ok(removed)
    }

    pub fn enable(&self, id: BreakpointId, enabled: bool) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let breakpoint = inner.known.get_mut(&id).ok_or_else(|| unknown(id))?;
        breakpoint.enabled = enabled;
        let changed = breakpoint.clone();
        inner.revision += 1;
        Ok(changed)
    }

    pub fn get(&self, id: BreakpointId) -> Option<Breakpoint> {
        self.inner().known.get(&id).cloned()
    }

    pub fn all(&self) -> Vec<Breakpoint> {
        self.inner().known.values().cloned().collect()
    }

    /// The breakpoints of one file as a process is to have them.
    pub fn wanted(&self, file: &Path) -> Vec<Wanted> {
        let inner = self.inner();
        let here = inner.known.values().filter(|it| it.enabled && it.file == file);
        here.map(wanted).collect()
    }

    /// Everything that a new process is to have.
    pub fn by_file(&self) -> Vec<(PathBuf, Vec<Wanted>)> {
        let mut files: BTreeMap<PathBuf, Vec<Wanted>> = BTreeMap::new();
        for breakpoint in self.inner().known.values().filter(|it| it.enabled) {
            files.entry(breakpoint.file.clone()).or_default().push(wanted(breakpoint));
        }
        files.into_iter().collect()
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wanted(breakpoint: &Breakpoint) -> Wanted {
    Wanted {
        id: breakpoint.id,
        line: breakpoint.line,
        column: breakpoint.column,
        condition: breakpoint.condition.clone(),
        hit_condition: breakpoint.hit_condition.clone(),
    }
}

fn unknown(id: BreakpointId) -> Failure {
    Failure::new(Code::NotFound, format!("no breakpoint {id}")).hint("`breakpoint_list` lists them")
}
