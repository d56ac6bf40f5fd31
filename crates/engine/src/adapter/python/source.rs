//! Which bytes of a Python source are which characters.

use crate::language::Reading;

pub(super) const READING: Reading = Reading { comment: "#", line_ends: &[], decode };

fn decode(bytes: &[u8]) -> Option<String> {
    declares_latin(bytes).then(|| bytes.iter().map(|byte| char::from(*byte)).collect())
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
