//! One round: its seed, the way it took, and what is counted.

use std::{
    cell::{Cell, RefCell},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use super::counts::{Counts, Failed, Victim, Wrong, wrong};

pub(super) struct Round<'c> {
    random: Cell<u64>,
    trail: RefCell<Vec<String>>,
    begun: Instant,
    pub(super) counts: &'c Counts,
}

impl<'c> Round<'c> {
    pub(super) fn new(seed: u64, counts: &'c Counts) -> Round<'c> {
        let random = Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Round { random, trail: RefCell::default(), begun: Instant::now(), counts }
    }

    /// A number below `of`.
    pub(super) fn pick(&self, of: usize) -> usize {
        let next = self
            .random
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random.set(next);
        usize::try_from(next >> 33).unwrap() % of
    }

    pub(super) fn one<T: Copy>(&self, of: &[T]) -> T {
        of[self.pick(of.len())]
    }

    pub(super) fn chance(&self, percent: usize) -> bool {
        self.pick(100) < percent
    }

    /// Lets something go on for up to so many milliseconds, so that what follows meets it anywhere.
    pub(super) fn linger(&self, up_to_ms: usize) {
        let time = Duration::from_micros(u64::try_from(self.pick(up_to_ms * 1_000)).unwrap());
        self.note(format!("{time:?} later"));
        std::thread::sleep(time);
    }

    pub(super) fn note(&self, text: impl Into<String>) {
        let mut text = text.into();
        if let Some((at, _)) = text.char_indices().nth(1_500) {
            text.truncate(at);
        }
        let at = self.begun.elapsed().as_secs_f64();
        self.trail.borrow_mut().push(format!("{at:7.3}  {}", text.replace('\n', " ⏎ ")));
    }

    pub(super) fn trail(&self) -> String {
        self.trail.borrow().join("\n  ")
    }

    pub(super) fn kills(&self, victim: Victim) {
        self.counts.killed(victim);
        self.note(format!("KILL {victim:?}"));
    }

    /// Something that was said, held against what is so.
    pub(super) fn check(&self, holds: bool, text: impl FnOnce() -> String) -> Result<(), Failed> {
        self.expect(Wrong::Lie, holds, text)
    }

    pub(super) fn expect(
        &self,
        what: Wrong,
        holds: bool,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failed> {
        self.counts.checks.fetch_add(1, Relaxed);
        if holds { Ok(()) } else { wrong(what, text()) }
    }
}

/// Looks again and again, for up to this long.
pub(super) fn within(limit: Duration, mut look: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if look() {
            return true;
        }
        if begun.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}
