//! `resources/updated`, told at most every [`limits::UPDATE_EVERY`]: a client reads a resource again
//! however often it changed meanwhile, so one update is as good as a thousand.

use std::{collections::BTreeSet, time::Duration};

use holdpoint_engine::{limits, log::Read};
use tokio::time::Instant;

use super::resources;
use crate::app::App;

#[derive(Default)]
pub(super) struct Updates {
    pending: BTreeSet<String>,
    last: Option<Instant>,
}

impl Updates {
    /// Remembers which of `uris` read differently after `reads`.
    pub(super) fn note(&mut self, app: &App, uris: &BTreeSet<String>, reads: &[Read]) {
        let new = uris.iter().filter(|uri| !self.pending.contains(*uri));
        let new: Vec<String> = new.filter(|uri| any_changed(app, uri, reads)).cloned().collect();
        self.pending.extend(new);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns when the next may be told; never when there is none.
    pub(super) async fn due(&self) {
        if self.is_empty() {
            return std::future::pending().await;
        }
        if !self.wait().is_zero() {
            tokio::time::sleep(self.wait()).await;
        }
    }

    /// Those to tell now: all or none. What is no longer among `uris` is not told.
    pub(super) fn take(&mut self, uris: &BTreeSet<String>) -> BTreeSet<String> {
        self.pending.retain(|uri| uris.contains(uri));
        if self.is_empty() || !self.wait().is_zero() {
            return BTreeSet::new();
        }
        self.last = Some(Instant::now());
        std::mem::take(&mut self.pending)
    }

    fn wait(&self) -> Duration {
        let passed = self.last.map(|last| last.elapsed());
        passed.map_or(Duration::ZERO, |passed| limits::UPDATE_EVERY.saturating_sub(passed))
    }
}

fn any_changed(app: &App, uri: &str, reads: &[Read]) -> bool {
    reads.iter().any(|read| match read {
        Read::Record(record) => resources::changed(app, uri, &record.event),
        // What was lost may have changed anything.
        Read::Gap { .. } => true,
    })
}
