use std::{sync::Arc, time::Duration};

use holdpoint_store::{Location, Store};
use serde_json::{Map, Value, json};

use super::*;
use crate::{
    actor::Actor,
    callpoints::{Retention, behavior::Behavior, decision::Decision, resume::Resumed},
    ids::Seq,
    log::Log,
    records::{RecordQuery, Recorded},
};

async fn callpoints() -> (Arc<Callpoints>, Arc<Log>) {
    let store = Arc::new(Store::open(&Location::Memory).unwrap());
    let log = Arc::new(Log::default());
    (Callpoints::open(store, Arc::clone(&log), Retention::default()).await, log)
}

async fn stopping(before: Behavior, after: Behavior) -> (Arc<Callpoints>, Arc<Log>) {
    let (callpoints, log) = callpoints().await;
    callpoints.add("files.read", Some(before), &Actor::Person).await.unwrap();
    callpoints.set_after("files.read", after, &Actor::Person).await.unwrap();
    (callpoints, log)
}

fn asking() -> Asking {
    Asking {
        name: "files.read".to_owned(),
        kind: CallKind::Tool,
        source: "mcp_client".to_owned(),
        args: vec![json!("a.txt")],
        kwargs: Map::from_iter([("lines".to_owned(), json!(3))]),
        ..Asking::default()
    }
}

/// The call, once it is paused.
async fn paused(callpoints: &Callpoints, log: &Arc<Log>) -> crate::callpoints::paused::Paused {
    let mut reader = log.reader(Seq::START);
    let wait = async {
        loop {
            if let Some(paused) = callpoints.paused().into_iter().next() {
                return paused;
            }
            reader.batch(64).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), wait).await.unwrap()
}

async fn decide(callpoints: &Callpoints, log: &Arc<Log>, decision: Decision) {
    let paused = paused(callpoints, log).await;
    let resumed = callpoints.resume(&paused.id, &decision, &Actor::Person).await;
    assert!(matches!(resumed, Resumed::Done { .. }), "{resumed:?}");
}

async fn record(callpoints: &Callpoints) -> Recorded {
    let page =
        callpoints.records.page(RecordQuery { limit: 9, ..RecordQuery::default() }).await.unwrap();
    assert_eq!(page.total, 1);
    page.calls.into_iter().next().unwrap()
}

fn kinds(log: &Log) -> Vec<&'static str> {
    log.page(Seq::START, 99, |_| true).records.iter().map(|it| it.event.kind().as_str()).collect()
}

