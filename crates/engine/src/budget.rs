//! Answers that fit: what a text costs where a model reads it, and lines that stop where their budget ends.
//!
//! A text is counted as it stands inside JSON, since half of the clients hand it over so: a newline is two
//! characters there, a control character six. Other letters count by their bytes, which are never fewer
//! than the characters that clients count, and nearer to tokens.

use crate::limits;

/// What one answer may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    characters: usize,
    /// The same again is there for the data, and no more.
    beside_data: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { characters: limits::ANSWER_CHARACTERS, beside_data: false }
    }
}

impl Budget {
    /// At least one token, at most [`limits::ANSWER_TOKENS_MAX`]; 3.6 characters are one, which errs on the
    /// side of counting too many for code and JSON.
    pub fn tokens(tokens: usize) -> Self {
        let tokens = tokens.clamp(1, limits::ANSWER_TOKENS_MAX);
        Budget { characters: (tokens * 18).div_ceil(5), beside_data: false }
    }

    pub fn bytes(self) -> usize {
        self.characters
    }

    /// What to ask for so that so many bytes fit.
    pub fn tokens_for(self, bytes: usize) -> usize {
        let tokens = (bytes * 5).div_ceil(18);
        if self.beside_data { tokens * 2 } else { tokens }
    }

    /// For a client that may read the data beside the text: both say the same, so each has half.
    #[must_use]
    pub fn halved(self) -> Self {
        Budget { characters: self.characters.div_ceil(2), beside_data: true }
    }

    /// What the whole may cost: a little more than its lines, for what is said around them.
    pub fn ceiling(self) -> usize {
        limits::ANSWER_CHARACTERS_MAX.max(self.characters + self.characters / 4)
    }
}

/// What a text costs inside JSON, without its quotes.
pub fn cost(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    text.len() + escaped.sum::<usize>()
}

/// Lines that fit a budget. The first is always taken, so that an answer is never empty;
/// it is the caller's to have bounded single lines with [`cut`].
#[derive(Debug)]
pub struct Lines {
    text: String,
    room: usize,
    cost: usize,
    data_room: usize,
    taken: usize,
}

impl Lines {
    pub fn within(budget: Budget) -> Self {
        let room = budget.bytes();
        let data_room = if budget.beside_data { room } else { usize::MAX };
        Lines { text: String::new(), room, cost: 0, data_room, taken: 0 }
    }

    /// The same for a line whose data is larger than itself and goes out beside it.
    #[must_use = "a line that was not taken must be told of"]
    pub fn push_beside(&mut self, line: &str, data: usize) -> bool {
        if self.taken > 0 && data > self.data_room {
            return false;
        }
        self.data_room = self.data_room.saturating_sub(data);
        self.push(line)
    }

    /// Whether the line was taken. After the first `false`, stop and say what is left.
    #[must_use = "a line that was not taken must be told of"]
    pub fn push(&mut self, line: &str) -> bool {
        if self.taken > 0 && self.cost + cost(line) + 2 > self.room {
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
            self.cost += 2;
        }
        self.text.push_str(line);
        self.cost += cost(line);
    }

    pub fn taken(&self) -> usize {
        self.taken
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

/// The whole text, or as much of its beginning and its last line as costs `room`, cut at line ends. In
/// between stands what is missing and `how` to get it.
pub fn whole_lines(text: String, room: usize, how: &str) -> String {
    if cost(&text) <= room {
        return text;
    }
    let (body, last) = text.rsplit_once('\n').unwrap_or((&text, ""));
    // A last line that is itself long is content, not the next step.
    let (body, last) = if cost(last) > room / 4 { (text.as_str(), "") } else { (body, last) };
    let mut left = room.saturating_sub(cost(last) + cost(how) + 60);
    let lines: Vec<&str> = body.split('\n').collect();
    let fits = |line: &&&str| {
        let price = cost(line) + 2;
        let taken = price <= left;
        left = left.saturating_sub(price);
        taken
    };
    let mut kept: Vec<String> =
        lines.iter().take_while(fits).map(|line| (*line).to_owned()).collect();
    let missing = lines.len() - kept.len();
    if kept.is_empty() {
        // One endless line.
        kept.push(cut(lines.first().copied().unwrap_or_default(), room / 2));
    }
    kept.push(format!("… {missing} of {} lines are left out: {how}", lines.len()));
    if !last.is_empty() {
        kept.push(last.to_owned());
    }
    kept.join("\n")
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
        assert!(!lines.push("1234567"));
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

    #[test]
    fn a_text_costs_what_it_costs_inside_json() {
        for text in ["plain", "two\nlines", "a \"quote\" \\ \t", "\u{1} bell \u{7}", "größer"] {
            let json = serde_json::to_string(text).unwrap();
            // JSON writes two of the control characters shorter than the others.
            assert!(cost(text) + 2 >= json.len(), "{text:?}");
            assert!(cost(text) + 2 <= json.len() + 4, "{text:?}");
        }
    }

    #[test]
    fn escapes_count() {
        let mut lines = Lines::within(Budget::tokens(5));
        assert!(lines.push("12345678"));
        assert!(lines.push("12345678"));
        let mut lines = Lines::within(Budget::tokens(5));
        assert!(lines.push("12345678"));
        assert!(!lines.push("1234\"\"\"\""));
    }

    #[test]
    fn what_is_left_out_is_told_and_the_last_line_stays() {
        let text = (1..=100).map(|it| format!("line {it}\n")).collect::<String>() + "next: go on";
        let cut = whole_lines(text.clone(), 200, "ask for more");
        assert_eq!(
            cut.lines().rev().take(2).collect::<Vec<_>>(),
            ["next: go on", "… 86 of 100 lines are left out: ask for more"]
        );
        assert!(cut.starts_with("line 1\nline 2\n") && cost(&cut) <= 200, "{cut}");
        assert_eq!(whole_lines(text.clone(), 5_000, "ask"), text);
    }

    proptest! {
        #[test]
        fn whole_lines_are_within_their_room_and_say_so(
            lines in prop::collection::vec("[ -~]{0,90}", 1..60), room in 300usize..3_000,
        ) {
            let text = lines.join("\n");
            let fitted = whole_lines(text.clone(), room, "how");
            prop_assert!(cost(&fitted) <= room, "{} > {room}", cost(&fitted));
            prop_assert!(fitted == text || fitted.contains("left out: how"));
        }

        #[test]
        fn a_cut_never_splits_a_character_and_is_bounded(text in ".{0,300}", bytes in 0usize..200) {
            let cut = cut(&text, bytes);
            prop_assert!(cut.len() <= text.len().max(bytes + 32));
        }
    }
}
