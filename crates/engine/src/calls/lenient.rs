//! JSON as other languages write it, and what a JSON value here cannot hold.
//!
//! Python writes a lone surrogate as `\udce9` (the name of a file that is no UTF-8 has them), and `NaN`
//! and `Infinity` bare. An app may say all of that, and is not to end for it: [`mended`] makes it JSON
//! that is read here. An integer beyond 64 bits would become a float: [`exact`] makes it a text that is
//! marked, which every value can carry, and [`plain`] makes it an integer again.

use std::borrow::Cow;

use holdpoint_pickle::INTEGER;
use serde_json::Value;

use crate::limits;

/// Where an integer begins that may be too large: 19 digits are not always.
const DIGITS: usize = 19;

/// A part of a JSON text.
enum Piece<'t> {
    /// A text with its quotes.
    Quoted(&'t str),
    /// A number or a word.
    Bare(&'t str),
    Between(&'t str),
}

/// The parts of a JSON text, in order. Together they are the text, whatever is wrong with it.
struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let first = *self.0.as_bytes().first()?;
        let length = if first == b'"' {
            quoted(self.0)
        } else {
            let bare = is_bare(first);
            let same = |byte: &u8| *byte != b'"' && is_bare(*byte) == bare;
            self.0.as_bytes().iter().take_while(|byte| same(byte)).count()
        };
        let (piece, rest) = self.0.split_at_checked(length).unwrap_or((self.0, ""));
        self.0 = rest;
        Some(match first {
            b'"' => Piece::Quoted(piece),
            first if is_bare(first) => Piece::Bare(piece),
            _ => Piece::Between(piece),
        })
    }
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// How long the text is that begins here, quotes and all.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Whether it may hold what is no JSON here. Cheap: every request about a call is asked.
pub fn is_odd(text: &str) -> bool {
    text.contains("\\ud") || text.contains("\\uD")
}

/// The same with what is no JSON here made into what is: lone surrogates as Python shows them, numbers
/// that are none as `null`, control characters escaped.
pub fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for piece in Pieces(text.trim_start_matches('\u{feff}')) {
        match piece {
            Piece::Quoted(text) => mend_text(text, &mut out),
            Piece::Bare(word) if is_no_number(word) => out.push_str("null"),
            Piece::Bare(text) | Piece::Between(text) => out.push_str(text),
        }
    }
    out
}

fn is_no_number(word: &str) -> bool {
    matches!(word, "NaN" | "Infinity" | "-Infinity")
        || (word.contains(['e', 'E']) || word.len() > 300)
            && word.parse().is_ok_and(|number: f64| number.is_infinite())
}

fn mend_text(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter == '\\' || letter < ' ') {
        let (before, found) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let length = match unit(found) {
            Some(0xd800..0xdc00) if is_pair(found) => 12,
            Some(0xd800..0xe000) => {
                out.push('\\');
                6
            }
            // A character of an escape, or one that should be one.
            None if !found.starts_with('\\') => {
                let control = found.bytes().next().unwrap_or_default();
                out.push_str(&format!("\\u{control:04x}"));
                rest = found.get(1..).unwrap_or_default();
                continue;
            }
            _ => found.char_indices().nth(2).map_or(found.len(), |(at, _)| at),
        };
        let (kept, after) = found.split_at_checked(length).unwrap_or((found, ""));
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
}

/// The UTF-16 unit that is escaped at the beginning.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

fn is_pair(text: &str) -> bool {
    let second = text.get(6..).and_then(unit);
    second.is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

/// What a JSON text says, for a reader.
pub fn read(text: &str) -> serde_json::Result<Value> {
    let value = read_marked(text)?;
    Ok(if has_long_number(text.as_bytes()) { unmarked(value) } else { value })
}

/// What a JSON text says for somebody who looks at it, with large integers marked; and how deep it is nested, where
/// that is deeper than is shown: what lies below is a text that says how much there is.
pub fn read_shown(text: &str) -> serde_json::Result<(Value, Option<usize>)> {
    match folded(text) {
        Some((folded, deepest)) => Ok((read_marked(&folded)?, Some(deepest))),
        None => Ok((read_marked(text)?, None)),
    }
}

/// The same with what is nested deeper than [`limits::SHOWN_DEPTH`] as one text each; and the deepest level of all.
/// None where nothing is. It may be nested deeper than any stack, so nothing here calls itself.
fn folded(text: &str) -> Option<(String, usize)> {
    let (mut depth, mut deepest, mut below) = (0_usize, 0_usize, 0_usize);
    let mut out = String::new();
    for piece in Pieces(text) {
        let Piece::Between(between) = piece else {
            let (Piece::Quoted(kept) | Piece::Bare(kept) | Piece::Between(kept)) = piece;
            if depth <= limits::SHOWN_DEPTH {
                out.push_str(kept);
            }
            continue;
        };
        for letter in between.chars() {
            let is_shown = depth <= limits::SHOWN_DEPTH;
            match letter {
                '[' | '{' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                    below = below.max(depth.saturating_sub(limits::SHOWN_DEPTH));
                    if depth <= limits::SHOWN_DEPTH {
                        out.push(letter);
                    }
                }
                ']' | '}' => {
                    depth = depth.saturating_sub(1);
                    if is_shown {
                        out.push(letter);
                    } else if depth == limits::SHOWN_DEPTH {
                        out.push_str(&format!("\"… {below} levels deeper\""));
                        below = 0;
                    }
                }
                _ if is_shown => out.push(letter),
                _ => {}
            }
        }
    }
    (deepest > limits::SHOWN_DEPTH).then_some((out, deepest))
}

