//! Requests whose caller has gone.

use std::pin::pin;

use holdpoint_dap::{Counts, Requester, types::Capabilities};
use serde_json::{Value, json};

use holdpoint_testkit::adapter::{Adapter, connect, soon, waits};

/// Asks, waits until the adapter has it, and goes away.
async fn ask_and_leave(client: &Requester, adapter: &mut Adapter) -> Value {
    let mut ask = pin!(client.raw("evaluate", json!({"expression": "while True: pass"})));
    tokio::select! {
        answer = &mut ask => panic!("{answer:?}"),
        request = adapter.expect("evaluate") => request,
    }
}

async fn answers_something(client: &Requester, adapter: &mut Adapter) {
    let play = async {
        let request = adapter.expect("threads").await;
        adapter.answer(&request, json!(1)).await;
    };
    let (answer, ()) = soon(async { tokio::join!(client.raw("threads", Value::Null), play) }).await;
    assert_eq!(answer, Ok(json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_a_forgotten_request_is_no_stray_one() {
    let (client, _inbox, mut adapter) = connect();
    let request = ask_and_leave(&client, &mut adapter).await;
    assert!(waits(adapter.next()).await, "cancelled without being told that the adapter can");
    adapter.answer(&request, json!({"result": "late"})).await;
    answers_something(&client, &mut adapter).await;
    assert_eq!(client.counts(), Counts::default());

    adapter.answer(&request, json!({"result": "twice"})).await;
    answers_something(&client, &mut adapter).await;
    assert_eq!(client.counts().stray_answers, 1);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_request_is_cancelled_where_the_adapter_can() {
    let (client, _inbox, mut adapter) = connect();
    client.set_capabilities(&Capabilities { supports_cancel_request: true, ..Default::default() });
    let request = ask_and_leave(&client, &mut adapter).await;
    let cancel = adapter.expect("cancel").await;
    assert_eq!(cancel["arguments"], json!({"requestId": request["seq"]}));
    adapter.answer(&cancel, Value::Null).await;
    let refused = json!({"type": "response", "request_seq": request["seq"], "success": false,
        "command": "evaluate", "message": "cancelled"});
    adapter.send(refused).await;
    answers_something(&client, &mut adapter).await;
    assert_eq!(client.counts(), Counts::default());
    assert!(waits(adapter.next()).await, "an answered request was cancelled");
}

#[tokio::test(start_paused = true)]
async fn forgotten_requests_make_room_for_new_ones() {
    let (client, _inbox, mut adapter) = connect();
    for _ in 0..2 * holdpoint_dap::limits::IN_FLIGHT {
        ask_and_leave(&client, &mut adapter).await;
    }
    answers_something(&client, &mut adapter).await;
}
