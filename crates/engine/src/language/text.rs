//! Source files as their languages read them: which bytes are which characters, and where lines end.

use std::borrow::Cow;

use super::Reading;

/// A source file's text, by lines.
#[derive(Debug)]
pub struct SourceText<'a> {
    text: Cow<'a, str>,
    reading: Reading,
}

impl<'a> SourceText<'a> {
    pub fn new(reading: Reading, bytes: &'a [u8]) -> SourceText<'a> {
        let text = match (reading.decode)(bytes) {
            Some(text) => text.into(),
            None => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
        };
        SourceText { text, reading }
    }

    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let mut rest: &str = &self.text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|it| self.ends_line(it)).unwrap_or(rest.len());
            let (line, after) = rest.split_at(end);
            let mut marks = after.chars();
            let first = marks.next();
            if first == Some('\r') && after.starts_with("\r\n") {
                marks.next();
            }
            rest = marks.as_str();
            Some(line)
        })
    }

    /// Whether a line can have code at all, as far as its text tells: neither empty nor only a comment.
    /// If not, the next one that can.
    pub fn code_at(&self, line: u32) -> Result<(), Option<u32>> {
        let is_comment = |text: &str| text.trim_start().starts_with(self.reading.comment);
        let is_empty = |text: &str| text.trim().is_empty() || is_comment(text);
        let mut from =
            (1_u32..).zip(self.lines()).skip_while(|(number, _)| *number < line).peekable();
        match from.peek() {
            Some((_, text)) if is_empty(text) => {
                Err(from.find(|(_, text)| !is_empty(text)).map(|(number, _)| number))
            }
            _ => Ok(()),
        }
    }

    fn ends_line(&self, it: char) -> bool {
        matches!(it, '\n' | '\r') || self.reading.line_ends.contains(&it)
    }
}