#[tokio::test]
async fn a_call_that_nobody_stops_is_recorded_with_its_source_and_kind() {
    let (callpoints, _log) = callpoints().await;
    let asked = callpoints.ask(asking()).await;
    assert_eq!(asked.action, Action::Continue);
    assert_eq!(callpoints.in_flight_count(), 1);
    asked.complete(Ending::Returned(Arc::new(json!({ "text": "hello" })))).await;
    let recorded = record(&callpoints).await;
    let call = &recorded.seen.call;
    assert_eq!((call.kind, call.origin.source.as_deref()), (CallKind::Tool, Some("mcp_client")));
    assert_eq!((call.pid, recorded.seen.args.clone()), (None, json!(["a.txt"])));
    assert_eq!(recorded.seen.kwargs, json!({ "lines": 3 }));
    assert_eq!(recorded.seen.outcome.unwrap().result, json!({ "text": "hello" }));
    assert_eq!(recorded.line, r#"files.read("a.txt", lines=3) → {"text": "hello"}"#);
    assert_eq!(callpoints.in_flight_count(), 0);
    // Its result can be looked into by its CID, like that of an app's call.
    let end = call.end.as_ref().unwrap();
    assert_eq!(end.status, "success");
    let cid = call.cid(end.result.as_ref().unwrap()).unwrap();
    assert!(matches!(
        callpoints.records.inspect(&cid, "['text']").await.unwrap(),
        crate::records::Inspected::Found(_)
    ));
}

#[tokio::test]
async fn a_paused_call_goes_on_as_somebody_decides() {
    let modify = |args: Vec<Value>| {
        let args = args.into_iter().map(|value| Handed::New { value, format: Format::Json });
        let lines = Handed::New { value: json!(3), format: Format::Json };
        Action::Modify { args: args.collect(), kwargs: vec![("lines".to_owned(), lines)] }
    };
    let wish = |action: &str| Decision { action: Some(action.to_owned()), ..Decision::default() };
    let cases = [
        (wish("continue"), Action::Continue),
        (
            Decision { modified_args: Some(vec![json!("b.txt")]), ..Decision::default() },
            modify(vec![json!("b.txt")]),
        ),
        (
            Decision {
                modified_kwargs: Some(Map::from_iter([("lines".to_owned(), json!(3))])),
                ..Decision::default()
            },
            modify(vec![json!("a.txt")]),
        ),
        (
            Decision { fake_result: Some(json!("nothing")), ..wish("skip") },
            Action::Skip(super::super::decision::Fake {
                value: Some(json!("nothing")),
                data: None,
                format: Format::Json,
            }),
        ),
        (
            Decision {
                exception_type: Some("ValueError".into()),
                exception_message: Some("no".into()),
                ..wish("raise")
            },
            Action::Raise {
                exception: None,
                exception_type: Some("ValueError".into()),
                message: Some("no".into()),
            },
        ),
    ];
    for (decision, expected) in cases {
        let (callpoints, log) = stopping(Behavior::Stop, Behavior::Go).await;
        let (asked, ()) =
            tokio::join!(callpoints.ask(asking()), decide(&callpoints, &log, decision));
        assert_eq!(asked.action, expected);
        let word = asked.action.word();
        assert_eq!(callpoints.paused(), []);
        match &asked.action {
            Action::Raise { .. } => {
                let (exception_type, message) = ("ValueError".to_owned(), "no".to_owned());
                asked.complete(Ending::Raised { exception_type, message }).await;
            }
            _ => drop(asked.complete(Ending::Returned(Arc::new(json!(1)))).await),
        }
        let recorded = record(&callpoints).await;
        assert_eq!(recorded.seen.call.verdict.as_ref().unwrap().action, word);
        assert_eq!(recorded.seen.outcome.unwrap().exception.is_some(), word == "raise");
    }
}

#[tokio::test]
async fn a_paused_call_is_listed_and_never_given_up_for_its_silence() {
    let (callpoints, log) = stopping(Behavior::Stop, Behavior::Go).await;
    let look = async {
        let paused = paused(&callpoints, &log).await;
        assert!(paused.is_waiting && !paused.is_post_mortem);
        let call = &paused.seen.call;
        assert_eq!(
            (call.kind, call.origin.source.as_deref()),
            (CallKind::Tool, Some("mcp_client"))
        );
        // No process: nothing can be evaluated there, and it says so.
        let no = callpoints.open_session(&paused.id).await;
        assert_eq!(no, Err(crate::repl::NoRepl::InvalidPause));
        assert_eq!(callpoints.live().silent(Duration::ZERO).len(), 0);
        callpoints.resume(&paused.id, &Decision::default(), &Actor::Person).await;
    };
    let (asked, ()) = tokio::join!(callpoints.ask(asking()), look);
    asked.complete(Ending::Returned(Arc::default())).await;
}

#[tokio::test]
async fn a_call_pauses_after_it_too() {
    let (callpoints, log) = stopping(Behavior::Go, Behavior::StopException).await;
    let asked = callpoints.ask(asking()).await;
    let (exception_type, message) = ("OSError".to_owned(), "gone".to_owned());
    let complete = asked.complete(Ending::Raised { exception_type, message });
    let (_, ()) = tokio::join!(complete, decide(&callpoints, &log, Decision::default()));
    assert_eq!(callpoints.paused(), []);
    let recorded = record(&callpoints).await;
    assert_eq!(recorded.seen.outcome.unwrap().exception.unwrap()["summary"], "OSError: gone");
}

#[tokio::test]
async fn whoever_stops_waiting_lets_the_pause_go() {
    let (callpoints, log) = stopping(Behavior::Stop, Behavior::Go).await;
    tokio::select! {
        _asked = callpoints.ask(asking()) => panic!("nobody decided"),
        _paused = paused(&callpoints, &log) => {}
    }
    assert_eq!((callpoints.paused(), callpoints.in_flight_count()), (Vec::new(), 0));
    let recorded = record(&callpoints).await;
    assert_eq!(recorded.seen.call.end.as_ref().unwrap().status, "abandoned");
    assert!(kinds(&log).contains(&"call_lost"));
}

#[tokio::test]
async fn a_call_whose_end_nobody_tells_is_given_up() {
    let (callpoints, _log) = callpoints().await;
    drop(callpoints.ask(asking()).await);
    let recorded = record(&callpoints).await;
    assert_eq!(recorded.seen.call.end.as_ref().unwrap().status, "abandoned");
}

#[tokio::test]
async fn a_server_that_stops_keeps_nobody_waiting() {
    let (callpoints, log) = stopping(Behavior::Stop, Behavior::Go).await;
    let close = async {
        paused(&callpoints, &log).await;
        callpoints.close().await;
    };
    let ask = async {
        let asked = callpoints.ask(asking()).await;
        assert_eq!(asked.action, Action::Continue);
        asked.complete(Ending::Returned(Arc::default())).await;
    };
    tokio::join!(ask, close);
}
