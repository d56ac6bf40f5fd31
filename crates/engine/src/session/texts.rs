//! What a process runs, where a file has become something else since: agents edit the program that they debug.
//!
//! V8 has the text of each script. Python keeps none, so it is kept here when a file is first seen: what has
//! not changed since the process began is what it runs, and so is what it loaded after the last change.
//! Lines of breakpoints are the file's as it is when they are asked for; the process gets its own.

use std::{
    collections::{HashMap, HashSet},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    backend::{Backend, Binding, Bound, RunningText, Wanted},
    breakpoints::{Breakpoints, Place},
    failure::Failure,
    ids::BreakpointId,
    inspect::{self, Edited, Source},
    limits,
};

pub(super) struct Texts {
    /// What has not changed since then is what runs.
    began: SystemTime,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    kept: HashMap<PathBuf, Arc<str>>,
    bytes: usize,
    /// The files that were loaded when that was last asked for, and when that was.
    loaded: HashMap<PathBuf, u64>,
    listed: Option<SystemTime>,
    /// Files whose text the process was told.
    told: HashSet<PathBuf>,
    placed: HashMap<BreakpointId, Placed>,
}

/// Where a breakpoint lies in the text that runs.
struct Placed {
    /// Of which request; another may mean another text.
    asked: u64,
    /// `None` for code that does not run.
    line: Option<u32>,
    /// How the file differed when it was asked for.
    through: Option<Arc<Edited>>,
}

impl Texts {
    pub(super) fn since(began: SystemTime) -> Texts {
        Texts { began, inner: Mutex::default() }
    }

    /// The breakpoints that the process was started with: their lines are those that it loads.
    pub(super) fn begin(&self, breakpoints: &Breakpoints) {
        for (file, wanted) in breakpoints.by_file() {
            self.keep(&file);
            let mut inner = self.inner();
            for it in wanted {
                let asked = breakpoints.asked(it.id).unwrap_or_default();
                let placed = Placed { asked, line: Some(it.line), through: None };
                inner.placed.insert(it.id, placed);
            }
        }
    }

    /// Keeps the text of a file that the process may run, if it is surely that.
    pub(super) fn keep(&self, file: &Path) {
        self.inner().keep(&real(file), self.began);
    }

    pub(super) fn has_looked(&self) -> bool {
        self.inner().listed.is_some()
    }

    /// Looks which files are loaded by now, and keeps those that may be.
    pub(super) async fn look(&self, backend: &Backend) -> Result<(), Failure> {
        let now = SystemTime::now();
        let loaded = backend.loaded().await?;
        let mut inner = self.inner();
        // What was not loaded then is loaded since: as it was then, if it has not changed since.
        let before = inner.listed.replace(now).unwrap_or(self.began);
        for it in loaded {
            let file = real(&it.file);
            match inner.loaded.insert(file.clone(), it.which) {
                Some(which) if which == it.which => {}
                Some(_) => {
                    inner.forget(&file);
                    inner.keep(&file, before);
                }
                None => inner.keep(&file, before),
            }
        }
        Ok(())
    }

    /// How a file differs from what runs; `None` where it does not, as far as anybody can tell.
    pub(super) async fn edited(&self, backend: &Backend, file: &Path) -> Option<Arc<Edited>> {
        let before = self.began.checked_sub(limits::FILE_CLOCK).unwrap_or(self.began);
        if changed(file).is_some_and(|it| it <= before) {
            return None;
        }
        let now = inspect::read(file);
        let edited = match self.running(backend, file).await {
            RunningText::NotLoaded => return None,
            RunningText::Text(text) => Edited::new(text.into(), now.as_deref())?,
            RunningText::Unknown => Edited::unknown(now.is_some()),
        };
        Some(Arc::new(edited))
    }

    async fn running(&self, backend: &Backend, file: &Path) -> RunningText {
        match backend.running(file).await {
            Ok(RunningText::Unknown) => {}
            Ok(RunningText::Text(text)) => return RunningText::Text(inspect::normal(file, &text)),
            Ok(RunningText::NotLoaded) => return RunningText::NotLoaded,
            Err(failure) => tracing::debug!(%failure, "the text that runs is not known"),
        }
        let file = real(file);
        // It may have been loaded again.
        if let Ok(Err(failure)) = tokio::time::timeout(limits::PROMPT, self.look(backend)).await {
            tracing::debug!(%failure, "which files are loaded is not known");
        }
        let (kept, is_loaded) = {
            let inner = self.inner();
            (inner.kept.get(&file).cloned(), inner.loaded.contains_key(&file))
        };
        match kept {
            Some(text) => RunningText::Text(text.to_string()),
            None if is_loaded => self.compared(backend, &file).await,
            None => RunningText::NotLoaded,
        }
    }

    /// Of a file that was loaded at some time after it changed, or before: its functions tell.
    async fn compared(&self, backend: &Backend, file: &Path) -> RunningText {
        let asked = tokio::time::timeout(limits::PROMPT, backend.is_same(file)).await;
        let text = inspect::read(file).filter(|_| matches!(asked, Ok(Ok(Some(true)))));
        let Some(text) = text else { return RunningText::Unknown };
        self.inner().keep(file, SystemTime::now());
        RunningText::Text(text)
    }

    /// A file as the process runs it.
    pub(super) async fn source(&self, backend: &Backend, file: &Path) -> Option<Source> {
        let edited = self.edited(backend, file).await;
        let running = edited.as_ref().and_then(|it| it.running.clone());
        let text = match running {
            Some(text) => text,
            None => inspect::read(file)?.into(),
        };
        Some(Source { text, edited })
    }

