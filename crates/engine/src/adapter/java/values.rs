//! Values as a reader of Java writes them, without running any of the program's code: what well-known classes of the
//! runtime hold is read out of their fields.

use std::sync::Arc;

use futures::future::BoxFuture;
use holdpoint_jdwp::{
    JdwpError,
    types::{FieldInfo, ObjectId, SYNTHETIC, Value},
};

use super::{
    holds::{Holds, holds},
    vm::{Class, Vm, short},
};
use crate::{adapter::served::together, budget, expression::Numeric, limits};

/// A value in words.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) kind: String,
    /// Where its parts are to be had, if it has any.
    pub(super) parts: Option<ObjectId>,
    /// How many elements.
    pub(super) indexed: Option<usize>,
}

impl Shown {
    fn plain(text: String, kind: &str) -> Shown {
        Shown { text, kind: kind.to_owned(), parts: None, indexed: None }
    }
}

/// A part of a value.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) value: Value,
    /// How it is reached from the whole: `.price`, `[3]`; a map's value has no such way.
    pub(super) way: Option<String>,
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.escape_debug().to_string().replace("\\'", "'"))
}

pub(super) fn char_text(unit: u16) -> String {
    let shown = char::from_u32(unit.into()).map(|it| it.escape_debug().to_string());
    format!("'{}'", shown.unwrap_or_else(|| format!("\\u{unit:04x}")).replace("\\\"", "\""))
}

/// How the names of classes begin that come with the runtime.
const RUNTIME: &[&str] = &["java.", "javax.", "jdk.", "sun."];

/// A value that is no object.
fn primitive(value: Value) -> Option<Shown> {
    Some(match value {
        Value::Void => Shown::plain("void".to_owned(), "void"),
        Value::Bool(it) => Shown::plain(it.to_string(), "boolean"),
        Value::Byte(it) => Shown::plain(it.to_string(), "byte"),
        Value::Char(it) => Shown::plain(char_text(it), "char"),
        Value::Short(it) => Shown::plain(it.to_string(), "short"),
        Value::Int(it) => Shown::plain(it.to_string(), "int"),
        Value::Long(it) => Shown::plain(it.to_string(), "long"),
        Value::Float(it) => Shown::plain(Numeric::F32(it).text(), "float"),
        Value::Double(it) => Shown::plain(Numeric::F64(it).text(), "double"),
        Value::Object { id: ObjectId::NULL, .. } => Shown::plain("null".to_owned(), ""),
        Value::Object { .. } => return None,
    })
}

/// What boxes one value: the box is shown as what is in it.
fn is_box(name: &str) -> bool {
    let Some(own) = name.strip_prefix("java.lang.") else {
        return name.starts_with("java.util.concurrent.atomic.Atomic") && !name.ends_with("Array");
    };
    ["Integer", "Long", "Double", "Float", "Boolean", "Short", "Byte", "Character"].contains(&own)
}

impl Vm {
    pub(super) async fn show(&self, value: Value) -> Result<Shown, JdwpError> {
        self.show_at(value, 0).await
    }

