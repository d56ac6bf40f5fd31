//! Source lines around a place, in the form agents know: `  >>>   19 |     seen.append(value)`.

use std::path::Path;

use super::source_text;
use crate::language::SourceText;
use crate::{budget, limits};

/// The lines of a file that were asked for, and how many it has.
#[derive(Debug, PartialEq)]
pub struct SourceView {
    pub text: String,
    pub lines: usize,
}

/// Lines `first..=last` (from 1) with `marked` marked. `None` when the file cannot be read as text.
pub fn snippet(
    file: &Path,
    first: u32,
    last: u32,
    marked: Option<(u32, Option<u32>)>,
) -> Option<SourceView> {
    Some(excerpt(&read(file)?, first, last, marked))
}

/// A source file as text, if it is one.
pub fn read(file: &Path) -> Option<String> {
    let size = std::fs::metadata(file).ok()?;
    if !size.is_file() || size.len() > limits::SOURCE_BYTES {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    // No source holds a zero byte; every other kind of file has one soon.
    if bytes.iter().take(8_192).any(|byte| *byte == 0) {
        return None;
    }
    Some(whole(&source_text(file, &bytes)))
}

/// A text that was read from a file, as [`read`] gives it.
pub fn normal(file: &Path, text: &str) -> String {
    whole(&source_text(file, text.as_bytes()))
}

/// Every line ends with a line feed, whatever its language takes for the end of one.
fn whole(text: &SourceText<'_>) -> String {
    text.lines().flat_map(|line| [line, "\n"]).collect()
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
}

/// Lines `first..=last` (from 1) of a text with `marked` marked.
pub fn excerpt(
    text: &str,
    first: u32,
    last: u32,
    marked: Option<(u32, Option<u32>)>,
) -> SourceView {
    let wanted =
        (1_u32..).zip(lines(text)).skip_while(|(n, _)| *n < first).take_while(|(n, _)| *n <= last);
    let shown = wanted.map(|(number, line)| {
        let (marker, column) = match marked {
            Some((at, column)) if at == number => (">>>", column),
            _ => ("   ", None),
        };
        format!("  {marker} {number:>4} | {}", around(line, column))
    });
    SourceView { text: shown.collect::<Vec<_>>().join("\n"), lines: lines(text).count() }
}

/// A long line, cut to what stands around the column, which is marked.
fn around(line: &str, column: Option<u32>) -> String {
    if line.len() <= limits::SOURCE_LINE {
        return line.trim_end().to_owned();
    }
    let at = column.map_or(0, |column| offset(line, column));
    let start =
        line.floor_char_boundary(at.saturating_sub(limits::SOURCE_LINE / 2).min(line.len()));
    let end = line.floor_char_boundary((start + limits::SOURCE_LINE).min(line.len()));
    let here = line.floor_char_boundary(at.clamp(start, end));
    let (ahead, rest) = (line.get(start..here), line.get(here..end));
    let marker = if at > 0 { "▸" } else { "" };
    let part = format!("{}{marker}{}", ahead.unwrap_or_default(), rest.unwrap_or_default());
    let before = if start > 0 { format!("…{start} bytes… ") } else { String::new() };
    let after =
        if end < line.len() { format!(" …{} bytes…", line.len() - end) } else { String::new() };
    budget::cut(&format!("{before}{part}{after}"), limits::SOURCE_LINE + 64)
}

/// Columns count UTF-16 units from 1, as JavaScript does and the protocols do by default.
fn offset(line: &str, column: u32) -> usize {
    let mut units = 1;
    let reached = line.char_indices().find(|(_, c)| {
        let is_there = units >= column;
        units += u32::try_from(c.len_utf16()).unwrap_or(1);
        is_there
    });
    reached.map_or(line.len(), |(at, _)| at)
}

/// A file as a reader in `cwd` would write it.
pub fn place(file: &Path, cwd: &Path) -> String {
    file.strip_prefix(cwd).unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marked_line_stands_out() {
        let folder = std::env::temp_dir().join(format!("holdpoint-snippet-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.py");
        std::fs::write(&file, "one\ntwo\nthree\nfour\n").unwrap();
        let view = snippet(&file, 2, 3, Some((3, None))).unwrap();
        assert_eq!(view.text, "         2 | two\n  >>>    3 | three");
        assert_eq!(view.lines, 4);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let line = "x".repeat(5_000);
        let cut = around(&line, Some(2_500));
        assert!(cut.len() < limits::SOURCE_LINE + 100 && cut.contains("bytes…"));
        let line = format!("{}here{}", "é".repeat(300), "y".repeat(300));
        assert!(around(&line, Some(301)).contains("é▸herey"), "{}", around(&line, Some(301)));
    }
}
