//! Recordings of runs: a program is started with a recorder inside, what that writes is read aside, and whoever
//! asks afterwards asks the file.
//!
//! Each is a folder `r7` below the home, made by one server and readable by all: while it is written it has the
//! recorder's streams, from its end on one file, which is also what is handed to another machine. A folder whose
//! server was killed is read as far as its streams go.

mod begun;
mod checkout;
mod elsewhere;
mod folder;
mod keeping;
mod known;
mod life;
mod reading;
mod run;
mod second;
mod tail;

use std::{
    collections::{HashMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

pub use holdpoint_recording::{
    AskError, BUDGET, CallEnd, CallId, CallOrder, CallShown, CallerSeen, CallsAsk, CallsForm,
    CallsFound, CallsInside, DiffAsk, DiffFound, Difference, DifferenceKind, FailureShown,
    FlameAsk, FlameBar, FlameFound, FrameAsk, FrameLook, FrameRow, HistoryAsk, HistoryFound,
    LineNote, LineSeen, ListedCall, LookAsk, Overview, PassSeen, RecordedText, Recording, RunBrief,
    SeriesPoint, SpotId, ValueSeries, WriteRow,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::{
    begun::{BegunRecording, STOPPED_END},
    folder::{RecordingAbout, RecordingFacts},
    keeping::UNSEEN_END,
    known::RecordingKnown,
    life::{FrameLife, StandingFrame},
    run::{RecordAsk, RunEnd, roots},
    second::RunChange,
};
use self::{folder::RecordingFolder, reading::Growing};
use crate::{
    aside::aside,
    failure::{Code, Failure},
    limits,
};

/// The only door to them.
pub struct Recordings {
    folder: PathBuf,
    guard: PathBuf,
    home: PathBuf,
    shared: Arc<Shared>,
}

/// What the thread aside uses, too.
#[derive(Default)]
struct Shared {
    opened: Mutex<VecDeque<(PathBuf, Arc<Recording>)>>,
    growing: Mutex<HashMap<PathBuf, Growing>>,
    running: Mutex<HashMap<String, RunningRecord>>,
    briefs: known::Briefs,
    /// Counts what came, ended and went.
    changes: watch::Sender<u64>,
    /// Whether what other processes do is listened to.
    is_listening: AtomicBool,
}

/// A program of this server's that is being recorded.
#[derive(Clone)]
struct RunningRecord {
    told: watch::Receiver<Option<RunEnd>>,
    /// Ends it.
    end: CancellationToken,
}

/// One that was opened to be asked.
pub struct OpenRecording {
    pub about: RecordingAbout,
    pub recording: Arc<Recording>,
    pub bytes: u64,
}

impl Recordings {
    pub fn new(guard: PathBuf, home: PathBuf) -> Recordings {
        let folder = home.join("recordings");
        Recordings { folder, guard, home, shared: Arc::default() }
    }

    /// All there are, the newest first.
    pub fn list(&self) -> Vec<RecordingFacts> {
        let mut all = folder::all(&self.folder);
        all.reverse();
        all.iter().map(RecordingFolder::facts).collect()
    }

    /// Asks one, the last unless it is named; aside, because a question may read a hundred megabytes.
    pub async fn ask<T: Send + 'static>(
        &self,
        name: Option<&str>,
        question: impl FnOnce(&OpenRecording) -> Result<T, AskError> + Send + 'static,
    ) -> Result<T, Failure> {
        let (folder, shared) = (self.find(name)?, Arc::clone(&self.shared));
        let asked = aside(move || {
            let opened = shared.open(&folder)?;
            question(&opened).map_err(|error| refused(&error))
        });
        asked.await.unwrap_or_else(|| Err(Failure::internal("a question panicked")))
    }

    /// Asks two at once.
    pub async fn ask_both<T: Send + 'static>(
        &self,
        names: (&str, &str),
        question: impl FnOnce(&OpenRecording, &OpenRecording) -> Result<T, AskError> + Send + 'static,
    ) -> Result<T, Failure> {
        let (one, other) = (self.find(Some(names.0))?, self.find(Some(names.1))?);
        let shared = Arc::clone(&self.shared);
        let asked = aside(move || {
            let (one, other) = (shared.open(&one)?, shared.open(&other)?);
            question(&one, &other).map_err(|error| refused(&error))
        });
        asked.await.unwrap_or_else(|| Err(Failure::internal("a question panicked")))
    }

    /// What it was made by, to make it again.
    pub fn about(&self, name: Option<&str>) -> Result<RecordingAbout, Failure> {
        self.find(name).map(|it| it.about())
    }

    /// Writes one as a file for another machine; says how many bytes.
    pub async fn export(&self, name: Option<&str>, to: PathBuf) -> Result<u64, Failure> {
        let (folder, shared) = (self.find(name)?, Arc::clone(&self.shared));
        let work = move || {
            let packed = folder.packed();
            let bytes = match packed.is_file() {
                true => fs::read(&packed).map_err(|error| broken(&packed, &error))?,
                false => shared.pack(&folder)?,
            };
            folder::write_whole(&to, &bytes).map_err(|error| broken(&to, &error))?;
            Ok(bytes.len() as u64)
        };
        aside(work).await.unwrap_or_else(|| Err(Failure::internal("an export panicked")))
    }

    /// Takes a file of another machine; says what it is called here.
    pub async fn import(&self, from: PathBuf) -> Result<RecordingAbout, Failure> {
        let base = self.folder.clone();
        let work = move || {
            let recording = Recording::open(&from).map_err(|error| broken(&from, &error))?;
            let mut about: RecordingAbout =
                serde_json::from_str(recording.about()).unwrap_or_default();
            let folder = RecordingFolder::create(&base).map_err(|error| broken(&base, &error))?;
            about.imported_from = Some(from.display().to_string());
            about.id = folder.id().to_owned();
            let bytes = fs::read(&from).map_err(|error| broken(&from, &error))?;
            folder::write_whole(&folder.packed(), &bytes).map_err(|error| broken(&from, &error))?;
            folder.write_about(&about).map_err(|error| broken(&from, &error))?;
            Ok(about)
        };
        let imported = aside(work).await;
        self.shared.changed();
        imported.unwrap_or_else(|| Err(Failure::internal("an import panicked")))
    }

    /// Ends the program of one that still runs here, `last` of the newest such; what it came to is then readable as any
    /// other.
    pub async fn end(&self, name: &str) -> Result<(String, RunEnd), Failure> {
        let folder = match name {
            "" | "last" | "true" => self.newest_running().map_or_else(|| self.find(None), Ok)?,
            name => self.find(Some(name))?,
        };
        let id = folder.id().to_owned();
        let Some(mut running) = self.shared.running(&id) else {
            let (text, hint) = match folder.is_written() {
                true => {
                    ("is recorded elsewhere", "end its process, or ask the server that started it")
                }
                false => ("has ended", "`record_calls` and the others ask it"),
            };
            return Err(Failure::new(Code::NotFound, format!("{id} {text}")).hint(hint));
        };
        running.end.cancel();
        let told = running.told.wait_for(Option::is_some).await;
        let end = told.ok().and_then(|it| it.clone());
        let gone = || Failure::internal("the recording's task is gone");
        end.map(|end| (id, end)).ok_or_else(gone)
    }

    /// Deletes one that has ended.
    pub fn delete(&self, name: &str) -> Result<(), Failure> {
        let folder = self.find(Some(name))?;
        if self.shared.is_running(folder.id()) || folder.is_written() {
            let text = format!("the recording `{name}` is still written");
            return Err(Failure::new(Code::Busy, text).hint("end its program first"));
        }
        self.shared.forget(folder.path());
        let gone = fs::remove_dir_all(folder.path());
        elsewhere::touch(&self.folder);
        self.shared.changed();
        gone.map_err(|error| broken(folder.path(), &error))
    }

    /// The one of that name, else the last.
    fn find(&self, name: Option<&str>) -> Result<RecordingFolder, Failure> {
        let all = folder::all(&self.folder);
        let found = match name {
            Some(name) => {
                all.iter().rfind(|it| it.id() == name || it.about().name.as_deref() == Some(name))
            }
            None => all.last(),
        };
        found.cloned().ok_or_else(|| match name {
            Some(name) => {
                let last = all.iter().rev().take(8).map(RecordingFolder::id).collect::<Vec<_>>();
                Failure::new(Code::NotFound, format!("no recording is called `{name}`"))
                    .hint(format!("the last are: {}", last.join(", ")))
            }
            None => Failure::new(Code::NotFound, "there is no recording yet")
                .hint("`record_run` makes one, of what `debug_launch` would run"),
        })
    }

    fn newest_running(&self) -> Option<RecordingFolder> {
        folder::all(&self.folder).into_iter().rfind(|it| self.shared.is_running(it.id()))
    }

    /// Makes room before a new one: the oldest that have ended go.
    fn prune(&self) {
        let all = folder::all(&self.folder);
        let mut bytes: u64 = all.iter().map(RecordingFolder::bytes).sum();
        let mut left = all.len();
        for folder in &all {
            if left < limits::RECORDINGS_KEPT && bytes < limits::RECORDINGS_BYTES {
                break;
            }
            if self.shared.is_running(folder.id()) || folder.is_written() {
                continue;
            }
            bytes = bytes.saturating_sub(folder.bytes());
            left -= 1;
            self.shared.forget(folder.path());
            if let Err(error) = fs::remove_dir_all(folder.path()) {
                tracing::warn!(%error, folder = %folder.path().display(), "an old recording stays");
            }
        }
    }
}

impl Shared {
    fn began(&self, id: &str, one: RunningRecord) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, it| it.told.borrow().is_none());
        running.insert(id.to_owned(), one);
        drop(running);
        self.changed();
    }

    /// Whoever shows them looks again.
    fn changed(&self) {
        self.changes.send_modify(|it| *it += 1);
    }

    fn running(&self, id: &str) -> Option<RunningRecord> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever was to tell its end may be gone without.
        let is_open =
            |it: &&RunningRecord| it.told.borrow().is_none() && it.told.has_changed().is_ok();
        running.get(id).filter(is_open).cloned()
    }

    fn is_running(&self, id: &str) -> bool {
        self.running(id).is_some()
    }

    fn forget(&self, path: &Path) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).retain(|(it, _)| it != path);
        self.growing.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        self.briefs.forget(path);
    }

    fn open(&self, folder: &RecordingFolder) -> Result<OpenRecording, Failure> {
        let (about, packed) = (folder.about(), folder.packed());
        let known = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            known.iter().find(|(path, _)| path == folder.path()).map(|(_, it)| Arc::clone(it));
        drop(known);
        let bytes = folder.bytes();
        if let Some(recording) = found {
            return Ok(OpenRecording { about, recording, bytes });
        }
        if !packed.is_file() {
            let read = self.read(folder, Growing::open);
            // It may have ended meanwhile, and whoever wrote it has taken the streams away.
            if !packed.is_file() {
                let recording = read?.map_err(|error| broken(&packed, &io::Error::other(error)))?;
                return Ok(OpenRecording { about, recording, bytes });
            }
        }
        self.growing.lock().unwrap_or_else(PoisonError::into_inner).remove(folder.path());
        let recording = Recording::open(&packed).map_err(|error| broken(&packed, &error))?;
        let recording = Arc::new(recording);
        let mut known = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back((folder.path().to_owned(), Arc::clone(&recording)));
        if known.len() > limits::RECORDINGS_OPEN {
            known.pop_front();
        }
        Ok(OpenRecording { about, recording, bytes })
    }

    /// What the streams of a folder come to now.
    fn pack(&self, folder: &RecordingFolder) -> Result<Vec<u8>, Failure> {
        self.read(folder, |one, about| one.pack(about))
    }

    /// Reads what was written since, and does something with all of it.
    fn read<T>(
        &self,
        folder: &RecordingFolder,
        take: impl FnOnce(&mut Growing, &str) -> T,
    ) -> Result<T, Failure> {
        let mut growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let one = growing.entry(folder.path().to_owned()).or_default();
        one.read(folder.path()).map_err(|error| broken(folder.path(), &error))?;
        let about = serde_json::to_string(&folder.about()).unwrap_or_default();
        Ok(take(one, &about))
    }

    /// The streams become one file, and are gone.
    fn finish(&self, folder: &RecordingFolder) -> Result<(), Failure> {
        let bytes = self.pack(folder)?;
        let packed = folder.packed();
        folder::write_whole(&packed, &bytes).map_err(|error| broken(&packed, &error))?;
        self.growing.lock().unwrap_or_else(PoisonError::into_inner).remove(folder.path());
        folder.drop_streams();
        // Who shows it elsewhere can read it now.
        folder.path().parent().into_iter().for_each(elsewhere::touch);
        Ok(())
    }
}

fn broken(path: &Path, error: &io::Error) -> Failure {
    let text = format!("the recording `{}` cannot be read or written: {error}", path.display());
    Failure::new(Code::StoreFailed, text).hint("`holdpoint record list` names those there are")
}

/// Why a question has no answer, as every tool says it.
pub fn refused(error: &AskError) -> Failure {
    match error {
        AskError::Damaged(damage) => {
            Failure::new(Code::StoreFailed, format!("the recording is damaged: {damage}"))
                .hint("record it again")
        }
        AskError::NotFound { what, hint } => {
            Failure::new(Code::NotFound, what.clone()).hint(hint.clone())
        }
        AskError::Invalid { what, hint } => {
            Failure::new(Code::InvalidParams, what.clone()).hint(hint.clone())
        }
    }
}
