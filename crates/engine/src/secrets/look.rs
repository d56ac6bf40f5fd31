//! How a value looks: whether it can be a secret at all, and whether it looks random.

use std::borrow::Cow;

use super::name::Weight;

/// Whether a value, without quotes, is a secret under a name of this weight.
pub(super) fn is_secret(weight: Weight, value: &str) -> bool {
    match weight {
        Weight::Plain => false,
        Weight::Secret => !is_nothing(value),
        Weight::Perhaps => is_random(value),
    }
}

/// What stands where there is no secret, or none any more.
fn is_nothing(value: &str) -> bool {
    let value = value.trim();
    let is_filled = |with: fn(char) -> bool, least: usize| {
        value.chars().count() >= least && value.chars().all(with)
    };
    let is_hidden = is_filled(|it| matches!(it, '*' | '•' | '…'), 0)
        || is_filled(|it| matches!(it, '.' | 'x' | 'X' | '-' | '_'), 3);
    let lower = value.to_ascii_lowercase();
    is_hidden
        || value.starts_with('‹')
        || matches!(
            lower.as_str(),
            "none"
                | "null"
                | "nil"
                | "undefined"
                | "true"
                | "false"
                | "nan"
                | "redacted"
                | "[redacted]"
                | "<redacted>"
                | "hidden"
                | "<hidden>"
                | "[filtered]"
                | "<secret>"
                | "0"
        )
}

/// Long, of one piece, and mixed as no word is.
pub(super) fn is_random(value: &str) -> bool {
    let length = value.len();
    if !(16..=4096).contains(&length) || !value.bytes().all(is_word) {
        return false;
    }
    let count = |of: fn(&u8) -> bool| value.bytes().filter(of).count();
    let (digits, upper, lower) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    // A path, a date, a version or a dotted name has its parts between signs.
    let signs = length - digits - upper - lower;
    if value.contains("://") || value.starts_with('/') || signs * 5 > length {
        return false;
    }
    let is_hex = value.bytes().all(|it| it.is_ascii_hexdigit());
    if is_hex {
        return digits > 0 && upper + lower > 0 && length >= 20;
    }
    let is_mixed = digits * 12 >= length && upper + lower > 0;
    let changes = value
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if class(*a) != class(*b)))
        .count();
    is_mixed && changes * 4 >= length || (upper > 2 && lower > 2 && changes * 3 >= length)
}

/// A word as keys are written: letters, digits and the signs of base64 and of web tokens.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}

/// Without the marks of quoting, so that a value has one mark however it was written.
pub(super) fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\'
            && letters.peek().is_some_and(|it| matches!(it, '\\' | '"' | '\'' | '/' | '`'))
        {
            continue;
        }
        out.push(letter);
    }
    Cow::Owned(out)
}
