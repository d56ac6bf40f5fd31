//! One call at a time: what it is answered, what is left behind, and what the other end's faults become.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::{Duration, SystemTime},
};

use holdpoint_bridge::{BridgeAnswer, BridgeError, Ran, Waiting};
use holdpoint_testkit::bridge::Faults;
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::stage::Stage;

fn work(token: u64, ms: u64) -> serde_json::Value {
    json!({ "token": token, "ms": ms })
}

#[tokio::test(start_paused = true)]
async fn a_lost_file_event_is_made_good_by_a_touch() {
    let stage = Stage::new(Faults { lost: 60, seed: 5, ..Faults::default() });
    for token in 0..10 {
        let answer = stage.call("work", work(token, 1)).await.unwrap();
        assert_eq!(answer.data["token"], token);
        assert!(answer.pickup < Duration::from_millis(2_100), "{:?}", answer.pickup);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_inside_of_a_script_is_sliced() {
    let stage = Stage::new(Faults::default());
    let answer = stage.call("work", json!({ "token": 1, "timeoutMs": 300_000 })).await.unwrap();
    assert_eq!(answer.data["params"]["timeoutMs"], 50_000);
    let answer = stage.call("work", json!({ "token": 2, "timeoutMs": 500 })).await.unwrap();
    assert_eq!(answer.data["params"]["timeoutMs"], 500);
}

/// For 120 s.
async fn waits(
    stage: &Stage,
    script: &str,
    cancel: &CancellationToken,
) -> Result<Option<BridgeAnswer>, BridgeError> {
    let waiting = Waiting {
        script,
        field: "timeoutMs",
        within: Duration::from_secs(120),
        grace: Duration::from_secs(5),
        until: Instant::now() + Duration::from_secs(200),
    };
    stage.bridge.wait(waiting, json!({}), cancel, |_| {}).await
}

/// How long each slice was asked to wait, after a wait of 120 s that saw nothing.
fn in_slices(stage: &Stage) {
    let asked = stage.scripts.waits.lock().unwrap().clone();
    let [50_000, 50_000, rest] = asked.as_slice() else { panic!("{asked:?}") };
    assert!((1..=20_000).contains(rest), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_wait_is_asked_in_slices_and_says_that_nothing_happened() {
    for (faults, script) in [(Faults::ours(), "wait"), (Faults::default(), "wait-public")] {
        let stage = Stage::new(faults);
        let asked = Instant::now();
        assert!(waits(&stage, script, &CancellationToken::new()).await.unwrap().is_none());
        let took = asked.elapsed();
        assert!((120..122).contains(&took.as_secs()), "{took:?}");
        in_slices(&stage);
    }
}

#[tokio::test(start_paused = true)]
async fn what_happens_between_two_slices_of_a_wait_is_not_lost() {
    let stage = Stage::new(Faults::ours());
    stage.scripts.happens_after.store(2, std::sync::atomic::Ordering::SeqCst);
    let asked = Instant::now();
    let answer =
        waits(&stage, "wait", &CancellationToken::new()).await.unwrap().expect("what happened");
    assert_eq!(answer.data["number"], 1);
    assert!(asked.elapsed() < Duration::from_secs(102), "at once: {:?}", asked.elapsed());
    in_slices(&stage);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_cancelled_asks_no_further_slice() {
    let stage = Stage::new(Faults::ours());
    let cancel = CancellationToken::new();
    let later = async {
        sleep(Duration::from_secs(70)).await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(waits(&stage, "wait", &cancel), later);
    assert!(matches!(answer, Err(BridgeError::Cancelled { .. })), "{answer:?}");
    assert_eq!(stage.scripts.waits.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn failures_keep_their_class_and_lose_their_stacks() {
    for faults in [Faults::default(), Faults::ours()] {
        let stage = Stage::new(faults);
        let error = stage.call("fail", work(1, 1)).await.unwrap_err();
        assert_eq!(error.code(), "E_NO_SESSION");
        assert_eq!(error.to_string(), "nothing runs");
        assert_eq!(error.details(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn we_stay_below_the_breaker_and_say_when_to_come_again() {
    let stage = Stage::new(Faults::default());
    let mut ran = 0;
    let closed = loop {
        match stage.call("fail", work(ran, 1)).await.unwrap_err() {
            BridgeError::Script { .. } => ran += 1,
            error => break error,
        }
    };
    assert_eq!(ran, 7, "the breaker opens at ten");
    let BridgeError::Closed { retry_after } = closed else { panic!("{closed}") };
    sleep(retry_after).await;
    stage.call("work", work(99, 1)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_others_opened_is_honoured() {
    let stage = Stage::new(Faults::default());
    stage.fake.fails_others(10);
    let error = stage.call("work", work(1, 1)).await.unwrap_err();
    assert!(matches!(error, BridgeError::Closed { retry_after } if retry_after.as_secs() == 7));
    let asked = Instant::now();
    let error = stage.call("work", work(1, 1)).await.unwrap_err();
    assert!(matches!(error, BridgeError::Closed { .. }) && asked.elapsed().is_zero(), "not asked");
    assert_eq!(stage.scripts.runs(1), 0);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_six_jobs_are_under_way() {
    let stage = Stage::new(Faults::ours());
    let calls = (0..20).map(|token| stage.call("work", work(token, 500)));
    let most = async {
        let mut most = 0;
        while stage.scripts.runs(19) == 0 {
            most = most.max(stage.left().len());
            sleep(Duration::from_millis(10)).await;
        }
        most
    };
    let (answers, most) = tokio::join!(futures_all(calls), most);
    assert_eq!(answers, 20);
    assert!(most <= 6, "{most}");
}

async fn futures_all(
    calls: impl Iterator<Item = impl Future<Output = Result<BridgeAnswer, BridgeError>>>,
) -> usize {
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    let mut answered = 0;
    std::future::poll_fn(|context| {
        calls.retain_mut(|call| match call.as_mut().poll(context) {
            std::task::Poll::Ready(answer) => {
                answer.unwrap();
                answered += 1;
                false
            }
            std::task::Poll::Pending => true,
        });
        if calls.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    answered
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_late_is_cancelled_and_its_folder_removed() {
    let stage = Stage::new(Faults::ours());
    let error = stage.call_within("work", work(1, 60_000), 2).await.unwrap_err();
    assert!(matches!(error, BridgeError::Timeout { ran: Ran::Maybe, .. }), "{error}");
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_waits_for_any_more_is_cancelled_too() {
    let stage = Stage::new(Faults::ours());
    let call = stage.call("work", work(1, 60_000));
    tokio::time::timeout(Duration::from_secs(1), call).await.unwrap_err();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cancelled_before_it_was_taken_never_runs() {
    let faults = Faults { lost: 100, scan: Duration::from_secs(100), ..Faults::default() };
    let stage = Stage::new(faults);
    let cancel = CancellationToken::new();
    let call = stage.bridge.call("work", work(1, 1), Duration::from_secs(9), &cancel);
    let later = async {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(call, later);
    let error = answer.unwrap_err();
    assert!(matches!(error, BridgeError::Cancelled { ran: Ran::No, .. }), "{error}");
    sleep(Duration::from_secs(200)).await;
    assert_eq!((stage.scripts.runs(1), stage.left().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn two_windows_on_a_folder_are_told() {
    let stage = Stage::new(Faults { seed: 1, ..Faults::default() });
    let second = stage.second(Faults { seed: 2, ..Faults::default() });
    let mut seen = 0;
    for token in 0..30 {
        match stage.call("work", work(token, 1)).await {
            Ok(_) => {}
            Err(BridgeError::Split { owner, other }) => {
                assert_eq!((owner, other), (second.id.clone(), stage.fake.id.clone()));
                seen += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(seen > 0, "the other window took none of them");
    assert!(stage.bridge.status().split.is_some());
}

#[tokio::test(start_paused = true)]
async fn code_is_never_sent() {
    let stage = Stage::new(Faults::default());
    let error = stage.call("@dynamic", json!({})).await.unwrap_err();
    assert!(matches!(error, BridgeError::Forbidden(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_large_answer_is_read_from_the_file_that_has_it() {
    let stage = Stage::new(Faults::default());
    let params = json!({ "token": 1, "bytes": 3 * 1024 * 1024 });
    let answer = stage.call("work", params).await.unwrap();
    assert_eq!(answer.data["padding"].as_str().unwrap().len(), 3 * 1024 * 1024);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_closed_takes_nothing() {
    let stage = Stage::new(Faults::default());
    stage.call("work", work(1, 1)).await.unwrap();
    let (bridge, folder) = (stage.bridge.clone(), stage.fake.folder.clone());
    stage.fake.close();
    let never = CancellationToken::new();
    let call = |token| bridge.call("work", work(token, 1), Duration::from_secs(9), &never);
    let error = call(2).await.unwrap_err();
    assert_eq!(error.code(), "E_BRIDGE_UNAVAILABLE");
    std::fs::write(folder.join("host.lock"), "").unwrap();
    is_of(&folder, Duration::from_secs(40));
    assert!(call(3).await.unwrap_err().to_string().contains("sign of life"), "it is stale");
}

fn is_of(folder: &Path, age: Duration) {
    let host = std::fs::OpenOptions::new().append(true).open(folder.join("host.json")).unwrap();
    host.set_modified(SystemTime::now() - age).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_gone_counts_once_a_beat_was_missed() {
    let stage = Stage::new(Faults::default());
    let host = stage.fake.folder.join("host.json");
    let text = std::fs::read_to_string(&host).unwrap();
    let pid = format!("\"pid\":{}", std::process::id());
    assert!(text.contains(&pid), "{text}");
    std::fs::write(&host, text.replace(&pid, "\"pid\":999999999")).unwrap();
    assert_eq!(stage.bridge.status().dead, None, "it may be of another machine");
    is_of(&stage.fake.folder, Duration::from_secs(9));
    assert!(stage.bridge.status().dead.unwrap().contains("999999999"));
}

#[tokio::test(start_paused = true)]
async fn what_we_write_is_ours_alone() {
    let faults = Faults { lost: 100, scan: Duration::from_secs(100), ..Faults::default() };
    let stage = Stage::new(faults);
    let call = stage.call_within("work", work(1, 1), 3);
    let look = async {
        sleep(Duration::from_millis(500)).await;
        let execute = stage.fake.folder.join("execute");
        let job = std::fs::read_dir(execute).unwrap().next().unwrap().unwrap().path();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&job), mode(&job.join("command.json"))), (0o700, 0o600));
    };
    let (answer, ()) = tokio::join!(call, look);
    assert!(matches!(answer, Err(BridgeError::Timeout { ran: Ran::No, .. })));
}

/// With the kernel's own file events and the real clock.
#[tokio::test]
async fn an_answer_is_there_soon_after_it_is_written() {
    let stage = Stage::new(Faults::ours());
    let bridge = holdpoint_bridge::Bridge::find(stage.workspace.path()).unwrap();
    let never = CancellationToken::new();
    for token in 0..5 {
        let answer = bridge.call("work", work(token, 1), Duration::from_secs(30), &never).await;
        assert_eq!(answer.unwrap().data["token"], token);
    }
}