    fn show_at(&self, value: Value, depth: usize) -> BoxFuture<'_, Result<Shown, JdwpError>> {
        Box::pin(async move {
            if let Some(shown) = primitive(value) {
                return Ok(shown);
            }
            let Value::Object { tag, id } = value else {
                return Ok(Shown::plain(String::new(), ""));
            };
            if tag == b's' {
                let text = self.wire.string(id).await?;
                let text = budget::cut(&text, limits::JAVA_TEXT);
                return Ok(Shown::plain(quoted(&text), "String"));
            }
            let class = self.class_of(id).await?;
            if is_box(&class.name) {
                let inner = self.field(id, "value").await?.unwrap_or(Value::NULL);
                let inner = self.show_at(inner, depth + 1).await?;
                return Ok(Shown { kind: class.short(), ..inner });
            }
            self.object(id, &class, depth).await
        })
    }

    async fn object(
        &self,
        id: ObjectId,
        class: &Arc<Class>,
        depth: usize,
    ) -> Result<Shown, JdwpError> {
        let kind = class.short();
        let chain = self.chain(class.id).await?;
        let is = |name: &str| chain.iter().any(|it| it.name == name);
        if is("java.lang.Enum") {
            let name = self.text_field(id, "name").await?.unwrap_or_default();
            return Ok(Shown { text: name, kind, parts: Some(id), indexed: None });
        }
        if is("java.lang.Throwable") {
            let message = self.text_field(id, "detailMessage").await?;
            let text = message.map_or_else(|| kind.clone(), |it| format!("{kind}: {it}"));
            return Ok(Shown {
                text: budget::cut(&text, limits::JAVA_TEXT),
                kind,
                parts: Some(id),
                indexed: None,
            });
        }
        if class.name == "java.lang.Class" {
            let name = self.text_field(id, "name").await?.unwrap_or_default();
            return Ok(Shown { text: name, kind, parts: Some(id), indexed: None });
        }
        let shown = |text, indexed| Shown { text, kind: kind.clone(), parts: Some(id), indexed };
        // What is deeper has a name, and parts to be asked for.
        let Some(count) = limits::JAVA_GLANCE.get(depth).copied() else {
            return Ok(shown(kind.clone(), None));
        };
        Ok(match holds(self, id, class, count).await? {
            Some(Holds::Items { total, items }) => {
                shown(self.items(&items, total, depth + 1).await?, Some(total))
            }
            Some(Holds::Entries { total, entries }) => {
                shown(self.entries(&entries, total, depth + 1).await?, None)
            }
            None if depth == 0 => shown(self.glance(id, depth).await?, None),
            // What the runtime's own objects are made of tells nobody anything.
            None if RUNTIME.iter().any(|it| class.name.starts_with(it)) => {
                shown(kind.clone(), None)
            }
            None => shown(format!("{kind}{}", self.glance(id, depth).await?), None),
        })
    }

    async fn items(
        &self,
        items: &[Value],
        total: usize,
        depth: usize,
    ) -> Result<String, JdwpError> {
        let text = async |item: &Value| Ok(self.show_at(*item, depth).await?.text);
        Ok(format!("[{}]", joined(together(items.iter().map(text)).await?, total)))
    }

    async fn entries(
        &self,
        entries: &[(Value, Value)],
        total: usize,
        depth: usize,
    ) -> Result<String, JdwpError> {
        let text = async |(key, value): &(Value, Value)| {
            let (key, value) =
                tokio::try_join!(self.show_at(*key, depth), self.show_at(*value, depth))?;
            Ok(format!("{}={}", key.text, value.text))
        };
        Ok(format!("{{{}}}", joined(together(entries.iter().map(text)).await?, total)))
    }

    /// The first fields of an object.
    async fn glance(&self, id: ObjectId, depth: usize) -> Result<String, JdwpError> {
        let count = limits::JAVA_GLANCE.get(depth).copied().unwrap_or(0);
        let fields = self.fields(id).await?;
        let own: Vec<_> = fields.into_iter().filter(|(it, _)| it.flags & SYNTHETIC == 0).collect();
        let total = own.len();
        let text = async |(field, value): (FieldInfo, Value)| {
            Ok(format!("{}={}", field.name, self.show_at(value, depth + 1).await?.text))
        };
        let texts = together(own.into_iter().take(count).map(text)).await?;
        Ok(format!("{{{}}}", joined(texts, total)))
    }

    pub(super) async fn text_field(
        &self,
        of: ObjectId,
        name: &str,
    ) -> Result<Option<String>, JdwpError> {
        match self.object_field(of, name).await? {
            Some(text) => self.wire.string(text).await.map(Some),
            None => Ok(None),
        }
    }

    /// What a value is made of: the elements of what holds some, else its fields.
    pub(super) async fn parts(&self, of: ObjectId) -> Result<Vec<Part>, JdwpError> {
        let class = self.class_of(of).await?;
        match holds(self, of, &class, limits::CHILDREN).await? {
            Some(Holds::Items { items, .. }) => {
                let one = |(at, value): (usize, Value)| Part {
                    name: at.to_string(),
                    value,
                    way: Some(format!("[{at}]")),
                };
                return Ok(items.into_iter().enumerate().map(one).collect());
            }
            Some(Holds::Entries { entries, .. }) => {
                let part = async |(key, value): (Value, Value)| {
                    let name = self.show_at(key, limits::JAVA_GLANCE.len() - 1).await?.text;
                    Ok(Part { way: Some(format!("[{name}]")), name, value })
                };
                return together(entries.into_iter().map(part)).await;
            }
            None => {}
        }
        let one = |(field, value): (FieldInfo, Value)| Part {
            way: Some(format!(".{}", field.name)),
            name: field.name,
            value,
        };
        Ok(self.fields(of).await?.into_iter().map(one).collect())
    }

    /// The class of an exception, and what it says.
    pub(super) async fn exception(&self, id: ObjectId) -> Result<(String, String), JdwpError> {
        let class = self.class_of(id).await?;
        let message = self.text_field(id, "detailMessage").await?.unwrap_or_default();
        Ok((class.name.clone(), message))
    }

    /// `IllegalStateException: out of stock`
    pub(super) async fn thrown(&self, id: ObjectId) -> String {
        match self.exception(id).await {
            Ok((kind, message)) if message.is_empty() => short(&kind),
            Ok((kind, message)) => format!("{}: {message}", short(&kind)),
            Err(error) => format!("Exception: {error}"),
        }
    }
}

/// With a word about those that are not shown.
fn joined(texts: Vec<String>, total: usize) -> String {
    let more = total.saturating_sub(texts.len());
    let mut text = texts.join(", ");
    if more > 0 {
        let comma = if text.is_empty() { "" } else { ", " };
        text = format!("{text}{comma}… {more} more");
    }
    text
}
