//! From calls to the store: what is recorded waits for a moment, and many records make one commit.
//!
//! Bounded in bytes: a recorder that is behind makes those wait who bring more. A batch that the
//! store does not take is counted as lost and said so; the app goes on.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use holdpoint_store::{
    AppRow, Batch, CallpointChange, Cid, Host, NewCall, NewValue, SnapshotRow, Tables, era,
};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};

use crate::{calls::clock, limits};

pub(crate) struct Recorder {
    pending: Mutex<Pending>,
    /// Something is pending.
    wake: Notify,
    /// Somebody waits for what is pending.
    hurry: Notify,
    /// How many things have been committed, or are lost.
    settled: watch::Sender<u64>,
    pub(crate) lost: AtomicU64,
}

#[derive(Default)]
struct Pending {
    batch: Batch,
    bytes: usize,
    /// How many things were ever brought.
    brought: u64,
}

/// What one request brings.
#[derive(Default)]
pub(crate) struct Bring {
    pub(crate) values: Vec<NewValue>,
    pub(crate) used: Vec<Cid>,
    pub(crate) calls: Vec<NewCall>,
    pub(crate) snapshots: Vec<SnapshotRow>,
    pub(crate) apps: Vec<AppRow>,
    pub(crate) changes: Vec<CallpointChange>,
}

impl Bring {
    fn bytes(&self) -> usize {
        let values: usize = self.values.iter().map(|it| it.data.len() + 256).sum();
        let calls: usize = self.calls.iter().map(|it| it.body.len() + it.line.len() + 512).sum();
        values + calls + (self.snapshots.len() + self.used.len()) * 256
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty()
            && self.used.is_empty()
            && self.calls.is_empty()
            && self.snapshots.is_empty()
            && self.apps.is_empty()
            && self.changes.is_empty()
    }
}

impl Recorder {
    /// Starts the task that writes; it ends with the recorder.
    pub(crate) fn start(store: Arc<dyn Tables>) -> Arc<Recorder> {
        let mut batch = Batch::default();
        batch.host = Host::here();
        let recorder = Arc::new(Recorder {
            pending: Mutex::new(Pending { batch, ..Pending::default() }),
            wake: Notify::new(),
            hurry: Notify::new(),
            settled: watch::Sender::new(0),
            lost: AtomicU64::new(0),
        });
        let weak = Arc::downgrade(&recorder);
        // Ends when the recorder is dropped, at the latest after a tick.
        tokio::spawn(async move {
            while let Some(recorder) = weak.upgrade() {
                recorder.turn(&*store).await;
            }
        });
        recorder
    }

    /// Takes what a request brings, once there is room for it.
    pub(crate) async fn bring(&self, bring: Bring) {
        self.keep_up().await;
        self.add(bring);
    }

    /// Takes what a request brings. Whoever comes next waits if that was too much.
    pub(crate) fn add(&self, bring: Bring) {
        if bring.is_empty() {
            return;
        }
        let bytes = bring.bytes();
        let mut pending = self.pending();
        pending.bytes += bytes;
        pending.brought += 1;
        bring.values.into_iter().for_each(|value| pending.batch.add_value(value));
        bring.calls.iter().for_each(|call| pending.batch.add_call(call));
        pending.batch.used.extend(bring.used);
        pending.batch.snapshots.extend(bring.snapshots);
        pending.batch.apps.extend(bring.apps);
        pending.batch.changes.extend(bring.changes);
        let (first, full) = (pending.bytes == bytes, pending.bytes > limits::BATCH_BYTES);
        drop(pending);
        if first {
            self.wake.notify_one();
        }
        if full {
            self.hurry.notify_one();
        }
    }

    /// Whether more is pending than should be.
    pub(crate) fn is_behind(&self) -> bool {
        self.pending().bytes > limits::PENDING_BYTES
    }

    /// Waits while more is pending than should be.
    pub(crate) async fn keep_up(&self) {
        if self.is_behind() {
            self.hurry.notify_one();
            self.settle().await;
        }
    }

    /// Waits until everything brought so far can be read, or the store has had its time.
    pub(crate) async fn settle(&self) {
        let brought = self.pending().brought;
        let mut settled = self.settled.subscribe();
        if *settled.borrow() >= brought {
            return;
        }
        self.hurry.notify_one();
        let wait = settled.wait_for(|settled| *settled >= brought);
        if timeout(limits::SETTLE, wait).await.is_err() {
            tracing::warn!("the store is behind with the calls that were recorded");
        }
    }

    /// Waits a moment for more, then writes what is pending.
    async fn turn(&self, store: &dyn Tables) {
        tokio::select! {
            () = self.wake.notified() => {}
            // Looks whether the recorder is still wanted.
            () = tokio::time::sleep(limits::STILL_WANTED) => return,
        }
        tokio::select! {
            () = tokio::time::sleep(limits::FLUSH_EVERY) => {}
            () = self.hurry.notified() => {}
        }
        let (mut batch, brought) = {
            let mut pending = self.pending();
            pending.bytes = 0;
            let next = pending.batch.next();
            (std::mem::replace(&mut pending.batch, next), pending.brought)
        };
        batch.era = era(clock::now());
        let calls = batch.calls_len();
        if let Err(error) = store.record(batch).await {
            self.lost.fetch_add(u64::try_from(calls).unwrap_or(u64::MAX), Ordering::Relaxed);
            tracing::warn!(%error, calls, "recorded calls were lost");
        }
        self.settled.send_replace(brought);
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
