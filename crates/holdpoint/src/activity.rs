//! Whether anybody still needs this server: for one that ends by itself when nobody does.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use holdpoint_engine::limits;

use crate::app::App;

/// When somebody last asked for something. A glance at the clock per request, and nothing else.
pub(crate) struct Activity {
    begun: Instant,
    /// Milliseconds after `begun`.
    last: AtomicU64,
    calls: AtomicUsize,
}

/// A tool's call is under way for as long as this lives.
pub(crate) struct UnderWay<'a>(&'a Activity);

impl Activity {
    pub(crate) fn new() -> Activity {
        Activity { begun: Instant::now(), last: AtomicU64::new(0), calls: AtomicUsize::new(0) }
    }

    /// Somebody asked for something just now.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Relaxed);
    }

    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.calls.fetch_add(1, Relaxed);
        UnderWay(self)
    }

    /// How long nobody has asked for anything.
    fn quiet(&self) -> Duration {
        if self.calls.load(Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.begun.elapsed().saturating_sub(Duration::from_millis(self.last.load(Relaxed)))
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.calls.fetch_sub(1, Relaxed);
    }
}

/// Returns when for `patience` nobody asked for anything, no program was debugged and no app's call
/// was under way; or when nobody asked for so long that the programs must have been forgotten.
pub(crate) async fn idle(app: &App, patience: Duration) {
    let mut held = Instant::now();
    loop {
        if holds_something(app) {
            held = Instant::now();
        }
        let quiet = app.activity.quiet();
        if quiet.min(held.elapsed()) >= patience || quiet >= patience.max(limits::FORGOTTEN) {
            return;
        }
        tokio::time::sleep(patience / 20).await;
    }
}

fn holds_something(app: &App) -> bool {
    app.engine.sessions.live() > 0
        || app.engine.opened_callpoints().is_some_and(|callpoints| {
            callpoints.paused_count() > 0 || callpoints.in_flight_count() > 0
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_under_way_is_no_quiet_however_long_it_takes() {
        let long_ago = Instant::now().checked_sub(Duration::from_secs(900)).unwrap();
        let activity = Activity { begun: long_ago, ..Activity::new() };
        assert!(activity.quiet() >= Duration::from_secs(900));
        let under_way = activity.begin();
        assert_eq!(activity.quiet(), Duration::ZERO);
        drop(under_way);
        assert!(activity.quiet() < Duration::from_secs(800), "its end counts, not its beginning");
    }
}
