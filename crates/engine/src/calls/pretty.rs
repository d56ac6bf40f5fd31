//! How captured values are shown: the wire's pretty values, and one short text for a line.
//!
//! From Python, a value is its repr as text, an exception or a placeholder is an object; from JSON
//! clients it is the value itself. Pickles are read as data and never executed.

mod placeholder;

use holdpoint_pickle::{Kind, Limits, Pickle, Ref, Show, Text, Value as Python};
use holdpoint_store as store;
use serde_json::{Map, Value, json};

use super::{lenient, value::Format};
use crate::limits;

/// How a value is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShownValue {
    /// JSON text; none where the data itself is what is shown.
    pub(crate) pretty: Option<String>,
    pub(crate) short: Box<str>,
}

pub(crate) fn of(format: Format, bytes: &[u8]) -> ShownValue {
    match format {
        Format::Json => {
            let text = String::from_utf8_lossy(bytes);
            ShownValue { pretty: None, short: cut(&text, limits::SHORT_VALUE).into() }
        }
        Format::Dill => {
            let pretty = pickle(bytes);
            ShownValue { short: short(&pretty), pretty: Some(pretty.to_string()) }
        }
    }
}

/// The short text of a pretty value.
pub(crate) fn short(pretty: &Value) -> Box<str> {
    match pretty {
        Value::String(text) => cut(text, limits::SHORT_VALUE).into(),
        Value::Object(object) => match object.get("summary").and_then(Value::as_str) {
            Some(summary) => cut(summary, limits::SHORT_VALUE).into(),
            None => cut(&pretty.to_string(), limits::SHORT_VALUE).into(),
        },
        other => cut(&other.to_string(), limits::SHORT_VALUE).into(),
    }
}

/// The pretty value of something that is kept.
pub(crate) fn kept(value: &store::ValueRow) -> Value {
    if let Some(pretty) = &value.pretty {
        return serde_json::from_str(pretty).unwrap_or(Value::Null);
    }
    match &value.data {
        Some(data) => {
            let text = String::from_utf8_lossy(data);
            lenient::read(&text).unwrap_or_else(|_| json!(text))
        }
        None => json!(format!("<{} bytes of {}>", value.size, value.format)),
    }
}

pub(crate) fn missing(cid: &str) -> Value {
    json!(format!("<cid:{cid} missing>"))
}

/// What Python would print, or the wire's object for exceptions and placeholders.
fn pickle(bytes: &[u8]) -> Value {
    let read = Pickle::read(bytes, &Limits::default());
    let pickle = match read {
        Ok(pickle) => pickle,
        Err(fault) => return json!(format!("<unavailable: {fault}>")),
    };
    let root = pickle.root();
    if let Some(placeholder) = placeholder::of(&pickle, root) {
        return placeholder;
    }
    match pickle.value(root) {
        Python::Group(group) if group.kind == Kind::Exception => exception(&pickle, root),
        _ => json!(repr(&pickle, root, limits::PRETTY_VALUE)),
    }
}

fn repr(pickle: &Pickle<'_>, at: Ref, chars: usize) -> String {
    pickle.render(at, Show::chars(chars))
}

/// `['name']` → `name`.
fn bare(name: &str) -> String {
    name.trim_matches(|letter: char| matches!(letter, '[' | ']' | '\'' | '"' | '.')).to_owned()
}

fn exception(pickle: &Pickle<'_>, root: Ref) -> Value {
    let Python::Group(group) = pickle.value(root) else { return Value::Null };
    let (module, qualname) = (group.class.module.to_owned(), group.class.name.to_owned());
    let text = repr(pickle, root, limits::PRETTY_VALUE);
    let mut args = Vec::new();
    let mut attributes = Map::new();
    let show = Show { chars_max: limits::PRETTY_VALUE, depth_max: 3 };
    for child in pickle.children(root, 0, 50).items {
        let value = pickle.json(child.value, show);
        match (child.step.as_str(), value) {
            (".args", Value::Array(found)) => args = found,
            (step, value) if step.starts_with('[') => args.push(value),
            (step, value) => drop(attributes.insert(bare(step), value)),
        }
    }
    let message = match (args.first(), args.len()) {
        (Some(Value::String(text)), 1) => text.clone(),
        (Some(only), 1) => only.to_string(),
        (None, _) => String::new(),
        _ => json!(args).to_string(),
    };
    described(
        &module,
        &qualname,
        &message,
        json!({
            "repr_text": text, "args": args, "attributes": attributes, "failed_attributes": {},
        }),
    )
}

