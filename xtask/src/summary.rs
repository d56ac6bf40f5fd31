//! What a step came to, and the one table at the end.
//!
//! Every step counts at least once: a check without tests of its own, such as `fmt`, is one
//! test that passed or failed. So the last line's `failed` is zero exactly when all is well.

use std::time::Duration;

use crate::process::Finished;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
}

impl Counts {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    /// Something it needs is missing on this machine; in CI that is a failure.
    Skipped,
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

/// What one step came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) counts: Counts,
    /// What ran, or why not.
    pub(crate) note: String,
}

impl Outcome {
    /// A check that passes or fails as a whole.
    pub(crate) fn of_check(finished: &Finished, ran: &str) -> Self {
        if finished.success() {
            let counts = Counts { passed: 1, ..Counts::default() };
            return Self { verdict: Verdict::Passed, counts, note: ran.to_owned() };
        }
        Self::failed(format!("{ran}: {}", finished.how_it_ended()))
    }

    /// A test runner, with the totals found in what it printed.
    pub(crate) fn of_tests(finished: &Finished, totals: Option<Counts>, ran: &str) -> Self {
        let Some(counts) = totals.filter(|counts| *counts != Counts::default()) else {
            return Self::failed(format!("{ran}: no tests ran, {}", finished.how_it_ended()));
        };
        if finished.success() && counts.failed == 0 {
            return Self { verdict: Verdict::Passed, counts, note: ran.to_owned() };
        }
        // What failed may have been before or after the tests: it must show in the total.
        let counts = Counts { failed: counts.failed.max(1), ..counts };
        let note = format!("{ran}: {}", finished.how_it_ended());
        Self { verdict: Verdict::Failed, counts, note }
    }

    /// Tests that failed first and passed the second time: they count as passed, and it is said which.
    pub(crate) fn shaky(self, which: &str) -> Self {
        let counts =
            Counts { passed: self.counts.passed + self.counts.failed, failed: 0, ..self.counts };
        let note = format!("{}; SHAKY, passed the second time: {which}", self.note);
        Self { verdict: Verdict::Passed, counts, note }
    }

    pub(crate) fn failed(note: String) -> Self {
        let counts = Counts { failed: 1, ..Counts::default() };
        Self { verdict: Verdict::Failed, counts, note }
    }

    pub(crate) fn skipped(note: String) -> Self {
        let counts = Counts { skipped: 1, ..Counts::default() };
        Self { verdict: Verdict::Skipped, counts, note }
    }

    /// Several runs of one step.
    pub(crate) fn of_all(runs: Vec<Self>) -> Self {
        let counts = runs.iter().fold(Counts::default(), |sum, run| sum.plus(run.counts));
        let failed = runs.iter().any(|run| run.verdict == Verdict::Failed);
        let verdict = if failed { Verdict::Failed } else { Verdict::Passed };
        let note = runs.into_iter().map(|run| run.note).collect::<Vec<_>>().join("; ");
        Self { verdict, counts, note }
    }

    /// In CI nothing may be missing: what the tests need, this command installs.
    pub(crate) fn judged_in_ci(self) -> Self {
        let Counts { passed, failed, skipped } = self.counts;
        if skipped == 0 {
            return self;
        }
        let counts = Counts { passed, failed: failed + skipped, skipped: 0 };
        let note = format!("{} ({skipped} skipped, which CI does not allow)", self.note);
        Self { verdict: Verdict::Failed, counts, note }
    }
}

/// One row of the table.
pub(crate) struct Row {
    pub(crate) step: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) elapsed: Duration,
}

/// The table and, alone on the last line, the total.
pub(crate) fn render(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.step.len()).max().unwrap_or_default().max("step".len());
    let mut text = format!(
        "{:width$}  {:7}  {:>6}  {:>6}  {:>7}  {:>7}  what ran, or why not\n",
        "step", "result", "passed", "failed", "skipped", "seconds"
    );
    for Row { step, outcome, elapsed } in rows {
        let Counts { passed, failed, skipped } = outcome.counts;
        text += &format!(
            "{step:width$}  {:7}  {passed:>6}  {failed:>6}  {skipped:>7}  {:>7.1}  {}\n",
            outcome.verdict.word(),
            elapsed.as_secs_f64(),
            outcome.note,
        );
    }
    let Counts { passed, failed, skipped } = total(rows);
    text += &format!("\n{passed} passed, {failed} failed");
    if skipped > 0 {
        text += &format!(", {skipped} skipped");
    }
    text + "\n"
}

pub(crate) fn total(rows: &[Row]) -> Counts {
    rows.iter().fold(Counts::default(), |sum, row| sum.plus(row.outcome.counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(passed: u32, skipped: u32) -> Outcome {
        let counts = Counts { passed, failed: 0, skipped };
        Outcome { verdict: Verdict::Passed, counts, note: "cargo test".into() }
    }

    fn row(step: &'static str, outcome: Outcome) -> Row {
        Row { step, outcome, elapsed: Duration::from_millis(1250) }
    }

    #[test]
    fn the_table_ends_with_the_total_alone_on_a_line() {
        let text = render(&[
            row("rust", passed(41, 0)),
            row("client-js", Outcome::skipped("no chromium".into())),
            row("conformance", Outcome::failed("no server".into())),
        ]);
        let expected = "\
step         result   passed  failed  skipped  seconds  what ran, or why not
rust         passed       41       0        0      1.2  cargo test
client-js    skipped       0       0        1      1.2  no chromium
conformance  FAILED        0       1        0      1.2  no server

41 passed, 1 failed, 1 skipped
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_passed_the_second_time_is_named() {
        let counts = Counts { passed: 40, failed: 1, skipped: 0 };
        let failed = Outcome { verdict: Verdict::Failed, counts, note: "cargo test".into() };
        let shaky = failed.shaky("a::b");
        assert_eq!(shaky.verdict, Verdict::Passed);
        assert_eq!(shaky.counts, Counts { passed: 41, failed: 0, skipped: 0 });
        assert_eq!(shaky.note, "cargo test; SHAKY, passed the second time: a::b");
    }

    #[test]
    fn ci_turns_skips_into_failures() {
        let judged = passed(3, 2).judged_in_ci();
        assert_eq!(judged.verdict, Verdict::Failed);
        assert_eq!(judged.counts, Counts { passed: 3, failed: 2, skipped: 0 });
        assert_eq!(Outcome::skipped("no npm".into()).judged_in_ci().verdict, Verdict::Failed);
        assert_eq!(passed(3, 0).judged_in_ci().verdict, Verdict::Passed);
    }
}
