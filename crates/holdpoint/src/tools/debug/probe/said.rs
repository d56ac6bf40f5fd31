//! What the program wrote, in one line: all of it where that is short, a test runner's verdict, else the last line
//! and the call that shows the rest. What runners of tests say, their languages know.

use std::path::Path;

use holdpoint_engine::{
    adapter, budget,
    launch::Launch,
    session::{Session, Stream},
};

/// Output up to this is shown as it is.
const SHORT_BYTES: usize = 240;
const SHORT_LINES: usize = 4;
/// Lines at the end of a test runner's output in which its verdict stands.
const VERDICT_LINES: usize = 40;
/// Bytes of a verdict, and of a reason.
const VERDICT_BYTES: usize = 160;
const REASON_BYTES: usize = 240;

/// The line about the output; none where there was none.
pub(super) fn line(session: &Session) -> Option<String> {
    let text = written(session);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    if text.len() <= SHORT_BYTES && lines.len() <= SHORT_LINES {
        return Some(format!("output: {}", lines.join(" ⏎ ")));
    }
    let last = lines.last().copied().unwrap_or_default();
    let last = budget::cut(last, SHORT_BYTES / 2);
    Some(format!("output: {} lines, the last: {last} · all: {}", lines.len(), call(session)))
}

fn call(session: &Session) -> String {
    format!("debug_output {{\"session_id\": \"{}\"}}", session.id)
}

/// How the tests went, if these were some: `2 passed`, `1 failed: a.py:3 AssertionError: … · all: debug_output …`
pub(super) fn verdict(session: &Session) -> Option<String> {
    let (verdict, reason) = judged(session)?;
    match reason {
        Some(reason) => Some(format!("{verdict}: {reason} · all: {}", call(session))),
        None if has_failed(&verdict) => Some(format!("{verdict} · all: {}", call(session))),
        None => Some(verdict),
    }
}

/// The verdict, and the first failure's reason.
pub(super) fn judged(session: &Session) -> Option<(String, Option<String>)> {
    let launch = session.launch().filter(|it| runs_tests(it))?;
    let text = written(session);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    let verdict = counted(&lines)?;
    let reason = reason(&lines, launch, session.cwd()).filter(|_| has_failed(&verdict));
    Some((verdict, reason))
}

pub(super) fn has_failed(verdict: &str) -> bool {
    ["failed", "FAILED", "error", "failing"].iter().any(|it| verdict.contains(it))
}

/// What there is to say about how it was started.
pub(super) fn note(session: &Session) -> Option<String> {
    let text = session.output.since(0, Some(Stream::Debugger)).text;
    let is_one =
        |it: &&str| adapter::runners().flat_map(|it| it.notes).any(|words| it.contains(words));
    text.lines().find(is_one).map(str::to_owned)
}

/// The program's own words; a debugger's are not.
fn written(session: &Session) -> String {
    if session.output.since(0, Some(Stream::Debugger)).text.is_empty() {
        return session.output.since(0, None).text;
    }
    let of = |stream| session.output.since(0, Some(stream)).text;
    format!("{}\n{}", of(Stream::Stdout), of(Stream::Stderr))
}

pub(super) fn runs_tests(launch: &Launch) -> bool {
    let words = launch.command.iter().chain(&launch.module).chain(&launch.args);
    let is_runner =
        |it: &String| adapter::runners().flat_map(|it| it.names).any(|runner| it.ends_with(runner));
    launch.test.is_some() || words.into_iter().any(is_runner)
}

/// `1 failed, 2 passed`
fn counted(lines: &[&str]) -> Option<String> {
    let last: Vec<&str> = lines.iter().rev().take(VERDICT_LINES).map(|it| it.trim()).collect();
    let found = adapter::runners().find_map(|it| (it.verdict)(&last));
    found.map(|it| budget::cut(&it, VERDICT_BYTES))
}

/// Why the first test failed: the runners of the program's own language are asked first.
fn reason(lines: &[&str], launch: &Launch, cwd: &Path) -> Option<String> {
    let own = adapter::choose(launch).ok().map(|it| it.runners());
    let found = own.into_iter().chain(adapter::runners()).find_map(|it| (it.reason)(lines));
    let here = format!("{}/", cwd.display());
    found.map(|it| budget::cut(&it.replace(&here, ""), REASON_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(counted(&lines).as_deref(), expected);
    }

    #[test]
    fn runners_say_how_it_went() {
        check("x\n=== 1 failed, 2 passed in 0.12s ===", Some("1 failed, 2 passed"));
        check("..\n2 passed in 0.01s", Some("2 passed"));
        check(
            "Ran 3 tests in 0.001s\n\nFAILED (failures=1)",
            Some("FAILED (failures=1), ran 3 tests"),
        );
        check("# tests 3\n# pass 2\n# fail 1\n# duration_ms 3", Some("2 passed, 1 failed"));
        check("ℹ pass 2\nℹ fail 0", Some("2 passed"));
        check("Tests:       1 failed, 2 total\nTime: 1 s", Some("1 failed, 2 total"));
        check("  3 passing (4ms)\n  1 failing\n", Some("3 passing (4ms), 1 failing"));
        check("no verdict here", None);
    }

    #[test]
    fn a_reason_is_told_from_where_the_program_runs() {
        let launch = Launch { test: Some("test_a.py".to_owned()), ..Launch::default() };
        let output = "Traceback (most recent call last):\n  File \"/home/me/test_a.py\", line 5, in t\n    \
                      f()\nValueError: no\nnot ok 2 - of another language";
        let lines: Vec<&str> = output.lines().collect();
        let told = reason(&lines, &launch, Path::new("/home/me"));
        assert_eq!(told.as_deref(), Some("test_a.py:5 ValueError: no"));
    }
}
