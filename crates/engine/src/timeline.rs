//! The log's way into the store and back: what happened, also before the log's ring and before this server.
//!
//! A reader of the log writes everything down, at its own pace and in batches; it holds up nobody, and what
//! the ring lost before it came is noted as a gap. Each server is a run of its own, because its numbers
//! begin at 1 and several servers share the file.

mod ask;

use std::sync::Arc;

use holdpoint_store::{NewEvent, Run, RunId, RunRow};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use self::ask::{Ask, Fact, Facts};
use crate::{
    budget,
    ids::Seq,
    limits,
    log::{Log, Read},
    memory::Memory,
};

/// This server's place in the store.
pub struct Timeline {
    memory: Arc<Memory>,
    pub run: RunId,
    /// The servers before this one, newest first.
    pub earlier: Vec<RunRow>,
    /// How far the log has been written down.
    kept: watch::Receiver<Seq>,
    _writer: AbortOnDropHandle<()>,
}

impl Timeline {
    /// Begins a run and writes the log down from its beginning. None where nothing is kept on disk:
    /// the ring has as much as memory should hold.
    pub(crate) async fn begin(log: Arc<Log>, memory: Arc<Memory>, run: Run) -> Option<Timeline> {
        let store = memory.store().filter(|store| store.path().is_some())?;
        let begun = async {
            let run = store.begin_run(run).await?;
            Ok::<_, holdpoint_store::StoreError>((run, store.runs(Some(run), limits::RUNS).await?))
        };
        let (run, earlier) = match begun.await {
            Ok(begun) => begun,
            Err(error) => {
                tracing::warn!(%error, "the timeline is not kept");
                return None;
            }
        };
        let (place, kept) = watch::channel(Seq::START);
        // Aborted with the engine; `settle` waits for it first.
        let writer = tokio::spawn(write(log, Arc::clone(&memory), run, place));
        let writer = AbortOnDropHandle::new(writer);
        Some(Timeline { memory, run, earlier, kept, _writer: writer })
    }

    /// Returns when everything up to `seq` is on disk.
    pub async fn settle(&self, seq: Seq) {
        let mut kept = self.kept.clone();
        // An error means that the writer is gone; nobody will write any more.
        kept.wait_for(|kept| seq <= *kept).await.map(drop).unwrap_or_default();
    }

    /// Waits until what is written down is safe from a power cut too, which takes as long as the disk does.
    pub async fn flush(&self) {
        if let Some(store) = self.memory.store()
            && let Err(error) = store.flush().await
        {
            tracing::warn!(%error, "the timeline's end may not survive a power cut");
        }
    }
}

/// Ends with the engine.
async fn write(log: Arc<Log>, memory: Arc<Memory>, run: RunId, place: watch::Sender<Seq>) {
    let Some(store) = memory.store() else { return };
    let mut since = Seq::START;
    let mut is_failing = false;
    loop {
        let mut reader = log.reader(since);
        let reads = reader.batch(limits::TIMELINE_BATCH).await;
        let is_full = reads.len() >= limits::TIMELINE_BATCH;
        // The rows are made by the store's own thread.
        match store.append_events(run, Box::new(reads.into_iter().map(row))).await {
            Ok(()) => {
                since = reader.place();
                place.send_replace(since);
                is_failing = false;
                if !is_full {
                    // Not to wait for anything: to write many at once.
                    tokio::time::sleep(limits::TIMELINE_PAUSE).await;
                }
            }
            // They are still in the ring; what leaves it meanwhile is a gap.
            Err(error) => {
                if !is_failing {
                    tracing::warn!(%error, "the timeline is not kept for now");
                }
                is_failing = true;
                tokio::time::sleep(limits::TIMELINE_RETRY).await;
            }
        }
    }
}

fn row(read: Read) -> NewEvent {
    match read {
        Read::Record(record) => NewEvent {
            seq: record.seq.0,
            at: record.at,
            kind: record.event.label(),
            session: record.event.session().map(|session| session.to_string()),
            text: budget::cut(&record.event.line(), limits::TIMELINE_TEXT),
            data: record.data_text(),
        },
        Read::Gap { first, last } => NewEvent {
            seq: last.0,
            at: jiff::Timestamp::now(),
            kind: "gap",
            session: None,
            text: format!("seq {first} to {last} were lost before they were written down"),
            data: json!({ "first": first, "last": last }).to_string(),
        },
    }
}

#[cfg(test)]
mod tests;
