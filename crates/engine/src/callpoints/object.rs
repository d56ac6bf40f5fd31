//! A captured value looked into: its type, its repr, what is inside, further in by path.

use holdpoint_pickle::{Limits, NotFound, Pickle, Show, Value as Python};
use holdpoint_store::{Cid, StoreError, Value as Kept};
use serde_json::{Map, Value, json};

use super::{Callpoints, lenient};
use crate::limits;

/// What looking into a value found.
#[derive(Debug, Clone, PartialEq)]
pub enum Inspected {
    NoSuchValue,
    /// The path leads nowhere; what there is instead.
    NoSuchPath {
        why: String,
    },
    Found(Value),
}

impl Callpoints {
    /// Looks into a value; `path` is as Python writes it: `.items[0]['price']`.
    pub async fn inspect(&self, cid: &str, path: &str) -> Result<Inspected, StoreError> {
        self.recorder.settle().await;
        let Some(parsed) = Cid::parse(cid) else { return Ok(Inspected::NoSuchValue) };
        let Some(kept) = self.store.value(parsed).await? else { return Ok(Inspected::NoSuchValue) };
        let path = path.to_owned();
        // Aside: a value may be of any size.
        let looked = tokio::task::spawn_blocking(move || look(&kept, &path)).await;
        Ok(looked.unwrap_or(Inspected::NoSuchValue))
    }
}

fn look(kept: &Kept, path: &str) -> Inspected {
    let data = kept.data.as_deref().unwrap_or_default();
    if kept.format != "dill" {
        return match lenient::read(&String::from_utf8_lossy(data)) {
            Ok(value) => json_at(kept, &value, path),
            Err(_) => undecodable(kept, "JSONDecodeError"),
        };
    }
    let pickle = match Pickle::read(data, &Limits::default()) {
        Ok(pickle) => pickle,
        Err(fault) => return undecodable(kept, &fault.to_string()),
    };
    let at = match pickle.find(path) {
        Ok(at) => at,
        Err(missing) => return Inspected::NoSuchPath { why: lost(&missing) },
    };
    let children = pickle.children(at, 0, limits::ATTRIBUTES);
    let mut attributes = Map::new();
    for child in &children.items {
        let show = Show { chars_max: limits::PRETTY_VALUE, depth_max: 3 };
        attributes.insert(child.step.clone(), pickle.json(child.value, show));
    }
    let mut found = described(kept, path, &type_of(&pickle.value(at)), attributes);
    if let Some(found) = found.as_object_mut() {
        found.insert("repr".to_owned(), json!(pickle.render(at, Show::default())));
        if children.total > children.items.len() {
            found.insert("children_total".to_owned(), json!(children.total));
        }
    }
    Inspected::Found(found)
}

fn described(kept: &Kept, path: &str, kind: &str, attributes: Map<String, Value>) -> Value {
    let mut found = json!({
        "cid": kept.cid.to_string(),
        "type": kind,
        "repr": "",
        "attributes": attributes,
        "size": kept.size,
        "format": kept.format,
    });
    if let (Some(found), false) = (found.as_object_mut(), path.is_empty()) {
        found.insert("path".to_owned(), json!(path));
    }
    found
}

fn undecodable(kept: &Kept, why: &str) -> Inspected {
    Inspected::Found(json!({
        "cid": kept.cid.to_string(),
        "type": "unknown",
        "repr": format!("<deserialization failed: {why}>"),
        "attributes": {},
        "error": "deserialization_failed",
    }))
}

fn type_of(value: &Python<'_>) -> String {
    match value {
        Python::None => "NoneType".to_owned(),
        Python::Bool(_) => "bool".to_owned(),
        Python::Int(_) | Python::Integer(_) => "int".to_owned(),
        Python::Float(_) => "float".to_owned(),
        Python::Str(_) => "str".to_owned(),
        Python::Bytes(_) => "bytes".to_owned(),
        Python::Atom { class, .. } => class.to_string(),
        Python::Global(_) => "type".to_owned(),
        Python::Group(group) => group.class.to_string(),
    }
}

fn lost(missing: &NotFound) -> String {
    match missing {
        NotFound::Syntax(why) => why.clone(),
        NotFound::Missing { found, step, inside, total } => {
            let place =
                if found.is_empty() { "the value".to_owned() } else { format!("`{found}`") };
            let more = if *total > inside.len() { ", …" } else { "" };
            format!("{place} has no `{step}`; it has {}{more}", inside.join(", "))
        }
    }
}

fn json_at(kept: &Kept, root: &Value, path: &str) -> Inspected {
    let mut at = root;
    for step in steps(path) {
        let next = match at {
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
            Value::Object(object) => object.get(&step),
            _ => None,
        };
        let Some(next) = next else {
            return Inspected::NoSuchPath {
                why: format!("nothing is at `{step}`; it has {}", inside(at)),
            };
        };
        at = next;
    }
    let mut attributes = Map::new();
    match at {
        Value::Object(object) => {
            let shown = object.iter().take(limits::ATTRIBUTES);
            attributes.extend(shown.map(|(name, value)| (format!("['{name}']"), shallow(value))));
        }
        Value::Array(items) => {
            let shown = items.iter().take(limits::ATTRIBUTES).enumerate();
            attributes.extend(shown.map(|(index, value)| (format!("[{index}]"), shallow(value))));
        }
        _ => {}
    }
    let kind = match at {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let mut found = described(kept, path, kind, attributes);
    if let Some(found) = found.as_object_mut() {
        let text = super::pretty::cut(&at.to_string(), limits::PRETTY_VALUE);
        found.insert("repr".to_owned(), json!(text));
    }
    Inspected::Found(found)
}

fn shallow(value: &Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => {
            json!(super::pretty::cut(&value.to_string(), limits::PRETTY_VALUE))
        }
        scalar => scalar.clone(),
    }
}

fn inside(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            object.keys().take(10).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => format!("{} items", items.len()),
        other => format!("nothing inside: it is {other}"),
    }
}

/// `.a[0]['b']` → `a`, `0`, `b`.
fn steps(path: &str) -> impl Iterator<Item = String> {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.map(|part| part.trim_matches(['\'', '"']).to_owned())
}
