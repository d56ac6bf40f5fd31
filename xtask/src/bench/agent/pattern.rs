//! A fact to look for in what was read: text of one line, with `…` for whatever stands between, and `‥` for a few
//! characters: a name and its value, however they are joined.
//!
//! `total = 4` is not found in `total = 42` nor in `subtotal = 4`: a fact begins and ends with whole words.

/// Room for `: int = `, `: ` or ` passes · `.
const NEAR: usize = 12;

/// One line of a question's `expect` or `forbid`.
#[derive(Clone)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        text.lines().any(|line| self.is_in_line(line))
    }

    fn is_in_line(&self, line: &str) -> bool {
        let pieces: Vec<Piece> = self.0.split_inclusive(['…', '‥']).map(Piece::new).collect();
        follows(&pieces, line, None, usize::MAX)
    }
}

/// Text, and how many characters may stand between it and the next.
struct Piece<'a> {
    text: &'a str,
    gap: usize,
}

impl<'a> Piece<'a> {
    fn new(text: &'a str) -> Self {
        let gap = if text.ends_with('‥') { NEAR } else { usize::MAX };
        Self { text: text.trim_end_matches(['…', '‥']).trim(), gap }
    }
}

/// Whether the pieces come one after the other, the first after at most `gap` characters; `before` is the one in
/// front of `rest`.
fn follows(pieces: &[Piece<'_>], rest: &str, before: Option<char>, gap: usize) -> bool {
    let Some((Piece { text, gap: next }, later)) = pieces.split_first() else {
        return true;
    };
    rest.match_indices(text).any(|(at, _)| {
        let (front, behind) = (rest.get(..at), rest.get(at + text.len()..));
        let (Some(front), Some(behind)) = (front, behind) else {
            return false;
        };
        let previous = front.chars().next_back().or(before);
        let is_whole = starts_whole(text, previous) && ends_whole(text, behind);
        let is_near = front.chars().count() <= gap;
        is_whole && is_near && follows(later, behind, text.chars().next_back(), *next)
    })
}

fn starts_whole(piece: &str, previous: Option<char>) -> bool {
    !(piece.starts_with(is_word) && previous.is_some_and(is_word))
}

fn ends_whole(piece: &str, behind: &str) -> bool {
    let mut next = behind.chars();
    let (first, second) = (next.next(), next.next());
    let is_fraction = first == Some('.') && second.is_some_and(|c| c.is_ascii_digit());
    let ends_in_digit = piece.ends_with(|c: char| c.is_ascii_digit());
    let goes_on = piece.ends_with(is_word) && first.is_some_and(is_word);
    !(goes_on || ends_in_digit && is_fraction)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_found_whole_or_not_at_all() {
        let found = |pattern: &str, text: &str| Pattern::new(pattern).is_in(text);
        assert!(found("total = 4", "a\nhit 1 · total = 4 · b"));
        assert!(found("total = 4", "total = 4."));
        assert!(!found("total = 4", "total = 42"));
        assert!(!found("total = 4", "total = 4.5"));
        assert!(!found("total = 4", "subtotal = 4"));
        assert!(found("hit 3 … x = 'a'", "hit 3 · worker-2 · x = 'a'"));
        assert!(found("hit 3 … x = 'a'", "hit 33 and hit 3 x = 'a'"));
        assert!(!found("hit 3 … x = 'a'", "hit 3\nx = 'a'"), "one line");
        assert!(!found("a … a", "a"));
        assert!(found("'a' ‥ 16", "key = 'a': 16 passes"));
        assert!(!found("'a' ‥ 16", "'a' 3 · 'b' 4 · 'c' 16"));
    }
}
