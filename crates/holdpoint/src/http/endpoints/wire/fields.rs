//! One field of a body: what each kind of it is read as.

use std::{hash::BuildHasher as _, sync::LazyLock};

use foldhash::quality::RandomState;
use holdpoint_engine::{
    calls::{
        call::{AppProcess, CallOrigin, CallSite},
        lenient,
        value::{Data, Format, Item},
    },
    limits,
};
use serde::de::MapAccess;
use serde_json::{Map, Value, value::RawValue};

use super::{Loose, Nothing, Object};

/// Text that is not empty.
pub(in crate::http) fn text<'de, M: MapAccess<'de>>(
    map: &mut M,
) -> Result<Option<String>, M::Error> {
    Ok(match loose::<M, Nothing>(map)? {
        Loose::Text(text) if !text.is_empty() => Some(text.into_owned()),
        _ => None,
    })
}

/// A number, or text that is one.
pub(in crate::http) fn number<'de, M: MapAccess<'de>>(
    map: &mut M,
) -> Result<Option<f64>, M::Error> {
    let number = match loose::<M, Nothing>(map)? {
        Loose::Number(number) => Some(number),
        Loose::Text(text) => text.parse().ok(),
        _ => None,
    };
    Ok(number.filter(|number| number.is_finite()))
}

pub(in crate::http) fn some_json<'de, M: MapAccess<'de>>(
    map: &mut M,
) -> Result<Option<Value>, M::Error> {
    Ok(Some(json(map.next_value()?)).filter(|value| !value.is_null()))
}

pub(in crate::http) fn object<'de, M: MapAccess<'de>, T: Object<'de>>(
    map: &mut M,
) -> Result<Option<T>, M::Error> {
    Ok(match loose(map)? {
        Loose::Object(object) => Some(object),
        _ => None,
    })
}

pub(in crate::http) fn loose<'de, M: MapAccess<'de>, T: Object<'de>>(
    map: &mut M,
) -> Result<Loose<'de, T>, M::Error> {
    map.next_value()
}

/// Any value; null where there is none.
pub(in crate::http) fn any<'de, M: MapAccess<'de>>(map: &mut M) -> Result<Value, M::Error> {
    Ok(json(map.next_value()?))
}

/// Any value that is not null, with integers of any size: [`lenient::exact`].
pub(in crate::http) fn exact<'de, M: MapAccess<'de>>(
    map: &mut M,
) -> Result<Option<Value>, M::Error> {
    Ok(present(map)?.filter(|value| !value.is_null()))
}

/// The same, null too: that it is there says something.
pub(in crate::http) fn present<'de, M: MapAccess<'de>>(
    map: &mut M,
) -> Result<Option<Value>, M::Error> {
    let raw: &RawValue = map.next_value()?;
    let value = serde_json::from_str(&lenient::exact(raw.get())).unwrap_or(Value::Null);
    Ok(Some(value))
}

/// What is true and nothing else.
pub(in crate::http) fn flag<'de, M: MapAccess<'de>>(map: &mut M) -> Result<bool, M::Error> {
    Ok(matches!(loose::<M, Nothing>(map)?, Loose::True))
}

/// A list of objects; what is none in it is an empty one.
pub(in crate::http) fn list<'de, M: MapAccess<'de>, T: Object<'de>>(
    map: &mut M,
) -> Result<Vec<T>, M::Error> {
    Ok(match loose(map)? {
        Loose::List(list) => list,
        _ => Vec::new(),
    })
}

/// Pickles, unless it says otherwise; none when it names what there is not.
pub(in crate::http) fn format<'de, M: MapAccess<'de>>(
    map: &mut M,
) -> Result<Option<Format>, M::Error> {
    Ok(match loose::<M, Nothing>(map)? {
        Loose::Text(word) if !word.is_empty() => Format::parse(&word),
        _ => Some(Format::Dill),
    })
}

/// The same for the same bytes, for as long as this process lives.
pub(in crate::http) fn fingerprint(bytes: &[u8]) -> u64 {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    HASHER.hash_one(bytes)
}

/// Both parts, as numbers or as text that is one.
#[derive(Default)]
pub(in crate::http) struct Who {
    pid: Option<f64>,
    start_time: Option<f64>,
}

