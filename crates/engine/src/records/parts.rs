//! A captured value taken apart: one level of it, as a tree shows it; and all of its leaves, as two are compared.

use holdpoint_pickle::{Limits, Pickle, Ref, Show, Value as Python};
use holdpoint_store::{StoreError, ValueRow as Kept};

use super::{NoValue, Records, object};
use crate::{calls::lenient, limits};

/// A value, or a part of it, with what is inside, one level deep.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedValue {
    pub cid: String,
    pub format: String,
    /// Of the whole value, in bytes.
    pub size: u64,
    /// As Python names it.
    pub kind: String,
    pub text: String,
    pub inside: Vec<InnerValue>,
    /// How many there are, of which these are the first.
    pub total: usize,
    /// How deep the whole value is nested, where that is deeper than is shown.
    pub nested: Option<usize>,
}

/// Why a value could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unopened {
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
}

/// One value inside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerValue {
    /// From the value around it: `.name`, `[0]`, `['key']`.
    pub step: String,
    pub kind: String,
    pub text: String,
    /// How many it holds itself.
    pub holds: usize,
}

/// A value that holds nothing, or is as deep as is looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueLeaf {
    pub path: String,
    pub text: String,
}

impl Records {
    /// One level of a value; `path` is as Python writes it.
    pub async fn open(
        &self,
        cid: &str,
        path: &str,
    ) -> Result<Result<OpenedValue, Unopened>, StoreError> {
        let path = path.to_owned();
        self.with_value(cid, move |kept, pickle, nested| match pickle.find(&path) {
            Ok(at) => Ok(OpenedValue { nested, ..opened(kept, pickle, at) }),
            Err(missing) => Err(Unopened::NoSuchPath { why: missing.to_string() }),
        })
        .await
    }

    /// All that is in a value, in its order, [`limits::LEAVES`] at the most; and whether that is all.
    pub async fn leaves(
        &self,
        cid: &str,
    ) -> Result<Result<(Vec<ValueLeaf>, bool), Unopened>, StoreError> {
        self.with_value(cid, |_, pickle, _| Ok(leaves(pickle))).await
    }

    /// Reads a value as a pickle, whatever format it came in. Aside: it may be of any size.
    async fn with_value<T: Send + 'static>(
        &self,
        cid: &str,
        look: impl FnOnce(&Kept, &Pickle<'_>, Option<usize>) -> Result<T, Unopened> + Send + 'static,
    ) -> Result<Result<T, Unopened>, StoreError> {
        self.settle().await;
        let named = match self.value_named(cid).await? {
            Ok(named) => named,
            Err(no) => return Ok(Err(Unopened::NoSuchValue(no))),
        };
        let unknown = Unopened::NoSuchValue(NoValue::Unknown { cid: cid.to_owned() });
        let Some(kept) = self.store.value(named).await? else { return Ok(Err(unknown)) };
        let looked = tokio::task::spawn_blocking(move || {
            let data = kept.data.as_deref().unwrap_or_default();
            let written;
            let mut nested = None;
            let bytes = match kept.format.as_str() {
                "dill" => data,
                _ => match lenient::read_shown(&String::from_utf8_lossy(data)) {
                    Ok((value, deepest)) => {
                        nested = deepest;
                        written = holdpoint_pickle::write(&value);
                        written.as_slice()
                    }
                    Err(_) => return Err(undecodable(&kept, "it is no JSON")),
                },
            };
            match Pickle::read(bytes, &Limits::default()) {
                Ok(pickle) => look(&kept, &pickle, nested),
                Err(fault) => Err(undecodable(&kept, &fault.to_string())),
            }
        });
        Ok(looked.await.unwrap_or(Err(unknown)))
    }
}

fn undecodable(kept: &Kept, why: &str) -> Unopened {
    Unopened::Undecodable { cid: kept.cid.to_string(), why: why.to_owned() }
}

fn opened(kept: &Kept, pickle: &Pickle<'_>, at: Ref) -> OpenedValue {
    let children = pickle.children(at, 0, limits::PAGE_CHILDREN);
    let inner = |step: String, value: Ref| InnerValue {
        step,
        kind: object::type_of(&pickle.value(value)),
        text: pickle.render(value, Show::chars(limits::PRETTY_VALUE)),
        holds: pickle.children(value, 0, 0).total,
    };
    OpenedValue {
        cid: kept.cid.to_string(),
        format: kept.format.clone(),
        size: kept.size,
        kind: object::type_of(&pickle.value(at)),
        text: pickle.render(at, Show::chars(limits::PRETTY_VALUE)),
        inside: children.items.into_iter().map(|it| inner(it.step, it.value)).collect(),
        total: children.total,
        nested: None,
    }
}

/// In order, without recursion: a value may be nested deeper than a stack.
fn leaves(pickle: &Pickle<'_>) -> (Vec<ValueLeaf>, bool) {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), pickle.root(), 0_usize)];
    let mut is_all = true;
    while let Some((path, at, depth)) = open.pop() {
        if found.len() >= limits::LEAVES {
            is_all = false;
            break;
        }
        let is_group = matches!(pickle.value(at), Python::Group(_));
        let children = match is_group && depth < limits::LEAF_DEPTH {
            true => pickle.children(at, 0, limits::LEAVES),
            false => pickle.children(at, 0, 0),
        };
        is_all &= children.items.is_empty() || children.items.len() == children.total;
        if children.items.is_empty() {
            let text = pickle.render(at, Show::chars(limits::PRETTY_VALUE));
            found.push(ValueLeaf { path, text });
            continue;
        }
        let inner = children.items.into_iter().rev();
        open.extend(inner.map(|it| (format!("{path}{}", it.step), it.value, depth + 1)));
    }
    (found, is_all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(value: &serde_json::Value) -> (Vec<String>, bool) {
        let bytes = holdpoint_pickle::write(value);
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        let (found, is_all) = leaves(&pickle);
        (found.into_iter().map(|it| format!("{} {}", it.path, it.text)).collect(), is_all)
    }

    #[test]
    fn the_leaves_of_a_value_are_in_its_order() {
        let value = json!({ "levels": { "pen": 1, "ink": [2, "x"] }, "none": {} });
        let (found, is_all) = paths(&value);
        assert_eq!(
            found,
            [
                "['levels']['pen'] 1",
                "['levels']['ink'][0] 2",
                "['levels']['ink'][1] 'x'",
                "['none'] {}"
            ]
        );
        assert!(is_all);
    }

    #[test]
    fn a_value_of_any_depth_and_size_is_looked_at_in_bounds() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        let (found, _) = paths(&deep);
        assert_eq!(found.len(), 1);
        let many: Vec<u32> = (0..50_000).collect();
        let (found, is_all) = paths(&json!([many]));
        assert!(found.len() <= limits::LEAVES && !is_all, "{}", found.len());
    }
}
