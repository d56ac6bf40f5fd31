//! Changes to what is sound: bytes, and values inside of JSON.

use serde_json::{Value, json};

/// Small and fast, and the same for the same seed: `SplitMix64`.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }

    /// One in so many.
    pub(super) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(super) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

/// Where readers of text go wrong.
const PIECES: &[&str] = &[
    "\0",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    ",",
    ":",
    "null",
    "true",
    "-",
    "-0",
    "1e999",
    "1E400",
    "NaN",
    "Infinity",
    "18446744073709551616",
    "-9223372036854775809",
    "0x10",
    "\u{feff}",
    "\u{202e}",
    "é",
    "💥",
    "%",
    "%00",
    "%2e%2e%2f",
    "../",
    ";",
    " ",
    "\t",
    "Content-Length: ",
    "{}",
    "[]",
    "\"\"",
    "__proto__",
    "\u{7f}",
    "//",
];

/// One change of the bytes.
pub(super) fn bytes(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(bytes.len() + 1);
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.byte()),
        2 => drop(bytes.splice(at..(at + random.below(9)).min(bytes.len()), [])),
        3 => drop(bytes.splice(at..at, random.of(PIECES).bytes())),
        4 => {
            let from = random.below(other.len());
            let to = (from + random.below(40)).min(other.len());
            drop(bytes.splice(at..at, other[from..to].iter().copied()));
        }
        5 => {
            let piece = bytes[at..(at + random.below(20)).min(bytes.len())].to_vec();
            let times = 1 + random.below(50);
            drop(bytes.splice(at..at, piece.repeat(times)));
        }
        _ => {
            let flipped = random.byte();
            let bit = 1 << random.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = if flipped < 128 { flipped } else { *byte ^ bit };
            }
        }
    }
}

/// Values that are of the wrong kind nearly everywhere.
fn odd(random: &mut Random) -> Value {
    match random.below(16) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1e308),
        6 => json!(0.1),
        7 => json!(""),
        8 => json!("x".repeat(random.below(3_000))),
        9 => json!(random.of(PIECES)),
        10 => json!([]),
        11 => json!({}),
        12 => json!([[[[[[[[[[[[]]]]]]]]]]]]),
        13 => json!(vec![0; random.below(300)]),
        14 => json!({ "": { "": { "": null } } }),
        _ => json!(random.below(100)),
    }
}

/// One change somewhere inside.
pub(super) fn value(random: &mut Random, value: &mut Value) {
    let count = 1 + parts(value);
    let mut at = random.below(count);
    walk(random, value, &mut at);
}

/// How many values are inside.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(|it| 1 + parts(it)).sum(),
        Value::Object(all) => all.values().map(|it| 1 + parts(it)).sum(),
        _ => 0,
    }
}

/// Changes the value with that number.
fn walk(random: &mut Random, value: &mut Value, at: &mut usize) -> bool {
    if *at == 0 {
        change(random, value);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|it| walk(random, it, at)),
        Value::Object(all) => all.values_mut().any(|it| walk(random, it, at)),
        _ => false,
    }
}

fn change(random: &mut Random, value: &mut Value) {
    let with = odd(random);
    match value {
        Value::Object(all) if random.below(3) > 0 => {
            let names: Vec<String> = all.keys().cloned().collect();
            let Some(name) = names.get(random.below(names.len() + 1)) else {
                all.insert(random.of(PIECES).to_string(), with);
                return;
            };
            let old = all.remove(name).unwrap_or_default();
            if random.one_in(2) {
                let piece: &&str = random.of(PIECES);
                all.insert(format!("{name}{piece}"), old);
            }
        }
        Value::Array(all) if random.below(3) > 0 => {
            let again = all.first().cloned().unwrap_or(with);
            let times = 1 + random.below(30);
            all.extend(std::iter::repeat_n(again, times));
        }
        Value::String(text) if random.below(3) > 0 => {
            let mut changed = std::mem::take(text).into_bytes();
            bytes(random, &mut changed, b"other");
            *text = String::from_utf8_lossy(&changed).into_owned();
        }
        _ => *value = with,
    }
}

/// A message with a few changes: inside as JSON, outside as bytes, or both.
pub(super) fn message(random: &mut Random, sound: &Value, other: &[u8]) -> Vec<u8> {
    let mut changed = sound.clone();
    let how = random.below(4);
    if how < 3 {
        (0..1 + random.below(3)).for_each(|_| value(random, &mut changed));
    }
    let mut text = changed.to_string().into_bytes();
    if how > 1 {
        (0..1 + random.below(3)).for_each(|_| bytes(random, &mut text, other));
    }
    text
}

#[test]
fn the_same_seed_makes_the_same_change() {
    let sound = json!({ "id": 1, "params": { "name": "x", "list": [1, 2, 3] } });
    let made = |seed| message(&mut Random(seed), &sound, b"other");
    let different = (0..100).filter(|seed| made(*seed) != sound.to_string().into_bytes()).count();
    assert!((0..100).all(|seed| made(seed) == made(seed)));
    assert!(different > 90, "{different}");
}
