//! Rules that hold whatever happens, in whichever order.

use super::{
    super::{Output, State, Status},
    parse,
};
use crate::ids::{Epoch, ThreadKey};

/// Any interleaving, every seed, the same rules.
#[test]
fn a_thousand_seeds() {
    let (mut sent, mut reported) = (0, 0);
    for seed in 1..=1000_u64 {
        let mut rng = seed;
        let mut next = |below: u64| {
            rng ^= rng << 13;
            rng ^= rng >> 7;
            rng ^= rng << 17;
            rng % below
        };
        let mut state = State::default();
        let mut newest = Epoch::default();
        for _ in 0..200 {
            let line = any_line(&mut next);
            let was_stopped = *state.status() == Status::Stopped;
            let unseen: Vec<ThreadKey> = state.waiting.iter().map(|it| it.thread).collect();
            for output in state.step(parse(&line)) {
                match output {
                    Output::Resume { thread, .. } | Output::Step { thread, .. } => {
                        sent += 1;
                        assert!(was_stopped, "seed {seed}: {line} was sent to a running program");
                        let passed_over = unseen.iter().any(|it| {
                            it.target == thread.target && *it != thread && !line.contains("ends")
                        });
                        assert!(!passed_over, "seed {seed}: {line} resumed a stop unseen");
                    }
                    Output::Report(stop) => {
                        reported += 1;
                        assert!(newest < stop.epoch, "seed {seed}: an epoch came again");
                        newest = stop.epoch;
                    }
                    _ => {}
                }
            }
            holds_together(&state, &format!("seed {seed}: {line}"));
        }
    }
    // Else the rules were never looked at.
    assert!(sent > 1_000 && reported > 1_000, "{sent} sent, {reported} reported");
}

fn any_line(next: &mut impl FnMut(u64) -> u64) -> String {
    let target = next(3) + 1;
    match next(10) {
        0 => format!("< p{target} joins"),
        1 | 2 => format!("< p{target} stops {} breakpoint", next(2) + 1),
        3 => format!("< p{target} stops {} breakpoint alone", next(2) + 1),
        4 => format!("< p{target} continues"),
        5 => format!("< p{target} thread {}", next(2) + 1),
        6 => format!("< p{target} ends {}", next(2) + 1),
        7 => "> resume".to_owned(),
        8 => "> next".to_owned(),
        _ => "> pause".to_owned(),
    }
}

/// What is true between any two steps.
#[track_caller]
fn holds_together(state: &State, when: &str) {
    let is_stopped = *state.status() == Status::Stopped;
    assert_eq!(is_stopped, state.current.is_some(), "{when}: the status and the stop differ");
    let mut stops: Vec<ThreadKey> =
        state.current.iter().chain(&state.waiting).map(|it| it.thread).collect();
    assert!(stops.iter().all(|it| state.is_stopped(*it)), "{when}: a stop of what runs");
    assert!(is_stopped || stops.is_empty(), "{when}: a stop is kept back");
    let count = stops.len();
    stops.sort_unstable();
    stops.dedup();
    assert_eq!(stops.len(), count, "{when}: a thread stands twice");
}
