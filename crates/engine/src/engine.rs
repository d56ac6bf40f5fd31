//! The one value every face holds: sessions, breakpoints, log, clock; the store as it comes.

use std::{path::PathBuf, sync::Arc, time::Instant};

use jiff::Timestamp;

use crate::{event::Event, log::Log, sessions::Sessions};

pub struct Engine {
    pub log: Arc<Log>,
    pub sessions: Sessions,
    pub version: &'static str,
    pub started_at: Timestamp,
    started: Instant,
}

impl Engine {
    /// Starts the engine; the first event of its log says so. `guard` is our own binary, which stands
    /// over the programs we start; `home` is where we keep what we provide for them.
    pub fn start(version: &'static str, guard: PathBuf, home: PathBuf) -> Arc<Engine> {
        let log = Arc::new(Log::default());
        log.append(Event::ServerStarted { version: version.to_owned(), pid: std::process::id() });
        let sessions = Sessions::new(Arc::clone(&log), guard, home);
        Arc::new(Engine {
            log,
            sessions,
            version,
            started_at: Timestamp::now(),
            started: Instant::now(),
        })
    }

    pub fn uptime(&self) -> std::time::Duration {
        self.started.elapsed()
    }
}
