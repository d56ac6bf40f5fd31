//! Snapshots that were taken on purpose, in memory, by name. The oldest goes when there are too many.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{inspect::Snapshot, limits};

#[derive(Default)]
pub struct Snapshots {
    kept: Mutex<VecDeque<Arc<Snapshot>>>,
    next: AtomicU64,
}

impl Snapshots {
    /// A name that no other ever has.
    pub fn name(&self) -> String {
        format!("snap{}", self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Keeps one. Of two with one label the newer counts. Says which was forgotten for it.
    pub fn keep(&self, snapshot: Snapshot) -> (Arc<Snapshot>, Option<String>) {
        let snapshot = Arc::new(snapshot);
        let mut kept = self.kept();
        kept.push_back(Arc::clone(&snapshot));
        let gone = if kept.len() > limits::SNAPSHOTS { kept.pop_front() } else { None };
        (snapshot, gone.map(|gone| gone.label.clone().unwrap_or_else(|| gone.name.clone())))
    }

    /// By its name, or the newest with that label.
    pub fn find(&self, name: &str) -> Option<Arc<Snapshot>> {
        let is = |it: &&Arc<Snapshot>| it.name == name || it.label.as_deref() == Some(name);
        self.kept().iter().rev().find(is).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Snapshot>> {
        self.kept().iter().cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Arc<Snapshot>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
