//! What minitest, test-unit and RSpec say of how it went.

use crate::language::Runners;

pub(super) const RUNNERS: Runners = Runners {
    names: &["rspec", "minitest", "_test.rb", "_spec.rb"],
    code: &["/minitest", "/rspec", "/test-unit", "/test/unit"],
    callers: &["Minitest::Test#run", "RSpec::Core::Example#run"],
    notes: &[],
    verdict,
    reason,
};

/// `3 runs, 5 assertions, 1 failures, 0 errors, 0 skips`, `2 examples, 1 failure`
fn verdict(last: &[&str]) -> Option<String> {
    let counts = |it: &&&str| {
        let begins = it.starts_with(|it: char| it.is_ascii_digit());
        begins && (it.contains(" assertions, ") || it.contains(" example"))
    };
    last.iter().find(counts).map(|it| (*it).to_owned())
}

/// `CartTest#test_total [/srv/cart_test.rb:7]:`, and below it what was wrong; RSpec says it the other way round.
fn reason(lines: &[&str]) -> Option<String> {
    let minitest = lines.iter().position(|it| it.ends_with("]:") && it.contains(" ["));
    if let Some(at) = minitest {
        let place = lines.get(at)?.rsplit_once(" [")?.1.trim_end_matches("]:");
        let said = lines.get(at + 1)?.trim();
        return Some(format!("{place} {said}"));
    }
    let at = lines.iter().position(|it| it.trim().starts_with("Failure/Error:"))?;
    let rest = lines.get(at..)?;
    let said: Vec<&str> =
        rest.iter().skip(1).map(|it| it.trim()).filter(|it| !it.is_empty()).take(2).collect();
    let place = rest.iter().find_map(|it| it.trim().strip_prefix("# "))?;
    let place = place.split(":in ").next().unwrap_or(place);
    Some(format!("{place} {}", said.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_went_and_why_are_read() {
        let minitest = "  1) Failure:\nCartTest#test_total [/srv/cart_test.rb:7]:\nExpected: 4\n  Actual: 3\n\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips";
        let lines: Vec<&str> = minitest.lines().collect();
        assert_eq!(reason(&lines).as_deref(), Some("/srv/cart_test.rb:7 Expected: 4"));
        let last: Vec<&str> = minitest.lines().rev().map(str::trim).collect();
        let told = "1 runs, 1 assertions, 1 failures, 0 errors, 0 skips";
        assert_eq!(verdict(&last).as_deref(), Some(told));
        let rspec = "     Failure/Error: expect(total).to eq 4\n\n       expected: 4\n            got: 3\n     # ./cart_spec.rb:5:in `block'\n\n1 example, 1 failure";
        let lines: Vec<&str> = rspec.lines().collect();
        assert_eq!(reason(&lines).as_deref(), Some("./cart_spec.rb:5 expected: 4, got: 3"));
    }
}
