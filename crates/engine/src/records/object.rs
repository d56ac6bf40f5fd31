//! A captured value looked into: its type, its repr, what is inside, further in by path.

use holdpoint_pickle::{Kind, Limits, NotFound, Pickle, Ref, Show, Value as Python};
use holdpoint_store::{StoreError, ValueRow as Kept};
use serde_json::Value;

use super::{NoValue, Records};
use crate::{calls::lenient, limits};

/// What looking into a value found.
#[derive(Debug, Clone, PartialEq)]
pub enum Inspected {
    NoSuchValue(NoValue),
    /// The path leads nowhere; what there is instead.
    NoSuchPath {
        why: String,
    },
    /// Its bytes cannot be read.
    Undecodable {
        cid: String,
        why: String,
    },
    Found(Looked),
}

/// A value, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    pub cid: String,
    pub format: String,
    /// Of the whole value, in bytes.
    pub size: u64,
    /// Where in the value; empty for all of it.
    pub path: String,
    /// As Python names it.
    pub kind: String,
    pub repr: String,
    /// The first of them.
    pub attributes: Vec<(String, Value)>,
    /// Of a sequence: how many it holds.
    pub length: Option<usize>,
    /// How many attributes there are, where not all are here.
    pub children_total: Option<usize>,
}

impl Records {
    /// Looks into a value; `path` is as Python writes it: `.items[0]['price']`.
    pub async fn inspect(&self, cid: &str, path: &str) -> Result<Inspected, StoreError> {
        let unknown = || Inspected::NoSuchValue(NoValue::Unknown { cid: cid.to_owned() });
        self.settle().await;
        let named = match self.value_named(cid).await? {
            Ok(named) => named,
            Err(no) => return Ok(Inspected::NoSuchValue(no)),
        };
        let Some(kept) = self.store.value(named).await? else { return Ok(unknown()) };
        let path = path.to_owned();
        // Aside: a value may be of any size.
        let looked = tokio::task::spawn_blocking(move || look(&kept, &path)).await;
        Ok(looked.unwrap_or_else(|_| unknown()))
    }
}

fn look(kept: &Kept, path: &str) -> Inspected {
    let data = kept.data.as_deref().unwrap_or_default();
    if kept.format != "dill" {
        return match lenient::read_shown(&String::from_utf8_lossy(data)) {
            Ok((value, _)) => json_at(kept, &value, path),
            Err(_) => undecodable(kept, "JSONDecodeError"),
        };
    }
    let pickle = match Pickle::read(data, &Limits::default()) {
        Ok(pickle) => pickle,
        Err(fault) => return undecodable(kept, &fault.to_string()),
    };
    match pickle.find(path) {
        Ok(at) => Inspected::Found(shown(kept, path, &pickle, at)),
        Err(missing) => Inspected::NoSuchPath { why: lost(&missing) },
    }
}

fn shown(kept: &Kept, path: &str, pickle: &Pickle<'_>, at: Ref) -> Looked {
    let value = pickle.value(at);
    let children = pickle.children(at, 0, limits::ATTRIBUTES);
    // What a sequence holds are no attributes of it; its repr shows them, and a path leads to each.
    let is_sequence = matches!(&value, Python::Group(group)
        if matches!(group.kind, Kind::List | Kind::Tuple | Kind::Set));
    let show = Show { chars_max: limits::PRETTY_VALUE, depth_max: 3 };
    let attributes = children.items.iter().filter(|_| !is_sequence);
    let is_cut = children.total > children.items.len();
    Looked {
        cid: kept.cid.to_string(),
        format: kept.format.clone(),
        size: kept.size,
        path: path.to_owned(),
        kind: type_of(&value),
        repr: pickle.render(at, Show::default()),
        attributes: attributes.map(|it| (it.step.clone(), pickle.json(it.value, show))).collect(),
        length: is_sequence.then_some(children.total),
        children_total: (!is_sequence && is_cut).then_some(children.total),
    }
}

fn undecodable(kept: &Kept, why: &str) -> Inspected {
    Inspected::Undecodable { cid: kept.cid.to_string(), why: why.to_owned() }
}

pub(super) fn type_of(value: &Python<'_>) -> String {
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
    // In the words of Python, whatever format it came in.
    let bytes = holdpoint_pickle::write(at);
    match Pickle::read(&bytes, &Limits::default()) {
        Ok(pickle) => Inspected::Found(shown(kept, path, &pickle, pickle.root())),
        Err(fault) => undecodable(kept, &fault.to_string()),
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
