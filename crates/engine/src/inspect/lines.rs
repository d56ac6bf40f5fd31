//! Which line of a text is which of a later one. Pure.

use std::collections::HashMap;

/// Pairs of lines that are compared one by one; larger changes are divided at the lines that both texts have
/// once.
const COMPARED: usize = 1_000_000;

/// Lines count from 1.
#[derive(Debug, Default, PartialEq)]
pub struct LineMap {
    new: HashMap<u32, u32>,
    old: HashMap<u32, u32>,
}

/// A part of both texts: where each begins, and its lines.
#[derive(Clone, Copy)]
struct Part<'a> {
    at: (usize, usize),
    old: &'a [&'a str],
    new: &'a [&'a str],
}

impl LineMap {
    pub fn new(old: &str, new: &str) -> LineMap {
        let old: Vec<&str> = super::source::lines(old).collect();
        let new: Vec<&str> = super::source::lines(new).collect();
        let mut map = LineMap::default();
        let mut parts = vec![Part { at: (0, 0), old: &old, new: &new }];
        while let Some(part) = parts.pop() {
            let middle = map.same_ends(part);
            if middle.old.len().saturating_mul(middle.new.len()) <= COMPARED {
                map.compare(middle);
            } else {
                parts.extend(map.divide(middle));
            }
        }
        map
    }

    /// Where an old line is in the new text.
    pub fn in_new(&self, line: u32) -> Option<u32> {
        self.new.get(&line).copied()
    }

    /// Where a new line is in the old text.
    pub fn in_old(&self, line: u32) -> Option<u32> {
        self.old.get(&line).copied()
    }

    fn pair(&mut self, old: usize, new: usize) {
        let number = |at: usize| u32::try_from(at.saturating_add(1)).unwrap_or(u32::MAX);
        self.new.insert(number(old), number(new));
        self.old.insert(number(new), number(old));
    }

    /// Pairs what both begin and end with; what is left.
    fn same_ends<'a>(&mut self, part: Part<'a>) -> Part<'a> {
        let Part { at, mut old, mut new } = part;
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        for offset in 0..same {
            self.pair(at.0 + offset, at.1 + offset);
        }
        (old, new) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
        let at = (at.0 + same, at.1 + same);
        while let ([old_rest @ .., a], [new_rest @ .., b]) = (old, new)
            && a == b
        {
            self.pair(at.0 + old_rest.len(), at.1 + new_rest.len());
            (old, new) = (old_rest, new_rest);
        }
        Part { at, old, new }
    }

    /// Pairs as many lines as can be without crossing.
    fn compare(&mut self, part: Part<'_>) {
        let Part { at, old, new } = part;
        let width = new.len() + 1;
        let mut longest = vec![0_u32; (old.len() + 1) * width];
        let get = |longest: &[u32], a: usize, b: usize| {
            longest.get(a * width + b).copied().unwrap_or_default()
        };
        for (a, old_line) in old.iter().enumerate().rev() {
            for (b, new_line) in new.iter().enumerate().rev() {
                let length = if old_line == new_line {
                    get(&longest, a + 1, b + 1) + 1
                } else {
                    get(&longest, a + 1, b).max(get(&longest, a, b + 1))
                };
                if let Some(cell) = longest.get_mut(a * width + b) {
                    *cell = length;
                }
            }
        }
        let (mut a, mut b) = (0, 0);
        while let (Some(old_line), Some(new_line)) = (old.get(a), new.get(b)) {
            if old_line == new_line {
                self.pair(at.0 + a, at.1 + b);
                (a, b) = (a + 1, b + 1);
            } else if get(&longest, a + 1, b) >= get(&longest, a, b + 1) {
                a += 1;
            } else {
                b += 1;
            }
        }
    }

    /// Pairs the lines that both have once and that come in the same order; the parts between them.
    fn divide<'a>(&mut self, part: Part<'a>) -> Vec<Part<'a>> {
        let once = |lines: &[&'a str]| {
            let mut found: HashMap<&'a str, Option<usize>> = HashMap::new();
            for (at, line) in lines.iter().enumerate() {
                found.entry(line).and_modify(|it| *it = None).or_insert(Some(at));
            }
            found
        };
        let (in_old, in_new) = (once(part.old), once(part.new));
        let (mut from, mut between) = ((0, 0), Vec::new());
        for (at, line) in part.old.iter().enumerate() {
            let is_once = in_old.get(line).copied().flatten().is_some();
            let Some(there) = in_new.get(line).copied().flatten().filter(|_| is_once) else {
                continue;
            };
            // A line that was moved to before the last pair has no part of its own.
            if there < from.1 {
                continue;
            }
            self.pair(part.at.0 + at, part.at.1 + there);
            between.push(part.between(from, (at, there)));
            from = (at + 1, there + 1);
        }
        if !between.is_empty() {
            between.push(part.between(from, (part.old.len(), part.new.len())));
        }
        between
    }
}

impl<'a> Part<'a> {
    fn between(self, from: (usize, usize), to: (usize, usize)) -> Part<'a> {
        Part {
            at: (self.at.0 + from.0, self.at.1 + from.1),
            old: self.old.get(from.0..to.0).unwrap_or_default(),
            new: self.new.get(from.1..to.1).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where each old line is in the new text; 0 for nowhere.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[u32]) {
        let map = LineMap::new(old, new);
        let found: Vec<u32> =
            (1..).take(old.lines().count()).map(|it| map.in_new(it).unwrap_or(0)).collect();
        assert_eq!(found, expected);
        for (old, new) in (1..).zip(found).filter(|(_, new)| *new > 0) {
            assert_eq!(map.in_old(new), Some(old));
        }
    }

    #[test]
    fn lines_are_found_where_they_went() {
        check("a\nb\nc\n", "a\nb\nc\n", &[1, 2, 3]);
        check("a\nb\nc\n", "x\ny\na\nb\nc\n", &[3, 4, 5]);
        check("a\nb\nc\n", "a\nX\nc\n", &[1, 0, 3]);
        check("a\nb\nc\nd\n", "a\nd\n", &[1, 0, 0, 2]);
        check("a\n}\nb\n}\n", "n\n}\na\n}\nb\n}\n", &[3, 4, 5, 6]);
        check("a\n", "", &[0]);
        check("", "a\n", &[]);
    }

    #[test]
    fn a_change_all_over_a_large_file_is_divided() {
        let old: Vec<String> = (0..3_000).map(|it| format!("line {it}")).collect();
        let new: Vec<String> = old
            .iter()
            .enumerate()
            .flat_map(|(at, it)| match at % 3 {
                0 => vec![format!("{it} changed")],
                1 => vec![it.clone(), "}".to_owned()],
                _ => vec![it.clone()],
            })
            .collect();
        let map = LineMap::new(&old.join("\n"), &new.join("\n"));
        for (at, line) in old.iter().enumerate() {
            let found = map.in_new(u32::try_from(at + 1).unwrap());
            let there = found.map(|it| new[usize::try_from(it).unwrap() - 1].as_str());
            assert_eq!(there, (at % 3 != 0).then_some(line.as_str()));
        }
    }
}
