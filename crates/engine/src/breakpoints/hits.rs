//! At which hits a breakpoint stops: `3`, `>= 5`, `% 10`. Pure.

use crate::failure::{Code, Failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitTest {
    pub how: How,
    pub number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
    Every,
}

impl How {
    pub fn as_str(self) -> &'static str {
        match self {
            How::Equal => "==",
            How::AtLeast => ">=",
            How::Above => ">",
            How::AtMost => "<=",
            How::Below => "<",
            How::Every => "%",
        }
    }
}

impl HitTest {
    pub fn parse(text: &str) -> Result<HitTest, Failure> {
        let trimmed = text.trim();
        let digits = trimmed.trim_start_matches(|it: char| !it.is_ascii_digit());
        let operator = trimmed.strip_suffix(digits).unwrap_or_default().trim();
        let how = match operator {
            "" | "=" | "==" | "===" => Some(How::Equal),
            ">=" => Some(How::AtLeast),
            ">" => Some(How::Above),
            "<=" => Some(How::AtMost),
            "<" => Some(How::Below),
            "%" => Some(How::Every),
            _ => None,
        };
        let never = |it: &u64| *it == 0 && how == Some(How::Every);
        match (how, digits.parse::<u64>().ok().filter(|it| !never(it))) {
            (Some(how), Some(number)) => Ok(HitTest { how, number }),
            _ => Err(Failure::new(
                Code::InvalidParams,
                format!("hit condition `{text}` is not one of `3`, `>= 5`, `% 10`"),
            )
            .hint("a number from 1, with one of `==`, `>=`, `>`, `<=`, `<`, `%` before it")),
        }
    }

    pub fn holds(self, n: u64) -> bool {
        let HitTest { how, number } = self;
        match how {
            How::Equal => n == number,
            How::AtLeast => n >= number,
            How::Above => n > number,
            How::AtMost => n <= number,
            How::Below => n < number,
            How::Every => n.is_multiple_of(number),
        }
    }

    /// As a test of `n`, in a language that writes it as C does.
    pub fn as_test(self) -> String {
        let HitTest { how, number } = self;
        match how {
            How::Every => format!("n % {number} === 0"),
            How::Equal => format!("n === {number}"),
            other => format!("n {} {number}", other.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_hit_condition_says_at_which_of_the_hits() {
        let mut table = String::new();
        let texts = ["3", "= 3", "== 3", "===3", ">= 3", ">3", "<= 3", " < 3 ", "% 3", "%1", "0"];
        for text in texts {
            let test = HitTest::parse(text).unwrap();
            let hits = (1..=7).filter(|n| test.holds(*n)).map(|n| format!(" {n}"));
            let hits: String = hits.collect();
            table += &format!("{text:5} → {:11} →{hits}\n", test.as_test());
        }
        expect![[r#"
            3     → n === 3     → 3
            = 3   → n === 3     → 3
            == 3  → n === 3     → 3
            ===3  → n === 3     → 3
            >= 3  → n >= 3      → 3 4 5 6 7
            >3    → n > 3       → 4 5 6 7
            <= 3  → n <= 3      → 1 2 3
             < 3  → n < 3       → 1 2
            % 3   → n % 3 === 0 → 3 6
            %1    → n % 1 === 0 → 1 2 3 4 5 6 7
            0     → n === 0     →
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn what_is_no_hit_condition_is_refused() {
        for bad in ["", "x", "% 0", "3 x", "-1", "!= 3", "3.5", "18446744073709551616"] {
            assert!(HitTest::parse(bad).is_err(), "{bad}");
        }
    }
}
