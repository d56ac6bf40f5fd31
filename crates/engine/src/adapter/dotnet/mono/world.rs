//! A stopped Mono program as expressions see it, at one frame of it.
//!
//! Fields are read; a property is called only where nothing else tells its value.

use holdpoint_sdb::{ObjectRef, TypeRef, value::WireValue};

use super::{
    calls::{operand, wire},
    collections::nullable,
    server::{Done, FrameAt, MonoServer, refused},
    stack::Kept,
    values::{number, written},
};
use crate::expression::{Assignee, Grammar, Operand, Receiver, World, evaluate, parse};

type Thing = Operand<WireValue>;

pub(super) struct Here<'a> {
    pub(super) server: &'a MonoServer,
    pub(super) at: FrameAt,
}

impl MonoServer {
    pub(super) async fn evaluate(&self, at: FrameAt, expression: &str) -> Done<WireValue> {
        let tree = parse(expression, Grammar::CSharp)?;
        let here = Here { server: self, at };
        let value = evaluate(&here, &tree).await?;
        here.value(value).await
    }
}

impl Here<'_> {
    /// As the program has it.
    pub(super) async fn value(&self, of: Thing) -> Done<WireValue> {
        Ok(match of {
            Operand::Nothing => WireValue::Void,
            Operand::Null => WireValue::Null,
            Operand::Bool(it) => WireValue::Bool(it),
            Operand::Char(it) => WireValue::Char(it),
            Operand::Number(it) => wire(it),
            Operand::Text(it) => self.server.created(&it).await?,
            Operand::Object(it) => it,
        })
    }

    /// The type whose method the frame is in.
    async fn around(&self) -> Done<TypeRef> {
        let frame = self.server.frame(self.at).await?;
        let method = self.server.types.method(frame.method).await.map_err(refused)?;
        Ok(method.declares)
    }

    async fn kind(&self, of: &WireValue) -> Done<TypeRef> {
        match of {
            WireValue::Structure { kind, .. } => Ok(*kind),
            of => match of.object() {
                Some(object) => self.server.mono.type_of(object).await.map_err(refused),
                None => Err("TypeMismatch: it has no members".to_owned()),
            },
        }
    }

    async fn instance_field(&self, of: &WireValue, name: &str) -> Done<Option<WireValue>> {
        let fields = self.server.fields_of(of).await?;
        let exact = fields.iter().find(|(it, _)| it.name == name);
        let found = exact.or_else(|| fields.iter().find(|(it, _)| written(it) == name));
        Ok(found.map(|(_, value)| value.clone()))
    }

    /// What the runtime's own types keep under another name.
    async fn known(&self, of: &WireValue, name: &str) -> Done<Option<Thing>> {
        let server = self.server;
        let count = |it: usize| {
            Operand::Number(crate::expression::Numeric::I32(i32::try_from(it).unwrap_or(i32::MAX)))
        };
        match (of, name) {
            (WireValue::Text(object), "Length") => {
                let length = server.mono.text_length(*object).await.map_err(refused)?;
                Ok(Some(count(usize::try_from(length).unwrap_or_default())))
            }
            (WireValue::Array(_), "Length") | (WireValue::Object(_), "Count") => {
                Ok(server.collect(of, 0).await?.map(|it| count(it.total)))
            }
            (WireValue::Structure { .. }, "HasValue" | "Value") => {
                let parts = server.fields_of(of).await?;
                Ok(match (nullable(&parts), name) {
                    (Some(inside), "HasValue") => Some(Operand::Bool(inside.is_some())),
                    (Some(Some(value)), _) => Some(operand(value.clone())),
                    (Some(None), _) => {
                        return Err("InvalidOperationException: it has no value".to_owned());
                    }
                    (None, _) => None,
                })
            }
            _ => Ok(None),
        }
    }

    async fn property(&self, of: Receiver<WireValue, TypeRef>, name: &str) -> Done<Option<Thing>> {
        let (kind, this, is_static) = match of {
            Receiver::Value(Operand::Object(it)) => (self.kind(&it).await?, it, false),
            Receiver::Type(kind) => (kind, WireValue::Null, true),
            Receiver::Value(_) | Receiver::Here => return Ok(None),
        };
        let server = self.server;
        for kind in server.types.chain(kind).await.map_err(refused)? {
            for property in server.mono.properties(kind).await.map_err(refused)? {
                let Some(getter) = property.getter.filter(|_| property.name == name) else {
                    continue;
                };
                let known = server.types.method(getter).await.map_err(refused)?;
                if known.is_static == is_static {
                    let value = server.invoke(self.at.thread, getter, this, Vec::new()).await?;
                    return Ok(Some(operand(value)));
                }
            }
        }
        Ok(None)
    }

    async fn static_value(&self, kind: TypeRef, name: &str) -> Done<Option<Thing>> {
        let server = self.server;
        for kind in server.types.chain(kind).await.map_err(refused)? {
            let fields = server.types.fields(kind).await.map_err(refused)?;
            let found =
                fields.iter().find(|it| it.is_static && (it.name == name || written(it) == name));
            if let Some(field) = found {
                let values = server.mono.static_values(kind, &[field.id]).await;
                return Ok(values.map_err(refused)?.pop().map(operand));
            }
        }
        Ok(None)
    }

    fn index(&self, at: &[Thing]) -> Option<Vec<i32>> {
        let whole = |it: &Thing| match it {
            Operand::Number(it) => it.as_whole().and_then(|it| i32::try_from(it).ok()),
            Operand::Char(it) => Some((*it).into()),
            _ => None,
        };
        at.iter().map(whole).collect()
    }

    /// Where an element lies in an array, one direction behind the other.
    async fn offset(&self, array: ObjectRef, at: &[Thing]) -> Done<i32> {
        let index = self.index(at).ok_or("TypeMismatch: an array's index is a whole number")?;
        let lengths = self.server.mono.lengths(array).await.map_err(refused)?;
        if index.len() != lengths.len() {
            return Err(format!("TypeMismatch: it takes {} indexes", lengths.len()));
        }
        let mut offset = 0_i32;
        for (at, length) in index.iter().zip(&lengths) {
            if !(0..*length).contains(at) {
                return Err(format!("IndexOutOfRangeException: {at} of {length}"));
            }
            offset = offset.saturating_mul(*length).saturating_add(*at);
        }
        Ok(offset)
    }

    async fn listed(&self, of: &WireValue, at: &[Thing]) -> Done<Option<Thing>> {
        let server = self.server;
        let Some(all) = server.collect(of, crate::limits::MONO_SEARCHED).await? else {
            return Ok(None);
        };
        let is_table = all.items.iter().any(|(key, _)| key.is_some());
        if is_table {
            let Some(wanted) = at.first() else { return Ok(None) };
            for (key, value) in all.items {
                let key = operand(key.unwrap_or(WireValue::Null));
                if self.same(&key, wanted).await? {
                    return Ok(Some(operand(value)));
                }
            }
            return Ok(None);
        }
        let index = self.index(at).and_then(|it| usize::try_from(*it.first()?).ok());
        let kind = server.kind(of).await?.unwrap_or_default();
        match index {
            Some(index) if kind.starts_with("List<") && index < all.total => {
                Ok(all.items.into_iter().nth(index).map(|(_, value)| operand(value)))
            }
            Some(index) if kind.starts_with("List<") => {
                Err(format!("ArgumentOutOfRangeException: {index} of {}", all.total))
            }
            _ => Ok(None),
        }
    }

    async fn raw_text(&self, of: &Thing) -> Done<Option<String>> {
        match of {
            Operand::Text(it) => Ok(Some(it.clone())),
            Operand::Object(WireValue::Text(it)) => {
                self.server.mono.text(*it).await.map(Some).map_err(refused)
            }
            _ => Ok(None),
        }
    }

    async fn assign_field(&self, object: ObjectRef, name: &str, value: Thing) -> Done<Thing> {
        let server = self.server;
        let kind = server.mono.type_of(object).await.map_err(refused)?;
        let fields = server.types.fields(kind).await.map_err(refused)?;
        let is_it = |it: &&holdpoint_sdb::command::MonoField| {
            !it.is_static && (it.name == name || written(it) == name)
        };
        let Some(field) = fields.iter().find(is_it) else {
            return Err(format!("UnknownName: it has no field `{name}`"));
        };
        let new = self.fitting(&value, field.kind).await?;
        server.mono.set_field(object, field.id, &new).await.map_err(refused)?;
        let values = server.mono.field_values(object, &[field.id]).await.map_err(refused)?;
        Ok(values.into_iter().next().map_or(Operand::Nothing, operand))
    }

    async fn assign_static(&self, kind: TypeRef, name: &str, value: &Thing) -> Done<Option<Thing>> {
        let server = self.server;
        for kind in server.types.chain(kind).await.map_err(refused)? {
            let fields = server.mono.fields(kind).await.map_err(refused)?;
            let is_it = |it: &&holdpoint_sdb::command::MonoField| {
                it.is_static && !it.is_constant && (it.name == name || written(it) == name)
            };
            if let Some(field) = fields.iter().find(is_it) {
                let new = self.fitting(value, field.kind).await?;
                server.mono.set_static(kind, field.id, &new).await.map_err(refused)?;
                return self.static_value(kind, name).await;
            }
        }
        Ok(None)
    }

    async fn fitting(&self, value: &Thing, kind: TypeRef) -> Done<WireValue> {
        if let Some((value, _)) = self.server.fit(value, kind).await? {
            return Ok(value);
        }
        let name = self.server.types.name(kind).await.map_err(refused)?;
        Err(format!("TypeMismatch: that is no `{name}`"))
    }

    async fn assign_named(&self, name: &str, value: Thing) -> Done<Thing> {
        let server = self.server;
        let all = server.variables(self.at).await?;
        if let Some(variable) = all.into_iter().find(|it| it.name == name) {
            let new = self.fitting(&value, variable.kind).await?;
            match variable.place {
                Kept::Captured(object, field) => {
                    server.mono.set_field(object, field.id, &new).await.map_err(refused)?;
                }
                Kept::Slot(slot) => {
                    let (thread, frame) = (self.at.thread, server.frame(self.at).await?);
                    let set = server.mono.set_frame_value(thread, frame.id, slot, &new).await;
                    set.map_err(refused)?;
                }
            }
            let now = self.named(name).await?;
            return Ok(now.unwrap_or(Operand::Nothing));
        }
        if let Some(WireValue::Object(this)) = server.this(self.at).await?
            && self.instance_field(&WireValue::Object(this), name).await?.is_some()
        {
            return self.assign_field(this, name, value).await;
        }
        let found = self.assign_static(self.around().await?, name, &value).await?;
        found.ok_or_else(|| format!("UnknownName: `{name}` is no variable or field here"))
    }
}

