//! The end of a connection, from either side.

use holdpoint_dap::{Incoming, RequestError, Requester};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use holdpoint_testkit::adapter::{Adapter, PIPE_BYTES, connect, next_output, output, soon, waits};

#[tokio::test(start_paused = true)]
async fn the_end_of_the_stream_closes_all_requests_with_a_reason() {
    let (client, mut inbox, mut adapter) = connect();
    let ask = async { tokio::join!(client.raw("a", Value::Null), client.raw("b", Value::Null)) };
    let play = async {
        adapter.expect("a").await;
        adapter.expect("b").await;
        adapter.write(output(1)).await;
        drop(adapter);
    };
    let ((a, b), ()) = soon(async { tokio::join!(ask, play) }).await;
    let closed = Err(RequestError::Closed { reason: "the adapter ended the connection".into() });
    assert_eq!((&a, &b), (&closed, &closed));
    assert_eq!(soon(client.raw("c", Value::Null)).await, closed);
    assert_eq!(client.closed().as_deref(), Some("the adapter ended the connection"));

    assert_eq!(next_output(&mut inbox).await, "1");
    assert!(matches!(soon(inbox.next()).await, Some(Incoming::Closed(_))));
    assert!(soon(inbox.next()).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_end_within_a_message_says_so() {
    let (client, mut inbox, mut adapter) = connect();
    adapter.write("Content-Length: 100\r\n\r\n{\"seq\":").await;
    drop(adapter);
    let Some(Incoming::Closed(reason)) = soon(inbox.next()).await else { panic!("not closed") };
    assert_eq!(&*reason, "the adapter ended the connection within a message");
    assert_eq!(client.counts().garbage, 0, "a killed process is no garbage");
}

#[tokio::test(start_paused = true)]
async fn when_writing_fails_requests_end_and_the_last_words_are_still_heard() {
    let (read, mut speaks) = tokio::io::duplex(PIPE_BYTES);
    let (write, hears) = tokio::io::duplex(PIPE_BYTES);
    let (client, mut inbox) = Requester::start(read, write, None);
    drop(hears);
    let error = soon(client.raw("threads", Value::Null)).await.unwrap_err();
    assert!(error.to_string().contains("writing failed"), "{error}");
    speaks.write_all(&output(1)).await.unwrap();
    drop(speaks);
    assert_eq!(next_output(&mut inbox).await, "1");
    let Some(Incoming::Closed(reason)) = soon(inbox.next()).await else { panic!("not closed") };
    assert!(reason.contains("writing failed"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn the_connection_ends_with_the_last_client_and_the_inbox() {
    let (client, inbox, mut adapter) = connect();
    let other = client.clone();
    drop((client, inbox));
    assert!(waits(adapter.next()).await, "a client is left");
    drop(other);
    assert_eq!(adapter.next().await, None);

    let (client, inbox, mut adapter) = connect();
    drop(client);
    assert!(waits(adapter.next()).await, "the inbox is left");
    drop(inbox);
    assert_eq!(adapter.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn without_an_inbox_answers_still_come_and_reverse_requests_are_refused() {
    let (client, inbox, mut adapter) = connect();
    drop(inbox);
    let play = async {
        let request = adapter.expect("threads").await;
        adapter.write(output(1)).await;
        adapter.send(json!({"seq": 9, "type": "request", "command": "startDebugging"})).await;
        assert_eq!(adapter.expect("startDebugging").await["success"], false);
        adapter.answer(&request, json!("here")).await;
    };
    let (answer, ()) = soon(async { tokio::join!(client.raw("threads", Value::Null), play) }).await;
    assert_eq!(answer, Ok(json!("here")));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_an_adapter_that_does_not_read_ends_with_the_connection() {
    let (read, speaks) = tokio::io::duplex(PIPE_BYTES);
    let (write, deaf) = tokio::io::duplex(1);
    let (client, _inbox) = Requester::start(read, write, None);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let client = client.clone();
        tasks.spawn(async move { client.raw("threads", Value::Null).await });
    }
    assert!(waits(tasks.join_next()).await);
    drop(speaks);
    while let Some(done) = soon(tasks.join_next()).await {
        assert!(matches!(done.unwrap(), Err(RequestError::Closed { .. })));
    }
    drop(Adapter::over(deaf));
}
