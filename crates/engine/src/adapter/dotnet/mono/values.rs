//! Values as the language writes them, read out of the program without running any code of it.

use futures::future::BoxFuture;
use holdpoint_dap::types as t;
use holdpoint_sdb::{ObjectRef, TypeRef, command::MonoField, value::WireValue};

use super::{
    collections::Collected,
    server::{Done, FrameAt, MonoServer, refused},
    types::between,
};
use crate::{adapter::served::together, limits};

/// What has parts that can be asked for.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) what: Parts,
    /// The expression that gives it, where there is one.
    pub(super) expression: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Parts {
    Locals(FrameAt),
    Statics(TypeRef),
    Of(WireValue),
}

/// A value as it is told.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) kind: Option<String>,
    pub(super) reference: i64,
    pub(super) indexed: Option<i64>,
}

impl Shown {
    pub(super) fn variable(self, name: String, evaluate_name: Option<String>) -> t::Variable {
        t::Variable {
            name,
            value: self.text,
            type_name: self.kind,
            evaluate_name,
            variables_reference: self.reference,
            indexed_variables: self.indexed,
            ..Default::default()
        }
    }
}

/// A number as the language writes it.
pub(super) fn number(value: &WireValue) -> Option<String> {
    Some(match value {
        WireValue::I1(it) => it.to_string(),
        WireValue::U1(it) => it.to_string(),
        WireValue::I2(it) => it.to_string(),
        WireValue::U2(it) => it.to_string(),
        WireValue::I4(it) => it.to_string(),
        WireValue::U4(it) => it.to_string(),
        WireValue::I8(it) | WireValue::Native(it) => it.to_string(),
        WireValue::U8(it) => it.to_string(),
        WireValue::R4(it) => it.to_string(),
        WireValue::R8(it) => it.to_string(),
        _ => return None,
    })
}

