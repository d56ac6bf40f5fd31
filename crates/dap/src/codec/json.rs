//! JSON as adapters write it.
//!
//! Two things that JSON or Rust's strings forbid do arrive, both from programs that handle bytes as
//! text: bytes that are not UTF-8, and one half of a surrogate pair (`"\udc80"`, as Python's and Node's
//! encoders write it). Both become U+FFFD: a stop must not be lost because of a strange file name.

use serde_json::Value;

pub(super) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let problem = match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(value),
        Err(problem) => problem.to_string(),
    };
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&without_lone_surrogates(&text)).map_err(|_| problem)
}

fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (escape, left) = one_escape(after);
        out.push('\\');
        out.push_str(escape);
        rest = left;
    }
    out.push_str(rest);
    out
}

/// The escape that begins behind a backslash, mended, and what follows it.
fn one_escape(text: &str) -> (&str, &str) {
    let width = match unit(text) {
        Some(0xD800..=0xDBFF) => match text.get(5..).and_then(|low| low.strip_prefix('\\')) {
            Some(low) if matches!(unit(low), Some(0xDC00..=0xDFFF)) => 11,
            _ => return ("ufffd", text.get(5..).unwrap_or_default()),
        },
        Some(0xDC00..=0xDFFF) => return ("ufffd", text.get(5..).unwrap_or_default()),
        Some(_) => 5,
        None => text.chars().next().map_or(0, char::len_utf8),
    };
    text.split_at_checked(width).unwrap_or((text, ""))
}

/// The number of `uXXXX`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}
