//! From calls to the store: what is recorded waits for a moment, and many records make one commit.
//!
//! Bounded in bytes: a recorder that is behind makes those wait who bring more. What the store cannot take
//! now is kept back for a while ([`kept_back`]); what it never takes is counted as lost and told. The app
//! goes on either way.

mod kept_back;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use holdpoint_store::{
    AppRow, Batch, CallpointChange, Cid, Host, NewCall, NewValue, SnapshotRow, Tables, era,
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, timeout},
};

use self::kept_back::{KeptBack, Taken};
use crate::{calls::clock, limits, log::Log};

pub(crate) struct Recorder {
    pending: Mutex<Pending>,
    /// Something is pending.
    wake: Notify,
    /// Somebody waits for what is pending.
    hurry: Notify,
    /// How many things have been committed, are kept back, or are lost.
    settled: watch::Sender<u64>,
    kept_back: Mutex<KeptBack>,
    /// How often something was lost: whoever knows what was brought before does not know it any more.
    losses: AtomicU64,
}

#[derive(Default)]
struct Pending {
    batch: Batch,
    bytes: usize,
    /// When the first of them came.
    since: Option<Instant>,
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
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let apps: usize = self
            .apps
            .iter()
            .map(|it| limits::ROW_WEIGHT + text(&it.page_url) + text(&it.about))
            .sum();
        let changes: usize = self.changes.iter().map(|it| limits::ROW_WEIGHT + it.bytes()).sum();
        let rows = self.snapshots.len() + self.used.len();
        values + calls + apps + changes + rows * limits::ROW_WEIGHT
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

/// Calls that apps were told are taken, and that are not in the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unkept {
    /// Kept back, until the store can be written.
    pub waiting: u64,
    /// Gone.
    pub lost: u64,
}

impl Recorder {
    /// Starts the task that writes; it ends with the recorder.
    pub(crate) fn start(store: Arc<dyn Tables>, log: Arc<Log>) -> Arc<Recorder> {
        let mut batch = Batch::default();
        batch.host = Host::here();
        let recorder = Arc::new(Recorder {
            pending: Mutex::new(Pending { batch, ..Pending::default() }),
            wake: Notify::new(),
            hurry: Notify::new(),
            settled: watch::Sender::new(0),
            kept_back: Mutex::default(),
            losses: AtomicU64::new(0),
        });
        let weak = Arc::downgrade(&recorder);
        // Ends when the recorder is dropped, at the latest after a tick.
        tokio::spawn(async move {
            while let Some(recorder) = weak.upgrade() {
                recorder.turn(&*store, &log).await;
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
        if first {
            pending.since = Some(Instant::now());
        }
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

    /// Changes with everything that is lost.
    pub(crate) fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }

    pub(crate) fn unkept(&self) -> Unkept {
        self.kept_back().unkept()
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

    /// How many things were ever brought, and how many of them can be read.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.pending().brought, *self.settled.borrow())
    }

    /// Waits a moment for more, then writes what is pending.
    async fn turn(&self, store: &dyn Tables, log: &Log) {
        tokio::select! {
            () = self.wake.notified() => {}
            // Looks whether the recorder is still wanted, and the store to be written again.
            () = tokio::time::sleep(limits::STILL_WANTED) => {
                self.again(store).await;
                return self.tell(log);
            }
        }
        // From when it came: the commit before may have taken as long.
        let due = self.pending().since.map(|since| since + limits::FLUSH_EVERY);
        tokio::select! {
            () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)) => {}
            () = self.hurry.notified() => {}
        }
        let (mut batch, bytes, brought) = {
            let mut pending = self.pending();
            let bytes = std::mem::take(&mut pending.bytes);
            let next = pending.batch.next();
            (std::mem::replace(&mut pending.batch, next), bytes, pending.brought)
        };
        batch.era = era(clock::now());
        let taken = Taken { batch: Arc::new(batch), bytes };
        // In the order in which it was brought.
        let written = match self.again(store).await {
            true => store.record(Arc::clone(&taken.batch)).await,
            false => return self.keep_back(taken, brought, log),
        };
        match written {
            Ok(drops) => self.kept_back().dropped(drops),
            Err(error) if error.may_pass() => self.kept_back().push(taken, error.to_string()),
            Err(error) => self.kept_back().lose(&taken, error.to_string()),
        }
        self.account();
        self.settled.send_replace(brought);
        self.tell(log);
    }

    fn keep_back(&self, taken: Taken, brought: u64, log: &Log) {
        self.kept_back().push_behind(taken);
        self.account();
        self.settled.send_replace(brought);
        self.tell(log);
    }

    /// Writes what was kept back. Says whether nothing is left of it.
    async fn again(&self, store: &dyn Tables) -> bool {
        loop {
            let Some(oldest) = self.kept_back().oldest() else { return true };
            match store.record(oldest).await {
                Ok(drops) => {
                    self.kept_back().written();
                    self.kept_back().dropped(drops);
                }
                Err(error) if error.may_pass() => {
                    self.kept_back().still(error.to_string());
                    return false;
                }
                Err(error) => self.kept_back().give_up(error.to_string()),
            }
            self.account();
        }
    }

    /// What was lost is not known to be kept any more.
    fn account(&self) {
        let losses = self.kept_back().losses();
        self.losses.store(losses, Relaxed);
    }

    fn tell(&self, log: &Log) {
        if let Some(event) = self.kept_back().told() {
            log.append(event);
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_back(&self) -> MutexGuard<'_, KeptBack> {
        self.kept_back.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
