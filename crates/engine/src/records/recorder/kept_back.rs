//! Batches that the store could not take: a full disk, a file that another process keeps.
//!
//! They are written again in their order when it can. Bounded in bytes: past that the oldest are lost, counted,
//! and told as an event.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use holdpoint_store::Batch;

use super::Unkept;
use crate::{event::Event, limits};

/// What was taken from what is pending, to be written.
pub(super) struct Taken {
    pub(super) batch: Arc<Batch>,
    pub(super) bytes: usize,
}

#[derive(Default)]
pub(super) struct KeptBack {
    /// The oldest first.
    batches: VecDeque<Taken>,
    bytes: usize,
    lost: u64,
    losses: u64,
    /// Of values, as the store last said.
    drops: Option<u64>,
    /// Lost calls that nobody was told of.
    untold: u64,
    told_at: Option<Instant>,
    why: String,
}

impl KeptBack {
    /// It could not be written now.
    pub(super) fn push(&mut self, taken: Taken, why: String) {
        self.why = why;
        self.push_behind(taken);
    }

    /// What came before it could not be.
    pub(super) fn push_behind(&mut self, taken: Taken) {
        self.bytes += taken.bytes;
        self.batches.push_back(taken);
        while self.bytes > limits::KEPT_BACK_BYTES {
            self.drop_oldest();
        }
    }

    /// It will never be written.
    pub(super) fn lose(&mut self, taken: &Taken, why: String) {
        let calls = u64::try_from(taken.batch.calls_len()).unwrap_or(u64::MAX);
        tracing::warn!(calls, why, "recorded calls were lost");
        self.why = why;
        self.lost += calls;
        self.untold += calls;
        self.losses += 1;
    }

    pub(super) fn oldest(&self) -> Option<Arc<Batch>> {
        self.batches.front().map(|taken| Arc::clone(&taken.batch))
    }

    /// The oldest is in the store.
    pub(super) fn written(&mut self) {
        let written = self.batches.pop_front();
        self.bytes -= written.map_or(0, |taken| taken.bytes);
    }

    /// The oldest cannot be written yet.
    pub(super) fn still(&mut self, why: String) {
        self.why = why;
    }

    /// The oldest will never be written.
    pub(super) fn give_up(&mut self, why: String) {
        self.why = why;
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.batches.pop_front() else { return };
        self.bytes -= oldest.bytes;
        let why = self.why.clone();
        self.lose(&oldest, why);
    }

    /// How often values were dropped from the store, by whoever: as good as lost here.
    pub(super) fn dropped(&mut self, drops: u64) {
        let before = self.drops.replace(drops);
        if before.is_some_and(|before| before != drops) {
            self.losses += 1;
        }
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    pub(super) fn unkept(&self) -> Unkept {
        let calls = self.batches.iter().map(|taken| taken.batch.calls_len()).sum::<usize>();
        Unkept { waiting: u64::try_from(calls).unwrap_or(u64::MAX), lost: self.lost }
    }

    /// What is to be told now: at once, then now and then.
    pub(super) fn told(&mut self) -> Option<Event> {
        let is_due = self.told_at.is_none_or(|at| at.elapsed() >= limits::LOSS_TOLD);
        if self.untold == 0 || !is_due {
            return None;
        }
        self.told_at = Some(Instant::now());
        Some(Event::CallsLost { calls: std::mem::take(&mut self.untold), why: self.why.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bytes: usize) -> Taken {
        let mut batch = Batch::default();
        batch.add_call(&holdpoint_store::NewCall {
            call_id: "c".into(),
            process: "p".into(),
            name: "f".into(),
            kind: "call",
            status: "success".into(),
            thread: None,
            started_at: 1.0,
            completed_at: 2.0,
            line: "f()".into(),
            cids: Vec::new(),
            body: "{}".into(),
        });
        Taken { batch: Arc::new(batch), bytes }
    }

    #[test]
    fn past_the_bound_the_oldest_are_lost_and_told_once() {
        let mut kept = KeptBack::default();
        for _ in 0..4 {
            kept.push(taken(limits::KEPT_BACK_BYTES / 3), "the disk is full".to_owned());
        }
        assert_eq!(kept.unkept(), Unkept { waiting: 3, lost: 1 });
        let told = kept.told();
        assert!(
            matches!(&told, Some(Event::CallsLost { calls: 1, why }) if why == "the disk is full")
        );
        assert!(kept.told().is_none());
        for _ in 0..3 {
            assert!(kept.oldest().is_some());
            kept.written();
        }
        assert_eq!((kept.unkept(), kept.bytes), (Unkept { waiting: 0, lost: 1 }, 0));
    }

    #[test]
    fn what_another_process_dropped_counts_as_lost_from_the_second_look_on() {
        let mut kept = KeptBack::default();
        kept.dropped(7);
        assert_eq!(kept.losses(), 0);
        kept.dropped(7);
        assert_eq!(kept.losses(), 0);
        kept.dropped(8);
        assert_eq!(kept.losses(), 1);
    }
}
