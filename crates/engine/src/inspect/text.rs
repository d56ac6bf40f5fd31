//! Source files as their languages read them.

use std::path::Path;

use crate::{adapter, language::SourceText};

/// A file's text, by lines.
pub fn source_text<'a>(file: &Path, bytes: &'a [u8]) -> SourceText<'a> {
    let reading = adapter::of_file(file).map(|it| it.reading()).unwrap_or_default();
    SourceText::new(reading, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, bytes: &[u8], expected: &[&str]) {
        let text = source_text(Path::new(name), bytes);
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
        let text = source_text(Path::new("a.py"), b"# coding: latin-1\n# \xe9\n\nx = 1\n# end");
        assert_eq!(text.code_at(2), Err(Some(4)));
        assert_eq!(text.code_at(4), Ok(()));
        assert_eq!(text.code_at(5), Err(None));
    }
}
