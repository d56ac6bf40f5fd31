//! The filesystem bridge to an editor: where it is, whether it lives, jobs in and answers out, events.
//!
//! `docs/contract/bridge.md` is what both sides rely on. Two extensions are spoken to: the public VSC-Bridge, with all
//! that it gets wrong, and our own. Nothing here knows what the scripts mean; paths are the one thing of theirs that
//! is mended here, since it is the bridge that sits between two systems.

mod answer;
mod call;
mod error;
mod events;
mod find;
mod host;
mod job;
mod limits;
mod pace;
mod paths;
mod wait;
mod watch;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::pace::Pace;
pub use self::{
    answer::BridgeAnswer,
    error::{BridgeError, Ran},
    events::{BridgeEvent, EventTail, Since},
    find::{Candidate, candidates},
    host::{BridgeStatus, Capabilities, Flavour},
    limits::{JOBS_IN_FLIGHT, WAIT_SLICE},
    paths::{Machine, Sides, plain_path},
    wait::Waiting,
};

/// One bridge folder, and our way in. Cheap to clone.
#[derive(Clone)]
pub struct Bridge {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    flavour: Flavour,
    pace: Arc<Pace>,
    /// Whether the system's file events are used; a test with a clock of its own does without.
    is_watched: bool,
    /// The two bridges that were seen to answer at once, the last time.
    split: Mutex<Option<(String, String)>>,
}

impl Bridge {
    /// The live bridge for a workspace: in it, or in a folder around it.
    pub fn find(workspace: &Path) -> Result<Bridge, BridgeError> {
        find::choose(workspace, find::candidates(workspace)?).map(Bridge::of)
    }

    /// The bridge of that folder, live or not. For whoever has found it.
    pub fn of(candidate: Candidate) -> Bridge {
        Bridge::open(candidate.folder, candidate.flavour, true)
    }

    /// The same without the system's file events: it looks at short intervals instead.
    pub fn polled(candidate: Candidate) -> Bridge {
        Bridge::open(candidate.folder, candidate.flavour, false)
    }

    fn open(folder: PathBuf, flavour: Flavour, is_watched: bool) -> Bridge {
        let pace = Pace::of(&folder);
        let inner = Inner { folder, flavour, pace, is_watched, split: Mutex::default() };
        Bridge { inner: Arc::new(inner) }
    }

    /// Has a script run, once, and waits for its answer. Where it is dropped or cancelled meanwhile the script is
    /// told to stop, and its job's folder is removed.
    pub async fn call(
        &self,
        script: &str,
        params: Value,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<BridgeAnswer, BridgeError> {
        call::call(self, script, params, timeout, cancel).await
    }

    /// Has a script run that only waits, again and again until it has seen something: no job of it is longer than
    /// [`WAIT_SLICE`]. `None` where nothing happened in that time; `told` hears before each how much is left.
    pub async fn wait(
        &self,
        waiting: Waiting<'_>,
        params: Value,
        cancel: &CancellationToken,
        told: impl Fn(Duration),
    ) -> Result<Option<BridgeAnswer>, BridgeError> {
        wait::wait(self, waiting, params, cancel, told).await
    }

    /// How it stands now.
    pub fn status(&self) -> BridgeStatus {
        let mut status = host::status(&self.inner.folder, self.inner.flavour);
        status.in_flight = self.inner.pace.in_flight();
        status.split = self.split().clone();
        status
    }

    /// What happens in the editor, from there on. Empty for ever where the bridge has no events.
    pub fn events(&self, since: Since) -> EventTail {
        EventTail::open(&self.inner.folder, since, self.inner.is_watched)
    }

    pub fn flavour(&self) -> Flavour {
        self.inner.flavour
    }

    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// The folder that the editor has open.
    pub fn workspace(&self) -> &Path {
        self.inner.flavour.workspace_of(&self.inner.folder)
    }

    /// How its paths are named there and here.
    pub fn sides(&self) -> Sides {
        let platform = host::status(&self.inner.folder, self.inner.flavour).platform;
        Sides::new(platform.as_deref(), &self.inner.folder)
    }

    fn split(&self) -> std::sync::MutexGuard<'_, Option<(String, String)>> {
        self.inner.split.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
