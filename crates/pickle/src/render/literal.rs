//! Python's own spelling of texts, bytes and numbers.

use crate::{
    limits::DIGITS_MAX,
    value::{Bytes, Integer},
};

/// A `str` as `repr` prints it.
pub(crate) fn string(text: &str) -> String {
    let quote = quote(text.contains('\''), text.contains('"'));
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    text.chars().for_each(|char| push_char(&mut out, char, quote));
    out.push(quote);
    out
}

/// Python prefers single quotes, unless that would need an escape that double ones do not.
pub(crate) fn quote(single: bool, double: bool) -> char {
    if single && !double { '"' } else { '\'' }
}

pub(crate) fn push_char(out: &mut String, char: char, quote: char) {
    match char {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\\' => out.push_str("\\\\"),
        _ if char == quote => {
            out.push('\\');
            out.push(char);
        }
        _ if is_printable(char) => out.push(char),
        _ => out.push_str(&escape(char.into())),
    }
}

/// A code point that is not printed as itself.
pub(crate) fn escape(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

/// Python's `str.isprintable`, but for code points that no Unicode version has assigned yet.
fn is_printable(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_control();
    }
    !matches!(char,
        '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{1680}' | '\u{180e}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..)
}

pub(crate) fn push_byte(out: &mut String, byte: u8, quote: char) {
    match char::from(byte) {
        char @ ('\n' | '\r' | '\t' | '\\') => push_char(out, char, quote),
        char if char.is_ascii() && !char.is_ascii_control() => push_char(out, char, quote),
        _ => out.push_str(&escape(byte.into())),
    }
}

/// A float as `repr` prints it: the shortest digits that read back as the same number.
pub(crate) fn float(float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    spell(&format!("{float:e}"))
}

pub(crate) fn float32(float: f32) -> String {
    if !float.is_finite() {
        return self::float(float.into());
    }
    spell(&format!("{float:e}"))
}

/// From `1.5e-7`, with the shortest digits, to Python's choice of with or without exponent.
fn spell(scientific: &str) -> String {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    if !(-4..16).contains(&exponent) {
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{digits}e{mark}{:02}", exponent.abs());
    }
    let digits = digits.replace('.', "");
    let point = exponent + 1;
    let Ok(whole) = usize::try_from(point) else {
        let zeros = "0".repeat(usize::try_from(-point).unwrap_or(0));
        return format!("{sign}0.{zeros}{digits}");
    };
    match digits.split_at_checked(whole) {
        None => format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len())),
        Some(("", fraction)) => format!("{sign}0.{fraction}"),
        Some((whole, "")) => format!("{sign}{whole}.0"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
    }
}

/// The digits of an integer, or how long it is where they are more than Python would print.
pub(crate) fn integer(integer: Integer<'_>) -> String {
    match integer {
        Integer::Digits(digits) if digits.len() <= DIGITS_MAX => digits.to_owned(),
        Integer::Digits(digits) => format!("<int of {} digits>", digits.len()),
        // A byte is 2.4 digits.
        Integer::Bytes(bytes) if bytes.len() * 12 / 5 <= DIGITS_MAX => decimal(bytes),
        Integer::Bytes(bytes) => format!("<int of {} bytes>", bytes.len()),
    }
}

/// Two's complement to decimal.
fn decimal(bytes: &[u8]) -> String {
    let negative = bytes.last().is_some_and(|last| *last >= 0x80);
    let mut carry = true;
    let magnitude: Vec<u8> = if negative {
        let negate = |byte: &u8| {
            let (byte, over) = (!byte).overflowing_add(carry.into());
            carry = over;
            byte
        };
        bytes.iter().map(negate).collect()
    } else {
        bytes.to_vec()
    };
    // Groups of nine digits, least significant first.
    let mut groups: Vec<u32> = Vec::new();
    for byte in magnitude.iter().rev() {
        let mut carry = u64::from(*byte);
        for group in &mut groups {
            let wide = u64::from(*group) * 256 + carry;
            *group = u32::try_from(wide % 1_000_000_000).unwrap_or(0);
            carry = wide / 1_000_000_000;
        }
        if carry > 0 {
            groups.push(u32::try_from(carry).unwrap_or(0));
        }
    }
    let mut text = if negative { "-".to_owned() } else { String::new() };
    let mut groups = groups.iter().rev();
    text.push_str(&groups.next().copied().unwrap_or(0).to_string());
    groups.for_each(|group| text.push_str(&format!("{group:09}")));
    text
}

