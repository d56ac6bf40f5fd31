//! What another server says of itself, on its way to the timeline: so many a second, and the number of the rest.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use holdpoint_engine::limits;

const SECOND: Duration = Duration::from_secs(1);

/// Counts within one second.
#[derive(Default)]
pub(super) struct Pace(Mutex<Window>);

#[derive(Default)]
struct Window {
    since: Option<Instant>,
    told: u32,
    left_out: u64,
}

impl Pace {
    /// Whether one may be told now; if so, how many were left out before it.
    pub(super) fn admit(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.since.is_none_or(|since| now.duration_since(since) >= SECOND) {
            window.since = Some(now);
            window.told = 0;
        }
        if window.told >= limits::EXTERNAL_LOGS {
            window.left_out += 1;
            return None;
        }
        window.told += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_told_by_its_number() {
        let (pace, start) = (Pace::default(), Instant::now());
        for _ in 0..limits::EXTERNAL_LOGS {
            assert_eq!(pace.admit(start), Some(0));
        }
        assert_eq!((pace.admit(start), pace.admit(start)), (None, None));
        assert_eq!(pace.admit(start + SECOND), Some(2));
        assert_eq!(pace.admit(start + SECOND), Some(0));
    }
}
