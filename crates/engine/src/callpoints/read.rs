//! What was recorded, read back: pages of calls, one call, the tree of an app's calls, objects.

use std::collections::HashSet;

use holdpoint_store::{App, CallQuery, CallRow, CallStats, Cid, Snapshot, StoreError};
use serde_json::{Value, json};

use super::{Callpoints, call::Call, call::Values, pretty, tree};
use crate::limits;

/// Which records; everything that is set must hold.
pub type Wanted = CallQuery;

/// Records as the wire has them, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub calls: Vec<Value>,
    /// The cursor of each.
    pub ids: Vec<i64>,
    /// How many match in all.
    pub total: u64,
    /// Pass it as `before` for the next page; none when this was the last.
    pub next: Option<i64>,
}

impl Callpoints {
    pub async fn records(&self, mut wanted: Wanted) -> Result<Page, StoreError> {
        wanted.limit = wanted.limit.clamp(1, limits::RECORDS_PAGE_MAX);
        self.recorder.settle().await;
        let limit = wanted.limit;
        // One more than is shown: only then is it known whether there is a next page.
        wanted.limit += 1;
        let mut page = self.store.calls(wanted).await?;
        let more = page.rows.len() > limit;
        page.rows.truncate(limit);
        let values = self.shown(&page.rows).await?;
        let next = if more { page.rows.last().map(|row| row.id) } else { None };
        let calls = page.rows.iter().map(|row| record(row, &values)).collect();
        let ids = page.rows.iter().map(|row| row.id).collect();
        Ok(Page { calls, ids, total: page.total, next })
    }

    pub async fn record(&self, call_id: &str) -> Result<Option<Value>, StoreError> {
        self.recorder.settle().await;
        let Some(row) = self.store.call(call_id.to_owned()).await? else { return Ok(None) };
        let rows = [row];
        let values = self.shown(&rows).await?;
        Ok(rows.first().map(|row| record(row, &values)))
    }

    async fn shown(&self, rows: &[CallRow]) -> Result<Values, StoreError> {
        let cids: HashSet<Cid> = rows.iter().flat_map(|row| row.cids.iter().copied()).collect();
        self.store.values(cids.into_iter().collect()).await
    }

    pub async fn stats(&self) -> Result<CallStats, StoreError> {
        self.recorder.settle().await;
        self.store.call_stats().await
    }

    pub async fn apps(&self) -> Result<Vec<(App, u64)>, StoreError> {
        self.recorder.settle().await;
        self.store.apps(limits::APPS).await
    }

    /// The calls of one app as a tree, in the order they began; and how many there are in all.
    pub async fn tree(
        &self,
        process: &str,
        limit: usize,
    ) -> Result<(Vec<tree::Node>, u64), StoreError> {
        self.recorder.settle().await;
        let limit = limit.min(limits::TREE_CALLS);
        let (rows, total) = self.store.calls_of(process.to_owned(), limit).await?;
        let stacks: HashSet<Cid> =
            rows.iter().filter_map(|row| row.cids.first().copied()).collect();
        let stacks = self.store.values(stacks.into_iter().collect()).await?;
        // Aside: a tree of ten thousand calls takes a while.
        let built = tokio::task::spawn_blocking(move || tree::build(&rows, &stacks)).await;
        Ok((built.unwrap_or_default(), total))
    }

    /// What became of one live object.
    pub async fn history(&self, process: &str, client_ref: &str) -> Result<Vec<Value>, StoreError> {
        self.recorder.settle().await;
        let (process, client_ref) = (process.to_owned(), client_ref.to_owned());
        let found = self.store.snapshots(process, client_ref, limits::HISTORY).await?;
        self.snapshots_json(found).await
    }

    /// Every live object at its last moment.
    pub async fn objects(&self) -> Result<Vec<Value>, StoreError> {
        self.recorder.settle().await;
        let found = self.store.objects(limits::HISTORY).await?;
        self.snapshots_json(found).await
    }

    async fn snapshots_json(&self, found: Vec<Snapshot>) -> Result<Vec<Value>, StoreError> {
        let cids = found.iter().map(|it| it.cid).collect();
        let values = self.store.values(cids).await?;
        Ok(found.iter().map(|it| snapshot(it, &values)).collect())
    }
}

fn record(row: &CallRow, values: &Values) -> Value {
    let mut record = Call::from_row(row).record(values);
    if let Some(record) = record.as_object_mut() {
        record.insert("line".to_owned(), json!(row.line));
        record.insert("kind".to_owned(), json!(row.kind));
    }
    record
}

fn snapshot(it: &Snapshot, values: &Values) -> Value {
    let pretty = match values.get(&it.cid) {
        Some(value) => pretty::kept(value),
        None => pretty::missing(&it.cid.to_string()),
    };
    let mut json = json!({
        "timestamp": it.at,
        "call_id": it.call_id,
        "method_name": it.name,
        "role": it.role,
        "cid": it.cid.to_string(),
        "pretty": pretty,
        "process_key": it.process,
        "client_ref": it.client_ref,
    });
    if let (Some(json), Some(place)) = (json.as_object_mut(), &it.place) {
        match it.role {
            "arg" => json.insert("index".to_owned(), json!(place.parse::<u64>().unwrap_or(0))),
            _ => json.insert("key".to_owned(), json!(place)),
        };
    }
    json
}
