//! Numbers and texts as protocols 0 and 1 and Python 2 write them.

use std::borrow::Cow;

use crate::node::Node;

/// Two's complement, least significant byte first; small ones become plain integers.
pub(super) fn long(bytes: &[u8]) -> Node<'_> {
    let Some(last) = bytes.last() else { return Node::Int(0) };
    if bytes.len() > 8 {
        return Node::Long(bytes);
    }
    let mut wide = if last & 0x80 == 0 { [0; 8] } else { [0xff; 8] };
    for (place, byte) in wide.iter_mut().zip(bytes) {
        *place = *byte;
    }
    Node::Int(i64::from_le_bytes(wide))
}

/// Decimal; `00` and `01` are how protocol 0 writes booleans.
pub(super) fn int(line: &[u8]) -> Option<Node<'_>> {
    match line {
        b"00" => return Some(Node::Bool(false)),
        b"01" => return Some(Node::Bool(true)),
        _ => {}
    }
    let text = std::str::from_utf8(line).ok()?.trim();
    if let Ok(int) = text.parse() {
        return Some(Node::Int(int));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(Node::Digits(text))
}

pub(super) fn float(line: &[u8]) -> Option<Node<'_>> {
    std::str::from_utf8(line).ok()?.trim().parse().ok().map(Node::Float)
}

/// A `str` of Python 2: text where it is ASCII, as Python 3 would read it, else bytes.
pub(super) fn old_str(bytes: Cow<'_, [u8]>) -> Node<'_> {
    if !bytes.is_ascii() {
        return Node::Bytes(bytes);
    }
    match bytes {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Node::Str(Cow::Borrowed(text)),
            Err(_) => Node::Bytes(Cow::Borrowed(bytes)),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Node::Str(Cow::Owned(text)),
            Err(error) => Node::Bytes(Cow::Owned(error.into_bytes())),
        },
    }
}

/// A literal between quotes, with Python's escapes.
pub(super) fn quoted(line: &[u8]) -> Option<Node<'_>> {
    let line = line.trim_ascii();
    let (quote, rest) = line.split_first()?;
    let inner = rest.strip_suffix(std::slice::from_ref(quote))?;
    if !matches!(quote, b'\'' | b'"') {
        return None;
    }
    if !inner.contains(&b'\\') {
        return Some(old_str(Cow::Borrowed(inner)));
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'x' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?.to_owned();
                bytes.push(u8::from_str_radix(&digits, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(old_str(Cow::Owned(bytes)))
}

/// `raw-unicode-escape`: Latin-1, with `\uXXXX` and `\UXXXXXXXX`.
pub(super) fn unicode(line: &[u8]) -> Node<'_> {
    if !line.contains(&b'\\')
        && line.is_ascii()
        && let Ok(text) = std::str::from_utf8(line)
    {
        return Node::Str(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        let escape = (*byte == b'\\').then(|| escape(line, at)).flatten();
        let (code, length) = escape.unwrap_or((u32::from(*byte), 1));
        push_code(&mut bytes, code);
        at += length;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Node::Str(Cow::Owned(text)),
        Err(error) => Node::Surrogates(Cow::Owned(error.into_bytes())),
    }
}

/// The code point of an escape that begins here, and its length.
fn escape(line: &[u8], at: usize) -> Option<(u32, usize)> {
    let length = match line.get(at + 1)? {
        b'u' => 6,
        b'U' => 10,
        _ => return None,
    };
    let digits = std::str::from_utf8(line.get(at + 2..at + length)?).ok()?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (code <= 0x10_ffff).then_some((code, length))
}

/// UTF-8, also for a surrogate that stands alone.
fn push_code(bytes: &mut Vec<u8>, code: u32) {
    if let Some(char) = char::from_u32(code) {
        bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let low = |shift: u32| 0x80 | u8::try_from((code >> shift) & 0x3f).unwrap_or(0);
    bytes.extend([0xe0 | u8::try_from((code >> 12) & 0xf).unwrap_or(0), low(6), low(0)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs_keep_their_sign() {
        assert_eq!(long(b""), Node::Int(0));
        assert_eq!(long(b"\xff"), Node::Int(-1));
        assert_eq!(long(b"\xff\x00"), Node::Int(255));
        assert_eq!(long(b"\0\0\0\0\0\0\0\x80"), Node::Int(i64::MIN));
        assert_eq!(long(b"\0\0\0\0\0\0\0\x80\0"), Node::Long(b"\0\0\0\0\0\0\0\x80\0"));
    }

    #[test]
    fn integers_of_any_length_are_taken_and_nothing_else() {
        assert_eq!(int(b"-12"), Some(Node::Int(-12)));
        assert_eq!(int(b"01"), Some(Node::Bool(true)));
        assert_eq!(int(b"-123456789012345678901"), Some(Node::Digits("-123456789012345678901")));
        for wrong in [&b"12x"[..], b"", b"-", b"1 2"] {
            assert_eq!(int(wrong), None);
        }
    }

    #[test]
    fn old_literals_are_unescaped() {
        assert_eq!(quoted(br"'a\n\x41\'b'"), Some(Node::Str("a\nA'b".into())));
        assert_eq!(quoted(br"'\xe9'"), Some(Node::Bytes(vec![0xe9].into())));
        for wrong in [&br"'a"[..], br"'\x4'", br"", br"'", br"x'a'"] {
            assert_eq!(quoted(wrong), None);
        }
    }

    #[test]
    fn escapes_of_protocol_0_are_decoded() {
        assert_eq!(unicode(b"plain"), Node::Str("plain".into()));
        assert_eq!(unicode(b"a\xe9 \\u20ac \\U0001f600 \\n"), Node::Str("aé € 😀 \\n".into()));
        assert_eq!(unicode(b"\\ud800"), Node::Surrogates(vec![0xed, 0xa0, 0x80].into()));
        assert_eq!(unicode(b"\\u12"), Node::Str("\\u12".into()));
    }
}
