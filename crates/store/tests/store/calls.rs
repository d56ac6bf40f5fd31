//! Calls and values: written in batches, found again, dropped by age and by size.

use holdpoint_store::{
    AppKey, AppRow, Batch, CallQuery, Cid, Host, Location, NewCall, NewValue, Retention,
    SnapshotRow, Store, era,
};

fn cid(number: u64) -> Cid {
    let mut bytes = [0; 64];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    bytes[8..16].copy_from_slice(&number.to_be_bytes());
    Cid(bytes)
}

fn value(number: u64, size: usize) -> NewValue {
    NewValue { cid: cid(number), format: "dill", pretty: Some("\"x\"".into()), data: vec![7; size] }
}

fn call(number: u64, at: f64) -> NewCall {
    NewCall {
        call_id: format!("c{number}"),
        process: "p".into(),
        name: if number.is_multiple_of(2) { "even" } else { "odd" }.into(),
        kind: "call",
        status: "success".into(),
        thread: None,
        started_at: at,
        completed_at: at,
        line: format!("f({number}) → 100% _x"),
        cids: vec![cid(number)],
        body: "{}".into(),
    }
}

/// One call with a value of its own and one that all share, in each era.
async fn fill(store: &Store, eras: u64, size: usize) {
    for number in 0..eras {
        let at = number as f64 * 10.0;
        let snapshot = SnapshotRow {
            process: "p".into(),
            client_ref: "1".into(),
            at,
            call_id: format!("c{number}"),
            name: "f".into(),
            role: "arg",
            place: Some("0".into()),
            cid: cid(number),
        };
        let mut batch = Batch::default();
        batch.era = era(at);
        batch.snapshots.push(snapshot);
        batch.add_value(value(number, size));
        batch.add_value(value(u64::MAX, 10));
        batch.add_call(&call(number, at));
        store.record(batch.into()).await.unwrap();
    }
}

fn open(folder: &tempfile::TempDir) -> Store {
    Store::open(&Location::File(folder.path().join("db"))).unwrap()
}

#[tokio::test]
async fn pages_go_back_and_the_search_takes_signs_by_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    fill(&store, 10, 10).await;
    let first = store.calls(CallQuery { limit: 3, ..CallQuery::default() }).await.unwrap();
    let ids = |rows: &[holdpoint_store::CallRow]| -> Vec<String> {
        rows.iter().map(|row| row.call_id.clone()).collect()
    };
    assert_eq!((ids(&first.rows), first.total), (vec!["c9".into(), "c8".into(), "c7".into()], 10));
    let before = first.rows.last().map(|row| row.id);
    let second = store.calls(CallQuery { limit: 2, before, ..CallQuery::default() }).await.unwrap();
    assert_eq!(ids(&second.rows), ["c6", "c5"]);
    let find =
        |search: &str| CallQuery { search: Some(search.into()), limit: 99, ..CallQuery::default() };
    assert_eq!(store.calls(find("F(3) 100%")).await.unwrap().total, 1);
    assert_eq!(store.calls(find("_x")).await.unwrap().total, 10);
    assert_eq!(store.calls(find("%x")).await.unwrap().total, 0);
    let named = CallQuery { name: Some("odd".into()), limit: 99, ..CallQuery::default() };
    assert_eq!(store.calls(named).await.unwrap().total, 5);
    assert_eq!(store.snapshots(AppKey::here("p"), "1".into(), 99).await.unwrap().len(), 10);
}

#[tokio::test]
async fn large_values_lie_beside_the_file_and_go_with_their_calls() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    fill(&store, 3, 200_000).await;
    let files = || walk(&folder.path().join("db.values"));
    assert_eq!(files(), 3);
    assert_eq!(store.value(cid(1)).await.unwrap().unwrap().data.unwrap().len(), 200_000);
    // Only what is younger than fifteen seconds at the time of 30.
    let keep = Retention { age_s: 5, bytes: u64::MAX };
    let floor = std::cell::Cell::new(0);
    let done = store.prune(keep, 30.0, |era| floor.set(era)).await.unwrap();
    assert_eq!((done.calls, done.values, done.snapshots, floor.get()), (2, 2, 2, 1));
    assert_eq!(files(), 1);
    assert!(store.value(cid(0)).await.unwrap().is_none());
    // What a newer call used stays, though it came first.
    assert!(store.value(cid(u64::MAX)).await.unwrap().is_some());
    assert_eq!(store.calls(CallQuery { limit: 9, ..CallQuery::default() }).await.unwrap().total, 1);
}

