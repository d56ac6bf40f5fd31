//! What must not reach a model: values whose name or shape says that they are secret.
//!
//! Everything that leaves for a model, a notification, the timeline or a log passes here last, as text or as
//! JSON. Nothing is parsed as a language: a secret is a name, a sign between (`=`, `:`, `=>`) and a value, or
//! a word that has the look of a key. So it does not matter which debugger wrote the text, or where it was cut.
//! The same value has the same mark wherever it stands, so that equality stays visible.

mod json;
mod look;
mod name;
mod pair;
mod rules;
mod shape;

use std::{borrow::Cow, ops::Range};

use sha2::{Digest as _, Sha256};

pub(crate) use self::json::names_at;
pub use self::json::{parameters, receiver};
pub use self::name::Weight;

/// The rules, a user's own among them, and the key of the marks.
#[derive(Debug, Clone)]
pub struct Secrets {
    shown: bool,
    /// Names that are secret here, in words.
    names: Vec<String>,
    /// Names that are not, whatever the rules say.
    plain: Vec<String>,
    key: [u8; 16],
}

/// A user's own rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnRules {
    /// Everything is shown as it is.
    pub shown: bool,
    pub names: Vec<String>,
    pub plain: Vec<String>,
}

impl Default for Secrets {
    /// The rules alone; the marks are of this server.
    fn default() -> Secrets {
        Secrets::of_this_server(OwnRules::default())
    }
}

impl Secrets {
    /// Another server makes other marks.
    pub fn of_this_server(own: OwnRules) -> Secrets {
        Secrets::new(own, uuid::Uuid::new_v4().into_bytes())
    }

    /// `key` makes the marks: without it nobody can try values until one has the same mark.
    pub fn new(own: OwnRules, key: [u8; 16]) -> Secrets {
        let words = |names: Vec<String>| names.iter().map(|it| name::joined(it)).collect();
        Secrets { shown: own.shown, names: words(own.names), plain: words(own.plain), key }
    }

    /// A user's own rules, for recorders inside of programs, which redact before anything is written.
    pub fn for_recorders(&self) -> serde_json::Value {
        serde_json::json!({ "shown": self.shown, "names": self.names, "not": self.plain, "prefixes": [] })
    }

    /// A text without its secrets.
    pub fn text<'text>(&self, text: &'text str) -> Cow<'text, str> {
        if self.shown {
            return Cow::Borrowed(text);
        }
        self.without(text, &pair::secrets(self, text))
    }

    /// A value that somebody asked for by this name: an expression, a parameter, a variable.
    pub fn named<'text>(&self, name: &str, value: &'text str) -> Cow<'text, str> {
        if self.shown {
            return Cow::Borrowed(value);
        }
        let weight = self.weight(name);
        match pair::value(weight, value, 0, pair::Sign::Told) {
            found if found.is_empty() => self.text(value),
            found => self.without(value, &found),
        }
    }

    /// Whether a variable of the environment, a header or a field with this name holds a secret.
    pub fn is_secret(&self, name: &str, value: &str) -> bool {
        !self.shown && (look::is_secret(self.weight(name), value) || shape::is_secret(value))
    }

    /// What a name says of its value.
    pub fn weight(&self, name: &str) -> Weight {
        if self.names.is_empty() && self.plain.is_empty() {
            return name::weight(name);
        }
        let joined = name::joined(name);
        let has = |names: &[String]| names.contains(&joined);
        match () {
            () if has(&self.plain) => Weight::Plain,
            () if has(&self.names) => Weight::Secret,
            () => name::weight(name),
        }
    }

    /// Of several names that a value may have, the one that says most.
    pub(crate) fn heaviest<'s>(&self, names: impl Iterator<Item = &'s str>) -> &'s str {
        names.max_by_key(|it| self.weight(it)).unwrap_or_default()
    }

    fn without<'text>(&self, text: &'text str, found: &[Hidden]) -> Cow<'text, str> {
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for Hidden { range, form } in found {
            // They come in order; one that begins inside of another is part of it.
            if range.start < at {
                continue;
            }
            out += text.get(at..range.start).unwrap_or_default();
            out += &self.mark(text.get(range.clone()).unwrap_or_default(), *form);
            at = range.end;
        }
        out += text.get(at..).unwrap_or_default();
        Cow::Owned(out)
    }

    /// `‹secret str, 40 characters, #a1b2›`, of the value without its quotes.
    fn mark(&self, value: &str, form: Form) -> String {
        let plain = look::unescaped(value);
        let hash = Sha256::new().chain_update(self.key).chain_update(plain.as_bytes()).finalize();
        let mark: String = hash.iter().take(2).map(|byte| format!("{byte:02x}")).collect();
        let (form, length) = (form.as_str(), plain.chars().count());
        let many = if length == 1 { "character" } else { "characters" };
        format!("‹secret {form}, {length} {many}, #{mark}›")
    }
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

#[cfg(test)]
mod tests;
