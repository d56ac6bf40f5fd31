//! All recordings as a list shows them: who they are, and each one's brief, which is read once.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use holdpoint_recording::{Recording, RunBrief};
use tokio::sync::watch;

use super::{
    Recordings, elsewhere,
    folder::{self, RecordingAbout, RecordingFolder},
};
use crate::{aside::aside, failure::Failure, limits};

/// One recording, as far as it is known without asking it.
#[derive(Debug, Clone)]
pub struct RecordingKnown {
    pub about: RecordingAbout,
    pub bytes: u64,
    /// A server that lives writes it.
    pub is_written: bool,
    /// None while it is written, where it cannot be read, and where there was no time yet.
    pub brief: Option<Arc<RunBrief>>,
}

/// By folder: how large it was then, and what it came to, if it could be read.
#[derive(Default)]
pub(super) struct Briefs(Mutex<HashMap<PathBuf, BriefRead>>);

type BriefRead = (u64, Option<Arc<RunBrief>>);

impl Briefs {
    pub(super) fn forget(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn get(&self, path: &Path, bytes: u64) -> Option<Option<Arc<RunBrief>>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(path).filter(|(of, _)| *of == bytes).map(|(_, brief)| brief.clone())
    }

    fn read(&self, folder: &RecordingFolder, bytes: u64) -> Option<Arc<RunBrief>> {
        let opened = Recording::open(&folder.packed());
        let brief = opened.ok().map(|it| Arc::new(it.brief()));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(folder.path().to_owned(), (bytes, brief.clone()));
        brief
    }
}

impl Recordings {
    /// Changes when one begins, ends or goes, of this server or of another process.
    pub fn changes(&self) -> watch::Receiver<u64> {
        let changes = self.shared.changes.subscribe();
        elsewhere::listen(self.folder.clone(), Arc::clone(&self.shared));
        changes
    }

    /// How many programs this server records now.
    pub fn running(&self) -> usize {
        let running = self.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.values().filter(|it| it.told.borrow().is_none()).count()
    }

    /// All there are, the newest first; and whether there was no time to look into each of them.
    pub async fn known(&self) -> (Vec<RecordingKnown>, bool) {
        let (base, shared) = (self.folder.clone(), Arc::clone(&self.shared));
        let work = move || {
            let until = Instant::now() + limits::RECORDINGS_BRIEFLY;
            let mut is_late = false;
            let mut known = |folder: &RecordingFolder| {
                let mut one = of(folder);
                if !one.is_written {
                    one.brief = match shared.briefs.get(folder.path(), one.bytes) {
                        Some(brief) => brief,
                        None if Instant::now() < until => shared.briefs.read(folder, one.bytes),
                        None => {
                            is_late = true;
                            None
                        }
                    };
                }
                one
            };
            let all = folder::all(&base).iter().rev().map(&mut known).collect();
            (all, is_late)
        };
        aside(work).await.unwrap_or_default()
    }

    /// The one of that name.
    pub fn known_as(&self, name: &str) -> Result<RecordingKnown, Failure> {
        self.find(Some(name)).map(|it| of(&it))
    }
}

fn of(folder: &RecordingFolder) -> RecordingKnown {
    let (about, bytes) = (folder.about(), folder.bytes());
    let is_written = about.ended.is_none() && folder::lives(about.server_pid);
    RecordingKnown { about, bytes, is_written, brief: None }
}