#[tokio::test]
async fn the_oldest_go_until_the_rest_fits() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    fill(&store, 200, 20_000).await;
    let before = store.call_stats().await.unwrap();
    assert!(before.used_bytes > 4_000_000, "{before:?}");
    let keep = Retention { age_s: 1_000_000, bytes: 2_000_000 };
    let done = store.prune(keep, 2_000.0, |_| {}).await.unwrap();
    let after = store.call_stats().await.unwrap();
    assert!(after.used_bytes <= 2_000_000 && after.calls > 50, "{after:?}");
    assert_eq!(done.calls + after.calls, 200);
    let newest = store.calls(CallQuery { limit: 1, ..CallQuery::default() }).await.unwrap();
    assert_eq!(newest.rows[0].call_id, "c199");
    // Room that was freed is used again: the file does not grow.
    let size = folder.path().join("db").metadata().unwrap().len();
    fill(&store, 20, 20_000).await;
    store.flush().await.unwrap();
    assert!(folder.path().join("db").metadata().unwrap().len() <= size);
}

fn walk(folder: &std::path::Path) -> usize {
    let shelves = std::fs::read_dir(folder).unwrap();
    shelves.map(|shelf| std::fs::read_dir(shelf.unwrap().path()).unwrap().count()).sum()
}

#[tokio::test]
async fn a_value_is_kept_once_however_often_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    for _ in 0..2 {
        let mut batch = Batch::default();
        for number in [1, 2, 1, 3, 2, 1] {
            batch.add_value(value(number, 10));
        }
        store.record(batch.into()).await.unwrap();
    }
    let kept = store.newest_values(10).await.unwrap();
    let cids: Vec<Cid> = kept.iter().map(|value| value.cid).collect();
    assert_eq!(cids, [cid(3), cid(2), cid(1)]);
}

/// Whether it is the first of a commit or comes later: nothing of a refused batch stays, all of the others.
#[tokio::test]
async fn a_batch_is_kept_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let batch = |number: u64, body: usize| {
        let mut batch = Batch::default();
        batch.add_value(value(number, 10));
        for number in [number, number + 100] {
            batch.add_call(&NewCall { body: "x".repeat(body), ..call(number, 1.0) });
        }
        batch
    };
    const TOO_LARGE: usize = 5_000_000;
    let (a, b, c, d) = tokio::join!(
        store.record(batch(1, TOO_LARGE).into()),
        store.record(batch(2, 10).into()),
        store.record(batch(3, TOO_LARGE).into()),
        store.record(batch(4, 10).into()),
    );
    assert_eq!([a.is_ok(), b.is_ok(), c.is_ok(), d.is_ok()], [false, true, false, true]);
    let kept = store.newest_values(10).await.unwrap();
    let cids: Vec<Cid> = kept.iter().map(|value| value.cid).collect();
    assert_eq!(cids, [cid(4), cid(2)]);
    let calls = store.calls(CallQuery { limit: 10, ..CallQuery::default() }).await.unwrap();
    let ids: Vec<&str> = calls.rows.iter().map(|row| row.call_id.as_str()).collect();
    assert_eq!(ids, ["c104", "c4", "c102", "c2"]);
}

/// A process number is one machine's: two machines that share a store do not share an app.
#[tokio::test]
async fn an_app_is_known_by_its_machine_too() {
    let store = Store::open(&Location::Memory).unwrap();
    let app = |host: &str, seen_at: f64| AppRow {
        host: Host::named(host),
        process: "1.500000+7".into(),
        pid: 7,
        started_at: 1.5,
        page_url: None,
        about: None,
        seen_at,
    };
    for seen in [app("one", 1.0), app("two", 2.0), app("one", 3.0)] {
        let mut batch = Batch::default();
        batch.apps.push(seen);
        store.record(batch.into()).await.unwrap();
    }
    let apps = store.apps(9).await.unwrap();
    let seen: Vec<_> = apps.iter().map(|(app, _)| (app.host.to_string(), app.seen_at)).collect();
    assert_eq!(seen, [("one".to_owned(), 3.0), ("two".to_owned(), 2.0)]);
}

