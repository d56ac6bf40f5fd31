//! What must not be written: the server's own rules, from its own files.
//!
//! `name`, `look`, `pair`, `rules` and `shape` are the engine's; this module gives them what they stand on there,
//! with a hash of its own, since this library depends on nothing.

#[path = "../../../crates/engine/src/secrets/look.rs"]
mod look;
#[path = "../../../crates/engine/src/secrets/name.rs"]
mod name;
#[path = "../../../crates/engine/src/secrets/pair.rs"]
mod pair;
#[path = "../../../crates/engine/src/secrets/rules.rs"]
mod rules;
#[path = "../../../crates/engine/src/secrets/shape.rs"]
mod shape;

use std::ops::Range;

use crate::sha256::sha256;

pub(crate) use self::name::Weight;

#[derive(Default)]
pub(crate) struct Secrets {
    names: Vec<String>,
    plain: Vec<String>,
    prefixes: Vec<String>,
    key: Vec<u8>,
    shown: bool,
}

/// A secret in a text, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hidden {
    range: Range<usize>,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Bytes,
    Number,
    PrivateKey,
}

impl Form {
    fn as_str(self) -> &'static str {
        match self {
            Form::Text => "str",
            Form::Bytes => "bytes",
            Form::Number => "number",
            Form::PrivateKey => "private key",
        }
    }
}

impl Secrets {
    pub(crate) fn new(
        names: &[String],
        plain: &[String],
        prefixes: Vec<String>,
        key: Vec<u8>,
        shown: bool,
    ) -> Secrets {
        let words = |names: &[String]| names.iter().map(|it| name::joined(it)).collect();
        Secrets { names: words(names), plain: words(plain), prefixes, key, shown }
    }

    /// What a name says of its value.
    pub(crate) fn weight(&self, name: &str) -> Weight {
        if self.shown {
            return Weight::Plain;
        }
        if self.names.is_empty() && self.plain.is_empty() {
            return name::weight(name);
        }
        let joined = name::joined(name);
        match () {
            () if self.plain.contains(&joined) => Weight::Plain,
            () if self.names.contains(&joined) => Weight::Secret,
            () => name::weight(name),
        }
    }

    /// Whether a text under a name of this weight is a secret as a whole.
    pub(crate) fn is_secret(&self, weight: Weight, text: &str) -> bool {
        !self.shown
            && (look::is_secret(weight, text)
                || shape::is_secret(text)
                || self.prefixes.iter().any(|it| text.starts_with(it.as_str())))
    }

    /// The text without the secrets in it; nothing if there are none.
    pub(crate) fn without(&self, text: &str) -> Option<String> {
        if self.shown || text.len() < 10 {
            return None;
        }
        let found = pair::secrets(self, text);
        if found.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for Hidden { range, form } in found {
            if range.start < at {
                continue;
            }
            out += text.get(at..range.start).unwrap_or_default();
            out += &self.told(text.get(range.clone()).unwrap_or_default(), form);
            at = range.end;
        }
        out += text.get(at..).unwrap_or_default();
        Some(out)
    }

    fn told(&self, value: &str, form: Form) -> String {
        let plain = look::unescaped(value);
        let [a, b] = self.mark(plain.as_bytes());
        let (form, length) = (form.as_str(), plain.chars().count());
        let many = if length == 1 { "character" } else { "characters" };
        format!("‹secret {form}, {length} {many}, #{a:02x}{b:02x}›")
    }

    /// Two bytes of a keyed hash: equal values have equal ones, and nobody can try values without the key.
    pub(crate) fn mark(&self, value: &[u8]) -> [u8; 2] {
        let [a, b, ..] = sha256(&[&self.key, value]);
        [a, b]
    }
}
