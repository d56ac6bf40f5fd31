//! What is written, to the adapter and to the tape.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use holdpoint_dap::{Requester, Tape};
use serde_json::{Value, json};
use tokio::io::AsyncWrite;

use holdpoint_testkit::adapter::{Adapter, PIPE_BYTES, soon};

#[tokio::test(start_paused = true)]
async fn the_tape_has_both_directions_and_the_noise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let tape = Tape::open(&path).unwrap().labelled("python");
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (read, write) = tokio::io::split(ours);
    let (client, _inbox) = Requester::start(read, write, Some(tape));
    let mut adapter = Adapter::over(theirs);
    let play = async {
        let request = adapter.next().await.unwrap();
        adapter.write("hello").await;
        adapter.answer(&request, json!(1)).await;
    };
    let (answer, ()) = soon(async { tokio::join!(client.raw("threads", Value::Null), play) }).await;
    answer.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<_> = lines
        .iter()
        .map(|line| (&line["label"], &line["dir"], &line["msg"]["type"], &line["noise"]))
        .collect();
    let noise = json!("skipped 5 bytes between messages: `hello`");
    let (label, null) = (json!("python"), Value::Null);
    assert_eq!(
        shown,
        [
            (&label, &json!("→"), &json!("request"), &null),
            (&label, &json!("←"), &null, &noise),
            (&label, &json!("←"), &json!("response"), &null),
        ]
    );
}

/// Keeps each write apart.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

impl AsyncWrite for Writes {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn header_and_body_leave_in_one_write() {
    let writes = Writes::default();
    let (read, _speaks) = tokio::io::duplex(PIPE_BYTES);
    let (client, _inbox) = Requester::start(read, writes.clone(), None);
    assert!(holdpoint_testkit::adapter::waits(client.raw("threads", Value::Null)).await);
    let writes: Vec<_> = writes
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|bytes| String::from_utf8(bytes.clone()).unwrap())
        .collect();
    assert_eq!(
        writes,
        ["Content-Length: 46\r\n\r\n{\"seq\":1,\"type\":\"request\",\"command\":\"threads\"}"]
    );
}
