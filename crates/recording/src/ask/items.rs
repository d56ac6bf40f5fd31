//! Items of containers as names: `rows[0]`, `table['a']`. An item is written by its own store, and by whatever gives its
//! container other content: then its value is looked up in what was kept of that.

use std::borrow::Cow;

use crate::{damage::Damage, datum::Datum, recording::Recording};

/// A key that says by itself which item it is; `rows[i]` does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Index(i64),
    Text(String),
}

/// The same name however its keys are quoted: `d["x"]` is `d['x']`.
pub(super) fn plainly_quoted(name: &str) -> Cow<'_, str> {
    match name.contains('"') {
        true => Cow::Owned(name.replace('"', "'")),
        false => Cow::Borrowed(name),
    }
}

/// `rows[0]` is the item 0 of `rows`.
pub(super) fn item_of(name: &str) -> Option<(&str, Key)> {
    let (container, key) = name.strip_suffix(']')?.rsplit_once('[')?;
    let quoted = key.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    let key = match quoted {
        Some(text) => Key::Text(text.to_owned()),
        None => Key::Index(key.parse().ok()?),
    };
    (!container.is_empty()).then_some((container, key))
}

/// What is asked of the writes of a slot: their values, or of a container's those that gave an item another value.
pub(super) struct Asked<'a> {
    key: Option<&'a Key>,
    last: Option<u32>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(key: Option<&'a Key>) -> Self {
        Self { key, last: None }
    }

    pub(super) fn of(
        &mut self,
        recording: &Recording,
        process: u32,
        value: u32,
    ) -> Result<Option<u32>, Damage> {
        let Some(key) = self.key else { return Ok(Some(value)) };
        let found = recording.item(process, value, key)?;
        let is_other = found != self.last;
        self.last = found;
        Ok(found.filter(|_| is_other))
    }
}

impl Recording {
    /// The item of a container, where it is among those that were kept.
    pub(super) fn item(&self, process: u32, value: u32, key: &Key) -> Result<Option<u32>, Damage> {
        Ok(match (self.datum(process, value)?, key) {
            (Datum::List { length, items, .. }, Key::Index(index)) => {
                let index = if *index < 0 { index + length as i64 } else { *index };
                usize::try_from(index).ok().and_then(|it| items.get(it).copied())
            }
            (Datum::Dict { pairs, .. }, _) => {
                let mut found = None;
                for (name, item) in pairs {
                    if self.is_key(process, name, key)? {
                        found = Some(item);
                    }
                }
                found
            }
            _ => None,
        })
    }

    fn is_key(&self, process: u32, value: u32, key: &Key) -> Result<bool, Damage> {
        Ok(match (self.datum(process, value)?, key) {
            (Datum::Text { chars, text }, Key::Text(wanted)) => {
                text == *wanted && chars == text.chars().count() as u64
            }
            (Datum::Integer(number), Key::Index(wanted)) => number == *wanted,
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_says_which_item_it_is() {
        assert_eq!(item_of("rows[-1]"), Some(("rows", Key::Index(-1))));
        assert_eq!(item_of("self.d['a b']"), Some(("self.d", Key::Text("a b".to_owned()))));
        assert_eq!(item_of("rows[i]"), None);
        assert_eq!(item_of("rows"), None);
        assert_eq!(plainly_quoted("d[\"x\"]"), "d['x']");
    }
}
