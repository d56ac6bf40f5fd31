//! Answers in the fewest words that say it, within a budget of tokens. Whatever is left out says so.

mod calls;
mod diff;
mod frame;
mod history;
mod overview;

pub(crate) use self::overview::verdict;
use crate::ask::NextAsk;

/// Characters that cost about one token.
const TOKEN: f64 = 3.5;

/// What an answer may cost, unless told.
pub const BUDGET: usize = 600;

/// Lines within a budget; what does not fit is counted.
pub(crate) struct Page {
    text: String,
    left: usize,
    dropped: usize,
}

impl Page {
    /// Room for what stands at the end is kept.
    pub(crate) fn new(tokens: usize) -> Page {
        let left = Page::chars(tokens).saturating_sub(120);
        Page { text: String::new(), left, dropped: 0 }
    }

    /// How many characters so many tokens are about.
    fn chars(tokens: usize) -> usize {
        (tokens.max(60) as f64 * TOKEN) as usize
    }

    /// A line that is left out where there is no room.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        let cost = line.chars().count() + 1;
        if cost > self.left || self.dropped > 0 {
            self.dropped += 1;
            return false;
        }
        self.left -= cost;
        self.must(line);
        true
    }

    /// A line that is always there.
    pub(crate) fn must(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Its last lines: whether it is complete, and what to ask next.
    pub(crate) fn end(mut self, missing: &[String], next: Option<&NextAsk>) -> String {
        if self.dropped > 0 {
            let dropped = self.dropped;
            self.must(&format!(
                "cut     {dropped} lines of this answer; a larger `budget_tokens` shows them"
            ));
        }
        match missing.split_first() {
            None if self.dropped > 0 => {}
            None => self.must("complete"),
            Some((first, rest)) => {
                let more = if rest.is_empty() {
                    String::new()
                } else {
                    format!("; {}", rest.iter().take(2).cloned().collect::<Vec<_>>().join("; "))
                };
                self.must(&format!("missing {first}{more}"));
            }
        }
        if let Some(next) = next {
            self.must(&format!("next    {}", next.shown()));
        }
        self.text.trim_end().to_owned()
    }
}

impl NextAsk {
    /// The call that asks it.
    pub fn shown(&self) -> String {
        match self {
            NextAsk::Frame(call) => format!("record_frame {{\"call\": \"{call}\"}}"),
            NextAsk::Tree(Some(call)) => format!("record_calls {{\"under\": \"{call}\"}}"),
            NextAsk::Tree(None) => "record_calls {}".to_owned(),
            NextAsk::Calls { function } => format!("record_calls {{\"function\": \"{function}\"}}"),
            NextAsk::Focus { function } => {
                format!("record_run {{\"again\": \"last\", \"focus\": [\"{function}\"]}}")
            }
        }
    }
}

/// `0.9 s`, `12 ms`, `0.1 ms`.
pub(crate) fn time(milliseconds: f64) -> String {
    match milliseconds {
        it if it >= 1_000.0 => format!("{:.1} s", it / 1_000.0),
        it if it >= 10.0 => format!("{it:.0} ms"),
        it if it >= 0.05 => format!("{it:.1} ms"),
        it => format!("{:.0} µs", it * 1_000.0),
    }
}

pub(crate) fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {one}s", thousands(count)) }
}

/// `5 210`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        assert_eq!([5, 999, 5_210, 1_234_567].map(thousands), ["5", "999", "5 210", "1 234 567"]);
        assert_eq!(
            [0.002, 0.1, 12.3, 950.0, 1_500.0].map(time),
            ["2 µs", "0.1 ms", "12 ms", "950 ms", "1.5 s"]
        );
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut page = Page::new(80);
        let all = (0..40).filter(|it| page.line(&format!("line number {it}"))).count();
        assert!((8..20).contains(&all), "{all}");
        let text = page.end(&[], Some(&NextAsk::Tree(None)));
        assert!(text.contains(&format!("cut     {} lines", 40 - all)), "{text}");
        assert!(text.ends_with("next    record_calls {}"), "{text}");
        assert!(!text.contains("complete"));
    }
}
