//! The one value every face holds: the log and the clock now; sessions, points and the store as they come.

use std::{sync::Arc, time::Instant};

use jiff::Timestamp;

use crate::{event::Event, log::Log};

pub struct Engine {
    pub log: Arc<Log>,
    pub version: &'static str,
    pub started_at: Timestamp,
    started: Instant,
}

impl Engine {
    /// Starts the engine; the first event of its log says so.
    pub fn start(version: &'static str) -> Arc<Engine> {
        let log = Arc::new(Log::default());
        log.append(Event::ServerStarted { version: version.to_owned(), pid: std::process::id() });
        Arc::new(Engine { log, version, started_at: Timestamp::now(), started: Instant::now() })
    }

    pub fn uptime(&self) -> std::time::Duration {
        self.started.elapsed()
    }
}
