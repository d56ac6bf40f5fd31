//! What the adapter says by itself, in its order, and requests that it makes.

use holdpoint_dap::{Event, Incoming, types::StopReason};
use serde_json::{Value, json};

use holdpoint_testkit::adapter::{connect, next_output, output, soon};

#[tokio::test(start_paused = true)]
async fn an_event_before_an_answer_is_in_the_inbox_when_the_answer_is_there() {
    let (client, mut inbox, mut adapter) = connect();
    let play = async {
        let request = adapter.expect("continue").await;
        adapter.event("stopped", json!({"reason": "breakpoint", "threadId": 3})).await;
        adapter.answer(&request, json!({})).await;
    };
    let (answer, ()) = soon(async { tokio::join!(client.raw("continue", json!({})), play) }).await;
    answer.unwrap();
    // Not awaited: it has to be there already.
    let mut next = std::pin::pin!(inbox.next());
    let waker = std::task::Waker::noop();
    let polled = next.as_mut().poll(&mut std::task::Context::from_waker(waker));
    let std::task::Poll::Ready(Some(Incoming::Event(Event::Stopped(stopped)))) = polled else {
        panic!("{polled:?}")
    };
    assert_eq!((stopped.reason, stopped.thread_id), (StopReason::Breakpoint, Some(3)));
}

#[tokio::test(start_paused = true)]
async fn events_and_requests_come_in_the_adapters_order() {
    let (_client, mut inbox, mut adapter) = connect();
    adapter.write(output(1)).await;
    adapter.send(json!({"seq": 2, "type": "request", "command": "startDebugging"})).await;
    adapter.write(output(3)).await;
    assert_eq!(next_output(&mut inbox).await, "1");
    assert!(matches!(soon(inbox.next()).await, Some(Incoming::Request(_))));
    assert_eq!(next_output(&mut inbox).await, "3");
}

async fn answer_to_reverse(answer: Option<Result<Value, String>>) -> Value {
    let (_client, mut inbox, mut adapter) = connect();
    let arguments = json!({"args": ["python3"], "cwd": "."});
    adapter
        .send(json!({"seq": 41, "type": "request", "command": "runInTerminal", "arguments": arguments}))
        .await;
    let Some(Incoming::Request(request)) = soon(inbox.next()).await else { panic!("no request") };
    assert_eq!((request.command.as_str(), &request.arguments), ("runInTerminal", &arguments));
    match answer {
        Some(answer) => request.answer(answer).await.unwrap(),
        None => drop(request),
    }
    adapter.next().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_reverse_request_is_answered() {
    assert_eq!(
        answer_to_reverse(Some(Ok(json!({"processId": 5})))).await,
        json!({"seq": 1, "type": "response", "request_seq": 41, "success": true,
            "command": "runInTerminal", "body": {"processId": 5}})
    );
}

#[tokio::test(start_paused = true)]
async fn a_reverse_request_is_refused_by_answer_or_by_drop() {
    let refused = answer_to_reverse(Some(Err("no terminal here".into()))).await;
    assert_eq!(
        (&refused["success"], &refused["message"]),
        (&json!(false), &json!("no terminal here"))
    );
    let dropped = answer_to_reverse(None).await;
    assert_eq!(dropped["success"], false);
    assert_eq!(dropped["message"], "`runInTerminal` is not supported here");
    assert_eq!(dropped["request_seq"], 41);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_is_not_lost() {
    let (client, mut inbox, mut adapter) = connect();
    let body = json!({"threadId": "main", "reason": "started"});
    adapter.event("thread", body.clone()).await;
    let Some(Incoming::Event(event)) = soon(inbox.next()).await else { panic!("no event") };
    assert_eq!(event, Event::Other { event: "thread".into(), body });
    assert_eq!(client.counts().malformed, 1);
}
