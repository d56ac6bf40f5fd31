//! What the program wrote, in one line: all of it where that is short, a test runner's verdict, else the last line
//! and the call that shows the rest.

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
    let all = format!("debug_output {{\"session_id\": \"{}\"}}", session.id);
    let runs_tests = session.launch().is_some_and(runs_tests);
    if let Some(verdict) = runs_tests.then(|| verdict(&lines)).flatten() {
        return Some(format!("tests: {verdict} · all output: {all}"));
    }
    if runs_tests {
        return Some(format!("output, without a verdict yet: {all}"));
    }
    if text.len() <= SHORT_BYTES && lines.len() <= SHORT_LINES {
        return Some(format!("output: {}", lines.join(" ⏎ ")));
    }
    let last = lines.last().copied().unwrap_or_default();
    let last = budget::cut(last, SHORT_BYTES / 2);
    Some(format!("output: {} lines, the last: {last} · all: {all}", lines.len()))
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

fn runs_tests(launch: &Launch) -> bool {
    let words = launch.command.iter().chain(&launch.module).chain(&launch.args);
    let is_runner = |it: &String| RUNNERS.iter().any(|runner| it.ends_with(runner));
    launch.test.is_some() || words.into_iter().any(is_runner)
}

/// `1 failed, 2 passed in 0.12s`
fn verdict(lines: &[&str]) -> Option<String> {
    let last = lines.iter().rev().take(VERDICT_LINES).map(|it| it.trim());
    let pytest = last.clone().find_map(|line| {
        let plain = line.trim_matches('=').trim();
        let words = ["passed", "failed", "error", "skipped", "deselected", "no tests ran"];
        let is_it = words.iter().any(|it| plain.contains(it)) && plain.contains(" in ");
        (is_it && plain.ends_with(['s', ')'])).then(|| plain.to_owned())
    });
    let unittest = || {
        let ran = last.clone().find(|it| it.starts_with("Ran ") && it.contains(" test"))?;
        let how = last.clone().find(|it| it.starts_with("OK") || it.starts_with("FAILED"))?;
        Some(format!("{how}, {}", ran.to_lowercase()))
    };
    let node = || {
        let count = |what: &str| {
            let is_it = |it: &&str| {
                it.strip_prefix(['#', 'ℹ']).is_some_and(|it| it.trim().starts_with(what))
            };
            last.clone().find(is_it).and_then(|it| it.split_whitespace().next_back())
        };
        Some(format!("{} passed, {} failed", count("pass ")?, count("fail ")?))
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
        assert_eq!(verdict(&lines).as_deref(), expected);
    }

    #[test]
    fn runners_say_how_it_went() {
        check("x\n=== 1 failed, 2 passed in 0.12s ===", Some("1 failed, 2 passed in 0.12s"));
        check("..\n2 passed in 0.01s", Some("2 passed in 0.01s"));
        check(
            "Ran 3 tests in 0.001s\n\nFAILED (failures=1)",
            Some("FAILED (failures=1), ran 3 tests in 0.001s"),
        );
        check("# tests 3\n# pass 2\n# fail 1\n# duration_ms 3", Some("2 passed, 1 failed"));
        check("ℹ pass 2\nℹ fail 0", Some("2 passed, 0 failed"));
        check("Tests:       1 failed, 2 total\nTime: 1 s", Some("1 failed, 2 total"));
        check("  3 passing (4ms)\n  1 failing\n", Some("3 passing (4ms), 1 failing"));
        check("no verdict here", None);
    }
}
