//! Batches, bounds, failures: what the writer does with what it is given.

use std::{sync::Arc, time::Instant};

use futures::{FutureExt, future::join_all, join};
use holdpoint_store::{KeptBreakpoint, StoreError, limits};
use rusqlite::Connection;
use tokio::task::yield_now;

use crate::{at, open};

/// A tool holds the write lock until a thousand are queued, ten times: how fast this test is does
/// not matter then.
#[tokio::test]
async fn ten_thousand_writes_take_few_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = open(&path);
    let tool = Connection::open(&path).unwrap();
    for _ in 0..10 {
        tool.execute_batch("BEGIN IMMEDIATE").unwrap();
        let writes = join_all((0..1000).map(|line| store.save_breakpoint(at("app.py", line))));
        let release = async {
            while store.stats().queued < 1000 {
                yield_now().await;
            }
            tool.execute_batch("COMMIT").unwrap();
        };
        let (writes, ()) = join!(writes, release);
        assert!(writes.iter().all(Result::is_ok));
    }
    store.flush().await.unwrap();
    let stats = store.stats();
    println!("{} commits", stats.commits);
    assert_eq!((stats.written, stats.failed, stats.queued), (10_000, 0, 0));
    assert!(stats.commits <= 500, "{} commits", stats.commits);
    assert_eq!(store.breakpoints().await.unwrap().len(), 1000);
}

#[test]
fn runtimes_on_several_threads_share_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&folder.path().join("db")));
    let threads = (0..8).map(|line| {
        let store = Arc::clone(&store);
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let id = store.save_breakpoint(at("app.py", line)).await.unwrap();
                store.flush().await.unwrap();
                store.breakpoints().await.unwrap().iter().any(|row| row.id == id)
            })
        })
    });
    let threads: Vec<_> = threads.collect();
    assert!(threads.into_iter().all(|it| it.join().unwrap()));
}

#[tokio::test]
async fn reading_beside_writing_sees_whatever_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("db"));
    let write = join_all((0..2000).map(|line| store.save_breakpoint(at("app.py", line))));
    let read = async {
        let (mut reads, mut seen) = (0, 0);
        while seen < 2000 {
            let answered = usize::try_from(store.stats().written).unwrap();
            let rows = store.breakpoints().await.unwrap().len();
            assert!(rows >= answered && rows >= seen, "{rows} rows, {answered} answered");
            (reads, seen) = (reads + 1, rows);
        }
        reads
    };
    let (written, reads) = join!(write, read);
    assert!(written.iter().all(Result::is_ok) && reads > 1, "{reads} reads");
}

#[tokio::test]
async fn dropping_the_store_writes_what_is_queued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = open(&path);
    // Polled once and dropped: queued, and nobody waits. Tokio lets a task do 128 such steps.
    for line in 0..100 {
        drop(store.save_breakpoint(at("app.py", line)).now_or_never());
    }
    drop(store);
    assert_eq!(open(&path).breakpoints().await.unwrap().len(), 100);
}

#[tokio::test]
async fn a_failing_write_takes_only_itself_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("db"));
    let long = "x".repeat(usize::try_from(limits::ROW_BYTES).unwrap() + 1);
    let (one, bad, two) = join!(
        store.save_breakpoint(at("app.py", 1)),
        store.save_breakpoint(KeptBreakpoint { condition: Some(long), ..at("app.py", 2) }),
        store.save_breakpoint(at("app.py", 3)),
    );
    assert!(one.is_ok() && two.is_ok());
    let error = bad.unwrap_err().to_string();
    assert_eq!(error, "the store failed at `save breakpoint`: string or blob too big");
    let stats = store.stats();
    assert_eq!((stats.written, stats.failed), (2, 1));
    assert_eq!(store.breakpoints().await.unwrap().len(), 2);
}

/// Somebody's SQLite tool holds the write lock for longer than we wait.
#[tokio::test]
async fn a_store_that_is_behind_says_so_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = open(&path);
    let tool = Connection::open(&path).unwrap();
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();

    let began = Instant::now();
    let queued = u32::try_from(limits::QUEUE).unwrap();
    let writes = join_all((0..queued + 10).map(|line| store.save_breakpoint(at("app.py", line))));
    let (writes, reading) = join!(writes, store.breakpoints());
    let took = began.elapsed();
    assert_eq!(reading.unwrap(), [], "a lock on writing does not stop reading");
    let behind = |it: &Result<_, _>| matches!(it, Err(StoreError::Behind { .. }));
    let locked = |it: &Result<_, _>| matches!(it, Err(StoreError::Unwritable { .. }));
    let counts = (
        writes.iter().filter(|it| behind(it)).count(),
        writes.iter().filter(|it| locked(it)).count(),
    );
    assert_eq!(counts, (10, limits::QUEUE));
    assert!(took < limits::BUSY_WAIT * 2, "{took:?}: nobody waits for the same lock twice");
    assert_eq!((store.stats().failed, store.stats().queued), (u64::from(queued) + 10, 0));

    tool.execute_batch("COMMIT").unwrap();
    store.save_breakpoint(at("app.py", 1)).await.unwrap();
    assert_eq!(store.breakpoints().await.unwrap().len(), 1);
}
