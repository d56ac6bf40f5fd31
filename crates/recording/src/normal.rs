//! Values without what differs in every run: addresses, object numbers, times, uuids, temporary paths, the
//! order of sets. Two runs are compared by these, and each thing that was passed over is counted.

use std::borrow::Cow;

use crate::{
    datum::Datum,
    hash::{mix, of_bytes},
};

/// The hash of a value's normal form; `string` and `value` give those of what it names.
pub(crate) fn hash(
    datum: &Datum,
    string: impl Fn(u32) -> (u64, bool),
    value: impl Fn(u32) -> u64,
) -> u64 {
    let named = |number: &u32| string(*number).0;
    match datum {
        Datum::None => 1,
        Datum::Undefined => 2,
        Datum::True => 3,
        Datum::False => 4,
        Datum::Integer(number) if is_address(*number) => 18,
        Datum::Integer(number) => match is_time(number.unsigned_abs() as f64) {
            true => 5,
            false => mix(6, number.cast_unsigned()),
        },
        Datum::Digits(digits) => mix(7, of_bytes(digits.as_bytes())),
        Datum::Float(number) => match is_time(number.abs()) {
            true => 5,
            false => mix(8, number.to_bits()),
        },
        Datum::Text { chars, text } => match text_of(text) {
            Cow::Borrowed(text) => mix(mix(9, *chars), of_bytes(text.as_bytes())),
            // Its length differs as it does.
            Cow::Owned(text) => mix(9, of_bytes(text.as_bytes())),
        },
        Datum::Bytes { length, bytes } => mix(mix(10, *length), of_bytes(bytes)),
        Datum::List { kind, length, items, .. } => {
            let (name, is_set) = string(*kind);
            let begin = mix(mix(11, name), *length);
            match is_set {
                // Which five of many are seen is chance.
                true if *length > items.len() as u64 => begin,
                true => mix(begin, items.iter().fold(0, |all, it| all ^ value(*it))),
                false => items.iter().fold(begin, |all, it| mix(all, value(*it))),
            }
        }
        Datum::Dict { kind, length, pairs, .. } => {
            let begin = mix(mix(12, named(kind)), *length);
            pairs.iter().fold(begin, |all, (key, it)| mix(mix(all, value(*key)), value(*it)))
        }
        // It is nothing but a number that nobody else has.
        Datum::Object { kind, .. } if named(kind) == of_bytes(b"UUID") => mix(13, named(kind)),
        Datum::Object { kind, own, .. } => {
            let begin = mix(13, named(kind));
            own.iter().fold(begin, |all, (name, it)| mix(mix(all, named(name)), value(*it)))
        }
        Datum::Exception { kind, message, .. } => {
            mix(mix(14, named(kind)), of_bytes(text_of(message).as_bytes()))
        }
        Datum::Named { kind, name } => mix(mix(15, named(kind)), named(name)),
        // Marks are keyed by the recording.
        Datum::Secret { kind, length, .. } => mix(mix(16, named(kind)), *length),
        Datum::Opaque { kind, .. } => mix(17, named(kind)),
    }
}

/// Where 64-bit systems keep what programs build: the number of an object, as `id()` has it.
fn is_address(number: i64) -> bool {
    [0x5500_0000_0000..0x5700_0000_0000, 0x7c00_0000_0000..0x8000_0000_0000]
        .iter()
        .any(|it| it.contains(&number))
}

/// Whether the items of such a list have no order.
pub(crate) fn is_set(kind: &str) -> bool {
    matches!(kind, "set" | "frozenset" | "dict_keys")
}

/// Seconds, milli-, micro- or nanoseconds of the years 2017 to 2040: a clock was read.
pub(crate) fn is_time(number: f64) -> bool {
    [1.0, 1e3, 1e6, 1e9].iter().any(|unit| (1.5e9 * unit..2.2e9 * unit).contains(&number))
}

/// A text without what differs in every run; borrowed where nothing does.
pub(crate) fn text_of(text: &str) -> Cow<'_, str> {
    let has_digits = text.bytes().any(|it| it.is_ascii_digit());
    if !has_digits && !TEMPORARY.iter().any(|it| text.contains(it)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = text.get(at..).unwrap_or_default();
        let begins = at == 0 || !bytes.get(at - 1).is_some_and(|it| is_word(*it));
        match masked(rest, begins) {
            Some((length, mask)) if length > 0 => {
                out.push_str(text.get(from..at).unwrap_or_default());
                out.push_str(mask);
                at += length;
                from = at;
            }
            _ => at += 1,
        }
    }
    if from == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where systems put what is temporary.
