//! Nothing grows without end, and nothing is lost when it is full.

use holdpoint_dap::{Incoming, codec::encode, limits};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use holdpoint_testkit::adapter::{PIPE_BYTES, connect, next_output, output, soon, waits};

#[tokio::test(start_paused = true)]
async fn a_flood_waits_for_a_slow_reader_and_arrives_whole() {
    const EVENTS: usize = 100_000;
    let (client, mut inbox, adapter) = connect();
    let (read, mut write) = tokio::io::split(adapter.stream);
    let (progress, written) = tokio::sync::watch::channel(0);
    let flood = tokio::spawn(async move {
        for number in 0..EVENTS {
            write.write_all(&output(number)).await.unwrap();
            progress.send_replace(number);
        }
        write
    });
    assert!(waits(written.clone().wait_for(|number| *number == EVENTS - 1)).await);
    // In the inbox, in the reader's hands, in its buffer and in the pipe.
    let buffered = (limits::READ_BYTES + PIPE_BYTES) / output(1).len();
    let taken = *written.borrow();
    assert!(taken <= limits::INBOX + buffered + 2, "{taken} events were taken with nobody reading");

    for number in 0..EVENTS {
        assert_eq!(next_output(&mut inbox).await, number.to_string());
    }
    drop((soon(flood).await.unwrap(), read, client));
}

#[tokio::test(start_paused = true)]
async fn few_large_events_fill_the_inbox_too() {
    let (_client, mut inbox, mut adapter) = connect();
    let large =
        json!({"type": "event", "event": "output", "body": {"output": "x".repeat(1024 * 1024)}});
    let bytes = encode(&large);
    let fits = limits::INBOX_KIB as usize / 1024;
    let mut taken = 0;
    while !waits(adapter.stream.write_all(&bytes)).await {
        taken += 1;
        assert!(taken <= fits + 2, "{taken} MiB were taken with nobody reading");
    }
    assert!(taken + 1 >= fits, "only {taken} MiB were taken");
    for _ in 0..taken {
        assert!(matches!(soon(inbox.next()).await, Some(Incoming::Event(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_bound_wait_for_an_answer() {
    let (client, _inbox, mut adapter) = connect();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..=limits::IN_FLIGHT {
        let client = client.clone();
        tasks.spawn(async move { client.raw("evaluate", json!({ "number": number })).await });
    }
    let mut sent: Vec<Value> = Vec::new();
    for _ in 0..limits::IN_FLIGHT {
        sent.push(adapter.next().await.unwrap());
    }
    assert!(waits(tasks.join_next()).await);
    adapter.answer(&sent[0], json!(null)).await;
    sent.push(adapter.next().await.unwrap());
    for request in &sent[1..] {
        adapter.answer(request, json!(null)).await;
    }
    while let Some(done) = soon(tasks.join_next()).await {
        done.unwrap().unwrap();
    }
    let seqs: Vec<_> = sent.iter().map(|request| request["seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
}
