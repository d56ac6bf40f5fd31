//! What was recorded, read back: pages of calls, one call, values looked into, the tree of an app's calls.
//!
//! A room over the store and nothing else: it needs neither apps nor a server, so a command that prints
//! records opens only this. Beside a server that records, it waits for what is on its way to the store.

mod name;
mod object;
mod parts;
pub(crate) mod recorder;
mod tree;

use std::{collections::HashSet, sync::Arc, time::Duration};

pub use holdpoint_store::{
    AppKey, AppRow, CallCount, CallStats, Cid, SnapshotRow, StoreError, ValueRow as Kept,
};
use holdpoint_store::{CallQuery, CallRow, Tables};
use serde_json::Value;

pub(crate) use self::name::is_beginning;
use self::recorder::Recorder;
pub use self::recorder::Unkept;
pub use self::{
    name::NoValue,
    object::{Inspected, Looked},
    parts::{InnerValue, OpenedValue, Unopened, ValueLeaf},
    tree::CallNode,
};
use crate::{
    calls::{
        call::{Call, Values},
        clock, pretty,
        seen::Seen,
    },
    limits,
};

/// Which records; everything that is set must hold.
pub type RecordQuery = CallQuery;

pub struct Records {
    store: Arc<dyn Tables>,
    /// What is on its way to the store; none where nobody records.
    recorder: Option<Arc<Recorder>>,
}

/// Records, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordPage {
    pub calls: Vec<Recorded>,
    /// How many match in all.
    pub total: u64,
    /// Pass it as `before` for the next page; none when this was the last.
    pub next: Option<i64>,
    /// How many of them are newer than this page.
    pub newer: u64,
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The cursor of a page that begins after it.
    pub id: i64,
    pub line: String,
    pub seen: Seen,
}

/// A live object at one moment of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectSeen {
    pub at: SnapshotRow,
    pub shown: Value,
}

impl Records {
    /// What a store has, whoever else uses it.
    pub fn over(store: Arc<dyn Tables>) -> Records {
        Records { store, recorder: None }
    }

    /// The same beside a recorder.
    pub(crate) fn beside(store: Arc<dyn Tables>, recorder: Arc<Recorder>) -> Records {
        Records { store, recorder: Some(recorder) }
    }

    pub async fn page(&self, mut wanted: RecordQuery) -> Result<RecordPage, StoreError> {
        wanted.limit = wanted.limit.clamp(1, limits::RECORDS_PAGE_MAX);
        self.settle().await;
        let limit = wanted.limit;
        // One more than is shown: only then is it known whether there is a next page.
        wanted.limit += 1;
        let is_backward = wanted.after.is_some();
        let mut page = self.store.calls(wanted).await?;
        let mut more = page.rows.len() > limit;
        if is_backward && more {
            // The one too many is the newest.
            page.rows.remove(0);
            page.newer += 1;
        }
        page.rows.truncate(limit);
        // Whoever came from an older page can go back to it.
        more |= is_backward;
        let values = self.shown(&page.rows).await?;
        let next = if more { page.rows.last().map(|row| row.id) } else { None };
        let calls = page.rows.into_iter().map(|row| recorded(row, &values)).collect();
        Ok(RecordPage { calls, total: page.total, next, newer: page.newer })
    }

    pub async fn one(&self, call_id: &str) -> Result<Option<Recorded>, StoreError> {
        self.settle().await;
        let Some(row) = self.store.call(call_id.to_owned()).await? else { return Ok(None) };
        let values = self.shown(std::slice::from_ref(&row)).await?;
        Ok(Some(recorded(row, &values)))
    }

    async fn shown(&self, rows: &[CallRow]) -> Result<Values, StoreError> {
        let cids: HashSet<Cid> = rows.iter().flat_map(|row| row.cids.iter().copied()).collect();
        self.store.values(cids.into_iter().collect()).await
    }

    pub async fn stats(&self) -> Result<CallStats, StoreError> {
        self.settle().await;
        self.store.call_stats().await
    }

