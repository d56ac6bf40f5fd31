//! Source files as their languages read them: which bytes are which characters, and where lines end.

use std::{borrow::Cow, path::Path};

/// The languages that differ in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Bytes as the file declares, lines that end with CR too.
    Python,
    /// UTF-8; to JavaScript two more characters end a line.
    JavaScript,
    Other,
}

/// A source file's text, by lines.
#[derive(Debug)]
pub struct SourceText<'a> {
    text: Cow<'a, str>,
    reader: Reader,
}

impl<'a> SourceText<'a> {
    pub fn new(file: &Path, bytes: &'a [u8]) -> SourceText<'a> {
        let reader = match file.extension().and_then(|it| it.to_str()) {
            Some("py" | "pyw" | "pyi") => Reader::Python,
            Some("js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx") => Reader::JavaScript,
            _ => Reader::Other,
        };
        let is_latin = reader == Reader::Python && declares_latin(bytes);
        let text = if is_latin {
            bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into()
        } else {
            String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
        };
        SourceText { text, reader }
    }

    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let mut rest: &str = &self.text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|it| ends_line(self.reader, it)).unwrap_or(rest.len());
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
        let comment = if self.reader == Reader::Python { "#" } else { "//" };
        let is_empty =
            |text: &str| text.trim().is_empty() || text.trim_start().starts_with(comment);
        let mut from =
            (1_u32..).zip(self.lines()).skip_while(|(number, _)| *number < line).peekable();
        match from.peek() {
            Some((_, text)) if is_empty(text) => {
                Err(from.find(|(_, text)| !is_empty(text)).map(|(number, _)| number))
            }
            _ => Ok(()),
        }
    }
}

/// As V8 and Python's tokenizer count lines.
fn ends_line(reader: Reader, it: char) -> bool {
    match it {
        '\n' | '\r' => true,
        '\u{2028}' | '\u{2029}' => reader == Reader::JavaScript,
        _ => false,
    }
}

/// Whether a comment in the first two lines says so, as PEP 263 has it. Every other encoding that Python
/// takes has ASCII where ASCII is, so that lines and comments are found in it all the same.
fn declares_latin(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(1_024)).unwrap_or_default();
    let lines = head.split(|byte| matches!(byte, b'\n' | b'\r')).take(2);
    let name = lines.filter_map(|line| {
        let line = String::from_utf8_lossy(line);
        let comment = line.trim_start().strip_prefix('#')?.to_owned();
        let (_, after) = comment.split_once("coding")?;
        let after = after.strip_prefix([':', '='])?.trim_start();
        let end = after.find(|it: char| !it.is_ascii_alphanumeric() && !"-_.".contains(it));
        Some(after.split_at(end.unwrap_or(after.len())).0.to_ascii_lowercase().replace('_', "-"))
    });
    let is_latin = |name: String| {
        let names =
            ["latin-1", "latin1", "l1", "iso-8859-1", "iso8859-1", "cp1252", "windows-1252"];
        names.contains(&name.as_str())
    };
    name.into_iter().any(is_latin)
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