    /// Makes a file's breakpoints what is wanted, each on the line that it has in the text that runs.
    pub(super) async fn set(
        &self,
        backend: &Backend,
        breakpoints: &Breakpoints,
        file: &Path,
    ) -> Result<Vec<Bound>, Failure> {
        self.keep(file);
        let edited = self.edited(backend, file).await;
        self.tell(backend, file, edited.as_deref()).await?;
        let (wanted, mut bound) = self.place(breakpoints, file, edited.as_ref());
        let set = backend.set_breakpoints(file, &wanted).await?;
        bound.extend(set.into_iter().map(|it| self.up(it)));
        Ok(bound)
    }

    /// A debugger that reads the file itself is told what runs instead.
    async fn tell(
        &self,
        backend: &Backend,
        file: &Path,
        edited: Option<&Edited>,
    ) -> Result<(), Failure> {
        let running = edited.and_then(|it| it.running.as_deref());
        let was_told = self.inner().told.contains(file);
        if running.is_none() && !was_told {
            return Ok(());
        }
        backend.runs(file, running).await?;
        let mut inner = self.inner();
        match running {
            Some(_) => drop(inner.told.insert(file.to_owned())),
            None => drop(inner.told.remove(file)),
        }
        Ok(())
    }

    /// What is to be set, by the lines that run, and what is not: code that does not run.
    fn place(
        &self,
        breakpoints: &Breakpoints,
        file: &Path,
        edited: Option<&Arc<Edited>>,
    ) -> (Vec<Wanted>, Vec<Bound>) {
        let mut inner = self.inner();
        let through = edited.filter(|it| it.running.is_some());
        let (mut set, mut not) = (Vec::new(), Vec::new());
        for mut wanted in breakpoints.wanted(file) {
            let asked = breakpoints.asked(wanted.id).unwrap_or_default();
            let known = inner.placed.get(&wanted.id).filter(|it| it.asked == asked);
            let line = match known {
                Some(placed) => placed.line,
                None => {
                    let line = through.map_or(Some(wanted.line), |it| it.running(wanted.line));
                    let placed = Placed { asked, line, through: through.cloned() };
                    inner.placed.insert(wanted.id, placed);
                    line
                }
            };
            match line {
                Some(line) => {
                    wanted.line = line;
                    set.push(wanted);
                }
                None => {
                    not.push(Bound { id: wanted.id, state: Binding::Not { why: new(&wanted) } })
                }
            }
        }
        (set, not)
    }

    /// What a process says of a breakpoint, by the lines of the file that it was asked for in.
    pub(super) fn up(&self, bound: Bound) -> Bound {
        let mut inner = self.inner();
        let Bound { id, state } = bound;
        let state = match (state, inner.placed.get_mut(&id)) {
            (Binding::At { line, column }, Some(placed)) => {
                placed.line = placed.line.map(|_| line);
                let now = placed.through.as_ref().and_then(|it| it.now(line));
                Binding::At { line: now.unwrap_or(line), column }
            }
            (state, _) => state,
        };
        Bound { id, state }
    }

    /// Breakpoints whose code is on another line of the file by now than where they were asked for.
    pub(super) async fn went(
        &self,
        backend: &Backend,
        breakpoints: &Breakpoints,
    ) -> Vec<(BreakpointId, u32)> {
        let mut went = Vec::new();
        for it in breakpoints.all() {
            let Place::Line { file, line, .. } = &it.place else { continue };
            let placed = {
                let inner = self.inner();
                let known = inner.placed.get(&it.id);
                known
                    .filter(|known| Some(known.asked) == breakpoints.asked(it.id))
                    .and_then(|it| it.line)
            };
            let Some(runs) = placed else { continue };
            let edited = self.edited(backend, file).await;
            let now = edited.and_then(|it| it.now(runs)).filter(|now| now != line);
            went.extend(now.map(|now| (it.id, now)));
        }
        went
    }

    /// The line that runs of a breakpoint that was asked for in a text that does not.
    pub(super) fn runs_as(&self, id: BreakpointId) -> Option<u32> {
        let inner = self.inner();
        let placed = inner.placed.get(&id)?;
        placed.through.as_ref().and(placed.line)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Keeps a file that has not changed since.
    fn keep(&mut self, file: &Path, since: SystemTime) {
        if self.kept.contains_key(file) || changed(file).is_none_or(|it| it > since) {
            return;
        }
        let Some(text) = inspect::read(file) else { return };
        if self.bytes.saturating_add(text.len()) > limits::KEPT_TEXTS {
            tracing::debug!(file = %file.display(), "no room for its text");
            return;
        }
        self.bytes += text.len();
        self.kept.insert(file.to_owned(), text.into());
    }

    fn forget(&mut self, file: &Path) {
        if let Some(text) = self.kept.remove(file) {
            self.bytes = self.bytes.saturating_sub(text.len());
        }
    }
}

fn new(wanted: &Wanted) -> String {
    format!(
        "line {} is new since the program loaded the file, so it does not run; `debug_restart` runs it",
        wanted.line
    )
}

fn real(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

/// When a file became what it is: nobody can set that back, unlike the time of its last write.
fn changed(file: &Path) -> Option<SystemTime> {
    let meta = std::fs::metadata(file).ok()?;
    let seconds = u64::try_from(meta.ctime()).ok()?;
    let nanos = u32::try_from(meta.ctime_nsec()).ok()?;
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}