const TEMPORARY: &[&str] = &["/tmp/", "/var/folders/", "\\Temp\\"];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How much at the beginning differs in every run, and what stands for it. `begins`: no word goes on here.
fn masked(rest: &str, begins: bool) -> Option<(usize, &'static str)> {
    if let Some(folder) = TEMPORARY.iter().find(|it| rest.starts_with(**it)) {
        let path =
            |it: char| !it.is_whitespace() && !matches!(it, '"' | '\'' | ':' | ',' | ')' | '>');
        let whole = rest.find(|it| !path(it)).unwrap_or(rest.len());
        // The last part is the program's own name for it.
        let last = rest.get(..whole)?.rfind(['/', '\\'])? + 1;
        let length = if last > folder.len() { last } else { whole };
        return Some((length, "<temporary>/"));
    }
    if !begins {
        return None;
    }
    let first = *rest.as_bytes().first()?;
    if !first.is_ascii_hexdigit() {
        return None;
    }
    address(rest).or_else(|| identifier(rest)).or_else(|| time(rest)).or_else(|| stamp(rest))
}

fn hex_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_hexdigit).count()
}

fn address(rest: &str) -> Option<(usize, &'static str)> {
    let digits = hex_digits(rest.strip_prefix("0x")?);
    (digits >= 6).then_some((digits + 2, "<address>"))
}

/// A uuid, with its dashes or without.
fn identifier(rest: &str) -> Option<(usize, &'static str)> {
    let ends = |length: usize| !rest.as_bytes().get(length).is_some_and(|it| is_word(*it));
    if hex_digits(rest) == 32 && ends(32) {
        return Some((32, "<uuid>"));
    }
    let mut at = 0;
    for (part, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if part > 0 {
            rest.get(at..)?.strip_prefix('-')?;
            at += 1;
        }
        let digits = hex_digits(rest.get(at..)?);
        if digits != length {
            return None;
        }
        at += length;
    }
    Some((at, "<uuid>"))
}

/// `2026-11-17`, with `T10:00:01.5+01:00` or without; `10:00:01`.
fn time(rest: &str) -> Option<(usize, &'static str)> {
    if shaped(rest, "####-##-##") {
        let after = rest.get(10..)?;
        let is_clock = shaped(after.get(1..).unwrap_or_default(), "##:##");
        let part = |it: char| it.is_ascii_digit() || matches!(it, ':' | '.' | '+' | '-' | 'Z');
        let clock = after.get(1..).unwrap_or_default();
        let clock = clock.find(|it| !part(it)).unwrap_or(clock.len()) + 1;
        return Some((10 + if is_clock { clock } else { 0 }, "<time>"));
    }
    shaped(rest, "##:##:##").then_some((8, "<time>"))
}

fn shaped(text: &str, shape: &str) -> bool {
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'#' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() >= shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

/// The digits of a clock.
fn stamp(rest: &str) -> Option<(usize, &'static str)> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !matches!(digits, 10 | 13 | 16 | 19) {
        return None;
    }
    let number: f64 = rest.get(..digits)?.parse().ok()?;
    is_time(number).then_some((digits, "<time>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_every_run_is_left_out() {
        for (text, normal) in [
            ("<Item object at 0x7f3a2b1c4d50>", "<Item object at <address>>"),
            ("id=3f2504e0-4f89-41d3-9a0c-0305e82c3301;", "id=<uuid>;"),
            ("3f2504e04f8941d39a0c0305e82c3301", "<uuid>"),
            ("at 2026-11-17T12:30:01.5+01:00 it", "at <time> it"),
            ("2026-11-17 is a day", "<time> is a day"),
            ("[12:30:01] x", "[<time>] x"),
            ("took 1763382601 s", "took <time> s"),
            ("/tmp/pytest-of-me/pytest-3/a.db", "<temporary>/a.db"),
            ("no file '/tmp/x1y2'", "no file '<temporary>/'"),
        ] {
            assert_eq!(text_of(text), normal, "{text}");
        }
    }

    #[test]
    fn what_means_something_stays() {
        for text in
            ["41.5 != 45.0", "order 12345", "v1.2.3", "0x1f", "deadbeef", "tests/a.py:18", ""]
        {
            assert_eq!(text_of(text), text);
        }
    }

    #[test]
    fn sets_have_no_order_and_objects_no_number() {
        let hashed = |datum: &Datum, set: bool| {
            hash(datum, |it| (u64::from(it), set), |it| mix(77, u64::from(it)))
        };
        let list = |object, items: &[u32]| Datum::List {
            object,
            kind: 0,
            length: items.len() as u64,
            items: items.to_vec(),
        };
        assert_eq!(hashed(&list(1, &[1, 2]), true), hashed(&list(2, &[2, 1]), true));
        assert_ne!(hashed(&list(1, &[1, 2]), false), hashed(&list(1, &[2, 1]), false));
        assert_eq!(hashed(&list(1, &[1, 2]), false), hashed(&list(9, &[1, 2]), false));
        assert_eq!(
            hashed(&Datum::Float(1.7e9), false),
            hashed(&Datum::Integer(1_700_000_001), false)
        );
        assert_ne!(hashed(&Datum::Float(1.5), false), hashed(&Datum::Float(2.5), false));
        let integer = |number| hashed(&Datum::Integer(number), false);
        assert_eq!(integer(139_845_125_910_416), integer(94_571_122_012_240));
        assert_ne!(integer(139_845_125), integer(94_571_122));
    }
}
