//! Answers that fit: an estimate of tokens, and text that stops where its budget ends.
//!
//! The estimate is deterministic and needs no model's tokenizer: about 3.5 bytes a token,
//! which errs on the side of counting too many for code and JSON.

use crate::limits;

/// What one answer may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    tokens: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { tokens: limits::ANSWER_TOKENS }
    }
}

impl Budget {
    /// At least one token, at most [`limits::ANSWER_TOKENS_MAX`].
    pub fn tokens(tokens: usize) -> Self {
        Budget { tokens: tokens.clamp(1, limits::ANSWER_TOKENS_MAX) }
    }

    pub fn bytes(self) -> usize {
        self.tokens * 7 / 2
    }
}

/// Lines that fit a budget. The first is always taken, so that an answer is never empty;
/// it is the caller's to have bounded single lines with [`cut`].
#[derive(Debug)]
pub struct Lines {
    text: String,
    bytes: usize,
    taken: usize,
}

impl Lines {
    pub fn within(budget: Budget) -> Self {
        Lines { text: String::new(), bytes: budget.bytes(), taken: 0 }
    }

    /// Whether the line was taken. After the first `false`, stop and say what is left.
    pub fn push(&mut self, line: &str) -> bool {
        if self.taken > 0 && self.text.len() + line.len() + 1 > self.bytes {
            return false;
        }
        self.always(line);
        self.taken += 1;
        true
    }

    /// For the closing line that says what was left out: outside the budget, and short.
    pub fn always(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    pub fn taken(&self) -> usize {
        self.taken
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

/// The text within `bytes`, cut in the middle at character boundaries, saying how much is missing.
pub fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(bytes * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - bytes / 3);
    let (start, rest) = text.split_at(head);
    let (middle, end) = rest.split_at(tail - head);
    format!("{start}… {} bytes …{end}", middle.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_stop_where_the_budget_ends() {
        let mut lines = Lines::within(Budget::tokens(4));
        assert!(lines.push("12345678"));
        assert!(!lines.push("12345678"));
        lines.always("1 more");
        assert_eq!((lines.taken(), lines.into_text().as_str()), (1, "12345678\n1 more"));
    }

    #[test]
    fn the_first_line_is_always_taken() {
        let mut lines = Lines::within(Budget::tokens(1));
        assert!(lines.push("longer than one token"));
    }

    #[test]
    fn a_cut_says_how_much_is_missing() {
        assert_eq!(cut("abcdefghijklmnopqrstuvwxyz", 9), "abcdef… 17 bytes …xyz");
        assert_eq!(cut("short", 9), "short");
    }

    proptest! {
        #[test]
        fn a_cut_never_splits_a_character_and_is_bounded(text in ".{0,300}", bytes in 0usize..200) {
            let cut = cut(&text, bytes);
            prop_assert!(cut.len() <= text.len().max(bytes + 32));
        }
    }
}
