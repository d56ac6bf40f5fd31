//! Values as JavaScript writes them, from what V8 tells of them without asking again. Pure.

use holdpoint_cdp::types::{
    ObjectId,
    runtime::{EntryPreview, ExceptionDetails, ObjectPreview, PropertyPreview, RemoteObject},
};

use crate::backend::{Handle, Value};

/// What a handle leads to; V8's own id comes last, for it may hold any character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inside {
    Object(ObjectId),
    /// What a frame held that has ended.
    Kept(ObjectId),
    /// Arrays and typed arrays of so many elements: read by slices, never whole.
    Array(usize, ObjectId),
    Map(usize, ObjectId),
    Set(usize, ObjectId),
    /// The variables of one scope of a frame.
    Scope {
        frame: String,
        /// The function around a CommonJS module: its parameters are Node's, not the user's.
        is_wrapper: bool,
        object: ObjectId,
    },
    /// What `this` is in a frame.
    This {
        frame: String,
    },
}

impl Inside {
    pub(super) fn handle(&self) -> Handle {
        Handle::text(match self {
            Inside::Object(id) => format!("object {}", id.0),
            Inside::Kept(id) => format!("kept {}", id.0),
            Inside::Array(count, id) => format!("array {count} {}", id.0),
            Inside::Map(count, id) => format!("map {count} {}", id.0),
            Inside::Set(count, id) => format!("set {count} {}", id.0),
            Inside::Scope { frame, is_wrapper, object } => {
                let kind = if *is_wrapper { "wrapper" } else { "scope" };
                format!("{kind} {} {frame}{}", frame.len(), object.0)
            }
            Inside::This { frame } => format!("this {frame}"),
        })
    }

    pub(super) fn of(handle: &Handle) -> Option<Inside> {
        let text = handle.as_text()?;
        let (kind, rest) = text.split_once(' ')?;
        let counted = || {
            let (count, id) = rest.split_once(' ')?;
            Some((count.parse().ok()?, ObjectId(id.to_owned())))
        };
        Some(match kind {
            "object" => Inside::Object(ObjectId(rest.to_owned())),
            "kept" => Inside::Kept(ObjectId(rest.to_owned())),
            "array" => counted().map(|(count, id)| Inside::Array(count, id))?,
            "map" => counted().map(|(count, id)| Inside::Map(count, id))?,
            "set" => counted().map(|(count, id)| Inside::Set(count, id))?,
            "this" => Inside::This { frame: rest.to_owned() },
            "scope" | "wrapper" => {
                let (length, both) = rest.split_once(' ')?;
                let (frame, object) = both.split_at_checked(length.parse().ok()?)?;
                Inside::Scope {
                    frame: frame.to_owned(),
                    is_wrapper: kind == "wrapper",
                    object: ObjectId(object.to_owned()),
                }
            }
            _ => return None,
        })
    }
}

pub(super) fn value(object: &RemoteObject) -> Value {
    let inside = inside(object);
    let indexed = match &inside {
        Some(Inside::Array(count, _) | Inside::Map(count, _) | Inside::Set(count, _)) => {
            Some(*count)
        }
        _ => None,
    };
    Value {
        text: text(object),
        kind: kind(object),
        children: inside.map(|it| it.handle()),
        indexed,
        named: None,
    }
}

/// A value that is not there, and what to say instead.
pub(super) fn absent(text: &str) -> Value {
    Value { text: text.to_owned(), kind: None, children: None, indexed: None, named: None }
}

