//! The source map that a text carries inside itself, as babel, esbuild and vite leave it: which line each place came from.
//!
//! Columns are counted in bytes here and in UTF-16 units there; a line with other letters may so be off by a statement,
//! never by more.

use serde_json::Value;

const MARK: &str = "//# sourceMappingURL=data:application/json";

/// A text with more segments is a bundle.
const SEGMENTS_MAX: usize = 2_000_000;

#[derive(Debug)]
pub(crate) struct SourceMap {
    source: String,
    /// Of each generated line: column, and line of the original, from 0.
    lines: Vec<Vec<(u32, u32)>>,
}

impl SourceMap {
    /// The last one in the text, if it can be read and has one source.
    pub(crate) fn inside(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(MARK)?;
        let (_, data) = rest.split_once("base64,")?;
        let data = data.split_whitespace().next()?;
        let map: Value = serde_json::from_slice(&base64(data.as_bytes())?).ok()?;
        let sources = map.get("sources")?.as_array()?;
        let [source] = sources.as_slice() else { return None };
        let lines = segments(map.get("mappings")?.as_str()?)?;
        Some(Self { source: source.as_str()?.to_owned(), lines })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn line(&self, line: u32, column: u32) -> Option<u32> {
        let segments = self.lines.get(line as usize)?;
        let behind = segments.partition_point(|(at, _)| *at <= column);
        let (_, original) = segments.get(behind.saturating_sub(1))?;
        Some(*original)
    }
}

fn segments(mappings: &str) -> Option<Vec<Vec<(u32, u32)>>> {
    let mut lines = Vec::new();
    let mut original = 0_i64;
    let mut seen = 0_usize;
    for line in mappings.split(';') {
        let mut column = 0_i64;
        let mut row = Vec::new();
        for segment in line.split(',').filter(|segment| !segment.is_empty()) {
            seen += 1;
            let mut numbers = Digits { rest: segment.as_bytes() };
            column += numbers.next()?;
            if numbers.next().is_none() {
                continue;
            }
            original += numbers.next()?;
            row.push((u32::try_from(column).ok()?, u32::try_from(original).ok()?));
        }
        if seen > SEGMENTS_MAX {
            return None;
        }
        lines.push(row);
    }
    Some(lines)
}

/// Numbers of one segment, in base 64 with signs in the lowest bit.
struct Digits<'s> {
    rest: &'s [u8],
}

impl Iterator for Digits<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let mut value = 0_i64;
        let mut shift = 0_u32;
        loop {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            let digit = i64::from(sextet(*first)?);
            value |= (digit & 31).checked_shl(shift)?;
            if digit & 32 == 0 {
                break;
            }
            shift += 5;
            if shift > 40 {
                return None;
            }
        }
        Some(if value & 1 == 1 { -(value >> 1) } else { value >> 1 })
    }
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut held = 0_u32;
    let mut bits = 0_u32;
    for byte in text.iter().take_while(|byte| **byte != b'=') {
        held = (held << 6) | u32::from(sextet(*byte)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((held >> bits) & 255).ok()?);
        }
    }
    Some(out)
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
