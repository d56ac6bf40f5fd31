//! Messages in and out, by hand.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn call(router: &mut Router, target: Target) -> (Option<Value>, oneshot::Receiver<Answer>) {
    let (reply, answer) = oneshot::channel();
    let params = message::raw("A.b", json!({})).unwrap();
    let text = router.outgoing(Call { target, method: "A.b".into(), params, reply });
    (text.map(|text| serde_json::from_str(&text).unwrap()), answer)
}

fn router() -> Router {
    let mut router = Router::new(8);
    let attached = json!({"sessionId": "7", "workerInfo": {}});
    let event = json!({"method": "NodeWorker.attachedToWorker", "params": attached});
    router.incoming(&event.to_string());
    router
}

fn worker() -> Target {
    Target::Worker(WorkerSession("7".into()))
}

#[test]
fn answers_find_their_callers_in_any_order() {
    let mut router = router();
    let (_, mut first) = call(&mut router, Target::Main);
    let (_, mut second) = call(&mut router, Target::Main);
    assert!(router.incoming(r#"{"id":2,"result":{"n":2}}"#).is_none());
    assert!(router.incoming(r#"{"id":1,"result":{"n":1}}"#).is_none());
    assert_eq!(first.try_recv().unwrap().unwrap(), r#"{"n":1}"#);
    assert_eq!(second.try_recv().unwrap().unwrap(), r#"{"n":2}"#);
}

#[test]
fn a_call_to_a_worker_travels_inside_one_to_the_main_thread() {
    let mut router = router();
    let (text, mut answer) = call(&mut router, worker());
    let text = text.unwrap();
    assert_eq!(text["method"], worker::SEND);
    let inner: Value = serde_json::from_str(text["params"]["message"].as_str().unwrap()).unwrap();
    assert_eq!(inner, json!({"id": 1, "method": "A.b", "params": {}}));
    router.incoming(r#"{"id":2,"result":{}}"#);
    assert!(answer.try_recv().is_err(), "the carrier's answer is not the worker's");
    let reply = json!({"method": worker::RECEIVED, "params": {"sessionId": "7", "message": r#"{"id":1,"result":{"x":1}}"#}});
    assert!(router.incoming(&reply.to_string()).is_none());
    assert_eq!(answer.try_recv().unwrap().unwrap(), r#"{"x":1}"#);
    assert!(router.waiting.is_empty());
}

#[test]
fn a_refused_carrier_refuses_the_call() {
    let mut router = router();
    let (_, mut answer) = call(&mut router, worker());
    router.incoming(r#"{"id":2,"error":{"code":-1,"message":"no such worker"}}"#);
    let error = answer.try_recv().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "`A.b` was refused: no such worker (-1)");
}

#[test]
fn a_worker_that_ends_takes_its_calls_with_it() {
    let mut router = router();
    let (_, mut of_worker) = call(&mut router, worker());
    let (_, mut of_main) = call(&mut router, Target::Main);
    let ended = r#"{"method":"NodeWorker.detachedFromWorker","params":{"sessionId":"7"}}"#;
    assert!(matches!(router.incoming(ended), Some((Target::Main, Event::WorkerDetached(_)))));
    let error = of_worker.try_recv().unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed { reason: Closing::WorkerEnded }));
    assert!(of_main.try_recv().is_err());
}

#[test]
fn calls_are_bounded_and_abandoned_ones_make_room() {
    let mut router = Router::new(1);
    let kept = call(&mut router, Target::Main).1;
    let (text, mut refused) = call(&mut router, Target::Main);
    assert!(text.is_none());
    assert!(matches!(refused.try_recv().unwrap(), Err(Error::Busy { .. })));
    drop(kept);
    assert!(call(&mut router, Target::Main).0.is_some());
}

#[test]
fn a_worker_that_is_not_there_is_not_asked() {
    let mut router = Router::new(8);
    let (text, mut answer) = call(&mut router, worker());
    assert!(text.is_none());
    let error = answer.try_recv().unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed { reason: Closing::WorkerEnded }));
}

#[test]
fn an_empty_message_fails_the_oldest_call_for_a_whole_value() {
    let mut router = router();
    let (_, mut plain) = call(&mut router, Target::Main);
    let whole = |router: &mut Router| {
        let (reply, answer) = oneshot::channel();
        let params = message::raw("A.b", json!({"returnByValue": true})).unwrap();
        router.outgoing(Call { target: Target::Main, method: "A.b".into(), params, reply });
        answer
    };
    let (mut first, mut second) = (whole(&mut router), whole(&mut router));
    assert!(router.incoming("").is_none());
    assert!(matches!(first.try_recv().unwrap(), Err(Error::Malformed { .. })));
    assert!(plain.try_recv().is_err() && second.try_recv().is_err());
}

proptest! {
    #[test]
    fn garbage_is_ignored(texts in prop::collection::vec(
        prop_oneof![".*", r#"\{"id":[0-9]{1,3},"(result|error)":(\{\}|3|null)\}"#], 0..20)
    ) {
        let mut router = router();
        let _kept = call(&mut router, worker()).1;
        for text in texts {
            router.incoming(&text);
        }
    }
}