fn primitive(value: &WireValue) -> Option<&'static str> {
    Some(match value {
        WireValue::Bool(_) => "bool",
        WireValue::Char(_) => "char",
        WireValue::I1(_) => "sbyte",
        WireValue::U1(_) => "byte",
        WireValue::I2(_) => "short",
        WireValue::U2(_) => "ushort",
        WireValue::I4(_) => "int",
        WireValue::U4(_) => "uint",
        WireValue::I8(_) => "long",
        WireValue::U8(_) => "ulong",
        WireValue::R4(_) => "float",
        WireValue::R8(_) => "double",
        WireValue::Native(_) => "IntPtr",
        _ => return None,
    })
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.chars().flat_map(|it| match it {
        '"' | '\\' => vec!['\\', it],
        '\n' => vec!['\\', 'n'],
        '\r' => vec!['\\', 'r'],
        '\t' => vec!['\\', 't'],
        '\0' => vec!['\\', '0'],
        it => vec![it],
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// A field as it was written: what an automatic property keeps is the property's.
pub(super) fn written(field: &MonoField) -> &str {
    match between(&field.name) {
        Some(name) => name,
        None => &field.name,
    }
}

impl MonoServer {
    /// With a number by which its parts are asked for.
    pub(super) async fn show(&self, value: &WireValue, expression: Option<String>) -> Done<Shown> {
        let (text, kind, collected) =
            tokio::try_join!(self.text(value, 0), self.kind(value), self.collect(value, 0))?;
        let mut shown = Shown { text, kind, ..Shown::default() };
        let has_parts = match (&collected, value) {
            (Some(it), _) => it.total > 0,
            (None, WireValue::Object(_)) => !self.is_plain_object(value).await?,
            (None, WireValue::Structure { kind, fields, .. }) => {
                !fields.is_empty() && self.special(*kind, fields, 1).await?.is_none()
            }
            _ => false,
        };
        shown.indexed = collected.and_then(|it| i64::try_from(it.total).ok());
        if has_parts {
            let what = Parts::Of(value.clone());
            shown.reference = self.state().parts.put(Held { what, expression });
        }
        Ok(shown)
    }

    /// One of which there is nothing more to say.
    async fn is_plain_object(&self, value: &WireValue) -> Done<bool> {
        let Some(object) = value.object() else { return Ok(true) };
        let kind = self.kind_of(object).await?;
        let fields = self.types.fields(kind).await.map_err(refused)?;
        Ok(!fields.iter().any(|it| !it.is_static))
    }

    /// The type that it has, whatever its variable is declared as.
    pub(super) async fn kind(&self, value: &WireValue) -> Done<Option<String>> {
        if let Some(name) = primitive(value) {
            return Ok(Some(name.to_owned()));
        }
        let kind = match value {
            WireValue::Structure { kind, .. } => *kind,
            value => match value.object() {
                Some(object) => self.kind_of(object).await?,
                None => return Ok(None),
            },
        };
        Ok(Some(self.types.name(kind).await.map_err(refused)?.to_string()))
    }

    /// Few words; of what is inside of it the types alone from some depth on.
    pub(super) fn text<'a>(
        &'a self,
        value: &'a WireValue,
        depth: usize,
    ) -> BoxFuture<'a, Done<String>> {
        Box::pin(async move {
            if let Some(text) = number(value) {
                return Ok(text);
            }
            match value {
                WireValue::Bool(it) => Ok(it.to_string()),
                WireValue::Char(it) => Ok(character(*it)),
                WireValue::Null => Ok("null".to_owned()),
                WireValue::Void => Ok("void".to_owned()),
                WireValue::Pointer { address, .. } => Ok(format!("0x{address:x}")),
                WireValue::Text(object) => self.quoted_text(*object).await,
                WireValue::Structure { kind, fields, .. } => {
                    if let Some(text) = self.special(*kind, fields, depth).await? {
                        return Ok(text);
                    }
                    self.object_text(*kind, value, depth).await
                }
                WireValue::Array(object) | WireValue::Object(object) => {
                    let kind = self.kind_of(*object).await?;
                    self.object_text(kind, value, depth).await
                }
                WireValue::Type(kind) => {
                    let name = self.types.name(*kind).await.map_err(refused)?;
                    Ok(format!("typeof({name})"))
                }
                WireValue::Fixed(all) => Ok(format!("[{} values]", all.len())),
                _ => Ok("…".to_owned()),
            }
        })
    }

    async fn quoted_text(&self, object: ObjectRef) -> Done<String> {
        let length = self.mono.text_length(object).await.map_err(refused)?;
        if length <= limits::MONO_TEXT {
            return Ok(quoted(&self.mono.text(object).await.map_err(refused)?));
        }
        let begin = self.mono.text_part(object, 0, limits::MONO_TEXT).await.map_err(refused)?;
        Ok(format!("{}… ({length} characters)", quoted(&begin)))
    }

    async fn object_text(&self, kind: TypeRef, value: &WireValue, depth: usize) -> Done<String> {
        let name = self.types.name(kind).await.map_err(refused)?;
        if let Some(collected) = self.collect(value, limits::MONO_PREVIEW).await? {
            return self.collected_text(&name, collected, depth).await;
        }
        let parts = self.fields_of(value).await?;
        if let Some(text) = self.own_message(kind, &parts).await? {
            return Ok(text);
        }
        if depth > 0 || parts.is_empty() {
            return Ok(name.to_string());
        }
        let one = async |(field, value): &(MonoField, WireValue)| {
            Ok::<_, String>(format!("{} = {}", written(field), self.text(value, depth + 1).await?))
        };
        let shown = together(parts.iter().take(limits::MONO_PREVIEW).map(one)).await?;
        let more = if parts.len() > limits::MONO_PREVIEW { ", …" } else { "" };
        Ok(format!("{name} {{{}{more}}}", shown.join(", ")))
    }

    async fn collected_text(&self, name: &str, held: Collected, depth: usize) -> Done<String> {
        let Collected { total, items } = held;
        let head = match name.split_once("[]") {
            Some((element, rest)) => format!("{element}[{total}]{rest}"),
            None => format!("{name}({total})"),
        };
        if depth > 0 {
            return Ok(head);
        }
        let one = async |(key, value): &(Option<WireValue>, WireValue)| {
            let value = self.text(value, depth + 1);
            let Some(key) = key else { return value.await };
            let (key, value) = tokio::try_join!(self.text(key, depth + 1), value)?;
            Ok(format!("[{key}] = {value}"))
        };
        let shown = together(items.iter().map(one)).await?;
        let more = if total > items.len() { ", …" } else { "" };
        Ok(format!("{head} {{{}{more}}}", shown.join(", ")))
    }

    /// Of an exception what it says; of a delegate nothing that anybody wrote.
    async fn own_message(
        &self,
        kind: TypeRef,
        parts: &[(MonoField, WireValue)],
    ) -> Done<Option<String>> {
        let chain = self.types.chain(kind).await.map_err(refused)?;
        let (mut is_exception, mut is_delegate) = (false, false);
        for kind in chain {
            let facts = self.types.facts(kind).await.map_err(refused)?;
            is_exception |= facts.full == "System.Exception";
            is_delegate |= facts.full == "System.Delegate";
        }
        if is_delegate {
            return Ok(Some(self.types.name(kind).await.map_err(refused)?.to_string()));
        }
        let message = parts.iter().find(|(it, _)| it.name.trim_start_matches('_') == "message");
        let Some((_, message)) = message.filter(|_| is_exception) else { return Ok(None) };
        let name = self.types.name(kind).await.map_err(refused)?;
        Ok(Some(match message {
            WireValue::Text(_) => format!("{name}: {}", self.text(message, 1).await?),
            _ => name.to_string(),
        }))
    }

    /// `System.InvalidOperationException: no such order`, without quotes.
    pub(super) async fn exception_text(&self, exception: ObjectRef) -> Done<String> {
        let (kind, message) = self.exception_parts(exception).await?;
        Ok(if message.is_empty() { kind } else { format!("{kind}: {message}") })
    }

    pub(super) async fn exception_parts(&self, exception: ObjectRef) -> Done<(String, String)> {
        let kind = self.kind_of(exception).await?;
        let name = self.types.name(kind).await.map_err(refused)?.to_string();
        let parts = self.fields_of(&WireValue::Object(exception)).await?;
        let message = parts.iter().find(|(it, _)| it.name.trim_start_matches('_') == "message");
        let text = match message {
            Some((_, WireValue::Text(text))) => self.mono.text(*text).await.map_err(refused)?,
            _ => String::new(),
        };
        Ok((name, text))
    }

    /// The instance fields of an object or a structure with their values.
    pub(super) async fn fields_of(&self, value: &WireValue) -> Done<Vec<(MonoField, WireValue)>> {
        if let WireValue::Structure { kind, fields, .. } = value {
            let known = self.types.fields(*kind).await.map_err(refused)?;
            let own = known.iter().filter(|it| !it.is_static).cloned();
            return Ok(own.zip(fields.iter().cloned()).collect());
        }
        let Some(object) = value.object() else { return Ok(Vec::new()) };
        let kind = self.kind_of(object).await?;
        let known = self.types.fields(kind).await.map_err(refused)?;
        let own: Vec<MonoField> = known.iter().filter(|it| !it.is_static).cloned().collect();
        let ids: Vec<_> = own.iter().map(|it| it.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.mono.field_values(object, &ids).await.map_err(refused)?;
        Ok(own.into_iter().zip(values).collect())
    }

    /// The parts of what was shown.
    pub(super) async fn parts(&self, held: Held) -> Done<Vec<t::Variable>> {
        let value = match held.what {
            Parts::Locals(at) => return self.locals(at).await,
            Parts::Statics(kind) => return self.statics(kind).await,
            Parts::Of(value) => value,
        };
        let expression = held.expression.as_deref();
        if let Some(collected) = self.collect(&value, limits::MONO_PARTS).await? {
            let one = async |(index, (key, value)): (usize, &(Option<WireValue>, WireValue))| {
                let name = match key {
                    Some(key) => format!("[{}]", self.text(key, 1).await?),
                    None => format!("[{index}]"),
                };
                let whole = expression.map(|it| format!("{it}{name}"));
                Ok::<_, String>(self.show(value, whole.clone()).await?.variable(name, whole))
            };
            let mut all = together(collected.items.iter().enumerate().map(one)).await?;
            let left = collected.total.saturating_sub(collected.items.len());
            if left > 0 {
                let text = format!("{left} more; an index shows them one by one");
                all.push(t::Variable { name: REST.to_owned(), value: text, ..Default::default() });
            }
            return Ok(all);
        }
        let one = async |(field, value): (MonoField, WireValue)| {
            let name = written(&field).to_owned();
            let whole = expression.map(|it| format!("{it}.{name}"));
            Ok(self.show(&value, whole.clone()).await?.variable(name, whole))
        };
        together(self.fields_of(&value).await?.into_iter().map(one)).await
    }
}

/// Under this name it is said how many parts are not shown.
pub(in crate::adapter::dotnet) const REST: &str = "…";

fn character(unit: u16) -> String {
    match char::from_u32(unit.into()) {
        Some('\'') => "'\\''".to_owned(),
        Some('\n') => "'\\n'".to_owned(),
        Some('\0') => "'\\0'".to_owned(),
        Some(it) if !it.is_control() => format!("'{it}'"),
        _ => format!("'\\u{unit:04x}'"),
    }
}
