//! JavaScript and TypeScript as a row of words and marks, well enough to find functions. Pure.
//!
//! Comments, texts and regular expressions are recognised so that what looks like code in them is not taken
//! for code. What is not understood costs a function, never a wrong one: V8 has the last word on each place.

/// Lines from 1; columns from 1, in UTF-16 units, as V8 counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) line: u32,
    pub(super) column: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Word(String),
    /// A text's content, which may be the name of a method.
    Text(String),
    Mark(char),
    Arrow,
    /// A number, a template, a regular expression.
    Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: At,
}

pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut reader = Reader { rest: source, at: At { line: 1, column: 1 }, found: Vec::new() };
    while reader.next() {}
    reader.found
}

struct Reader<'a> {
    rest: &'a str,
    at: At,
    found: Vec<Token>,
}

impl Reader<'_> {
    fn next(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        let at = self.at;
        let kind = match first {
            it if it.is_whitespace() => {
                self.skip(it.len_utf8());
                return true;
            }
            '/' => match self.slash() {
                Some(kind) => kind,
                None => return true,
            },
            '"' | '\'' => self.text(first),
            '`' => {
                let length = template(self.rest, NESTED);
                self.skip(length);
                Kind::Value
            }
            '=' if self.rest.starts_with("=>") => {
                self.skip(2);
                Kind::Arrow
            }
            it if is_word(it) => self.word(),
            it => {
                self.skip(it.len_utf8());
                Kind::Mark(it)
            }
        };
        self.found.push(Token { kind, at });
        true
    }

    fn word(&mut self) -> Kind {
        let end = self.rest.find(|it| !is_word(it)).unwrap_or(self.rest.len());
        let word = self.rest.get(..end).unwrap_or_default();
        let kind = match word.starts_with(|it: char| it.is_ascii_digit()) {
            true => Kind::Value,
            false => Kind::Word(word.to_owned()),
        };
        self.skip(end);
        kind
    }

    /// A comment, which is nothing; a regular expression; a division.
    fn slash(&mut self) -> Option<Kind> {
        if self.rest.starts_with("//") {
            self.skip(self.rest.find(ends_line).unwrap_or(self.rest.len()));
            return None;
        }
        if self.rest.starts_with("/*") {
            let end = self.rest.get(2..).and_then(|it| it.find("*/"));
            self.skip(end.map_or(self.rest.len(), |end| end + 4));
            return None;
        }
        match self.may_be_expression().then(|| expression(self.rest)).flatten() {
            Some(length) => {
                self.skip(length);
                Some(Kind::Value)
            }
            None => {
                self.skip(1);
                Some(Kind::Mark('/'))
            }
        }
    }

    /// After a value a slash divides.
    fn may_be_expression(&self) -> bool {
        match self.found.last().map(|it| &it.kind) {
            None | Some(Kind::Arrow) => true,
            Some(Kind::Mark(mark)) => !matches!(mark, ')' | ']'),
            Some(Kind::Word(word)) => matches!(
                word.as_str(),
                "return" | "typeof" | "case" | "in" | "of" | "delete" | "void" | "await" | "yield"
            ),
            Some(Kind::Text(_) | Kind::Value) => false,
        }
    }

    /// A text ends with its line at the latest; one that does not end is an apostrophe in JSX.
    fn text(&mut self, quote: char) -> Kind {
        let line = self.rest.find(['\n', '\r']).unwrap_or(self.rest.len());
        let inside = self.rest.get(1..line).unwrap_or_default();
        match end_of(inside, quote) {
            Some(end) => {
                let content = inside.get(..end).unwrap_or_default().to_owned();
                self.skip(end + 2);
                Kind::Text(content)
            }
            None => {
                self.skip(1);
                Kind::Mark(quote)
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        let mut chars = skipped.chars().chain(rest.chars().next()).peekable();
        for _ in 0..skipped.chars().count() {
            let Some(it) = chars.next() else { break };
            match it {
                // Both together end one line.
                '\r' if chars.peek() == Some(&'\n') => {}
                it if ends_line(it) => self.at = At { line: self.at.line + 1, column: 1 },
                it => self.at.column += u32::from(it.len_utf16() == 2) + 1,
            }
        }
        self.rest = rest;
    }
}

/// As V8 counts lines.
fn ends_line(it: char) -> bool {
    matches!(it, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '$' | '#')
}

/// Where the quote is that is not escaped.
fn end_of(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            it if it == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Templates inside of templates that are followed; deeper ones are garbage.
const NESTED: usize = 16;

/// The length of a template, with the code that is in it.
fn template(text: &str, nested: usize) -> usize {
    let Some(nested) = nested.checked_sub(1) else { return text.len() };
    let mut depth = 0_usize;
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, it)) = chars.next() {
        match it {
            '\\' => drop(chars.next()),
            '`' if depth == 0 => return at + 1,
            '`' => {
                let inner = text.get(at..).map_or(0, |it| template(it, nested));
                while chars.next_if(|(next, _)| *next < at + inner).is_some() {}
            }
            '$' if depth == 0 && chars.next_if(|(_, it)| *it == '{').is_some() => depth = 1,
            '{' if depth > 0 => depth += 1,
            '}' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a regular expression, if it ends on its line.
fn expression(text: &str) -> Option<usize> {
    let (mut escaped, mut in_class) = (false, false);
    for (at, it) in text.char_indices().skip(1) {
        match it {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Some(at + 1),
            _ => {}
        }
    }
    None
}