/// What a JSON text says, with large integers marked.
pub fn read_marked(text: &str) -> serde_json::Result<Value> {
    let text = exact(text);
    let read = if is_odd(&text) { None } else { serde_json::from_str(&text).ok() };
    match read {
        Some(value) => Ok(value),
        None => serde_json::from_str(&mended(&text)),
    }
}

/// The same with integers beyond 64 bits as marked texts.
pub fn exact(text: &str) -> Cow<'_, str> {
    if !has_long_number(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut found = false;
    let mut out = String::with_capacity(text.len() + 16);
    for piece in Pieces(text) {
        match piece {
            Piece::Bare(number) if is_beyond(number) => {
                found = true;
                out.push('"');
                out.push(INTEGER);
                out.push_str(number);
                out.push('"');
            }
            Piece::Quoted(text) | Piece::Bare(text) | Piece::Between(text) => out.push_str(text),
        }
    }
    if found { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// Whether so many digits stand together anywhere; looks at few of the bytes.
fn has_long_number(bytes: &[u8]) -> bool {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| {
        bytes.take(DIGITS).take_while(|it| it.is_ascii_digit()).count()
    };
    (0..bytes.len()).step_by(DIGITS).any(|at| {
        let Some((before, after)) = bytes.split_at_checked(at) else { return false };
        after.first().is_some_and(u8::is_ascii_digit)
            && digits(&mut before.iter().rev()) + digits(&mut after.iter()) >= DIGITS
    })
}

/// An integer that neither 64 bits hold nor a float says exactly; one that Python would read.
fn is_beyond(number: &str) -> bool {
    let bare = number.strip_prefix('-').unwrap_or(number);
    (DIGITS..=limits::INTEGER_DIGITS).contains(&bare.len())
        && bare.bytes().all(|byte| byte.is_ascii_digit())
        && !bare.starts_with('0')
        && number.parse::<i64>().is_err()
        && number.parse::<u64>().is_err()
}

/// The same with marked texts as the integers that they are.
pub fn plain(text: String) -> String {
    if !text.contains(INTEGER) && !text.contains("\\ufdd0") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for piece in Pieces(&text) {
        match piece {
            Piece::Quoted(text) => out.push_str(number_in(text).unwrap_or(text)),
            Piece::Bare(text) | Piece::Between(text) => out.push_str(text),
        }
    }
    out
}

fn number_in(quoted: &str) -> Option<&str> {
    let bare = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let number = bare.strip_prefix(INTEGER).or_else(|| bare.strip_prefix("\\ufdd0"))?;
    is_beyond(number).then_some(number)
}

/// For a reader: marked integers as their digits.
pub fn unmarked(value: Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix(INTEGER) {
            Some(number) => number.into(),
            None => text.into(),
        },
        Value::Array(items) => items.into_iter().map(unmarked).collect(),
        Value::Object(entries) => {
            entries.into_iter().map(|(name, value)| (name, unmarked(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Value) {
        assert_eq!(serde_json::from_str::<Value>(&mended(text)).ok(), Some(expected), "{text}");
    }

    #[test]
    fn lone_surrogates_are_shown_as_python_shows_them() {
        check(r#"["caf\udce9"]"#, json!([r"caf\udce9"]));
        check(r#"{"k\ud83d": 1}"#, json!({ r"k\ud83d": 1 }));
        check(r#"["\ud83d\ude00", "\uD83D\uDE00"]"#, json!(["😀", "😀"]));
        check(r#"["\ud83d\ud83d\ude00"]"#, json!([r"\ud83d😀"]));
        check(r#"["\\ud83d", "\"\\\udce9"]"#, json!([r"\ud83d", r#""\\udce9"#]));
        check(r#"["\u00e9\n"]"#, json!(["é\n"]));
    }

    #[test]
    fn numbers_that_are_none_are_null() {
        check(r#"[NaN, Infinity, -Infinity, 1e999, -1E999, 1e9]"#, {
            json!([null, null, null, null, null, 1e9])
        });
        check(r#"["NaN", "1e999"]"#, json!(["NaN", "1e999"]));
        check("\u{feff}[\"a\tb\nc\"]", json!(["a\tb\nc"]));
    }

    /// Nothing of what is sound is touched, and nothing panics on what is not.
    #[test]
    fn what_is_sound_stays_and_what_is_broken_stays_broken() {
        for text in [r#"{"a": [1, -2.5e3, true, null, "x\\\"y"], "ü": "ö"}"#, "[]", " 5 "] {
            assert_eq!((mended(text).as_str(), &*exact(text)), (text, text));
        }
        for text in ["\"", "\"\\", "\"\\u", "\"\\ud8", "\"\\ud83d\\", "{\"a", "\"\\é\"", "\"\\ué"]
        {
            assert!(serde_json::from_str::<Value>(&mended(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn large_integers_keep_their_digits() {
        let big = "1180591620717411303425";
        let text = format!(r#"{{"a": [{big}, -{big}, 7, 1.5], "b": "{big}"}}"#);
        let marked = exact(&text);
        let value: Value = serde_json::from_str(&marked).unwrap();
        assert_eq!(value["a"][0], json!(format!("{INTEGER}{big}")));
        assert_eq!((&value["a"][2], &value["b"]), (&json!(7), &json!(big)));
        let back = plain(value.to_string());
        assert_eq!(back, format!(r#"{{"a":[{big},-{big},7,1.5],"b":"{big}"}}"#));
        assert_eq!(read(&text).unwrap()["a"], json!([big, format!("-{big}"), 7, 1.5]));
    }

    proptest! {
        /// Whatever a Python text holds, `json.dumps` of it is read.
        #[test]
        fn any_units_are_read(units in prop::collection::vec(any::<u16>(), 0..40)) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let read = read(&format!("{{\"{escaped}\": \"{escaped}\"}}")).unwrap();
            let shown = read.as_object().unwrap().iter().next().unwrap();
            prop_assert_eq!(json!(shown.0), shown.1.clone());
            if let Ok(text) = String::from_utf16(&units) {
                prop_assert_eq!(shown.1, &json!(text));
            }
        }

        /// What is sound stays as it is; nothing panics on what is not.
        #[test]
        fn sound_texts_stay(text in any::<String>(), number in any::<f64>(), int in any::<i64>()) {
            let sound = json!({ text.clone(): [text, number, int, null] }).to_string();
            prop_assert_eq!(&mended(&sound), &sound);
            prop_assert_eq!(&*exact(&sound), &sound);
        }

        #[test]
        fn broken_texts_do_no_harm(text in "[\\[\\]{}\"\\\\udDeE0-9N,:. -]{0,60}") {
            let (mended, exact) = (mended(&text), exact(&text));
            prop_assert!(mended.len() >= text.len().min(4) / 4 && exact.len() >= text.len());
        }
    }

    #[test]
    fn what_64_bits_hold_is_no_large_integer() {
        for text in ["18446744073709551615", "-9223372036854775808", "12345678901234567890.5"] {
            assert_eq!(exact(text), text);
        }
        for text in ["18446744073709551616", "-9223372036854775809"] {
            assert_ne!(exact(text), text);
            for before in 0..DIGITS * 2 {
                let padded = format!("{}{text}", " ".repeat(before));
                assert_ne!(exact(&padded), padded, "{before}");
            }
        }
    }

    #[test]
    fn what_is_nested_too_deep_says_how_deep() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let (value, deepest) = read_shown(&nested(limits::SHOWN_DEPTH)).unwrap();
        assert!(value.is_array() && deepest.is_none());
        let text = format!(r#"{{"a": {}, "b": [1, "]"], "c": {}}}"#, nested(10_000), nested(99));
        let (value, deepest) = read_shown(&text).unwrap();
        assert_eq!(deepest, Some(10_001));
        assert_eq!(value.get("b"), Some(&serde_json::json!([1, "]"])));
        let told = value.to_string();
        let shown = limits::SHOWN_DEPTH;
        assert!(told.contains(&format!("… {} levels deeper", 10_001 - shown)), "{told}");
        assert!(told.contains(&format!("… {} levels deeper", 100 - shown)), "{told}");
        assert!(read_shown("[1, ").is_err());
    }
}