impl World for Here<'_> {
    type Object = WireValue;
    type Type = TypeRef;

    fn grammar(&self) -> Grammar {
        Grammar::CSharp
    }

    async fn this(&self) -> Done<Thing> {
        let this = self.server.this(self.at).await?;
        this.map(operand).ok_or_else(|| "UnknownName: a static method has no `this`".to_owned())
    }

    async fn named(&self, name: &str) -> Done<Option<Thing>> {
        let all = self.server.variables(self.at).await?;
        if let Some(variable) = all.into_iter().find(|it| it.name == name) {
            return Ok(Some(operand(variable.value)));
        }
        if let Some(this) = self.server.this(self.at).await? {
            if let Some(value) = self.instance_field(&this, name).await? {
                return Ok(Some(operand(value)));
            }
            let of = Receiver::Value(Operand::Object(this));
            if let Some(value) = self.property(of, name).await? {
                return Ok(Some(value));
            }
        }
        let around = self.around().await?;
        if let Some(value) = self.static_value(around, name).await? {
            return Ok(Some(value));
        }
        self.property(Receiver::Type(around), name).await
    }

    async fn type_named(&self, name: &str) -> Done<Option<TypeRef>> {
        let around = self.around().await?;
        let here = self.server.types.facts(around).await.map_err(refused)?;
        self.server.type_by_name(name, &here.full).await
    }

    async fn field(&self, of: &Thing, name: &str) -> Done<Thing> {
        let value = match of {
            Operand::Null => {
                return Err(format!("NullReferenceException: `{name}` of null"));
            }
            Operand::Text(it) if name == "Length" => {
                let units = i32::try_from(it.encode_utf16().count()).unwrap_or(i32::MAX);
                return Ok(Operand::Number(crate::expression::Numeric::I32(units)));
            }
            Operand::Text(it) => self.server.created(it).await?,
            Operand::Object(it) => it.clone(),
            _ => return Err(format!("UnknownName: a plain value has no `{name}`")),
        };
        if let Some(known) = self.known(&value, name).await? {
            return Ok(known);
        }
        if let Some(value) = self.instance_field(&value, name).await? {
            return Ok(operand(value));
        }
        let kind = self.kind(&value).await?;
        if let Some(found) = self.property(Receiver::Value(Operand::Object(value)), name).await? {
            return Ok(found);
        }
        let kind = self.server.types.name(kind).await.map_err(refused)?;
        Err(format!("UnknownName: `{kind}` has no `{name}`"))
    }

    async fn static_field(&self, of: &TypeRef, name: &str) -> Done<Option<Thing>> {
        match self.static_value(*of, name).await? {
            Some(value) => Ok(Some(value)),
            None => self.property(Receiver::Type(*of), name).await,
        }
    }

    async fn call(
        &self,
        of: Receiver<WireValue, TypeRef>,
        name: &str,
        arguments: Vec<Thing>,
    ) -> Done<Thing> {
        let (kind, this, is_static) = match of {
            Receiver::Type(kind) => (kind, WireValue::Null, Some(true)),
            Receiver::Here => match self.server.this(self.at).await? {
                Some(this) => (self.kind(&this).await?, this, None),
                None => (self.around().await?, WireValue::Null, Some(true)),
            },
            Receiver::Value(value) => {
                let value = self.value(value).await?;
                if name == "ToString"
                    && arguments.is_empty()
                    && let Some(text) = number(&value)
                {
                    return Ok(Operand::Text(text));
                }
                (self.kind(&value).await?, value, Some(false))
            }
        };
        let found = self.server.find_method(kind, name, is_static, &arguments).await?;
        let Some((method, arguments)) = found else {
            let kind = self.server.types.name(kind).await.map_err(refused)?;
            return Err(format!(
                "UnknownName: `{kind}` has no `{name}` that takes these arguments"
            ));
        };
        let known = self.server.types.method(method).await.map_err(refused)?;
        let this = if known.is_static { WireValue::Null } else { this };
        self.server.invoke(self.at.thread, method, this, arguments).await.map(operand)
    }

    async fn create(&self, kind: TypeRef, arguments: Vec<Thing>) -> Done<Thing> {
        let found = self.server.find_method(kind, ".ctor", Some(false), &arguments).await?;
        let Some((method, arguments)) = found else {
            return Err("UnknownName: no constructor takes these arguments".to_owned());
        };
        let made = self.server.invoke(self.at.thread, method, WireValue::Null, arguments).await?;
        Ok(operand(made))
    }

    async fn element(&self, of: &Thing, at: &[Thing]) -> Done<Thing> {
        match of {
            Operand::Null => Err("NullReferenceException: an element of null".to_owned()),
            Operand::Object(WireValue::Array(array)) => {
                let at = self.offset(*array, at).await?;
                let found = self.server.mono.elements(*array, at, 1).await.map_err(refused)?;
                Ok(found.into_iter().next().map_or(Operand::Nothing, operand))
            }
            Operand::Text(_) | Operand::Object(WireValue::Text(_)) => {
                let text = self.raw_text(of).await?.unwrap_or_default();
                let index = self.index(at).and_then(|it| usize::try_from(*it.first()?).ok());
                let unit = index.and_then(|it| text.encode_utf16().nth(it));
                unit.map(Operand::Char)
                    .ok_or_else(|| "IndexOutOfRangeException: the text is not that long".to_owned())
            }
            Operand::Object(value) => match self.listed(value, at).await? {
                Some(found) => Ok(found),
                None => {
                    let of = Receiver::Value(Operand::Object(value.clone()));
                    self.call(of, "get_Item", at.to_vec()).await
                }
            },
            _ => Err("TypeMismatch: it has no elements".to_owned()),
        }
    }

    async fn is_a(&self, of: &Thing, kind: &str) -> Done<bool> {
        let Some(to) = self.type_named(kind).await? else {
            return Err(format!("UnknownName: `{kind}` is no type here"));
        };
        Ok(match of {
            Operand::Null | Operand::Nothing => false,
            of => self.server.fit(of, to).await?.is_some(),
        })
    }

    async fn same(&self, left: &Thing, right: &Thing) -> Done<bool> {
        let (left, right) = (self.opened(left).await?, self.opened(right).await?);
        if let (Some(one), Some(other)) =
            (self.raw_text(&left).await?, self.raw_text(&right).await?)
        {
            return Ok(one == other);
        }
        Ok(match (&left, &right) {
            (Operand::Object(one), Operand::Object(other)) => {
                match (one.object(), other.object()) {
                    (Some(one), Some(other)) => one == other,
                    _ => one == other,
                }
            }
            (Operand::Number(one), Operand::Number(other)) => {
                match (one.as_whole(), other.as_whole()) {
                    (Some(one), Some(other)) => one == other,
                    _ => one.as_real() == other.as_real(),
                }
            }
            (one, other) => one == other,
        })
    }

    async fn unboxed(&self, of: Thing) -> Done<Thing> {
        self.opened(&of).await
    }

    async fn text(&self, of: &Thing) -> Done<String> {
        if let Some(text) = self.raw_text(of).await? {
            return Ok(text);
        }
        Ok(match of {
            Operand::Null | Operand::Nothing => String::new(),
            Operand::Bool(true) => "True".to_owned(),
            Operand::Bool(false) => "False".to_owned(),
            Operand::Char(it) => String::from_utf16_lossy(&[*it]),
            Operand::Number(it) => number(&wire(*it)).unwrap_or_default(),
            Operand::Text(it) => it.clone(),
            Operand::Object(it) => {
                // What stands for one value needs no call.
                if let WireValue::Structure { kind, fields, .. } = it
                    && let Some(text) = self.server.special(*kind, fields, 1).await?
                {
                    return Ok(text);
                }
                let of = Receiver::Value(Operand::Object(it.clone()));
                let told = self.call(of, "ToString", Vec::new()).await?;
                self.raw_text(&told).await?.unwrap_or_default()
            }
        })
    }

    async fn is_text(&self, of: &Thing) -> Done<bool> {
        Ok(matches!(of, Operand::Text(_) | Operand::Object(WireValue::Text(_))))
    }

    async fn assign(&self, to: Assignee<WireValue, TypeRef>, value: Thing) -> Done<Thing> {
        match to {
            Assignee::Named(name) => self.assign_named(&name, value).await,
            Assignee::Field(of, name) => {
                match of.object() {
                    Some(object) => self.assign_field(object, &name, value).await,
                    None => Err("TypeMismatch: a part of a structure is set with the whole of it"
                        .to_owned()),
                }
            }
            Assignee::Static(kind, name) => {
                let found = self.assign_static(kind, &name, &value).await?;
                found.ok_or_else(|| format!("UnknownName: there is no static field `{name}`"))
            }
            Assignee::Element(WireValue::Array(array), at) => {
                let kind = self.server.mono.type_of(array).await.map_err(refused)?;
                let facts = self.server.types.facts(kind).await.map_err(refused)?;
                let element = facts.element.ok_or("TypeMismatch: it has no elements")?;
                let new = self.fitting(&value, element).await?;
                let place = self.offset(array, &at).await?;
                self.server.mono.set_element(array, place, &new).await.map_err(refused)?;
                self.element(&Operand::Object(WireValue::Array(array)), &at).await
            }
            Assignee::Element(of, mut at) => {
                let place = at.clone();
                at.push(value);
                let receiver = Receiver::Value(Operand::Object(of.clone()));
                self.call(receiver, "set_Item", at).await?;
                self.element(&Operand::Object(of), &place).await
            }
        }
    }
}

impl Here<'_> {
    /// What is in a box, in a value that may be none, or behind the name of a constant.
    async fn opened(&self, of: &Thing) -> Done<Thing> {
        let Operand::Object(value @ WireValue::Structure { kind, fields, .. }) = of else {
            return Ok(of.clone());
        };
        let facts = self.server.types.facts(*kind).await.map_err(refused)?;
        if facts.is_primitive || facts.is_enum {
            return Ok(fields.first().cloned().map_or(Operand::Null, operand));
        }
        if facts.full.starts_with("System.Nullable`1") {
            let parts = self.server.fields_of(value).await?;
            return Ok(match nullable(&parts) {
                Some(Some(inside)) => operand(inside.clone()),
                Some(None) => Operand::Null,
                None => of.clone(),
            });
        }
        Ok(of.clone())
    }
}