/// A text with surrogates that stand alone, each printed as its escape.
pub(crate) fn surrogates(bytes: &[u8]) -> String {
    let mut text = "'".to_owned();
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                valid.chars().for_each(|char| push_char(&mut text, char, '\''));
                break;
            }
            Err(error) => {
                let (valid, bad) = rest.split_at(error.valid_up_to());
                String::from_utf8_lossy(valid)
                    .chars()
                    .for_each(|char| push_char(&mut text, char, '\''));
                rest = push_surrogate(&mut text, bad);
            }
        }
    }
    text.push('\'');
    text
}

/// Prints what is not UTF-8 and gives what follows it.
fn push_surrogate<'b>(text: &mut String, bad: &'b [u8]) -> &'b [u8] {
    if let [0xed, high @ 0xa0..=0xbf, low @ 0x80..=0xbf, rest @ ..] = bad {
        let code = 0xd000 | (u32::from(high & 0x3f) << 6) | u32::from(low & 0x3f);
        text.push_str(&escape(code));
        return rest;
    }
    let (first, rest) = bad.split_first().unwrap_or((&0, &[]));
    text.push_str(&escape((*first).into()));
    rest
}

impl<'p> Bytes<'p> {
    pub fn len(self) -> usize {
        match self {
            Bytes::Plain(bytes) | Bytes::Array(bytes) => bytes.len(),
            Bytes::Latin1(text) => text.chars().count(),
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The first and the last bytes, of which only so many are looked at.
    pub(crate) fn ends(self, head: usize, tail: usize) -> (Vec<u8>, Vec<u8>) {
        match self {
            Bytes::Plain(bytes) | Bytes::Array(bytes) => {
                let first = bytes.iter().take(head).copied().collect();
                let last = bytes.iter().skip(bytes.len().saturating_sub(tail)).copied().collect();
                (first, last)
            }
            Bytes::Latin1(text) => {
                let byte = |char: char| u8::try_from(char).unwrap_or(b'?');
                let first = text.chars().take(head).map(byte).collect();
                let mut last: Vec<u8> = text.chars().rev().take(tail).map(byte).collect();
                last.reverse();
                (first, last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (1.5, "1.5"),
            (123.456, "123.456"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (-2.5e-7, "-2.5e-07"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(value), text);
        }
        assert_eq!(float32(0.1), "0.1");
    }

    #[test]
    fn strings_are_quoted_as_python_quotes_them() {
        for (text, shown) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("\"it's\"", r#"'"it\'s"'"#),
            ("a\n\t\\\0\x7f", r"'a\n\t\\\x00\x7f'"),
            ("é€😀", "'é€😀'"),
            ("\u{a0}\u{2028}\u{e000}", r"'\xa0\u2028\ue000'"),
        ] {
            assert_eq!(string(text), shown);
        }
    }

    #[test]
    fn integers_of_any_length_are_spelled_in_decimal() {
        let bytes = |bytes: &[u8]| integer(Integer::Bytes(bytes));
        assert_eq!(bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 1]), "18446744073709551616");
        assert_eq!(bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 0xff]), "-18446744073709551616");
        assert_eq!(bytes(&[0xff; 9]), "-1");
        assert_eq!(bytes(&[0; 20]), "0");
        assert_eq!(bytes(&[1; 5_000]), "<int of 5000 bytes>");
    }
}
