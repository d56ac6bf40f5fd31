//! The timeline: in order, run by run, searched, within its bounds.

use std::path::Path;

use holdpoint_store::{EventRow, EventsWanted, Host, NewEvent, Run, RunId, Store, limits};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::open;

fn event(seq: u64, kind: &'static str, session: &str, text: &str) -> NewEvent {
    NewEvent {
        seq,
        at: "2026-11-15T21:00:00.123456789Z".parse().unwrap(),
        kind,
        session: Some(session.into()),
        text: text.into(),
        data: json!({ "n": seq }).to_string(),
    }
}

/// Fresh events, so that none is too old.
fn hits(seqs: std::ops::RangeInclusive<u64>) -> impl Iterator<Item = NewEvent> + Send + 'static {
    let now = Timestamp::now();
    seqs.map(move |seq| NewEvent { at: now, ..event(seq, "hit", "s1", "x") })
}

async fn run(store: &Store) -> RunId {
    let run =
        Run { host: Host::here(), pid: 7, version: "1.2.3".into(), started_at: Timestamp::now() };
    store.begin_run(run).await.unwrap()
}

async fn seqs(store: &Store, run: RunId, wanted: EventsWanted) -> (Vec<u64>, usize) {
    let limit = if wanted.limit == 0 { 100 } else { wanted.limit };
    let page = store.events(run, EventsWanted { limit, ..wanted }).await.unwrap();
    (page.events.iter().map(|it| it.seq).collect(), page.more)
}

fn wanted() -> EventsWanted {
    EventsWanted::default()
}

async fn filled(path: &Path) -> (Store, RunId) {
    let store = open(path);
    let run = run(&store).await;
    let now = Timestamp::now();
    let rows = [
        event(1, "stopped", "s1", "breakpoint 1 at app.py:3"),
        event(2, "output", "s1", "Hello %_ World"),
        event(3, "stopped", "s2", "exception"),
        event(4, "output", "s2", "hello again"),
        event(5, "note", "s1", "done"),
    ];
    store.append_events(run, rows.map(|it| NewEvent { at: now, ..it }).into_iter()).await.unwrap();
    (store, run)
}

#[tokio::test]
async fn events_are_found_by_number_kind_session_and_text() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run) = filled(&folder.path().join("db")).await;
    assert_eq!(seqs(&store, run, wanted()).await.0, [1, 2, 3, 4, 5]);
    let after = EventsWanted { after: 2, before: Some(5), ..wanted() };
    assert_eq!(seqs(&store, run, after).await.0, [3, 4]);
    let kinds = EventsWanted { kinds: vec!["output".into(), "note".into()], ..wanted() };
    assert_eq!(seqs(&store, run, kinds).await.0, [2, 4, 5]);
    let session = EventsWanted { session: Some("s2".into()), ..wanted() };
    assert_eq!(seqs(&store, run, session).await.0, [3, 4]);
    let text = EventsWanted { text: Some("hello".into()), ..wanted() };
    assert_eq!(seqs(&store, run, text).await.0, [2, 4]);
    let literally = EventsWanted { text: Some("%_".into()), ..wanted() };
    assert_eq!(seqs(&store, run, literally).await.0, [2]);
    let first = EventsWanted { limit: 2, ..wanted() };
    assert_eq!(seqs(&store, run, first).await, (vec![1, 2], 3));
    let newest = EventsWanted { limit: 2, newest: true, ..wanted() };
    assert_eq!(seqs(&store, run, newest).await, (vec![4, 5], 3));
    assert_eq!(seqs(&store, RunId(99), wanted()).await, (vec![], 0));
}

#[tokio::test]
async fn an_event_comes_back_as_it_was_and_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = open(&path);
    let run = run(&store).await;
    let one = NewEvent { at: Timestamp::now(), ..event(1, "stopped", "s1", "text") };
    store.append_events(run, std::iter::once(one.clone())).await.unwrap();
    let again = NewEvent { text: "another".into(), ..one.clone() };
    store.append_events(run, std::iter::once(again)).await.unwrap();
    drop(store);
    let store = open(&path);
    let page = store.events(run, EventsWanted { limit: 9, ..wanted() }).await.unwrap();
    let NewEvent { seq, at, kind, session, text, data } = one;
    let data = serde_json::from_str(&data).unwrap();
    let one = EventRow { seq, at, kind: kind.into(), session, text, data };
    assert_eq!((page.events, page.kept), (vec![one], Some((1, 1))));
    let runs = store.runs(None, 9).await.unwrap();
    assert_eq!((runs[0].id, runs[0].events, runs[0].run.pid), (run, 1, 7));
    assert!(runs[0].last_at.is_some());
}

#[tokio::test]
async fn runs_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let (mine, other) = (open(&path), open(&path));
    let (a, b) = (run(&mine).await, run(&other).await);
    mine.append_events(a, hits(1..=3)).await.unwrap();
    other.append_events(b, hits(1..=2)).await.unwrap();
    mine.append_events(a, hits(4..=5)).await.unwrap();
    assert_eq!(seqs(&mine, a, wanted()).await.0, [1, 2, 3, 4, 5]);
    assert_eq!(seqs(&mine, b, wanted()).await.0, [1, 2]);
    let before: Vec<_> = mine.runs(Some(b), 9).await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(before, [a]);
}

#[tokio::test]
async fn the_oldest_go_when_there_are_too_many_and_the_newest_stay() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("db"));
    let (old, new) = (run(&store).await, run(&store).await);
    store.append_events(old, hits(1..=1_000)).await.unwrap();
    let most = u64::try_from(limits::EVENTS).unwrap();
    let batch = 5_000;
    for first in (1..=most + batch).step_by(usize::try_from(batch).unwrap()) {
        store.append_events(new, hits(first..=first + batch - 1)).await.unwrap();
    }
    let gone = seqs(&store, old, wanted()).await.0;
    assert!(gone.is_empty(), "the older run goes first: {gone:?}");
    let runs = store.runs(None, 9).await.unwrap();
    let kept: Vec<_> = runs.iter().map(|it| (it.id, it.events <= most)).collect();
    assert_eq!(kept, [(new, true)]);
    let page = store.events(new, EventsWanted { limit: 1, ..wanted() }).await.unwrap();
    let (first, last) = page.kept.unwrap();
    assert_eq!(last - first + 1, runs[0].events, "what is counted is what is there");
    assert!(last > most, "{last}");
}

#[tokio::test]
async fn what_is_too_old_goes_and_what_is_not_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("db"));
    let run = run(&store).await;
    let age = SignedDuration::try_from(limits::EVENT_AGE).unwrap();
    let old = Timestamp::now() - age - SignedDuration::from_secs(1);
    let rows = (1..=10).map(move |seq| NewEvent { at: old, ..event(seq, "hit", "s1", "x") });
    store.append_events(run, rows.chain(hits(11..=12))).await.unwrap();
    store.append_events(run, hits(13..=13)).await.unwrap();
    assert_eq!(seqs(&store, run, wanted()).await.0, [11, 12, 13]);
    assert_eq!(store.runs(None, 9).await.unwrap()[0].events, 3);
}

#[tokio::test]
async fn a_hundred_thousand_in_batches_are_all_there_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("db"));
    let run = run(&store).await;
    for first in (1..=100_000).step_by(2_000) {
        store.append_events(run, hits(first..=first + 1_999)).await.unwrap();
    }
    let page = store.events(run, EventsWanted { limit: 100_000, ..wanted() }).await.unwrap();
    assert!(page.events.iter().map(|it| it.seq).eq(1..=100_000));
}