pub(super) fn text(object: &RemoteObject) -> String {
    let description = object.description.as_deref().unwrap_or_default();
    match (object.kind.as_str(), object.subtype.as_deref()) {
        ("undefined", _) => "undefined".to_owned(),
        (_, Some("null")) => "null".to_owned(),
        ("string", _) => quoted(object.value.as_ref().and_then(|it| it.as_str()).unwrap_or("")),
        ("function", _) => function(description),
        ("object", Some("error")) => error(object, description),
        ("object", Some("regexp" | "date")) => description.to_owned(),
        ("object", subtype) => match &object.preview {
            Some(shown) => preview(shown),
            None if subtype.is_none() && description == "Object" => "{…}".to_owned(),
            None => description.to_owned(),
        },
        _ if !description.is_empty() => description.to_owned(),
        _ => object.value.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

/// What was thrown, in one line: `TypeError: x is not a function`.
pub(super) fn thrown(details: &ExceptionDetails) -> String {
    match &details.exception {
        Some(error) if error.subtype.as_deref() == Some("error") => text(error),
        Some(other) => format!("thrown: {}", text(other)),
        None => details.text.clone(),
    }
}

/// An error's description without its stack.
pub(super) fn message(description: &str) -> &str {
    description.split("\n    at ").next().unwrap_or(description).trim_end()
}

/// By its class, also where the class did not give itself a name.
fn error(object: &RemoteObject, description: &str) -> String {
    let message = message(description);
    match (object.class_name.as_deref(), message.strip_prefix("Error")) {
        (Some(class), Some(rest)) if rest.is_empty() || rest.starts_with(':') => {
            format!("{class}{rest}")
        }
        _ => message.to_owned(),
    }
}

/// Only where the text does not say it: `Item {…}` and `Array(3) […]` do.
fn kind(object: &RemoteObject) -> Option<String> {
    match (object.kind.as_str(), object.subtype.as_deref()) {
        (kind @ ("string" | "number" | "boolean" | "bigint"), _) => Some(kind.to_owned()),
        ("object", None) if object.description.as_deref() == Some("Object") => {
            Some("Object".to_owned())
        }
        _ => None,
    }
}

fn inside(object: &RemoteObject) -> Option<Inside> {
    let id = object.object_id.clone()?;
    let counted = || count(object.description.as_deref()?);
    Some(match object.subtype.as_deref() {
        Some("array" | "typedarray") => match counted() {
            Some(count) => Inside::Array(count, id),
            None => Inside::Object(id),
        },
        Some("map") => counted().map_or(Inside::Object(id.clone()), |it| Inside::Map(it, id)),
        Some("set") => counted().map_or(Inside::Object(id.clone()), |it| Inside::Set(it, id)),
        Some("null" | "regexp" | "date") => return None,
        _ if object.kind == "function" || object.kind == "symbol" => return None,
        _ => Inside::Object(id),
    })
}

/// The number in `Array(3)`.
fn count(description: &str) -> Option<usize> {
    let (_, rest) = description.rsplit_once('(')?;
    rest.strip_suffix(')')?.parse().ok()
}

fn preview(shown: &ObjectPreview) -> String {
    let name = shown.description.as_deref().unwrap_or("Object");
    match shown.subtype.as_deref() {
        Some("array" | "typedarray") => {
            let one = |it: &PropertyPreview| match it.name.parse::<usize>() {
                Ok(_) => property(it),
                Err(_) => format!("{}: {}", it.name, property(it)),
            };
            list(&format!("{name} ["), shown.properties.iter().map(one), shown.overflow, "]")
        }
        Some("map" | "set" | "weakmap" | "weakset") if !shown.entries.is_empty() => {
            list(&format!("{name} {{"), shown.entries.iter().map(entry), shown.overflow, "}")
        }
        Some("promise") => promise(shown),
        Some("error") => message(name).to_owned(),
        Some("regexp" | "date") => name.to_owned(),
        Some("null") => "null".to_owned(),
        _ if shown.kind == "string" => quoted(name),
        _ if shown.kind == "function" => function(name),
        _ if shown.kind != "object" => name.to_owned(),
        _ => {
            let one = |it: &PropertyPreview| format!("{}: {}", key(&it.name), property(it));
            let open = if name == "Object" { "{".to_owned() } else { format!("{name} {{") };
            list(&open, shown.properties.iter().map(one), shown.overflow, "}")
        }
    }
}

fn list(open: &str, parts: impl Iterator<Item = String>, more: bool, close: &str) -> String {
    let mut parts: Vec<String> = parts.collect();
    if more {
        parts.push("…".to_owned());
    }
    format!("{open}{}{close}", parts.join(", "))
}

fn entry(entry: &EntryPreview) -> String {
    match &entry.key {
        Some(key) => format!("{} => {}", preview(key), preview(&entry.value)),
        None => preview(&entry.value),
    }
}

/// `Promise {<fulfilled>: 3}`
fn promise(shown: &ObjectPreview) -> String {
    let find = |name: &str| shown.properties.iter().find(|it| it.name == name);
    let state = find("[[PromiseState]]").and_then(|it| it.value.as_deref()).unwrap_or("pending");
    match find("[[PromiseResult]]").filter(|it| state != "pending" && it.kind != "undefined") {
        Some(result) => format!("Promise {{<{state}>: {}}}", property(result)),
        None => format!("Promise {{<{state}>}}"),
    }
}

fn property(shown: &PropertyPreview) -> String {
    if let Some(inner) = &shown.value_preview {
        return preview(inner);
    }
    let value = shown.value.as_deref().unwrap_or_default();
    match (shown.kind.as_str(), shown.subtype.as_deref()) {
        ("string", _) => quoted(value),
        ("function", _) => "function".to_owned(),
        ("accessor", _) => "[getter]".to_owned(),
        ("undefined", _) => "undefined".to_owned(),
        ("object", Some("error")) => message(value).to_owned(),
        ("object", None) if value == "Object" => "{…}".to_owned(),
        _ => value.to_owned(),
    }
}

/// A name as an object literal writes it.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '[' | ']');
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Of a function's source, what one needs to call it: `function total(orders)`, `class Item`,
/// `(a, b) => …`.
fn function(source: &str) -> String {
    let source = source.trim();
    let head = if source.starts_with("class") {
        source.split('{').next().unwrap_or(source)
    } else if let Some(end) = parameters_end(source) {
        source.get(..end).unwrap_or(source)
    } else {
        source.split("=>").next().unwrap_or(source)
    };
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = head.starts_with("class")
        || head.starts_with("function")
        || head.starts_with("async function");
    let is_arrow = source.get(head.len()..).is_some_and(|rest| rest.trim_start().starts_with("=>"))
        || (!named && source.contains("=>") && parameters_end(source).is_none());
    match (named, is_arrow) {
        (true, _) => head,
        (false, true) => format!("{head} => …"),
        // A method: `total(orders) {`.
        (false, false) => format!("function {head}"),
    }
}

/// Just behind the bracket that closes the parameters.
fn parameters_end(source: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, character) in source.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            '{' | '=' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(object: serde_json::Value, expected: &str) {
        let object: RemoteObject = serde_json::from_value(object).unwrap();
        assert_eq!(text(&object), expected);
    }

    #[test]
    fn plain_values_are_spelled_as_javascript_does() {
        check(json!({"type": "undefined"}), "undefined");
        check(json!({"type": "object", "subtype": "null", "value": null}), "null");
        check(json!({"type": "boolean", "value": true}), "true");
        check(json!({"type": "number", "value": 3, "description": "3"}), "3");
        check(json!({"type": "number", "unserializableValue": "NaN", "description": "NaN"}), "NaN");
        check(json!({"type": "string", "value": "a\"b\n"}), r#""a\"b\n""#);
    }

    #[test]
    fn functions_are_their_heads() {
        let function = |source: &str| json!({"type": "function", "description": source});
        check(function("function total(a, b = f(1)) { return 1 }"), "function total(a, b = f(1))");
        check(function("class Item extends Base { x() {} }"), "class Item extends Base");
        check(function("(a, b) => a + b"), "(a, b) => …");
        check(function("a => a"), "a => …");
        check(function("price(tax) { return 1 }"), "function price(tax)");
        check(function("async function f() {}"), "async function f()");
    }

    #[test]
    fn objects_show_their_beginning() {
        let item = json!({"type": "object", "description": "Item", "objectId": "1", "preview": {
        "type": "object", "description": "Item", "overflow": true, "properties": [
            {"name": "name", "type": "string", "value": "pen"},
            {"name": "a b", "type": "object", "value": "Object"},
        ]}});
        check(item, r#"Item {name: "pen", "a b": {…}, …}"#);
        let array = json!({"type": "object", "subtype": "array", "description": "Array(2)", "preview": {
            "type": "object", "subtype": "array", "description": "Array(2)", "overflow": false,
            "properties": [{"name": "0", "type": "number", "value": "1"},
                {"name": "1", "type": "object", "subtype": "null", "value": "null"}]}});
        check(array, "Array(2) [1, null]");
    }

    #[test]
    fn handles_come_back_as_they_were() {
        let id = || ObjectId("1.2 3".to_owned());
        for inside in [
            Inside::Object(id()),
            Inside::Kept(id()),
            Inside::Array(3, id()),
            Inside::Map(0, id()),
            Inside::Set(1, id()),
            Inside::Scope { frame: "4.5 6".to_owned(), is_wrapper: true, object: id() },
            Inside::This { frame: "4.5".to_owned() },
        ] {
            assert_eq!(Inside::of(&inside.handle()), Some(inside));
        }
        assert_eq!(Inside::of(&Handle::number(1)), None);
    }
}