impl Who {
    /// Takes a field if it is one of the two.
    pub(in crate::http) fn take<'de, M: MapAccess<'de>>(
        &mut self,
        name: &str,
        map: &mut M,
    ) -> Result<bool, M::Error> {
        match name {
            "process_pid" => self.pid = number(map)?,
            "process_start_time" => self.start_time = number(map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(in crate::http) fn process(&self) -> Option<AppProcess> {
        #[expect(clippy::cast_possible_truncation, reason = "a process id is a small integer")]
        let pid = self.pid? as i64;
        Some(AppProcess { pid, start_time: self.start_time? })
    }
}

/// Takes a field if it says who in the app calls.
pub(in crate::http) fn origin<'de, M: MapAccess<'de>>(
    origin: &mut CallOrigin,
    name: &str,
    map: &mut M,
) -> Result<bool, M::Error> {
    match name {
        "call_type" => origin.call_type = text(map)?,
        "thread_id" => origin.thread_id = some_json(map)?,
        "thread_name" => origin.thread_name = text(map)?,
        "task" => origin.task = some_json(map)?,
        "client" => origin.client = text(map)?,
        "async" => origin.is_async = flag(map)?,
        _ => return Ok(false),
    }
    Ok(true)
}

impl<'de> Object<'de> for Item {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        match name {
            "cid" => self.cid = text(map)?,
            "data" => {
                self.data = match loose::<M, Nothing>(map)? {
                    Loose::Null => Data::Absent,
                    Loose::Text(text) => Data::Text(text.into_owned()),
                    _ => Data::Other,
                }
            }
            "serialization_format" => self.format = format(map)?,
            "client_ref" => self.client_ref = some_json(map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'de> Object<'de> for CallSite {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        match name {
            "timestamp" => self.timestamp = number(map)?,
            "target_cid" => self.target_cid = text(map)?,
            "page_url" => self.page_url = text(map)?,
            "stack_trace" => {
                let raw: &RawValue = map.next_value()?;
                self.stack = Some(raw.get()).filter(|text| *text != "null").map(stack);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An object's entries in their order, each a value.
#[derive(Default)]
pub(in crate::http) struct NamedItems(pub(in crate::http) Vec<(String, Item)>);

impl<'de> Object<'de> for NamedItems {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        let item = object(map)?.unwrap_or_default();
        self.0.push((name.to_owned(), item));
        Ok(true)
    }
}

/// Everything that there is.
#[derive(Default)]
pub(in crate::http) struct Whole(pub(in crate::http) Map<String, Value>);

impl<'de> Object<'de> for Whole {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        self.0.insert(name.to_owned(), any(map)?);
        Ok(true)
    }
}

/// What it says; nothing where it is too deep to be read.
fn json(raw: &RawValue) -> Value {
    match plain(raw) {
        Some(text) => Value::from(text),
        None => serde_json::from_str(raw.get()).unwrap_or(Value::Null),
    }
}

/// Text as it stands between its quotes: nearly all has no escapes, and what has none is not read again.
fn plain(raw: &RawValue) -> Option<&str> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// A stack as it came, or its innermost frames where there are too many.
fn stack(text: &str) -> String {
    if text.len() <= limits::STACK_BYTES {
        return text.to_owned();
    }
    let frames: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    let mut kept = String::from("[");
    for frame in frames {
        if kept.len() + frame.get().len() + 2 > limits::STACK_BYTES {
            break;
        }
        if kept.len() > 1 {
            kept.push(',');
        }
        kept.push_str(frame.get());
    }
    kept + "]"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deep_stack_is_cut_to_its_inner_frames() {
        let frames: Vec<Value> =
            (0..10_000).map(|n| json!({ "lineno": n, "function": "f".repeat(40) })).collect();
        let cut = stack(&json!(frames).to_string());
        assert!(cut.len() <= limits::STACK_BYTES);
        let kept: Vec<Value> = serde_json::from_str(&cut).unwrap();
        assert_eq!(kept[0]["lineno"], 0);
    }

    #[test]
    fn texts_are_what_they_say() {
        let body = r#"{"a": "x\u00e9\n\"", "b": "", "c": "\\", "d": 5, "e": "plain"}"#;
        let Whole(all) = super::super::whole(body).unwrap();
        assert_eq!(all["a"], json!("x\u{e9}\n\""));
        assert_eq!((&all["b"], &all["c"], &all["e"]), (&json!(""), &json!("\\"), &json!("plain")));
    }
}
