//! Source files as their languages read them: which bytes are which characters, and where lines end.

use std::{borrow::Cow, path::Path};

use crate::{adapter, language::Reading};

/// A source file's text, by lines.
#[derive(Debug)]
pub struct SourceText<'a> {
    text: Cow<'a, str>,
    reading: Reading,
}

impl<'a> SourceText<'a> {
    pub fn new(file: &Path, bytes: &'a [u8]) -> SourceText<'a> {
        let reading = adapter::of_file(file).map(|it| it.reading()).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, bytes: &[u8], expected: &[&str]) {
        let text = SourceText::new(Path::new(name), bytes);
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_end_where_the_language_ends_them() {
        check("a.py", b"a\rb\r\nc\nd", &["a", "b", "c", "d"]);
        check("a.py", b"a\n\r\n\nb\n", &["a", "", "", "b"]);
        check("a.py", "a\u{2028}b\n".as_bytes(), &["a\u{2028}b"]);
        check("a.js", "a\u{2028}b\u{2029}c\rd".as_bytes(), &["a", "b", "c", "d"]);
        check("a.js", b"", &[]);
    }

    #[test]
    fn a_declared_encoding_is_kept_and_others_show_what_is_ascii() {
        check(
            "a.py",
            b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'",
            &["# -*- coding: latin-1 -*-", "x = 'café'"],
        );
        check(
            "a.py",
            b"#!python\n# coding=ISO_8859-1\n'\xe9'",
            &["#!python", "# coding=ISO_8859-1", "'é'"],
        );
        check(
            "a.py",
            b"\n\n# coding: latin-1\n'\xe9'",
            &["", "", "# coding: latin-1", "'\u{fffd}'"],
        );
        check("a.py", b"\xef\xbb\xbfx = 1", &["x = 1"]);
    }

    #[test]
    fn comments_and_empty_lines_have_no_code() {
        let text = SourceText::new(Path::new("a.py"), b"# coding: latin-1\n# \xe9\n\nx = 1\n# end");
        assert_eq!(text.code_at(2), Err(Some(4)));
        assert_eq!(text.code_at(4), Ok(()));
        assert_eq!(text.code_at(5), Err(None));
    }
}
