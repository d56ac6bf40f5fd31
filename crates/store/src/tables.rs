//! What the rest of the program asks of a store: every table by its methods, and nothing of SQLite. Another
//! engine implements this trait, and no caller changes.
//!
//! The futures are boxed, so that a store is a value like any other; what is asked for once per call of an app
//! is written in batches ([`Tables::record`]), not one by one.

use std::{collections::HashMap, path::Path, pin::Pin, sync::Arc};

use crate::{
    batch::Batch,
    breakpoints::{BreakpointKey, BreakpointRow, KeptBreakpoint},
    callpoints::{Kept, ReplQuery, ReplRow},
    calls::{AppRow, CallPage, CallQuery, CallRow, SnapshotRow},
    cid::Cid,
    counts::CallCount,
    error::StoreError,
    host::AppKey,
    launches::{KeptLaunch, LaunchId, LaunchRow},
    retention::{CallStats, Pruned, Retention},
    store::{Stats, Store},
    timeline::{EventsPage, EventsWanted, NewEvent, Run, RunId, RunRow},
    values::ValueRow,
};

/// An answer on its way.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Events on their way into the store; made into rows on its own thread.
pub type NewEvents = Box<dyn Iterator<Item = NewEvent> + Send>;

/// The methods that are one question and one answer, once for the trait and for SQLite.
macro_rules! tables {
    ($($(#[$doc:meta])* fn $name:ident($($given:ident: $type:ty),*) -> $answer:ty;)+) => {
        pub trait Tables: Send + Sync {
            /// Where it is kept, if that is a file.
            fn path(&self) -> Option<&Path>;

            fn stats(&self) -> Stats;

            /// Drops what `keep` does not allow. `now` is in seconds since 1970. `floor` hears of an era
            /// before anything of it goes.
            fn prune<'a>(
                &'a self,
                keep: Retention,
                now: f64,
                floor: &'a (dyn Fn(i64) + Sync),
            ) -> Answering<'a, Pruned>;

            $($(#[$doc])* fn $name(&self $(, $given: $type)*) -> Answering<'_, $answer>;)+
        }

        impl Tables for Store {
            fn path(&self) -> Option<&Path> {
                Store::path(self)
            }

            fn stats(&self) -> Stats {
                Store::stats(self)
            }

            fn prune<'a>(
                &'a self,
                keep: Retention,
                now: f64,
                floor: &'a (dyn Fn(i64) + Sync),
            ) -> Answering<'a, Pruned> {
                Box::pin(Store::prune(self, keep, now, floor))
            }

            $(fn $name(&self $(, $given: $type)*) -> Answering<'_, $answer> {
                Box::pin(Store::$name(self $(, $given)*))
            })+
        }
    };
}

tables! {
    /// Waits until every write queued before it is safe from a power cut.
    fn flush() -> ();

    /// One at the same place takes the other's stead.
    fn save_breakpoint(breakpoint: KeptBreakpoint) -> BreakpointKey;
    /// Says whether there was one.
    fn remove_breakpoint(id: BreakpointKey) -> bool;
    fn breakpoints() -> Vec<BreakpointRow>;
    /// Which exceptions stop, in the caller's words.
    fn save_exceptions(choice: String) -> ();
    fn exceptions() -> Option<String>;

    fn begin_launch(launch: KeptLaunch) -> LaunchId;
    fn end_launch(id: LaunchId, exit: String) -> bool;
    fn last_launch() -> Option<LaunchRow>;

    fn begin_run(run: Run) -> RunId;
    /// Adds events; one that is there already stays as it is.
    fn append_events(run: RunId, events: NewEvents) -> ();
    fn events(run: RunId, wanted: EventsWanted) -> EventsPage;
    /// The newest `limit` runs before `before`, newest first.
    fn runs(before: Option<RunId>, limit: usize) -> Vec<RunRow>;

    fn kept_callpoints() -> Kept;
    fn save_repl(row: ReplRow) -> ();
    fn repl(session_id: String) -> Option<ReplRow>;
    /// Newest first.
    fn repls(query: ReplQuery) -> Vec<ReplRow>;

    /// Writes a batch as one; answers when it is committed, with how often values were dropped before it, by
    /// whichever process.
    fn record(batch: Arc<Batch>) -> u64;
    fn calls(query: CallQuery) -> CallPage;
    /// The newest record of that call.
    fn call(call_id: String) -> Option<CallRow>;
    /// The newest `limit` records of one app that began before `before`, in the order they began, and how many it has.
    fn calls_of(app: AppKey, before: Option<f64>, limit: usize) -> (Vec<CallRow>, u64);
    /// How often each function was called, in all and within that time, in equal parts of it.
    fn call_counts(within: (f64, f64), parts: usize, limit: usize) -> Vec<CallCount>;
    /// The newest, without their data.
    fn newest_values(limit: usize) -> Vec<ValueRow>;
    /// The apps, the last heard of first, with how many records each has.
    fn apps(limit: usize) -> Vec<(AppRow, u64)>;
    /// What became of one live object, oldest first; at most the newest `limit`.
    fn snapshots(app: AppKey, client_ref: String, limit: usize) -> Vec<SnapshotRow>;
    /// The last moment of each live object, the newest first.
    fn objects(limit: usize) -> Vec<SnapshotRow>;
    /// Those that are kept, with how they are shown; the data only where that is what is shown.
    fn values(cids: Vec<Cid>) -> HashMap<Cid, ValueRow>;
    /// One value with its data.
    fn value(cid: Cid) -> Option<ValueRow>;
    /// The CIDs of values that begin with at least eight such digits; `limit` of them at the most.
    fn cids(digits: String, limit: usize) -> Vec<Cid>;
    fn call_stats() -> CallStats;
}
