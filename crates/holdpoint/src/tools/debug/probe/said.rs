//! What the program wrote, in one line: all of it where that is short, a test runner's verdict, else the last line
//! and the call that shows the rest.

mod reason;

use holdpoint_engine::{
    budget,
    launch::Launch,
    session::{Session, Stream},
};

/// Output up to this is shown as it is.
const SHORT_BYTES: usize = 240;
const SHORT_LINES: usize = 4;
/// Lines at the end of a test runner's output in which its verdict stands.
const VERDICT_LINES: usize = 40;

/// Runners whose words at the end are known.
const RUNNERS: &[&str] = &["pytest", "py.test", "unittest", "--test", "jest", "vitest", "mocha"];

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
    session.launch().filter(|it| runs_tests(it))?;
    let text = written(session);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    let verdict = counted(&lines)?;
    let reason = reason::of(&lines, session.cwd()).filter(|_| has_failed(&verdict));
    Some((verdict, reason))
}

pub(super) fn has_failed(verdict: &str) -> bool {
    ["failed", "FAILED", "error", "failing"].iter().any(|it| verdict.contains(it))
}

/// What there is to say about how it was started.
pub(super) fn note(session: &Session) -> Option<String> {
    let text = session.output.since(0, Some(Stream::Debugger)).text;
    let first = text.lines().find(|it| it.contains("has no pytest"))?;
    Some(first.to_owned())
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
    let is_runner = |it: &String| RUNNERS.iter().any(|runner| it.ends_with(runner));
    launch.test.is_some() || words.into_iter().any(is_runner)
}

/// `1 failed, 2 passed`
fn counted(lines: &[&str]) -> Option<String> {
    let last = lines.iter().rev().take(VERDICT_LINES).map(|it| it.trim());
    let pytest = last.clone().find_map(|line| {
        let plain = line.trim_matches('=').trim();
        let words = ["passed", "failed", "error", "skipped", "deselected", "no tests ran"];
        let is_it = words.iter().any(|it| plain.contains(it)) && plain.contains(" in ");
        let counts = plain.rsplit_once(" in ").map_or(plain, |(counts, _)| counts);
        (is_it && plain.ends_with(['s', ')'])).then(|| counts.to_owned())
    });
    let unittest = || {
        let ran = last.clone().find(|it| it.starts_with("Ran ") && it.contains(" test"))?;
        let how = last.clone().find(|it| it.starts_with("OK") || it.starts_with("FAILED"))?;
        let ran = ran.split(" in ").next().unwrap_or(ran);
        Some(format!("{how}, {}", ran.to_lowercase()))
    };
    let node = || {
        let count = |what: &str| {
            let is_it = |it: &&str| {
                it.strip_prefix(['#', 'ℹ']).is_some_and(|it| it.trim().starts_with(what))
            };
            last.clone().find(is_it).and_then(|it| it.split_whitespace().next_back())
        };
        match (count("pass ")?, count("fail ")?) {
            ("0", failed) => Some(format!("{failed} failed")),
            (passed, "0") => Some(format!("{passed} passed")),
            (passed, failed) => Some(format!("{passed} passed, {failed} failed")),
        }
    };
    let jest = || {
        let line = last.clone().find(|it| it.starts_with("Tests"))?;
        Some(line.trim_start_matches("Tests").trim_start_matches(':').trim().to_owned())
    };
    let mocha = || {
        let is_it = |it: &&str| it.contains(" passing") || it.contains(" failing");
        let all: Vec<&str> = last.clone().filter(is_it).collect();
        (!all.is_empty()).then(|| all.into_iter().rev().collect::<Vec<_>>().join(", "))
    };
    let found = pytest.or_else(unittest).or_else(node).or_else(jest).or_else(mocha);
    found.map(|it| budget::cut(&it, 160))
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
}