/// The wire's object for an exception.
fn described(module: &str, qualname: &str, message: &str, more: Value) -> Value {
    let full = if matches!(module, "" | "builtins") {
        qualname.to_owned()
    } else {
        format!("{module}.{qualname}")
    };
    let mut object = json!({
        "__cideldill_exception__": true,
        "summary": if message.is_empty() { full.clone() } else { format!("{full}: {message}") },
        "type_name": qualname.rsplit('.').next().unwrap_or(qualname),
        "module": module,
        "qualname": qualname,
        "message": message,
    });
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

/// From what the app says of an exception in words.
pub(crate) fn told_exception(kind: &str, message: &str, traceback: Option<&str>) -> Value {
    let (module, qualname) = kind.rsplit_once('.').unwrap_or(("builtins", kind));
    described(module, qualname, message, json!({ "traceback": traceback }))
}

/// `json.dumps` of Python: a space after comma and colon, and nothing but ASCII.
pub(crate) fn python_json(value: &Value) -> String {
    let mut out = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut out, Dumps);
    // Writing to memory cannot fail.
    serde::Serialize::serialize(value, &mut writer).unwrap_or_default();
    lenient::plain(String::from_utf8(out).unwrap_or_default())
}

struct Dumps;

impl serde_json::ser::Formatter for Dumps {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
    ) -> std::io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        for letter in fragment.chars() {
            if letter.is_ascii() {
                write!(writer, "{letter}")?;
            } else {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

/// At most `chars` characters, the last of them an ellipsis if more were there.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    let flat = text.trim();
    if flat.len() <= chars && !flat.contains('\n') {
        return flat.to_owned();
    }
    let mut letters = flat.chars();
    let kept: String = letters.by_ref().take(chars).collect();
    let kept = kept.replace('\n', "⏎");
    if letters.next().is_some() { format!("{kept}…") } else { kept }
}

/// The text of a Python string, if a pickle is one; for the REPL's outputs.
pub(crate) fn text_of(bytes: &[u8]) -> Option<String> {
    let pickle = Pickle::read(bytes, &Limits::default()).ok()?;
    match pickle.value(pickle.root()) {
        Python::Str(Text::Plain(text)) => Some(text.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_as_python_writes_it() {
        let value = json!({ "a": [1, 2.5, null, true], "ü": "x\n\"😀" });
        assert_eq!(
            python_json(&value),
            "{\"a\": [1, 2.5, null, true], \"\\u00fc\": \"x\\n\\\"\\ud83d\\ude00\"}"
        );
    }

    #[test]
    fn a_pickle_is_shown_as_python_would_print_it() {
        let shown = of(Format::Dill, &holdpoint_pickle::write(&json!({ "a": [1, "x"] })));
        assert_eq!(shown.pretty.as_deref(), Some("\"{'a': [1, 'x']}\""));
        assert_eq!(&*shown.short, "{'a': [1, 'x']}");
        let broken = of(Format::Dill, b"nonsense");
        assert!(broken.pretty.unwrap().contains("<unavailable: "));
    }

    #[test]
    fn an_exception_is_an_object() {
        // pickle.dumps(ValueError("bad", 3), protocol=4)
        let bytes = b"\x80\x04\x95(\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x94\x8c\nValueError\x94\x93\x94\x8c\x03bad\x94K\x03\x86\x94R\x94.";
        let shown = of(Format::Dill, bytes);
        let pretty: Value = serde_json::from_str(&shown.pretty.unwrap()).unwrap();
        assert_eq!(pretty["__cideldill_exception__"], true, "{pretty}");
        assert_eq!(
            (&pretty["type_name"], &pretty["module"]),
            (&json!("ValueError"), &json!("builtins"))
        );
        assert_eq!(pretty["args"], json!(["bad", 3]), "{pretty}");
    }

    #[test]
    fn an_exception_that_was_told_in_words() {
        let told = told_exception("shop.errors.Empty", "no pens", Some("Traceback…"));
        assert_eq!(told["summary"], "shop.errors.Empty: no pens");
        assert_eq!((&told["module"], &told["qualname"]), (&json!("shop.errors"), &json!("Empty")));
    }
}
