//! The message of a tracepoint: text with `{expression}`s in it. Pure.
//!
//! `{{` and `}}` are braces of the text. What an expression is, its language knows: here it ends at the brace
//! that closes it, past strings and brackets of its own.

use serde::Serialize;

use crate::{
    failure::{Code, Failure},
    limits,
};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Template {
    pub parts: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    Text(String),
    Expression(String),
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, Failure> {
        if text.len() > limits::TEMPLATE_BYTES {
            let most = limits::TEMPLATE_BYTES;
            return Err(Failure::new(
                Code::InvalidParams,
                format!("the message has {} bytes, {most} at the most", text.len()),
            ));
        }
        let mut reader = Reader { chars: text.chars().collect(), at: 0, nested: 0 };
        let template = reader.template()?;
        let count = template.expressions().count();
        if count > limits::TEMPLATE_EXPRESSIONS {
            let most = limits::TEMPLATE_EXPRESSIONS;
            return Err(Failure::new(
                Code::InvalidParams,
                format!("the message has {count} expressions, {most} at the most"),
            ));
        }
        Ok(template)
    }

    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Piece::Expression(it) => Some(it.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The message with a value in the place of each expression, in their order.
    pub fn fill<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> String {
        let mut values = values.into_iter();
        let mut message = String::new();
        for part in &self.parts {
            message.push_str(match part {
                Piece::Text(text) => text,
                Piece::Expression(_) => values.next().unwrap_or_default(),
            });
        }
        message
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    /// Templates of JavaScript inside of each other.
    nested: usize,
}

impl Reader {
    fn template(&mut self) -> Result<Template, Failure> {
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(it) = self.peek(0) {
            match (it, self.peek(1)) {
                ('{', Some('{')) | ('}', Some('}')) => {
                    text.push(it);
                    self.at += 2;
                }
                ('{', _) => {
                    if !text.is_empty() {
                        parts.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    parts.push(Piece::Expression(self.expression()?));
                }
                ('}', _) => {
                    return Err(self
                        .wrong(self.at, "`}` closes nothing")
                        .hint("write `}}` for a brace of the text"));
                }
                _ => {
                    text.push(it);
                    self.at += 1;
                }
            }
        }
        if !text.is_empty() {
            parts.push(Piece::Text(text));
        }
        Ok(Template { parts })
    }

    /// From its opening brace past its closing one.
    fn expression(&mut self) -> Result<String, Failure> {
        let begins = self.at;
        self.at += 1;
        let mut open = Vec::new();
        while let Some(it) = self.peek(0) {
            match it {
                '}' if open.is_empty() => {
                    let inside = self.chars.get(begins + 1..self.at).unwrap_or_default();
                    let expression: String = inside.iter().collect();
                    self.at += 1;
                    return match expression.trim() {
                        "" => Err(self
                            .wrong(begins, "`{}` has no expression")
                            .hint("write `{{}}` for braces of the text")),
                        it => Ok(it.to_owned()),
                    };
                }
                '(' | '[' | '{' => {
                    open.push((it, self.at));
                    self.at += 1;
                }
                ')' | ']' | '}' => {
                    self.close(it, &mut open)?;
                }
                '"' | '\'' | '`' => self.string(it)?,
                _ => self.at += 1,
            }
        }
        let (mark, place) = open.pop().unwrap_or(('{', begins));
        Err(self
            .wrong(place, &format!("`{mark}` is never closed"))
            .hint("close it, or write `{{` for a brace of the text"))
    }

    fn close(&mut self, it: char, open: &mut Vec<(char, usize)>) -> Result<(), Failure> {
        let opens = match it {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match open.pop() {
            Some((mark, _)) if mark == opens => {
                self.at += 1;
                Ok(())
            }
            Some((mark, place)) => {
                Err(self
                    .wrong(self.at, &format!("`{it}` does not close `{mark}` (at {})", place + 1)))
            }
            None => Err(self.wrong(self.at, &format!("`{it}` closes nothing"))),
        }
    }

    /// Past a string, in Python's three quotes too; past the expressions of a JavaScript template.
    fn string(&mut self, quote: char) -> Result<(), Failure> {
        let begins = self.at;
        let three = quote != '`' && self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        self.at += if three { 3 } else { 1 };
        while let Some(it) = self.peek(0) {
            match it {
                '\\' => self.at += 2,
                '$' if quote == '`' && self.peek(1) == Some('{') => {
                    self.at += 1;
                    self.nested += 1;
                    if self.nested > limits::TEMPLATE_EXPRESSIONS {
                        return Err(self.wrong(self.at, "too many templates in templates"));
                    }
                    self.expression()?;
                    self.nested -= 1;
                }
                it if it == quote && !three => {
                    self.at += 1;
                    return Ok(());
                }
                it if it == quote && self.peek(1) == Some(it) && self.peek(2) == Some(it) => {
                    self.at += 3;
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
        Err(self.wrong(begins, &format!("the string that begins with `{quote}` does not end")))
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn wrong(&self, at: usize, what: &str) -> Failure {
        let position = at + 1;
        let begins = at.saturating_sub(20);
        let around: String = self.chars.iter().skip(begins).take(40).collect();
        let text = format!("in the message at position {position}: {what}, near `{around}`");
        Failure::new(Code::InvalidParams, text)
            .details(serde_json::json!({ "parameter": "log_message", "position": position }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text as it stands, expressions between `<` and `>`.
    #[track_caller]
    fn check(template: &str, expected: &str) {
        let parsed = Template::parse(template).unwrap();
        let each = parsed.parts.iter().map(|part| match part {
            Piece::Text(text) => text.clone(),
            Piece::Expression(it) => format!("<{it}>"),
        });
        assert_eq!(each.collect::<String>(), expected);
    }

    #[track_caller]
    fn refuse(template: &str, position: u64, what: &str) {
        let failure = Template::parse(template).unwrap_err();
        let details = failure.details.unwrap();
        assert_eq!(details["position"], position, "{}", failure.message);
        assert!(failure.message.contains(what), "{}", failure.message);
    }

    #[test]
    fn expressions_end_at_the_brace_that_closes_them() {
        check("", "");
        check("passed", "passed");
        check("x={x}, y = { y }!", "x=<x>, y = <y>!");
        check("{d[\"a\"]} {d['}']}", "<d[\"a\"]> <d['}']>");
        check("{ {k: v for k in x} }", "<{k: v for k in x}>");
        check("{f({a: [1, {b: 2}]})}", "<f({a: [1, {b: 2}]})>");
        check("{x!r} {x:.2f}", "<x!r> <x:.2f>");
        check("{'''a}'b'''} {\"\\\"}\"}", "<'''a}'b'''> <\"\\\"}\">");
        check("{`a ${b + `}`} c`}", "<`a ${b + `}`} c`>");
        check("{a or ''} {b or \"\"}", "<a or ''> <b or \"\">");
        check("{'''a''}'''} {'''a'}'''}", "<'''a''}'''> <'''a'}'''>");
        // Two templates side by side are no three quotes; a dollar alone is text, and so is one in Python.
        check("{tag```}`}", "<tag```}`>");
        check("{`$}`} {'${'}", "<`$}`> <'${'>");
    }

    #[test]
    fn doubled_braces_are_text() {
        check("{{}}", "{}");
        check("{{x}} {{{x}}}", "{x} {<x>}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_position() {
        refuse("value {x", 7, "`{` is never closed");
        refuse("value x}", 8, "`}` closes nothing");
        refuse("ab {}", 4, "no expression");
        refuse("ab { }", 4, "no expression");
        refuse("{f(x}", 5, "does not close `(`");
        refuse("{f(x", 3, "`(` is never closed");
        refuse("{x)}", 3, "`)` closes nothing");
        refuse("{'x}", 2, "does not end");
    }

    #[test]
    fn a_mistake_is_shown_with_what_is_around_it() {
        let long = format!("{}{{f(x}}{}", "a".repeat(30), "b".repeat(30));
        let failure = Template::parse(&long).unwrap_err();
        let around = format!("near `{}{{f(x}}{}`", "a".repeat(16), "b".repeat(19));
        assert!(failure.message.ends_with(&around), "{}", failure.message);
    }

    #[test]
    fn a_message_is_bounded_in_bytes_and_in_expressions() {
        let text = |bytes: usize| Template::parse(&"é".repeat(bytes / 2));
        assert!(text(limits::TEMPLATE_BYTES).is_ok());
        let failure = text(limits::TEMPLATE_BYTES + 2).unwrap_err();
        assert_eq!(failure.message, "the message has 4098 bytes, 4096 at the most");
        let many = |count: usize| Template::parse(&"{x}".repeat(count));
        assert!(many(limits::TEMPLATE_EXPRESSIONS).is_ok());
        let failure = many(limits::TEMPLATE_EXPRESSIONS + 1).unwrap_err();
        assert_eq!(failure.message, "the message has 33 expressions, 32 at the most");
    }

    /// Each is read by a call of its own: a message of nothing else would take the whole stack.
    #[test]
    fn templates_in_templates_are_bounded_and_those_side_by_side_are_not() {
        let deep = |count| format!("{{{}x{}}}", "`${".repeat(count), "}`".repeat(count));
        let deepest = Template::parse(&deep(limits::TEMPLATE_EXPRESSIONS)).unwrap();
        assert_eq!(deepest.expressions().count(), 1);
        refuse(&deep(limits::TEMPLATE_EXPRESSIONS + 1), 100, "too many templates in templates");
        let beside = format!("{{[{}]}}", "`${x}`,".repeat(limits::TEMPLATE_EXPRESSIONS + 8));
        assert_eq!(Template::parse(&beside).unwrap().expressions().count(), 1);
    }

    #[test]
    fn values_take_the_places_of_expressions() {
        let template = Template::parse("{a} and {b}: {{{a}}}").unwrap();
        assert_eq!(template.fill(["1", "2", "1"]), "1 and 2: {1}");
        assert_eq!(template.expressions().collect::<Vec<_>>(), ["a", "b", "a"]);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused_with_a_place_in_it(text in "[a{}()\\[\\]'\"`\\\\$ :]{0,40}") {
            match Template::parse(&text) {
                Ok(_) => {}
                Err(failure) => {
                    let position = failure.details.unwrap()["position"].as_u64().unwrap();
                    prop_assert!((1..=text.chars().count() as u64).contains(&position));
                }
            }
        }

        #[test]
        fn text_with_its_braces_doubled_is_itself(text in "\\PC{0,40}") {
            let template = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(Template::parse(&template).unwrap().fill([]), text);
        }

        #[test]
        fn what_is_between_braces_is_found(texts in proptest::collection::vec("[a-z ]{0,5}", 1..5)) {
            let template = texts.join("{x[{'}': 1}]}");
            let parsed = Template::parse(&template).unwrap();
            prop_assert_eq!(parsed.expressions().count(), texts.len() - 1);
            let is_it = parsed.expressions().all(|it| it == "x[{'}': 1}]");
            prop_assert!(is_it);
        }
    }
}
