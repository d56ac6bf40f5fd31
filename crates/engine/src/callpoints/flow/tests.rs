use std::sync::Arc;

use holdpoint_store::{Location, Store};
use serde_json::Value;

use super::*;
use crate::{
    actor::Actor,
    callpoints::{Retention, behavior::Behavior},
    calls::{
        call::{AppProcess, CallOrigin, CallSite},
        value::Format,
    },
    log::Log,
};

async fn stopping() -> Arc<Callpoints> {
    let store = Arc::new(Store::open(&Location::Memory).unwrap());
    let log = Arc::new(Log::default());
    let callpoints = Callpoints::open(store, log, Retention::default()).await;
    callpoints.add("f", Some(Behavior::Stop), &Actor::Person).await.unwrap();
    callpoints
}

/// A request that begins a call; the same one each time.
fn start() -> Start {
    Start {
        method_name: "f".to_owned(),
        process: AppProcess { pid: 0, start_time: 1.0 },
        target: None,
        args: Vec::new(),
        kwargs: Vec::new(),
        site: CallSite::default(),
        signature: Value::Null,
        page_url: None,
        format: Some(Format::Json),
        origin: CallOrigin::default(),
        fingerprint: 7,
    }
}

#[tokio::test]
async fn two_identical_starts_at_once_make_one_pause() {
    let callpoints = stopping().await;
    let (one, two) = tokio::join!(callpoints.start(start()), callpoints.start(start()));
    assert_eq!(one, two);
    assert!(matches!(one, Ok(CallStarted::Pause { .. })), "{one:?}");
    assert_eq!((callpoints.paused_count(), callpoints.in_flight_count()), (1, 1));
    // And so does a third that comes later.
    assert_eq!(callpoints.start(start()).await, one);
    assert_eq!(callpoints.paused_count(), 1);
}

#[tokio::test]
async fn whoever_sends_it_again_takes_over_from_one_that_went_away() {
    let callpoints = stopping().await;
    let first = callpoints.start(start());
    let (second, third) = (callpoints.start(start()), callpoints.start(start()));
    drop(first);
    let (second, third) = tokio::join!(second, third);
    assert_eq!(second, third);
    assert!(matches!(second, Ok(CallStarted::Pause { .. })), "{second:?}");
    assert_eq!(callpoints.paused_count(), 1);
}

#[tokio::test]
async fn a_call_that_ends_while_it_is_paused_takes_its_sessions_along() {
    let callpoints = stopping().await;
    let started =
        callpoints.start(Start { process: AppProcess { pid: 7, start_time: 1.0 }, ..start() });
    let Ok(CallStarted::Pause { call_id, pause_id, .. }) = started.await else {
        panic!("it does not pause")
    };
    let session = callpoints.open_session(&pause_id).await.unwrap();
    callpoints.complete(Complete { call_id, ..Complete::default() }).await.unwrap();
    let kept = callpoints.repl.session(&session).await.unwrap();
    assert!(kept.closed_at.is_some(), "{kept:?}");
    let told = callpoints.log.page(
        crate::ids::Seq::START,
        100,
        |it| matches!(&*it.event, Event::CallLost { pause_id: lost, .. } if *lost == pause_id),
    );
    assert_eq!(told.records.len(), 1);
}