#[tokio::test]
async fn a_call_is_known_by_its_machine_too() {
    let store = Store::open(&Location::Memory).unwrap();
    for (number, host) in [(1, "one"), (2, "two"), (3, "one")] {
        let mut batch = Batch::default();
        batch.host = Host::named(host);
        batch.add_call(&call(number, number as f64));
        batch.snapshots.push(SnapshotRow {
            process: "p".into(),
            client_ref: "7".into(),
            at: 1.0,
            call_id: format!("c{number}"),
            name: "f".into(),
            role: "arg",
            place: None,
            cid: cid(number),
        });
        store.record(batch.into()).await.unwrap();
    }
    let app = |host: &str| AppKey { host: Host::named(host), process: "p".into() };
    for (host, expected) in [("one", vec!["c1", "c3"]), ("two", vec!["c2"]), ("three", vec![])] {
        let (rows, total) = store.calls_of(app(host), None, 9).await.unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| row.call_id.as_str()).collect();
        assert_eq!((ids, total), (expected.clone(), expected.len() as u64), "{host}");
        let query = CallQuery { app: Some(app(host)), limit: 9, ..CallQuery::default() };
        assert_eq!(store.calls(query).await.unwrap().total, expected.len() as u64, "{host}");
        let objects = store.snapshots(app(host), "7".into(), 9).await.unwrap();
        let ids: Vec<&str> = objects.iter().map(|row| row.call_id.as_str()).collect();
        assert_eq!(ids, expected, "{host}");
    }
    assert_eq!(store.objects(9).await.unwrap().len(), 2, "one of each machine");
}

#[tokio::test]
async fn pages_go_both_ways_and_calls_are_found_by_what_became_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let mut batch = Batch::default();
    for number in 0..10 {
        let mut call = call(number, 100.0);
        call.completed_at = 100.0 + number as f64;
        match number {
            4 => call.body = r#"{"d":{"w":"modify","a":[1]}}"#.into(),
            5 => call.body = r#"{"d":{"w":"continue"}}"#.into(),
            6 => call.status = "exception".into(),
            _ => {}
        }
        batch.add_call(&call);
    }
    store.record(batch.into()).await.unwrap();
    let ids = async |query: CallQuery| {
        let page = store.calls(CallQuery { limit: 3, ..query }).await.unwrap();
        let ids: Vec<String> = page.rows.into_iter().map(|it| it.call_id).collect();
        (ids.join(" "), page.total, page.newer)
    };
    let wanted = CallQuery::default;
    assert_eq!(ids(wanted()).await, ("c9 c8 c7".into(), 10, 0));
    assert_eq!(ids(CallQuery { before: Some(8), ..wanted() }).await, ("c6 c5 c4".into(), 10, 3));
    assert_eq!(ids(CallQuery { after: Some(7), ..wanted() }).await, ("c9 c8 c7".into(), 10, 0));
    assert_eq!(ids(CallQuery { after: Some(4), ..wanted() }).await, ("c6 c5 c4".into(), 10, 3));
    assert_eq!(ids(CallQuery { changed: true, ..wanted() }).await, ("c4".into(), 1, 0));
    let longer = CallQuery { longer_s: Some(8.0), ..wanted() };
    assert_eq!(ids(longer).await, ("c9 c8".into(), 2, 0));
    assert_eq!(ids(CallQuery { value: Some(cid(3)), ..wanted() }).await, ("c3".into(), 1, 0));
    let counts = store.call_counts((100.0, 110.0), 2, 9).await.unwrap();
    let told: Vec<String> = counts
        .iter()
        .map(|it| format!("{} {} {} {:?}", it.name, it.calls, it.failed, it.recent))
        .collect();
    assert_eq!(told, ["even 5 1 [3, 2]", "odd 5 0 [2, 3]"]);
    let app = AppKey { host: Host::default(), process: "p".into() };
    let (rows, total) = store.calls_of(app, Some(100.0), 9).await.unwrap();
    assert_eq!((rows.len(), total), (0, 10));
}
