//! The truth about breakpoints: what was asked for, whichever sessions there are. What became of each
//! in a process is the session's to say.

pub mod hits;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

use crate::{
    backend::{Exceptions, Wanted, WantedFunction},
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakpoint {
    pub id: BreakpointId,
    pub place: Place,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub enabled: bool,
}

/// Where to stop. Two breakpoints are the same when their places are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Line {
        file: PathBuf,
        line: u32,
        column: Option<u32>,
    },
    /// Wherever a function of that name begins: `total`, `Cart.total`; in one file, or in any.
    Function {
        name: String,
        file: Option<PathBuf>,
    },
}

/// What a caller asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub place: Place,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
}

impl Asked {
    /// To stop at a line, always.
    pub fn line(file: PathBuf, line: u32) -> Asked {
        let place = Place::Line { file, line, column: None };
        Asked { place, condition: None, hit_condition: None }
    }
}

impl Place {
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::Line { file, .. } => Some(file),
            Place::Function { file, .. } => file.as_deref(),
        }
    }
}

/// `/app/shop.py:12`, `function Cart.total`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { file, line, .. } => write!(f, "{}:{line}", file.display()),
            Place::Function { name, file: None } => write!(f, "function {name}"),
            Place::Function { name, file: Some(file) } => {
                write!(f, "function {name} in {}", file.display())
            }
        }
    }
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
    pub fn set(&self, asked: Asked) -> Result<Breakpoint, Failure> {
        let mut inner = self.inner();
        let known = inner.known.values().find(|it| it.place == asked.place).map(|it| it.id);
        if known.is_none() && inner.known.len() >= limits::BREAKPOINTS {
            let many = limits::BREAKPOINTS;
            return Err(Failure::new(Code::Busy, format!("{many} breakpoints are set already"))
                .hint("`breakpoint_remove` some first"));
        }
        let id = known.unwrap_or(BreakpointId(inner.last + 1));
        let Asked { place, condition, hit_condition } = asked;
        let breakpoint = Breakpoint { id, place, condition, hit_condition, enabled: true };
        inner.last = inner.last.max(id.0);
        inner.known.insert(id, breakpoint.clone());
        inner.revision += 1;
        Ok(breakpoint)
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

    /// One at this place, whatever its conditions.
    pub fn at(&self, place: &Place) -> Option<Breakpoint> {
        self.inner().known.values().find(|it| it.place == *place).cloned()
    }

    /// The breakpoints of one file as a process is to have them.
    pub fn wanted(&self, file: &Path) -> Vec<Wanted> {
        let inner = self.inner();
        let enabled = inner.known.values().filter(|it| it.enabled);
        enabled.filter_map(wanted).filter(|(of, _)| *of == file).map(|(_, it)| it).collect()
    }

    /// Everything by line that a new process is to have.
    pub fn by_file(&self) -> Vec<(PathBuf, Vec<Wanted>)> {
        let mut files: BTreeMap<PathBuf, Vec<Wanted>> = BTreeMap::new();
        let inner = self.inner();
        for (file, wanted) in inner.known.values().filter(|it| it.enabled).filter_map(wanted) {
            files.entry(file.to_owned()).or_default().push(wanted);
        }
        files.into_iter().collect()
    }

    /// Everything by function's name that a process is to have.
    pub fn functions(&self) -> Vec<WantedFunction> {
        let inner = self.inner();
        inner.known.values().filter(|it| it.enabled).filter_map(wanted_function).collect()
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

fn wanted(breakpoint: &Breakpoint) -> Option<(&Path, Wanted)> {
    let Place::Line { file, line, column } = &breakpoint.place else { return None };
    let wanted = Wanted {
        id: breakpoint.id,
        line: *line,
        column: *column,
        condition: breakpoint.condition.clone(),
        hit_condition: breakpoint.hit_condition.clone(),
    };
    Some((file, wanted))
}

fn wanted_function(breakpoint: &Breakpoint) -> Option<WantedFunction> {
    let Place::Function { name, file } = &breakpoint.place else { return None };
    Some(WantedFunction {
        id: breakpoint.id,
        name: name.clone(),
        file: file.clone(),
        condition: breakpoint.condition.clone(),
        hit_condition: breakpoint.hit_condition.clone(),
    })
}

fn unknown(id: BreakpointId) -> Failure {
    Failure::new(Code::NotFound, format!("no breakpoint {id}")).hint("`breakpoint_list` lists them")
}
