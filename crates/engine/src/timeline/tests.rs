//! The ring and the store as one timeline.

use std::path::Path;

use holdpoint_store::{Host, Location};
use jiff::Timestamp;

use super::*;
use crate::{event::Event, ids::SessionId, session::Status};

async fn begin(log: &Arc<Log>, folder: &Path) -> Timeline {
    let memory = Arc::new(Memory::open(Location::File(folder.join("db"))).await);
    let run = Run { host: Host::here(), pid: 1, version: "1".into(), started_at: Timestamp::now() };
    Timeline::begin(Arc::clone(log), memory, run).await.unwrap()
}

fn note(number: u64) -> Event {
    Event::Note { text: format!("Number {number}"), by: "test".into() }
}

/// Appends so many, and lets each hundred be written down.
async fn fill(log: &Arc<Log>, timeline: &Timeline, count: u64) {
    for number in 1..=count {
        let seq = log.append(note(number));
        if number % 100 == 0 {
            timeline.settle(seq).await;
        }
    }
    timeline.settle(log.head()).await;
}

async fn seqs(log: &Arc<Log>, timeline: &Timeline, ask: Ask) -> (Vec<u64>, usize) {
    let told = ask.of(log, Some(timeline)).await.unwrap();
    assert_eq!(told.gap, None);
    (told.facts.iter().map(|fact| fact.seq().0).collect(), told.more)
}

fn ask(since: Option<u64>, limit: usize) -> Ask {
    Ask { since: since.map(Seq), limit, ..Ask::default() }
}

#[tokio::test]
async fn what_the_ring_lost_comes_from_the_store_without_a_seam() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::bounded(150, usize::MAX));
    let timeline = begin(&log, folder.path()).await;
    fill(&log, &timeline, 1_000).await;
    assert_eq!(log.first(), Seq(851));
    let (all, more) = seqs(&log, &timeline, ask(Some(0), 2_000)).await;
    assert!(all.iter().copied().eq(1..=1_000) && more == 0);
    let (some, more) = seqs(&log, &timeline, ask(Some(840), 20)).await;
    assert!(some.iter().copied().eq(841..=860) && more == 140, "{more}");
    let (newest, more) = seqs(&log, &timeline, ask(None, 300)).await;
    assert!(newest.iter().copied().eq(701..=1_000) && more == 0);
    let until = Ask { until: Some(Seq(860)), ..ask(Some(845), 100) };
    assert!(seqs(&log, &timeline, until).await.0.into_iter().eq(846..=860));
    let text = Ask { text: Some("NUMBER 99".into()), ..ask(Some(0), 100) };
    assert_eq!(
        seqs(&log, &timeline, text).await.0,
        [99, 990, 991, 992, 993, 994, 995, 996, 997, 998, 999]
    );
}

#[tokio::test]
async fn what_was_never_written_down_is_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::bounded(10, usize::MAX));
    // Without a moment for the writer in between.
    for number in 1..=100 {
        log.append(note(number));
    }
    let timeline = begin(&log, folder.path()).await;
    timeline.settle(log.head()).await;
    fill(&log, &timeline, 10).await;
    let told = ask(Some(0), 100).of(&log, Some(&timeline)).await.unwrap();
    let kinds: Vec<&str> = told.facts.iter().map(Fact::kind).collect();
    assert_eq!((told.facts[0].seq(), kinds[0], kinds[1]), (Seq(90), "gap", "note"));
    assert_eq!(told.facts[0].to_json()["data"], json!({ "first": 1, "last": 90 }));
    assert_eq!(told.facts.len(), 21);
}

#[tokio::test]
async fn kinds_and_sessions_are_found_alike_in_both() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::bounded(6, usize::MAX));
    let timeline = begin(&log, folder.path()).await;
    for number in 1..=10 {
        let session = SessionId(1 + number % 2);
        let seq = log.append(Event::Resumed { session, was: Status::Stopped, by: None });
        timeline.settle(seq).await;
        log.append(note(number));
    }
    timeline.settle(log.head()).await;
    let of = Ask { session: Some("s2".into()), ..ask(Some(0), 100) };
    assert_eq!(seqs(&log, &timeline, of).await.0, [1, 5, 9, 13, 17]);
    let notes = Ask { labels: vec!["note"], ..ask(Some(0), 100) };
    assert_eq!(seqs(&log, &timeline, notes).await.0, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
}

#[tokio::test]
async fn another_servers_run_is_read_and_one_that_never_was_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old = Arc::new(Log::bounded(100, usize::MAX));
    let before = begin(&old, folder.path()).await;
    fill(&old, &before, 5).await;
    let log = Arc::new(Log::bounded(100, usize::MAX));
    let timeline = begin(&log, folder.path()).await;
    log.append(note(1));
    assert_eq!(timeline.earlier.iter().map(|run| run.id).collect::<Vec<_>>(), [before.run]);
    let run = Some(before.run.0);
    assert_eq!(seqs(&log, &timeline, Ask { run, ..ask(Some(2), 9) }).await.0, [3, 4, 5]);
    assert_eq!(seqs(&log, &timeline, Ask { run, ..ask(None, 2) }).await, (vec![4, 5], 0));
    let own = Some(timeline.run.0);
    assert_eq!(seqs(&log, &timeline, Ask { run: own, ..ask(Some(0), 9) }).await.0, [1]);
    let refused = Ask { run: Some(99), ..ask(None, 1) }.of(&log, Some(&timeline)).await;
    assert_eq!(refused.unwrap_err().code, crate::failure::Code::NotFound);
}

#[tokio::test]
async fn a_store_that_fails_holds_up_nobody_and_is_written_when_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::bounded(1_000, usize::MAX));
    let timeline = begin(&log, folder.path()).await;
    let tool = folder.path().join("db");
    let script = "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); \
                  c.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read()";
    let mut child = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(&tool)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
    for number in 1..=50 {
        log.append(note(number));
    }
    // Longer than a connection waits for the lock.
    let waited = tokio::time::timeout(std::time::Duration::from_secs(6), timeline.settle(Seq(50)));
    assert!(waited.await.is_err(), "nothing can have been written");
    drop(child.stdin.take());
    child.wait().unwrap();
    timeline.settle(Seq(50)).await;
    assert!(seqs(&log, &timeline, ask(Some(0), 100)).await.0.into_iter().eq(1..=50));
}
