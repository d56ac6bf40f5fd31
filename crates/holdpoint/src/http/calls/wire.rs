//! The fields of a request as existing clients send them: nothing is typed strictly, because a
//! signature is a text or a number, a process id a number or a text.

use std::{borrow::Cow, fmt, hash::BuildHasher as _, sync::LazyLock};

use foldhash::quality::RandomState;
use holdpoint_engine::{
    callpoints::{
        call::{Origin, Site},
        lenient,
        value::{Data, Format, Item},
    },
    limits,
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// An object's fields, each as the text it came as: only what is asked for is looked at.
pub(crate) struct Fields<'b> {
    whole: &'b str,
    all: Pairs<'b>,
    /// Of a batch: lists that were taken apart at once, because they are nearly all of it.
    lists: Vec<(Cow<'b, str>, Vec<&'b RawValue>)>,
}

/// The lists of a batch.
const LISTS: [&str; 2] = ["values", "calls"];

/// An object's entries in their order. A dozen are found faster one by one than by a hash.
#[derive(Default)]
struct Pairs<'b>(Vec<(Cow<'b, str>, &'b RawValue)>);

/// A name that is borrowed where it is written without escapes.
#[derive(Deserialize)]
pub(super) struct Name<'b>(#[serde(borrow)] pub(super) Cow<'b, str>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs<'de>, M::Error> {
                let mut pairs = Vec::with_capacity(16);
                while let Some((Name(name), value)) = map.next_entry()? {
                    pairs.push((name, value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// An object some of whose entries are lists.
struct Batch<'b>(Fields<'b>);

impl<'de> Deserialize<'de> for Batch<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Batch<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Batch<'de>, M::Error> {
                let mut fields = Fields { whole: "", all: Pairs::default(), lists: Vec::new() };
                while let Some(Name(name)) = map.next_key()? {
                    if LISTS.contains(&&*name) {
                        fields.lists.push((name, map.next_value()?));
                    } else {
                        fields.all.0.push((name, map.next_value()?));
                    }
                }
                Ok(Batch(fields))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// The same for the same bytes, for as long as this process lives.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    HASHER.hash_one(bytes)
}

impl<'b> Fields<'b> {
    /// Falsy JSON counts as an empty object, as it does to existing servers.
    pub(super) fn read(whole: &'b str) -> Result<Fields<'b>, String> {
        match whole.trim() {
            "[]" | "null" | "0" | "false" | "\"\"" => {
                return Ok(Fields { whole, all: Pairs::default(), lists: Vec::new() });
            }
            _ => {}
        }
        let all = serde_json::from_str(whole).map_err(|error| error.to_string())?;
        Ok(Fields { whole, all, lists: Vec::new() })
    }

    /// The same of a batch, whose lists must be lists.
    pub(super) fn read_batch(whole: &'b str) -> Result<Fields<'b>, String> {
        let Batch(fields) = serde_json::from_str(whole).map_err(|error| error.to_string())?;
        Ok(Fields { whole, ..fields })
    }

    fn of(raw: &'b RawValue) -> Option<Fields<'b>> {
        let all = serde_json::from_str(raw.get()).ok()?;
        Some(Fields { whole: raw.get(), all, lists: Vec::new() })
    }

    /// The object as it came.
    pub(super) fn text_of_all(&self) -> &str {
        self.whole
    }

    fn raw(&self, name: &str) -> Option<&'b RawValue> {
        let found = self.all.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, raw)| *raw).filter(|raw| raw.get() != "null")
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.all.0.iter().any(|(known, _)| known == name)
    }

    /// Text that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(self.raw(name)?).filter(|text| !text.is_empty())
    }

    /// A number, or text that is one.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        let text = self.raw(name)?.get();
        let bare = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
        bare.parse().ok().filter(|number: &f64| number.is_finite())
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        self.raw(name).map_or(Value::Null, json)
    }

    /// The same with integers of any size: [`lenient::exact`].
    pub(crate) fn exact(&self, name: &str) -> Value {
        let text = self.raw(name).map(|raw| lenient::exact(raw.get()));
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|raw| raw.get() == "true")
    }

    pub(crate) fn object(&self, name: &str) -> Option<Fields<'b>> {
        Fields::of(self.raw(name)?)
    }

    pub(super) fn objects(&self, name: &str) -> Vec<Option<Fields<'b>>> {
        if let Some((_, list)) = self.lists.iter().find(|(known, _)| known == name) {
            return list.iter().map(|raw| Fields::of(raw)).collect();
        }
        let list: Option<Vec<&RawValue>> =
            self.raw(name).and_then(|raw| serde_json::from_str(raw.get()).ok());
        list.unwrap_or_default().into_iter().map(Fields::of).collect()
    }

    /// This object as a value.
    pub(super) fn item(&self) -> Item {
        item(self.entries())
    }

    /// A value whose fields are `result_cid`, `result_data`, …
    pub(crate) fn prefixed_item(&self, prefix: &str) -> Item {
        item(self.entries().filter_map(|(name, raw)| {
            let name = name.strip_prefix(prefix)?.strip_prefix('_')?;
            Some((name, raw))
        }))
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.all.0.iter().map(|(name, raw)| (&**name, *raw))
    }

    pub(super) fn items(&self, name: &str) -> Vec<Item> {
        let item = |fields: Option<Fields<'_>>| fields.map(|it| it.item()).unwrap_or_default();
        self.objects(name).into_iter().map(item).collect()
    }

    /// An object's entries in their order.
    pub(super) fn named(&self, name: &str) -> Vec<(String, &'b RawValue)> {
        let entries: Option<Pairs<'b>> =
            self.raw(name).and_then(|raw| serde_json::from_str(raw.get()).ok());
        let entries = entries.unwrap_or_default().0.into_iter();
        entries.map(|(name, raw)| (name.into_owned(), raw)).collect()
    }

    pub(super) fn site(&self) -> Site {
        let Some(site) = self.object("call_site") else { return Site::default() };
        Site {
            timestamp: site.number("timestamp"),
            target_cid: site.text("target_cid"),
            page_url: site.text("page_url"),
            stack: site.raw("stack_trace").map(|raw| stack(raw.get())),
        }
    }

    pub(super) fn origin(&self) -> Origin {
        let json = |name| Some(self.json(name)).filter(|value| !value.is_null());
        Origin {
            call_type: self.text("call_type"),
            thread_id: json("thread_id"),
            thread_name: self.text("thread_name"),
            task: json("task"),
            client: self.text("client"),
            is_async: self.flag("async"),
        }
    }
}

