//! What `go test` says of how it went.

use crate::language::Runners;

pub(super) const RUNNERS: Runners = Runners {
    names: &["go test", ".test"],
    code: &["/src/testing/"],
    callers: &["testing.tRunner"],
    notes: &[],
    verdict,
    reason,
};

/// `--- FAIL: TestTotal (0.00s)`, and at the end `FAIL` or `PASS`.
fn verdict(last: &[&str]) -> Option<String> {
    let how = last.iter().find(|it| matches!(**it, "PASS" | "FAIL"))?;
    let count = |word: &str| last.iter().filter(|it| it.starts_with(word)).count();
    let (failed, passed) = (count("--- FAIL: "), count("--- PASS: "));
    match (*how, failed, passed) {
        ("FAIL", 0, _) => Some("failed".to_owned()),
        ("FAIL", failed, passed) => Some(format!("{failed} failed, {passed} passed")),
        (_, _, 0) => Some("passed".to_owned()),
        (_, _, passed) => Some(format!("{passed} passed")),
    }
}

/// `    cart_test.go:12: got 3, want 4`
fn reason(lines: &[&str]) -> Option<String> {
    let is_place = |it: &&&str| {
        let place = it.trim_start().split_once(": ").map(|(place, _)| place);
        place.is_some_and(|it| it.contains("_test.go:") && it.starts_with(|c: char| c != ' '))
    };
    let begins_panic = |it: &&&str| it.starts_with("panic: ");
    lines
        .iter()
        .find(begins_panic)
        .or_else(|| lines.iter().find(is_place))
        .map(|it| it.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_went_and_why_are_read() {
        let output = "=== RUN   TestTotal\n    cart_test.go:12: got 3, want 4\n--- FAIL: TestTotal (0.00s)\nFAIL";
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(reason(&lines).as_deref(), Some("cart_test.go:12: got 3, want 4"));
        let last: Vec<&str> = output.lines().rev().map(str::trim).collect();
        assert_eq!(verdict(&last).as_deref(), Some("1 failed, 0 passed"));
        assert_eq!(verdict(&["PASS", "--- PASS: TestA (0.00s)"]).as_deref(), Some("1 passed"));
        assert_eq!(verdict(&["all is well"]), None);
    }
}
