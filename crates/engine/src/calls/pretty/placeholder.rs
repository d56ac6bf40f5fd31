//! What a client sends for an object that does not pickle: a description of it by its fields, in which
//! other such objects may be described.

use holdpoint_pickle::{Kind, Pickle, Ref, Show, Value as Python};
use serde_json::{Map, Value, json};

use super::{bare, cut};
use crate::limits;

/// Levels below the first that are shown; the wire's 2, each a dict of attributes and what is in it.
const LEVELS: usize = 6;

/// The wire's object for a placeholder, if this is one.
pub(super) fn of(pickle: &Pickle<'_>, at: Ref) -> Option<Value> {
    let mut page = Page { pickle, left: limits::PRETTY_VALUE * 8 };
    fields(pickle, at).map(|fields| page.placeholder(fields, 0))
}

fn fields(pickle: &Pickle<'_>, at: Ref) -> Option<Vec<(String, Ref)>> {
    let Python::Group(group) = pickle.value(at) else { return None };
    if group.class.name != "UnpicklablePlaceholder" {
        return None;
    }
    let children = pickle.children(at, 0, limits::ATTRIBUTES).items;
    Some(children.into_iter().map(|child| (bare(&child.step), child.value)).collect())
}

struct Page<'p, 'a> {
    pickle: &'p Pickle<'a>,
    /// Characters that may still be shown.
    left: usize,
}

impl Page<'_, '_> {
    fn placeholder(&mut self, fields: Vec<(String, Ref)>, level: usize) -> Value {
        let mut object = Map::new();
        object.insert("__cideldill_placeholder__".to_owned(), json!(true));
        for (name, at) in fields {
            object.insert(name, self.value(at, level + 1));
        }
        let summary = summary(&object);
        self.left = self.left.saturating_sub(summary.len());
        object.insert("summary".to_owned(), json!(summary));
        Value::Object(object)
    }

    fn value(&mut self, at: Ref, level: usize) -> Value {
        let kind = match self.pickle.value(at) {
            Python::Group(group) => Some(group.kind),
            _ => None,
        };
        if level > LEVELS || self.left == 0 {
            return self.leaf(at);
        }
        match kind {
            Some(Kind::List | Kind::Tuple | Kind::Set) => {
                let (inside, more) = self.inside(at, level);
                let mut items: Vec<Value> = inside.into_iter().map(|(_, value)| value).collect();
                items.extend(more.map(Value::from));
                items.into()
            }
            Some(Kind::Dict) => {
                let (inside, more) = self.inside(at, level);
                let mut object = Map::from_iter(inside);
                object.extend(more.map(|more| ("…".to_owned(), more.into())));
                object.into()
            }
            _ => match fields(self.pickle, at) {
                Some(fields) => self.placeholder(fields, level),
                None => self.leaf(at),
            },
        }
    }

    fn inside(&mut self, at: Ref, level: usize) -> (Vec<(String, Value)>, Option<String>) {
        let children = self.pickle.children(at, 0, limits::PLACEHOLDER_ATTRIBUTES);
        let mut shown = Vec::new();
        for child in &children.items {
            if self.left == 0 {
                break;
            }
            let name = bare(&child.step);
            self.left = self.left.saturating_sub(name.len());
            shown.push((name, self.value(child.value, level + 1)));
        }
        let more = children.total - shown.len();
        (shown, (more > 0).then(|| format!("{more} more")))
    }

    fn leaf(&mut self, at: Ref) -> Value {
        let chars_max = self.left.clamp(limits::SHORT_VALUE, limits::PRETTY_VALUE * 4);
        let value = self.pickle.json(at, Show { chars_max, depth_max: 3 });
        self.left = self.left.saturating_sub(value.to_string().len());
        value
    }
}

fn summary(object: &Map<String, Value>) -> String {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = |name: &str| object.get(name).and_then(Value::as_object).map_or(0, Map::len);
    let name = match text("object_name") {
        "" => String::new(),
        name => format!("{name} "),
    };
    format!(
        "<Unpicklable {name}{}.{} attrs={} failed={} error={}>",
        text("module"),
        text("qualname"),
        count("attributes"),
        count("failed_attributes"),
        cut(text("pickle_error"), limits::SHORT_VALUE)
    )
}

#[cfg(test)]
mod tests {
    use holdpoint_pickle::{Limits, write};

    use super::*;

    /// The pickle of `_reconstruct_placeholder(fields)` for fields that are opcodes already.
    fn call(fields: &[u8]) -> Vec<u8> {
        let name = b"ccideldill_client.custom_picklers\n_reconstruct_placeholder\n";
        [&name[..], b"(", fields, b"tR"].concat()
    }

    fn text(text: &str) -> Vec<u8> {
        format!("V{text}\n").into_bytes()
    }

    /// A dict of texts and values that are opcodes already.
    fn dict(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let inside = entries.iter().flat_map(|(name, value)| [text(name), value.clone()].concat());
        [b"(".to_vec(), inside.collect(), b"d".to_vec()].concat()
    }

    fn socket(attributes: Vec<u8>) -> Vec<u8> {
        call(&dict(&[
            ("module", text("net")),
            ("qualname", text("Socket")),
            ("attributes", attributes),
        ]))
    }

    #[test]
    fn what_is_inside_of_a_placeholder_is_itself() {
        let list = b"(lI1\naI2\na".to_vec();
        let inner = socket(dict(&[("nested", list.clone()), ("port", b"I80\n".to_vec())]));
        let many = [b"(l".to_vec(), inner.clone(), b"a".to_vec()].concat();
        let outer = socket(dict(&[("nested", list), ("peer", inner), ("peers", many)]));
        let bytes = [outer, b".".to_vec()].concat();
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        let shown = of(&pickle, pickle.root()).unwrap();
        assert_eq!(shown["__cideldill_placeholder__"], true);
        let attributes = &shown["attributes"];
        assert_eq!(attributes["nested"], json!([1, 2]), "{shown}");
        for inner in [&attributes["peer"], &attributes["peers"][0]] {
            assert_eq!(inner["__cideldill_placeholder__"], true, "{shown}");
            assert_eq!(inner["attributes"], json!({ "nested": [1, 2], "port": 80 }), "{shown}");
            assert_eq!(inner["summary"], "<Unpicklable net.Socket attrs=2 failed=0 error=>");
        }
        assert_eq!(shown["summary"], "<Unpicklable net.Socket attrs=3 failed=0 error=>");
    }

    #[test]
    fn it_is_bounded_and_says_so() {
        let wide = dict(&[("all", write_inner(&json!((0..1_000).collect::<Vec<_>>())))]);
        let mut bytes = socket(wide);
        for _ in 0..20 {
            bytes = socket(dict(&[("peer", bytes)]));
        }
        bytes.push(b'.');
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        let shown = of(&pickle, pickle.root()).unwrap().to_string();
        assert!(shown.len() < limits::PRETTY_VALUE * 20, "{}", shown.len());
        let bytes = [socket(dict(&[("all", write_inner(&json!(vec![1; 200])))])), b".".to_vec()];
        let bytes = bytes.concat();
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        assert!(of(&pickle, pickle.root()).unwrap().to_string().contains("150 more"));
        assert!(
            of(&Pickle::read(&write(&json!(1)), &Limits::default()).unwrap(), pickle.root())
                .is_none()
        );
    }

    /// A list as opcodes of protocol 0.
    fn write_inner(list: &Value) -> Vec<u8> {
        let items = list.as_array().unwrap().iter().map(|item| format!("I{item}\na"));
        format!("(l{}", items.collect::<String>()).into_bytes()
    }
}