    /// The apps whose calls are recorded, the last heard of first, each with how many.
    pub async fn apps(&self) -> Result<Vec<(AppRow, u64)>, StoreError> {
        self.settle().await;
        self.store.apps(limits::APPS).await
    }

    /// How many calls are in the store by now: what is on its way is not waited for.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let one = CallQuery { calls_only: true, limit: 1, ..CallQuery::default() };
        Ok(self.store.calls(one).await?.total)
    }

    /// How often each function was called, in all and in the parts of a time that ends now.
    pub async fn counts(&self, past: Duration, parts: usize) -> Result<Vec<CallCount>, StoreError> {
        self.settle().await;
        let now = clock::now();
        self.store.call_counts((now - past.as_secs_f64(), now), parts, limits::FUNCTIONS).await
    }

    /// The values that were kept last, and how each is shown.
    pub async fn newest_values(&self, limit: usize) -> Result<Vec<(Kept, Value)>, StoreError> {
        self.settle().await;
        let values = self.store.newest_values(limit).await?;
        let each = |it: Kept| {
            let shown = pretty::kept(&it);
            (it, shown)
        };
        Ok(values.into_iter().map(each).collect())
    }

    /// The calls of one app that began before `before` as a tree, in the order they began; and how many it has in all.
    pub async fn tree(
        &self,
        process: &str,
        before: Option<f64>,
        limit: usize,
    ) -> Result<(Vec<CallNode>, u64), StoreError> {
        self.settle().await;
        let limit = limit.min(limits::TREE_CALLS);
        let (rows, total) = self.store.calls_of(AppKey::here(process), before, limit).await?;
        let stacks: HashSet<Cid> =
            rows.iter().filter_map(|row| row.cids.first().copied()).collect();
        let stacks = self.store.values(stacks.into_iter().collect()).await?;
        // Aside: a tree of ten thousand calls takes a while.
        let built = tokio::task::spawn_blocking(move || tree::build(&rows, &stacks)).await;
        Ok((built.unwrap_or_default(), total))
    }

    /// What became of one live object.
    pub async fn history(
        &self,
        process: &str,
        client_ref: &str,
    ) -> Result<Vec<ObjectSeen>, StoreError> {
        self.settle().await;
        let (app, client_ref) = (AppKey::here(process), client_ref.to_owned());
        let found = self.store.snapshots(app, client_ref, limits::HISTORY).await?;
        self.objects_seen(found).await
    }

    /// Every live object at its last moment.
    pub async fn objects(&self) -> Result<Vec<ObjectSeen>, StoreError> {
        self.settle().await;
        let found = self.store.objects(limits::HISTORY).await?;
        self.objects_seen(found).await
    }

    async fn objects_seen(&self, found: Vec<SnapshotRow>) -> Result<Vec<ObjectSeen>, StoreError> {
        let cids = found.iter().map(|it| it.cid).collect();
        let values = self.store.values(cids).await?;
        let seen = |at: SnapshotRow| {
            let shown = match values.get(&at.cid) {
                Some(value) => pretty::kept(value),
                None => pretty::missing(&at.cid.to_string()),
            };
            ObjectSeen { at, shown }
        };
        Ok(found.into_iter().map(seen).collect())
    }

    /// One value with its data.
    pub(crate) async fn value(&self, cid: Cid) -> Result<Option<Kept>, StoreError> {
        self.settle().await;
        self.store.value(cid).await
    }

    /// Grows with whatever can be read more than before; and whether that is all that was recorded.
    pub fn progress(&self) -> (u64, bool) {
        let (brought, settled) = self.recorder.as_ref().map_or((0, 0), |it| it.progress());
        (settled, settled >= brought)
    }

    /// Waits until what was recorded so far can be read.
    pub async fn settle(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.settle().await;
        }
    }
}

fn recorded(row: CallRow, values: &Values) -> Recorded {
    let seen = Seen::of(Arc::new(Call::from_row(&row)), values);
    Recorded { id: row.id, line: row.line, seen }
}