/// A value of its fields, the last of each name.
fn item<'a>(fields: impl Iterator<Item = (&'a str, &'a RawValue)>) -> Item {
    let (mut cid, mut data, mut format, mut client_ref) = (None, None, None, None);
    for (name, raw) in fields {
        match name {
            "cid" => cid = Some(raw),
            "data" => data = Some(raw),
            "serialization_format" => format = Some(raw),
            "client_ref" => client_ref = Some(raw),
            _ => {}
        }
    }
    let word = |raw: Option<&RawValue>| raw.and_then(text).filter(|text| !text.is_empty());
    Item {
        cid: word(cid),
        data: match data.filter(|raw| raw.get() != "null") {
            None => Data::Absent,
            Some(raw) => text(raw).map_or(Data::Other, Data::Text),
        },
        format: match word(format) {
            None => Some(Format::Dill),
            Some(word) => Format::parse(&word),
        },
        client_ref: client_ref
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .filter(|value: &Value| !value.is_null()),
    }
}

/// What it says; nothing where it is too deep to be read.
pub(super) fn json(raw: &RawValue) -> Value {
    match plain(raw) {
        Some(text) => Value::from(text),
        None => serde_json::from_str(raw.get()).unwrap_or(Value::Null),
    }
}

/// Text, if it is one.
fn text(raw: &RawValue) -> Option<String> {
    match plain(raw) {
        Some(text) => Some(text.to_owned()),
        None => serde_json::from_str(raw.get()).ok(),
    }
}

/// Text as it stands between its quotes: nearly all has no escapes, and what has none is not read again.
fn plain(raw: &RawValue) -> Option<&str> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// A stack as it came, or its innermost frames where there are too many.
pub(super) fn stack(text: &str) -> String {
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
    fn nothing_is_typed_strictly() {
        let body = r#"{"process_pid": "42", "process_start_time": 1.5, "signature": 2,
            "method_name": "f", "target": 7, "args": [{"cid": "a", "data": 5}, "x", 3],
            "kwargs": {"b": 1, "a": {}}}"#;
        let fields = Fields::read(body).unwrap();
        assert_eq!(fields.number("process_pid"), Some(42.0));
        assert_eq!(fields.json("signature"), json!(2));
        assert!(fields.object("target").is_none());
        let items = fields.items("args");
        assert_eq!((items.len(), &items[0].data), (3, &Data::Other));
        let named = fields.named("kwargs");
        assert_eq!(named.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn texts_are_what_they_say() {
        let body = r#"{"a": "x\u00e9\n\"", "b": "", "c": "\\", "d": 5, "e": "plain",
            "result_cid": "one", "result_cid": "two", "result_data": "a\/b", "resulting_cid": "three"}"#;
        let fields = Fields::read(body).unwrap();
        assert_eq!(fields.text("a").as_deref(), Some("x\u{e9}\n\""));
        assert_eq!((fields.text("b"), fields.text("d")), (None, None));
        assert_eq!(fields.text("c").as_deref(), Some("\\"));
        assert_eq!(fields.json("e"), json!("plain"));
        assert_eq!(fields.json("a"), json!("x\u{e9}\n\""));
        let item = fields.prefixed_item("result");
        assert_eq!((item.cid.as_deref(), item.data), (Some("two"), Data::Text("a/b".into())));
    }

    #[test]
    fn falsy_bodies_are_empty_and_others_are_refused() {
        for body in ["[]", "null", "0", " false ", "\"\"", "{}"] {
            assert!(!Fields::read(body).unwrap().has("x"), "{body}");
        }
        for body in ["[1]", "5", "\"x\"", "{", "{\"a\": }"] {
            assert!(Fields::read(body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_deep_stack_is_cut_to_its_inner_frames() {
        let frames: Vec<Value> =
            (0..10_000).map(|n| json!({ "lineno": n, "function": "f".repeat(40) })).collect();
        let cut = stack(&json!(frames).to_string());
        assert!(cut.len() <= limits::STACK_BYTES);
        let kept: Vec<Value> = serde_json::from_str(&cut).unwrap();
        assert_eq!(kept[0]["lineno"], 0);
    }
}
