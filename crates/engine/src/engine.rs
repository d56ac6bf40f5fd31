//! The one value every face holds: sessions, breakpoints, log, clock; the store as it comes.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use holdpoint_store::Location;
use jiff::Timestamp;
use tokio::sync::OnceCell;

use crate::{
    event::Event,
    log::Log,
    memory::{Memory, Restored},
    sessions::Sessions,
};

pub struct Engine {
    pub log: Arc<Log>,
    pub sessions: Arc<Sessions>,
    /// Opened when first needed.
    memory: OnceCell<Arc<Memory>>,
    location: Location,
    /// What was restored, until somebody has been told.
    restored: Mutex<Option<String>>,
    pub version: &'static str,
    pub started_at: Timestamp,
    started: Instant,
}

impl Engine {
    /// Starts the engine; the first event of its log says so. `guard` is our own binary, which stands
    /// over the programs we start; `home` is where we keep what we provide for them.
    /// `location` is the store's.
    pub fn start(
        version: &'static str,
        guard: PathBuf,
        home: PathBuf,
        location: Location,
    ) -> Arc<Engine> {
        let log = Arc::new(Log::default());
        log.append(Event::ServerStarted { version: version.to_owned(), pid: std::process::id() });
        let sessions = Arc::new(Sessions::new(Arc::clone(&log), guard, home));
        Arc::new(Engine {
            log,
            sessions,
            memory: OnceCell::new(),
            location,
            restored: Mutex::default(),
            version,
            started_at: Timestamp::now(),
            started: Instant::now(),
        })
    }

    /// The store, opened now if it was not; the first time, what an earlier server left is put back.
    pub async fn memory(&self) -> &Arc<Memory> {
        let open = async {
            let memory = Arc::new(Memory::open(self.location.clone()).await);
            let restored = memory.recall(&self.sessions.breakpoints).await;
            let note = describe(&restored);
            *self.restored.lock().unwrap_or_else(PoisonError::into_inner) = note;
            self.sessions.remember(Arc::clone(&memory), restored.launch);
            memory
        };
        self.memory.get_or_init(|| open).await
    }

    /// The store, if it was ever needed.
    pub fn opened(&self) -> Option<&Arc<Memory>> {
        self.memory.get()
    }

    /// What was restored, told once.
    pub fn take_restored(&self) -> Option<String> {
        self.restored.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn uptime(&self) -> std::time::Duration {
        self.started.elapsed()
    }
}

fn describe(restored: &Restored) -> Option<String> {
    let launch = restored
        .launch
        .as_ref()
        .map(|it| format!("the last launch was {}; `debug_restart` runs it again", it.title()));
    match (restored.breakpoints, launch) {
        (0, None) => None,
        (0, Some(launch)) => Some(format!("restored: {launch}")),
        (count, None) => Some(format!("restored: {count} breakpoints")),
        (count, Some(launch)) => Some(format!("restored: {count} breakpoints; {launch}")),
    }
}
