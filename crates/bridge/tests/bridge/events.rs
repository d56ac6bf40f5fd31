//! The events of our own extension: none is lost, however the file is written, renamed or begun anew.

use std::time::Duration;

use holdpoint_bridge::{BridgeEvent, Since};
use holdpoint_testkit::bridge::{EventFile, Faults};
use serde_json::json;

use crate::stage::Stage;

fn seqs(events: &[BridgeEvent]) -> Vec<u64> {
    events.iter().map(|it| it.seq).collect()
}

#[tokio::test(start_paused = true)]
async fn events_come_in_order_and_from_where_was_asked() {
    let stage = Stage::new(Faults::ours());
    let file = EventFile::new(&stage.fake.folder, &stage.fake.id);
    for it in 1..=3 {
        file.push("output", json!({ "text": it.to_string() }));
    }
    let mut now = stage.bridge.events(Since::Now);
    file.push("stopped", json!({ "line": 4 }));
    let events = now.next().await;
    assert_eq!((seqs(&events), events[0].kind.as_str()), (vec![4], "stopped"));
    assert_eq!(events[0].number("line"), Some(4));
    assert_eq!(seqs(&stage.bridge.events(Since::Start).next().await), [1, 2, 3, 4]);
    assert_eq!(seqs(&stage.bridge.events(Since::Seq(2)).next().await), [3, 4]);
    assert!(now.read().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_half_line_waits_for_its_rest() {
    let stage = Stage::new(Faults::ours());
    let file = EventFile::new(&stage.fake.folder, &stage.fake.id);
    let mut tail = stage.bridge.events(Since::Now);
    file.append(br#"{"seq":1,"bridgeId":"a","ev"#);
    assert!(tail.read().is_empty());
    file.append(b"ent\":\"control\"}\nnonsense\n");
    assert_eq!(seqs(&tail.read()), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_renamed_away_is_read_to_its_end() {
    let stage = Stage::new(Faults::ours());
    let file = EventFile::new(&stage.fake.folder, &stage.fake.id);
    let mut tail = stage.bridge.events(Since::Now);
    file.push("output", json!({}));
    assert_eq!(seqs(&tail.read()), [1]);
    file.push("output", json!({}));
    file.rotate();
    file.push("output", json!({}));
    assert_eq!(seqs(&tail.read()), [2, 3]);
    assert_eq!(seqs(&stage.bridge.events(Since::Start).read()), [1, 2, 3]);
    file.push("output", json!({}));
    file.rotate();
    file.push("output", json!({}));
    file.rotate();
    file.push("output", json!({}));
    assert_eq!(seqs(&tail.read()), [4, 6], "nobody can read what is deleted");
    assert_eq!(tail.lost(), 1);
}

#[tokio::test(start_paused = true)]
async fn another_window_counts_from_one() {
    let mut stage = Stage::new(Faults::ours());
    let file = EventFile::new(&stage.fake.folder, &stage.fake.id);
    let mut tail = stage.bridge.events(Since::Now);
    file.push("output", json!({}));
    file.push("output", json!({}));
    assert_eq!(seqs(&tail.read()), [1, 2]);
    stage.fake = stage.second(Faults { seed: 9, ..Faults::ours() });
    let file = EventFile::new(&stage.fake.folder, &stage.fake.id);
    file.push("output", json!({}));
    let events = tail.read();
    assert_eq!((seqs(&events), &events[0].bridge_id), (vec![1], &stage.fake.id));
    assert_eq!(tail.lost(), 0);
}

/// With the kernel's own file events and the real clock.
#[tokio::test]
async fn an_event_is_there_soon_after_it_is_written() {
    let stage = Stage::new(Faults::ours());
    let bridge = holdpoint_bridge::Bridge::find(stage.workspace.path()).unwrap();
    let file = EventFile::new(&stage.fake.folder, &stage.fake.id);
    let mut tail = bridge.events(Since::Now);
    let (events, _) =
        tokio::join!(tokio::time::timeout(Duration::from_secs(20), tail.next()), async {
            tokio::task::yield_now().await;
            file.push("stopped", json!({}))
        });
    assert_eq!(seqs(&events.unwrap()), [1]);
}
