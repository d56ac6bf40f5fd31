//! Places in a program's output: a test run writes thousands of lines, and one of them matters.

use holdpoint_engine::{
    budget::{self, Budget, Lines},
    limits,
};

/// The lines with a text, each with some around it, as many as fit.
#[derive(Debug, PartialEq)]
pub(super) struct Matches {
    pub(super) text: String,
    pub(super) total: usize,
    pub(super) shown: usize,
}

impl Matches {
    pub(super) fn of(output: &str, wanted: &str, budget: Budget) -> Matches {
        let lines: Vec<&str> = output.lines().collect();
        let has = |line: &&str| line.contains(wanted);
        let places: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| has(line)).map(|(at, _)| at).collect();
        let mut told = Lines::within(budget);
        let mut shown = 0;
        // The first line that no earlier place has told.
        let mut next = 0;
        for (at, following) in places.iter().zip(places.iter().skip(1).chain([&lines.len()])) {
            let first = at.saturating_sub(limits::FOUND_BEFORE).max(next);
            let last = (at + limits::FOUND_AFTER + 1).min(*following).min(lines.len());
            let gap = if shown > 0 && first > next { "…\n" } else { "" };
            let around = lines.get(first..last).unwrap_or_default();
            let place: Vec<String> = (first + 1..)
                .zip(around)
                .map(|(number, line)| {
                    format!("{number}: {}", budget::cut(line, limits::SOURCE_LINE))
                })
                .collect();
            if !told.push(&format!("{gap}{}", place.join("\n"))) {
                break;
            }
            next = last;
            shown += 1;
        }
        Matches { text: told.into_text(), total: places.len(), shown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, tokens: usize, text: &str, shown: usize, total: usize) {
        let found = Matches::of(output, "not ok", Budget::tokens(tokens));
        assert_eq!(found, Matches { text: text.to_owned(), total, shown });
    }

    #[test]
    fn places_come_with_their_lines_and_numbers() {
        let after = "\n".repeat(limits::FOUND_AFTER + 5);
        check("ok 1\nok 2\nnot ok 3\n  got 2\n", 100, "2: ok 2\n3: not ok 3\n4:   got 2", 1, 1);
        check("not ok 1\nnot ok 2\nok 3", 100, "1: not ok 1\n2: not ok 2\n3: ok 3", 2, 2);
        let far = format!("not ok 1{after}not ok 2");
        let text = Matches::of(&far, "not ok", Budget::tokens(100)).text;
        assert!(
            text.starts_with("1: not ok 1\n2: \n") && text.contains("\n…\n13: \n14: not ok 2"),
            "{text}"
        );
        check("ok 1\nok 2", 100, "", 0, 0);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        check("not ok 1\nnot ok 2\nnot ok 3", 4, "1: not ok 1", 1, 3);
        let long = format!("not ok {}", "x".repeat(10_000));
        let found = Matches::of(&long, "not ok", Budget::tokens(100));
        assert!(found.text.len() < 2 * limits::SOURCE_LINE, "{}", found.text.len());
    }
}
