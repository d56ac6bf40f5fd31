//! Callers in few words: recursion and cycles are told once with their count.

/// The longest cycle of frames that is looked for.
const CYCLE: usize = 4;

/// Lines, or several in a row that repeat, and how often.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded<'a> {
    pub(super) lines: &'a [String],
    pub(super) times: usize,
}

/// What repeats at once is one entry.
pub(super) fn fold(mut rest: &[String]) -> Vec<Folded<'_>> {
    let mut folded = Vec::new();
    while !rest.is_empty() {
        // What is shown once and counted must save lines.
        let best = (1..=CYCLE).map(|period| (period, repeats(rest, period)));
        let best = best
            .filter(|(_, times)| *times > 1)
            .max_by_key(|(period, times)| (period * times, std::cmp::Reverse(*period)));
        let (period, times) = best.unwrap_or((1, 1));
        let Some((lines, _)) = rest.split_at_checked(period) else { break };
        folded.push(Folded { lines, times });
        rest = rest.get(period * times..).unwrap_or_default();
    }
    folded
}

/// How often the first so many lines come one after the other.
fn repeats(lines: &[String], period: usize) -> usize {
    let Some(first) = lines.get(..period) else { return 0 };
    lines.chunks(period).take_while(|it| *it == first).count()
}

/// `← a ← b ×12 ← c`; of cycles `← (a ← b) ×3`.
pub(super) fn names(all: &[String]) -> String {
    let one = |it: &Folded<'_>| match (it.lines, it.times) {
        ([name], 1) => format!("← {name}"),
        ([name], times) => format!("← {name} ×{times}"),
        (many, times) => format!("← ({}) ×{times}", many.join(" ← ")),
    };
    fold(all).iter().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let all: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        assert_eq!(names(&all), expected);
    }

    #[test]
    fn recursion_and_cycles_are_told_once() {
        check("a b c", "← a ← b ← c");
        check("a a a b", "← a ×3 ← b");
        check("x a b a b a b y", "← x ← (a ← b) ×3 ← y");
        check("a a a a", "← a ×4");
        check("", "");
    }
}
