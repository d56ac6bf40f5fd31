//! What a caller gets for its request.

use holdpoint_dap::{
    RequestError,
    codec::encode,
    limits,
    request::{ConfigurationDone, Continue, Evaluate, StackTrace, Threads},
    types::{ContinueArguments, Empty, EvaluateArguments, StackTraceArguments},
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use holdpoint_testkit::adapter::{answer_to, connect, soon};

#[tokio::test(start_paused = true)]
async fn answers_out_of_order_find_their_requests() {
    let (client, _inbox, mut adapter) = connect();
    let both = async {
        tokio::join!(
            client.request::<Threads>(Empty),
            client
                .request::<StackTrace>(StackTraceArguments { thread_id: 7, ..Default::default() }),
        )
    };
    let play = async {
        let first = adapter.expect("threads").await;
        let second = adapter.expect("stackTrace").await;
        assert_eq!((&first["seq"], &second["seq"]), (&json!(1), &json!(2)));
        assert_eq!(first.get("arguments"), None);
        assert_eq!(second["arguments"], json!({"threadId": 7}));
        adapter.answer(&second, json!({"stackFrames": [{"id": 1, "name": "main"}]})).await;
        adapter.answer(&first, json!({"threads": [{"id": 7, "name": "MainThread"}]})).await;
    };
    let ((threads, stack), ()) = soon(async { tokio::join!(both, play) }).await;
    assert_eq!(threads.unwrap().threads[0].name, "MainThread");
    assert_eq!(stack.unwrap().stack_frames[0].name, "main");
}

/// Asks once and has it answered with `body`.
async fn evaluate(success: bool, rest: Value) -> Result<String, RequestError> {
    let (client, _inbox, mut adapter) = connect();
    let ask = client.request::<Evaluate>(EvaluateArguments::default());
    let play = async {
        let request = adapter.next().await.unwrap();
        let mut answer = answer_to(&request, Value::Null);
        answer["success"] = json!(success);
        for (name, value) in rest.as_object().unwrap() {
            answer[name] = value.clone();
        }
        adapter.send(answer).await;
    };
    let (answer, ()) = soon(async { tokio::join!(ask, play) }).await;
    answer.map(|body| body.result)
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_the_adapters_best_text() {
    let body = json!({"error": {"id": 3, "format": "no {name}", "variables": {"name": "x"}}});
    let refused = evaluate(false, json!({"message": "failed", "body": body})).await;
    assert_eq!(
        refused,
        Err(RequestError::Refused { command: "evaluate".into(), message: "no x".into(), body })
    );
    let refused = evaluate(false, json!({"message": "notStopped"})).await.unwrap_err();
    assert_eq!(refused.to_string(), "the adapter refused `evaluate`: notStopped");
}

#[tokio::test(start_paused = true)]
async fn a_body_of_the_wrong_shape_is_malformed() {
    let error = evaluate(true, json!({"body": {"variablesReference": "many"}})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the adapter's answer to `evaluate` makes no sense: expected a whole number, got `\"many\"`"
    );
    assert!(matches!(error, RequestError::Malformed { .. }));
}

#[tokio::test(start_paused = true)]
async fn missing_null_and_empty_bodies_are_fine() {
    let (client, _inbox, mut adapter) = connect();
    for body in [None, Some(Value::Null), Some(json!({})), Some(json!({"anything": [1]}))] {
        let ask = async {
            client.request::<ConfigurationDone>(Empty).await.unwrap();
            let arguments = ContinueArguments { thread_id: 1, ..Default::default() };
            client.request::<Continue>(arguments).await.unwrap()
        };
        let play = async {
            for _ in 0..2 {
                let request = adapter.next().await.unwrap();
                let mut answer = answer_to(&request, body.clone().unwrap_or_default());
                if body.is_none() {
                    answer.as_object_mut().unwrap().remove("body");
                }
                adapter.send(answer).await;
            }
        };
        let (continued, ()) = soon(async { tokio::join!(ask, play) }).await;
        assert_eq!(continued.all_threads_continued, None);
    }
}

#[tokio::test(start_paused = true)]
async fn garbage_between_messages_loses_none_of_them() {
    let (client, _inbox, mut adapter) = connect();
    let ask = async { tokio::join!(client.raw("a", Value::Null), client.raw("b", Value::Null)) };
    let play = async {
        let (a, b) = (adapter.next().await.unwrap(), adapter.next().await.unwrap());
        adapter.write("starting up…\nContent-Length: soon\r\n\r\n").await;
        adapter.answer(&a, json!(1)).await;
        adapter.write("Content-Length: 5\r\n\r\n{]{]{").await;
        adapter.send(json!(["not", "a", "message"])).await;
        adapter.send(json!({"type": "response", "request_seq": 99})).await;
        adapter.answer(&b, json!(2)).await;
    };
    let ((a, b), ()) = soon(async { tokio::join!(ask, play) }).await;
    assert_eq!((a, b), (Ok(json!(1)), Ok(json!(2))));
    let counts = client.counts();
    assert_eq!((counts.garbage, counts.malformed, counts.stray_answers), (2, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_fails_its_request_at_once() {
    let (client, _inbox, mut adapter) = connect();
    let play = async {
        let request = adapter.next().await.unwrap();
        let mut answer = encode(&answer_to(&request, json!("x")));
        let quote = answer.iter().rposition(|byte| *byte == b'"').unwrap();
        answer[quote] = b'?';
        adapter.write(answer).await;
    };
    let (answer, ()) = soon(async { tokio::join!(client.raw("source", Value::Null), play) }).await;
    assert!(matches!(answer, Err(RequestError::Malformed { .. })), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_fails_its_request_and_the_next_one_works() {
    let (client, _inbox, mut adapter) = connect();
    let ask = async {
        let large = client.raw("source", Value::Null).await;
        (large, client.raw("threads", Value::Null).await)
    };
    let play = async {
        let request = adapter.next().await.unwrap();
        let head = answer_to(&request, Value::Null).to_string();
        let bytes = limits::BODY_BYTES + 1;
        adapter.write(format!("Content-Length: {bytes}\r\n\r\n{head}")).await;
        let mut blank = vec![b' '; 1024 * 1024];
        let mut left = bytes - head.len();
        while left > 0 {
            blank.truncate(left);
            adapter.stream.write_all(&blank).await.unwrap();
            left -= blank.len();
        }
        let request = adapter.next().await.unwrap();
        adapter.answer(&request, json!("small")).await;
    };
    let ((large, small), ()) = soon(async { tokio::join!(ask, play) }).await;
    assert!(matches!(large, Err(RequestError::Malformed { .. })), "{large:?}");
    assert_eq!(small, Ok(json!("small")));
}
