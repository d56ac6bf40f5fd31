//! The one place that knows the machine's interface; the tests below are data.

use expect_test::{Expect, expect};

use super::*;

/// `< …` is what a process did, `> …` what a caller wants; below each, what the machine says.
#[track_caller]
fn check(script: &str, expect: Expect) {
    let mut state = State::default();
    let mut text = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        text.push_str(&format!("{line}\n"));
        for output in state.step(parse(line)) {
            text.push_str(&format!("    {}\n", show(&output)));
        }
    }
    text.push_str(&format!("= {:?}\n", state.status()));
    expect.assert_eq(&text);
}

fn parse(line: &str) -> Input {
    let words: Vec<&str> = line.split_whitespace().collect();
    let signal = |target: &str, signal| Input::Signal {
        target: TargetId(target.trim_start_matches('p').parse().unwrap()),
        signal,
    };
    match words[..] {
        ["<", target, "joins"] => {
            Input::Joined { target: TargetId(target.trim_start_matches('p').parse().unwrap()) }
        }
        ["<", target, "stops", thread, reason] => signal(
            target,
            Signal::Stopped(Stopped {
                thread: thread.parse().unwrap(),
                reason: StopReason::Other(reason.into()),
                hits: Vec::new(),
                text: None,
                all: true,
            }),
        ),
        ["<", target, "continues"] => signal(target, Signal::Continued { thread: None }),
        ["<", target, "thread", thread] => {
            signal(target, Signal::ThreadStarted { thread: thread.parse().unwrap(), name: None })
        }
        ["<", target, "ends", thread] => {
            signal(target, Signal::ThreadEnded { thread: thread.parse().unwrap() })
        }
        ["<", target, "goes"] => signal(target, Signal::Gone { reason: String::new() }),
        ["<", "exits"] => Input::Exited,
        [">", "resume"] => Input::Resume,
        [">", "next"] => Input::Step { thread: None, step: Step::Over },
        [">", "pause"] => Input::Pause,
        [">", "steps", thread] => {
            Input::Step { thread: Some(thread.parse().unwrap()), step: Step::Over }
        }
        ["<", target, "refuses", epoch] => Input::Refused {
            target: TargetId(target.trim_start_matches('p').parse().unwrap()),
            epoch: Epoch(epoch.parse().unwrap()),
        },
        _ => panic!("no such step: {line}"),
    }
}

fn show(output: &Output) -> String {
    match output {
        Output::Resume { thread, .. } => format!("send resume {thread}"),
        Output::Step { thread, step, .. } => format!("send step {thread} {step:?}"),
        Output::Pause { target } => format!("send pause p{}", target.0),
        Output::Report(stop) => {
            let again = if stop.is_again { " again" } else { "" };
            format!("report {} thread {} {}{again}", stop.epoch, stop.thread, stop.reason.as_str())
        }
        Output::Running => "running".into(),
        Output::Over => "over".into(),
        Output::ThreadsChanged => "threads".into(),
        Output::Ended => "ended".into(),
        Output::Refuse(refusal) => format!("refuse {refusal:?}"),
    }
}

#[test]
fn a_program_stops_steps_and_ends() {
    check(
        "
        < p1 joins
        < p1 thread 1
        < p1 stops 1 entry
        > next
        < p1 continues
        < p1 stops 1 step
        > resume
        < p1 continues
        < p1 goes
        < exits
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 thread 1
                threads
            < p1 stops 1 entry
                report 1 thread 1 entry
            > next
                send step 1 Over
                running
            < p1 continues
            < p1 stops 1 step
                report 2 thread 1 step
            > resume
                send resume 1
                running
            < p1 continues
            < p1 goes
                threads
            < exits
                ended
            > resume
                refuse Ended
            = Ended
        "#]],
    );
}

#[test]
fn resume_twice_is_refused_not_sent_twice() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        > resume
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            > resume
                refuse AlreadyRunning
            = Running
        "#]],
    );
}

/// `stopped` may come before the answer to the request that caused it, and before `continued`.
#[test]
fn a_stop_before_the_answer_is_not_undone() {
    check(
        "
        < p1 joins
        < p1 stops 1 entry
        > next
        < p1 stops 1 step
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 entry
                report 1 thread 1 entry
            > next
                send step 1 Over
                running
            < p1 stops 1 step
                report 2 thread 1 step
            = Stopped
        "#]],
    );
}

/// Two workers hit the same line: the second is reported when the first runs on, never resumed unseen.
#[test]
fn stops_of_two_processes_are_reported_one_after_the_other() {
    check(
        "
        < p1 joins
        < p2 joins
        < p3 joins
        < p2 stops 2 breakpoint
        < p3 stops 2 breakpoint
        > resume
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p3 joins
                threads
            < p2 stops 2 breakpoint
                report 1 thread 2/2 breakpoint
            < p3 stops 2 breakpoint
            > resume
                send resume 2/2
                running
                report 2 thread 3/2 breakpoint
            > resume
                send resume 3/2
                running
            = Running
        "#]],
    );
}

