//! A thousand walks through everything that can go wrong at once: no job is lost, and none runs twice.

use std::time::{Duration, Instant};

use holdpoint_bridge::{BridgeAnswer, BridgeError, Ran};
use holdpoint_testkit::bridge::{Chance, Faults};
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::stage::Stage;

const SEEDS: u64 = 1_000;
/// Two, as many as a small machine has cores.
const THREADS: u64 = 2;

/// What goes wrong with one walk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    Nothing,
    Restart,
    SecondOwner,
    Cancels,
    Closed,
    /// Scripts that take longer than the public bridge's patience with itself.
    Long,
}

fn faults(chance: &mut Chance, seed: u64) -> Faults {
    let is_ours = chance.below(2) == 0;
    let half = [0, 0, 5, 40][chance.below(4) as usize];
    Faults {
        seed,
        is_ours,
        pickup: Duration::from_millis(chance.below(400)),
        lost: [0, 20, 60, 100][chance.below(4) as usize],
        capacity: 1 + chance.below(10) as usize,
        half: Duration::from_millis(half),
        large: [2 * 1024 * 1024, 512][chance.below(2) as usize],
        ..Faults::default()
    }
}

fn trouble(chance: &mut Chance) -> Trouble {
    match chance.below(100) {
        0..40 => Trouble::Nothing,
        40..60 => Trouble::Restart,
        60..75 => Trouble::SecondOwner,
        75..90 => Trouble::Cancels,
        90..99 => Trouble::Closed,
        _ => Trouble::Long,
    }
}

#[test]
fn a_thousand_walks_lose_nothing_and_run_nothing_twice() {
    let started = Instant::now();
    let walk_every = |first: u64| {
        (first..SEEDS).step_by(THREADS as usize).for_each(|seed| {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().start_paused(true).build().unwrap();
            runtime.block_on(walk(seed));
        });
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|it| scope.spawn(move || walk_every(it))).collect();
        threads.into_iter().for_each(|it| it.join().unwrap());
    });
    println!("{SEEDS} walks in {:?}", started.elapsed());
}

async fn walk(seed: u64) {
    let mut chance = Chance::new(seed);
    let mut faults = faults(&mut chance, seed);
    let trouble = trouble(&mut chance);
    if trouble == Trouble::Long {
        // Else most of them find no room before their own time is up.
        faults.capacity = 10;
    }
    let mut stage = Stage::new(faults.clone());
    if trouble == Trouble::Closed {
        stage.fake.fails_others(10);
    }
    let jobs = 1 + chance.below(if trouble == Trouble::Long { 3 } else { 8 });
    let cancel = CancellationToken::new();
    let calls: Vec<_> = (0..jobs)
        .map(|token| {
            let ms = if trouble == Trouble::Long { 70_000 } else { chance.below(600) };
            let after = Duration::from_millis(chance.below(300));
            let (bridge, cancel) = (stage.bridge.clone(), cancel.clone());
            let params = json!({ "token": token, "ms": ms, "bytes": chance.below(2_000) });
            tokio::spawn(async move {
                sleep(after).await;
                bridge.call("work", params, Duration::from_secs(120), &cancel).await
            })
        })
        .collect();
    let at = Duration::from_millis(chance.below(900));
    let mut second = None;
    match trouble {
        Trouble::Restart => {
            sleep(at).await;
            let next = Faults { seed: seed + 1, ..faults.clone() };
            let workspace = stage.workspace.path();
            stage.fake =
                holdpoint_testkit::bridge::FakeBridge::open(workspace, next, stage.scripts.clone());
        }
        Trouble::SecondOwner => {
            sleep(at).await;
            second = Some(stage.second(Faults { seed: seed + 1, ..faults.clone() }));
        }
        Trouble::Cancels => {
            sleep(at).await;
            cancel.cancel();
        }
        Trouble::Nothing | Trouble::Closed | Trouble::Long => {}
    }
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap());
    }
    // What was left behind would be found by a scan, or by the sweep.
    sleep(if trouble == Trouble::Long {
        Duration::from_secs(70)
    } else {
        Duration::from_millis(2_500)
    })
    .await;
    for (token, result) in results.iter().enumerate() {
        let runs = stage.scripts.runs(token as u64);
        judge(seed, trouble, &faults, runs, token as u64, result);
    }
    assert_eq!(stage.left(), Vec::<String>::new(), "seed {seed}: folders are left, {trouble:?}");
    drop(second);
}

fn judge(
    seed: u64,
    trouble: Trouble,
    faults: &Faults,
    runs: u32,
    token: u64,
    result: &Result<BridgeAnswer, BridgeError>,
) {
    let case =
        format!("seed {seed}, {trouble:?}, job {token}, run {runs} times: {result:?}\n{faults:?}");
    assert!(runs <= 1, "run twice: {case}");
    match result {
        Ok(answer) => {
            assert_eq!(runs, 1, "an answer without a run: {case}");
            assert_eq!(answer.data["token"], token, "somebody else's answer: {case}");
        }
        Err(BridgeError::Restarted { ran } | BridgeError::Unavailable { ran, .. }) => {
            let is_due = [Trouble::Restart, Trouble::SecondOwner].contains(&trouble);
            assert!(is_due, "lost: {case}");
            assert!(*ran == Ran::Maybe || runs == 0, "it ran after all: {case}");
        }
        Err(BridgeError::Split { .. }) => assert_eq!(trouble, Trouble::SecondOwner, "{case}"),
        Err(BridgeError::Cancelled { ran, .. }) => {
            assert_eq!(trouble, Trouble::Cancels, "{case}");
            assert!(*ran == Ran::Maybe || runs == 0, "it ran after all: {case}");
        }
        Err(BridgeError::Closed { .. }) => {
            assert_eq!((trouble, runs), (Trouble::Closed, 0), "{case}");
        }
        Err(BridgeError::Timeout { ran: Ran::Maybe, .. }) => {
            assert_eq!((trouble, runs), (Trouble::Long, 1), "{case}");
        }
        // The job is being made while the folder is wiped.
        Err(BridgeError::Io { .. }) => {
            let is_due = [Trouble::Restart, Trouble::SecondOwner].contains(&trouble);
            assert!(is_due && runs == 0, "{case}");
        }
        Err(_) => panic!("unexpected: {case}"),
    }
}
