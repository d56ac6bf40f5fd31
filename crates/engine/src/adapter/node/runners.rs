//! What runners of JavaScript tests are called, and what they say of how it went.

use crate::language::Runners;

pub(super) const RUNNERS: Runners = Runners {
    names: &["--test", "jest", "vitest", "mocha"],
    code: &[],
    callers: &[],
    notes: &[],
    verdict,
    reason,
};

/// `2 passed, 1 failed`, or as the runner itself says it.
fn verdict(last: &[&str]) -> Option<String> {
    let node = || {
        let count = |what: &str| {
            let is_it = |it: &&&str| {
                it.strip_prefix(['#', 'ℹ']).is_some_and(|it| it.trim().starts_with(what))
            };
            last.iter().find(is_it).and_then(|it| it.split_whitespace().next_back())
        };
        match (count("pass ")?, count("fail ")?) {
            ("0", failed) => Some(format!("{failed} failed")),
            (passed, "0") => Some(format!("{passed} passed")),
            (passed, failed) => Some(format!("{passed} passed, {failed} failed")),
        }
    };
    let jest = || {
        let line = last.iter().find(|it| it.starts_with("Tests"))?;
        Some(line.trim_start_matches("Tests").trim_start_matches(':').trim().to_owned())
    };
    let mocha = || {
        let is_it = |it: &&&str| it.contains(" passing") || it.contains(" failing");
        let all: Vec<&str> = last.iter().filter(is_it).copied().collect();
        (!all.is_empty()).then(|| all.into_iter().rev().collect::<Vec<_>>().join(", "))
    };
    node().or_else(jest).or_else(mocha)
}

/// The first test that is `not ok`, or stands with a cross below `failing tests:`.
fn reason(lines: &[&str]) -> Option<String> {
    let tap = lines.iter().position(|it| it.trim_start().starts_with("not ok "));
    let tap = tap.and_then(|at| {
        let name = lines.get(at)?.split_once(" - ")?.1;
        let error = value(lines, at, "error:");
        Some(told(lines, at, name, error))
    });
    tap.or_else(|| {
        let at = lines.iter().position(|it| it.contains("failing tests:"))?;
        let rest = lines.get(at + 1..)?;
        let cross = rest.iter().position(|it| it.trim_start().starts_with('✖'))?;
        let name = rest.get(cross)?.trim_start().trim_start_matches('✖').trim();
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        let error = rest.get(cross + 1).map(|it| it.trim().to_owned());
        Some(told(rest, cross, name, error))
    })
}

fn told(lines: &[&str], at: usize, name: &str, error: Option<String>) -> String {
    let place = lines.iter().skip(at).take(60).find_map(|it| place(it));
    let place = place.map(|it| format!(" ({it})")).unwrap_or_default();
    let error = error.map(|it| format!(" {}", it.trim_matches('\''))).unwrap_or_default();
    format!("{name}{place}{error}")
}

/// What stands behind a word, or in the first line of the block below it.
fn value(lines: &[&str], from: usize, word: &str) -> Option<String> {
    let at = (from..lines.len().min(from + 12))
        .find(|at| lines.get(*at).is_some_and(|it| it.trim_start().starts_with(word)))?;
    let own = lines.get(at)?.trim_start().strip_prefix(word)?.trim();
    if own.starts_with('|') {
        return lines.get(at + 1).map(|it| it.trim().to_owned());
    }
    Some(own.to_owned())
}

/// `TestContext.<anonymous> (/home/me/a.test.js:24:10)` of the user's own code.
fn place(line: &str) -> Option<String> {
    let inside = line
        .rsplit_once('(')
        .map_or_else(|| line.trim().strip_prefix("at "), |(_, it)| it.strip_suffix(')'))?;
    let inside = inside.trim_start_matches("file://");
    let mut parts = inside.rsplitn(3, ':');
    let (column, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let is_place = column.parse::<u32>().is_ok() && number.parse::<u32>().is_ok();
    (is_place && file.starts_with('/')).then(|| format!("{file}:{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_told_with_its_place() {
        let check = |output: &str, expected: Option<&str>| {
            let lines: Vec<&str> = output.lines().collect();
            assert_eq!((RUNNERS.reason)(&lines).as_deref(), expected);
        };
        check(
            "ok 1 - other\nnot ok 2 - the list is kept\n  ---\n  location: '/home/me/q.test.js:13:1'\n  \
             error: |-\n    Expected values to be equal:\n  stack: |-\n    \
             new AssertionError (node:internal/assert:1:1)\n    \
             TestContext.<anonymous> (/home/me/q.test.js:24:10)\n# pass 1\n# fail 1",
            Some("the list is kept (/home/me/q.test.js:24) Expected values to be equal:"),
        );
        check(
            "✖ failing tests:\n\ntest at q.test.js:13:1\n✖ adds up (1.2ms)\n  AssertionError: 3 !== 4\n      \
             at TestContext.<anonymous> (file:///home/me/q.test.js:24:10)\n",
            Some("adds up (/home/me/q.test.js:24) AssertionError: 3 !== 4"),
        );
        check("all is well", None);
    }

    #[test]
    fn a_verdict_is_read_from_the_end() {
        let check = |output: &str, expected: Option<&str>| {
            let lines: Vec<&str> = output.lines().rev().map(str::trim).collect();
            assert_eq!(verdict(&lines).as_deref(), expected);
        };
        check("# tests 3\n# pass 2\n# fail 1\n# duration_ms 3", Some("2 passed, 1 failed"));
        check("Tests:       1 failed, 2 total\nTime: 1 s", Some("1 failed, 2 total"));
        check("  3 passing (4ms)\n  1 failing\n", Some("3 passing (4ms), 1 failing"));
        check("all is well", None);
    }
}
