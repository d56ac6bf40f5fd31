//! The one place that knows the machine's interface; the tests beside it are data.

mod program;
mod refusals;
mod seeds;
mod several;

use expect_test::Expect;

use super::*;

/// `< …` is what a process did, `> …` what a caller wants; below each, what the machine says.
/// `? threads` asks for all that are known, a `*` at those that stand.
#[track_caller]
fn check(script: &str, expect: Expect) {
    let mut state = State::default();
    let mut text = String::new();
    for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
        text.push_str(&format!("{line}\n"));
        if line == "? threads" {
            text.push_str(&format!("    {}\n", threads(&state)));
            continue;
        }
        for output in state.step(parse(line)) {
            text.push_str(&format!("    {}\n", show(&output)));
        }
    }
    text.push_str(&format!("= {:?}\n", state.status()));
    expect.assert_eq(&text);
}

fn threads(state: &State) -> String {
    let each = state.threads().map(|(key, name, is_stopped)| {
        let name = name.map(|it| format!(" {it}")).unwrap_or_default();
        format!("{key}{name}{}", if is_stopped { "*" } else { "" })
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}

fn stopped(thread: &str, reason: &str, all: bool) -> Signal {
    Signal::Stopped(Stopped {
        thread: thread.parse().unwrap(),
        reason: StopReason::Other(reason.into()),
        hits: Vec::new(),
        text: None,
        all,
    })
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
        ["<", target, "stops", thread, reason] => signal(target, stopped(thread, reason, true)),
        ["<", target, "stops", thread, reason, "alone"] => {
            signal(target, stopped(thread, reason, false))
        }
        ["<", target, "continues"] => signal(target, Signal::Continued { thread: None }),
        ["<", target, "continues", thread] => {
            signal(target, Signal::Continued { thread: Some(thread.parse().unwrap()) })
        }
        ["<", target, "thread", thread, ref name @ ..] => {
            let name = name.first().map(|it| (*it).to_owned());
            signal(target, Signal::ThreadStarted { thread: thread.parse().unwrap(), name })
        }
        ["<", target, "ending"] => signal(target, Signal::Ended),
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