#[test]
fn a_stopped_process_that_goes_is_no_longer_stopped() {
    check(
        "
        < p1 joins
        < p2 joins
        < p2 stops 1 breakpoint
        < p2 goes
        > pause
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p2 stops 1 breakpoint
                report 1 thread 2/1 breakpoint
            < p2 goes
                threads
                running
            > pause
                send pause p1
            = Running
        "#]],
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    check(
        "
        > resume
        > pause
        < p1 joins
        > next
        < p1 stops 1 entry
        > pause
        ",
        expect![[r#"
            > resume
                refuse NotStarted
            > pause
                refuse NotStarted
            < p1 joins
                threads
            > next
                refuse AlreadyRunning
            < p1 stops 1 entry
                report 1 thread 1 entry
            > pause
                refuse AlreadyStopped
            = Stopped
        "#]],
    );
}

#[test]
fn a_refused_resume_stands_again_and_the_next_is_sent() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        > resume
        < p1 refuses 1
        > resume
        < p1 refuses 1
        < p1 refuses 2
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            < p1 refuses 1
                report 2 thread 1 breakpoint again
            > resume
                send resume 1
                running
            < p1 refuses 1
            < p1 refuses 2
                report 3 thread 1 breakpoint again
            = Stopped
        "#]],
    );
}

#[test]
fn what_a_process_says_counts_more_than_a_refusal() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        > resume
        < p1 continues
        < p1 refuses 1
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            < p1 continues
            < p1 refuses 1
            = Running
        "#]],
    );
}

#[test]
fn stops_of_two_threads_are_reported_one_after_the_other() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 2 breakpoint
        > next
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 2 breakpoint
            > next
                over
                report 2 thread 2 breakpoint
            > resume
                send resume 2
                running
            = Running
        "#]],
    );
}

#[test]
fn a_step_of_a_thread_of_another_process_leaves_the_stop_standing() {
    check(
        "
        < p1 joins
        < p2 joins
        < p1 stops 1 breakpoint
        < p2 stops 1 breakpoint
        > steps 2/1
        < p2 refuses 1
        > steps 2/1
        < p2 stops 1 step
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p2 stops 1 breakpoint
            > steps 2/1
                send step 2/1 Over
            < p2 refuses 1
            > steps 2/1
                send step 2/1 Over
            < p2 stops 1 step
            > resume
                send resume 1
                running
                report 2 thread 2/1 step
            = Stopped
        "#]],
    );
}

#[test]
fn what_was_put_by_is_sent_when_the_other_stop_goes() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 2 breakpoint
        > next
        < p1 ends 2
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 2 breakpoint
            > next
                over
                report 2 thread 2 breakpoint
            < p1 ends 2
                threads
                running
                send step 1 Over
            = Running
        "#]],
    );
}

#[test]
fn a_program_that_goes_while_it_stands_does_not_run_on() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 goes
        < exits
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 goes
                threads
                over
            < exits
                ended
            = Ended
        "#]],
    );
}

#[test]
fn a_stop_after_the_process_is_gone_is_none() {
    check(
        "
        < p1 joins
        < p2 joins
        < p2 goes
        < p2 stops 1 breakpoint
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p2 goes
                threads
            < p2 stops 1 breakpoint
            = Running
        "#]],
    );
}

#[test]
fn nobody_pauses_what_is_not_there() {
    check(
        "
        < p1 joins
        < p1 goes
        > pause
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 goes
                threads
            > pause
                refuse NoProcess
            = Running
        "#]],
    );
}

/// Any interleaving, every seed, the same rules.
#[test]
fn a_thousand_seeds() {
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
            let target = next(3) + 1;
            let line = match next(9) {
                0 => format!("< p{target} joins"),
                1 | 2 => format!("< p{target} stops {} breakpoint", next(2) + 1),
                3 => format!("< p{target} continues"),
                4 => format!("< p{target} thread {}", next(2) + 1),
                5 => format!("< p{target} ends {}", next(2) + 1),
                6 => "> resume".to_owned(),
                7 => "> next".to_owned(),
                _ => "> pause".to_owned(),
            };
            let was_stopped = *state.status() == Status::Stopped;
            for output in state.step(parse(&line)) {
                match output {
                    Output::Resume { .. } | Output::Step { .. } => {
                        assert!(was_stopped, "seed {seed}: {line} was sent to a running program");
                    }
                    Output::Report(stop) => {
                        assert!(newest < stop.epoch, "seed {seed}: an epoch came again");
                        newest = stop.epoch;
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn a_program_that_starts_thousands_is_not_remembered_one_by_one() {
    let mut state = State::default();
    state.step(parse("< p1 joins"));
    for child in 2..5_000 {
        state.step(parse(&format!("< p{child} joins")));
        state.step(parse(&format!("< p{child} goes")));
    }
    assert!(state.targets.len() <= limits::TARGETS_KNOWN, "{}", state.targets.len());
    // One of the first says late that it stopped: it is gone all the same.
    assert!(state.step(parse("< p2 stops 1 breakpoint")).is_empty());
    assert_eq!(*state.status(), Status::Running);
}
