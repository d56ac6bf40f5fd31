//! One frame of a stopped program, as expressions see it.

use std::sync::Arc;

use holdpoint_dap::types as t;
use holdpoint_jdwp::types::{ClassId, FieldInfo, ObjectId, STATIC, Value};

use super::{
    calls::{Owner, parameters},
    serving::{FrameAt, PartsOf, Serving, said},
    sources::imports_of,
    values::{char_text, quoted},
    vm::{Asking, Class, lock, signature},
};
use crate::expression::{Assignee, Grammar, Numeric, Operand, Receiver, World, evaluate, parse};

/// An object of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Obj {
    pub(super) id: ObjectId,
    pub(super) tag: u8,
}

pub(super) type Worth = Operand<Obj>;

pub(super) fn worth(value: Value) -> Worth {
    match value {
        Value::Void => Operand::Nothing,
        Value::Bool(it) => Operand::Bool(it),
        Value::Byte(it) => Operand::Number(Numeric::I8(it)),
        Value::Char(it) => Operand::Char(it),
        Value::Short(it) => Operand::Number(Numeric::I16(it)),
        Value::Int(it) => Operand::Number(Numeric::I32(it)),
        Value::Long(it) => Operand::Number(Numeric::I64(it)),
        Value::Float(it) => Operand::Number(Numeric::F32(it)),
        Value::Double(it) => Operand::Number(Numeric::F64(it)),
        Value::Object { id: ObjectId::NULL, .. } => Operand::Null,
        Value::Object { id, tag } => Operand::Object(Obj { id, tag }),
    }
}

/// Where an expression is evaluated.
struct Here<'a> {
    serving: &'a Serving,
    at: FrameAt,
}

impl Serving {
    pub(super) async fn evaluate(&self, asked: t::EvaluateArguments) -> Asking<t::EvaluateBody> {
        let tree = parse(&asked.expression, Grammar::Java)?;
        let here = self.here(asked.frame_id)?;
        let worth = evaluate(&here, &tree).await?;
        let (text, kind, reference, indexed) = self.told(worth, Some(asked.expression)).await?;
        Ok(t::EvaluateBody {
            result: text,
            type_name: kind,
            variables_reference: reference,
            indexed_variables: indexed,
            ..Default::default()
        })
    }

    fn here(&self, frame: Option<i64>) -> Asking<Here<'_>> {
        let at = match frame {
            Some(frame) => self.frame_at(frame)?,
            None => {
                let stop = lock(&self.state).stop.clone();
                let stop = stop.ok_or("the program runs; an expression needs a frame")?;
                FrameAt { thread: stop.thread, depth: 0 }
            }
        };
        Ok(Here { serving: self, at })
    }

    async fn told(
        &self,
        worth: Worth,
        way: Option<String>,
    ) -> Asking<(String, Option<String>, i64, Option<i64>)> {
        let value = match worth {
            Operand::Text(text) => return Ok((quoted(&text), Some("String".to_owned()), 0, None)),
            Operand::Nothing => return Ok(("void".to_owned(), Some("void".to_owned()), 0, None)),
            Operand::Null => Value::NULL,
            Operand::Bool(it) => Value::Bool(it),
            Operand::Char(it) => Value::Char(it),
            Operand::Number(it) => match it {
                Numeric::I8(it) => Value::Byte(it),
                Numeric::I16(it) => Value::Short(it),
                Numeric::I64(it) => Value::Long(it),
                Numeric::F32(it) => Value::Float(it),
                Numeric::F64(it) => Value::Double(it),
                other => Value::Int(
                    i32::try_from(other.as_whole().unwrap_or_default()).unwrap_or_default(),
                ),
            },
            Operand::Object(it) => Value::Object { tag: it.tag, id: it.id },
        };
        let (shown, reference) = self.shown(value, way).await?;
        let indexed = shown.indexed.and_then(|it| i64::try_from(it).ok());
        Ok((shown.text, Some(shown.kind).filter(|it| !it.is_empty()), reference, indexed))
    }

    pub(super) async fn set_variable(
        &self,
        asked: t::SetVariableArguments,
    ) -> Asking<t::SetValueBody> {
        let of = lock(&self.state).parts.get(asked.variables_reference);
        let of = of.ok_or("that value is of an earlier stop")?;
        let tree = parse(&asked.value, Grammar::Java)?;
        let here = match &of {
            PartsOf::Locals(at) => Here { serving: self, at: *at },
            _ => self.here(None)?,
        };
        let value = evaluate(&here, &tree).await?;
        let to = match of {
            PartsOf::Locals(_) => Assignee::Named(asked.name),
            PartsOf::Statics(class) => {
                Assignee::Static(self.vm.class(class).await.map_err(said)?, asked.name)
            }
            PartsOf::Object(id, _) => {
                let object = Obj { id, tag: b'L' };
                match asked.name.trim_matches(['[', ']']).parse::<i32>() {
                    Ok(at) => Assignee::Element(object, vec![Operand::Number(Numeric::I32(at))]),
                    Err(_) => Assignee::Field(object, asked.name),
                }
            }
        };
        let now = here.assign(to, value).await?;
        let (text, kind, reference, indexed) = self.told(now, None).await?;
        Ok(t::SetValueBody {
            value: text,
            type_name: kind,
            variables_reference: Some(reference),
            indexed_variables: indexed,
            ..Default::default()
        })
    }

    /// The number, the truth or the character in a box.
    pub(super) async fn unbox(&self, of: Worth) -> Asking<Worth> {
        let Operand::Object(object) = of else { return Ok(of) };
        let class = self.vm.class_of(object.id).await.map_err(said)?;
        let boxes = ["Integer", "Long", "Double", "Float", "Boolean", "Short", "Byte", "Character"];
        let is_box = class.name.strip_prefix("java.lang.").is_some_and(|it| boxes.contains(&it));
        if !is_box {
            return Ok(of);
        }
        let inner = self.vm.field(object.id, "value").await.map_err(said)?;
        Ok(inner.map_or(of, worth))
    }
}

impl Here<'_> {
    async fn class(&self) -> Asking<Arc<Class>> {
        let frame = self.serving.frame(self.at).await?;
        self.serving.vm.class(frame.location.class).await.map_err(said)
    }

    /// The static field of a class or one above it.
    async fn static_of(
        &self,
        class: ClassId,
        name: &str,
    ) -> Asking<Option<(Arc<Class>, FieldInfo)>> {
        for class in self.serving.vm.kinds(class).await.map_err(said)? {
            let found = class.fields.iter().find(|it| it.name == name && it.flags & STATIC != 0);
            if let Some(field) = found {
                return Ok(Some((Arc::clone(&class), field.clone())));
            }
        }
        Ok(None)
    }

    async fn static_value(&self, class: ClassId, name: &str) -> Asking<Option<Worth>> {
        let Some((class, field)) = self.static_of(class, name).await? else { return Ok(None) };
        let values =
            self.serving.vm.wire.static_values(class.id, &[field.id]).await.map_err(said)?;
        Ok(values.first().map(|it| worth(*it)))
    }

    /// A text that is ours, as an object of the program.
    async fn object(&self, of: &Worth) -> Asking<Obj> {
        match of {
            Operand::Object(object) => Ok(*object),
            Operand::Text(text) => {
                let id = self.serving.vm.wire.create_string(text).await.map_err(said)?;
                Ok(Obj { id, tag: b's' })
            }
            Operand::Null => Err("NullPointerException: it is null".to_owned()),
            _ => Err("TypeMismatch: that is no object".to_owned()),
        }
    }

    async fn call_of(
        &self,
        owner: Owner,
        kinds: &[Arc<Class>],
        name: &str,
        arguments: Vec<Worth>,
    ) -> Asking<Worth> {
        let wants_static = matches!(owner, Owner::Static);
        let (class, method) = self.serving.choose(kinds, name, &arguments, wants_static).await?;
        let mut values = Vec::new();
        for (parameter, argument) in parameters(&method.signature).iter().zip(arguments) {
            values.push(self.serving.converted(self.at.thread, parameter, argument).await?);
        }
        let owner = if method.flags & STATIC != 0 { Owner::Static } else { owner };
        self.serving.invoke(self.at.thread, owner, &class, &method, &values).await.map(worth)
    }

    fn index(at: &[Worth]) -> Asking<usize> {
        match at {
            [Operand::Number(it)] => {
                let whole = it.as_whole().ok_or("TypeMismatch: an index is a whole number")?;
                usize::try_from(whole)
                    .map_err(|_| format!("ArrayIndexOutOfBoundsException: {whole}"))
            }
            [Operand::Char(it)] => Ok((*it).into()),
            _ => Err("TypeMismatch: an index is a whole number".to_owned()),
        }
    }

    async fn found(&self, written: &str) -> Asking<Option<Arc<Class>>> {
        match self.serving.vm.first(written).await? {
            Some(id) => self.serving.vm.class(id).await.map(Some).map_err(said),
            None => Ok(None),
        }
    }

    /// What a name of a type may stand for, where the program is.
    async fn candidates(&self, name: &str) -> Asking<Vec<String>> {
        let class = self.class().await?;
        let mut all = Vec::new();
        let mut outer = class.name.as_str();
        loop {
            all.push(format!("{outer}${name}"));
            match outer.rsplit_once('$') {
                Some((before, _)) => outer = before,
                None => break,
            }
        }
        if class.short() == name {
            all.insert(0, class.name.clone());
        }
        let text = self.serving.source_of(&class).and_then(|it| std::fs::read_to_string(it).ok());
        let (first, rest) = name.split_once('.').map_or((name, ""), |(first, rest)| (first, rest));
        for import in imports_of(&text.unwrap_or_default()) {
            let nested = |it: &str| match rest {
                "" => it.to_owned(),
                rest => format!("{it}${}", rest.replace('.', "$")),
            };
            match import.strip_suffix(".*") {
                Some(package) => all.push(nested(&format!("{package}.{first}"))),
                None if import.rsplit('.').next() == Some(first) => all.push(nested(&import)),
                None => {}
            }
        }
        let package = class.package();
        all.push(if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") });
        all.push(format!("java.lang.{name}"));
        all.push(name.to_owned());
        // `a.b.Cart.Item` may be a class inside of another.
        let mut inside = name.to_owned();
        while let Some((before, last)) = inside.rsplit_once('.') {
            inside = format!("{before}${last}");
            all.push(inside.clone());
            if !package.is_empty() {
                all.push(format!("{package}.{inside}"));
            }
        }
        Ok(all)
    }
}

impl World for Here<'_> {
    type Object = Obj;
    type Type = Arc<Class>;

    fn grammar(&self) -> Grammar {
        Grammar::Java
    }

    async fn this(&self) -> Asking<Worth> {
        let this = self.serving.this(self.at).await?;
        if this == ObjectId::NULL {
            return Err("UnknownName: there is no `this` in a static method".to_owned());
        }
        Ok(Operand::Object(Obj { id: this, tag: b'L' }))
    }

    async fn named(&self, name: &str) -> Asking<Option<Worth>> {
        let locals = self.serving.locals(self.at).await?;
        if let Some((_, value)) = locals.iter().rev().find(|(slot, _)| slot.name == name) {
            return Ok(Some(worth(*value)));
        }
        let mut this = Some(self.serving.this(self.at).await?).filter(|it| *it != ObjectId::NULL);
        // What a class inside of another sees of that one, and what it kept of where it was made.
        while let Some(object) = this {
            for field in [name.to_owned(), format!("val${name}")] {
                if let Some(value) = self.serving.vm.field(object, &field).await.map_err(said)? {
                    return Ok(Some(worth(value)));
                }
            }
            this = self.serving.vm.object_field(object, "this$0").await.map_err(said)?;
        }
        let class = self.class().await?;
        let mut outer = Some(class.name.clone());
        while let Some(name_of) = outer {
            if let Some(class) = self.found(&signature(&name_of)).await?
                && let Some(value) = self.static_value(class.id, name).await?
            {
                return Ok(Some(value));
            }
            outer = name_of.rsplit_once('$').map(|(before, _)| before.to_owned());
        }
        Ok(None)
    }

    async fn type_named(&self, name: &str) -> Asking<Option<Arc<Class>>> {
        for candidate in self.candidates(name).await? {
            if let Some(class) = self.found(&signature(&candidate)).await? {
                return Ok(Some(class));
            }
        }
        Ok(None)
    }

    async fn field(&self, of: &Worth, name: &str) -> Asking<Worth> {
        if matches!(of, Operand::Null) {
            return Err(format!("NullPointerException: `{name}` of null"));
        }
        let object = self.object(of).await?;
        let class = self.serving.vm.class_of(object.id).await.map_err(said)?;
        if class.is_array() && name == "length" {
            let length = self.serving.vm.wire.array_length(object.id).await.map_err(said)?;
            return Ok(Operand::Number(Numeric::I32(i32::try_from(length).unwrap_or(i32::MAX))));
        }
        if let Some(value) = self.serving.vm.field(object.id, name).await.map_err(said)? {
            return Ok(worth(value));
        }
        if let Some(value) = self.static_value(class.id, name).await? {
            return Ok(value);
        }
        let is_method = class.methods.iter().any(|it| it.name == name);
        let hint = if is_method { format!("; `{name}()` is a method") } else { String::new() };
        Err(format!("UnknownName: `{}` has no field `{name}`{hint}", class.short()))
    }

    async fn static_field(&self, of: &Arc<Class>, name: &str) -> Asking<Option<Worth>> {
        self.static_value(of.id, name).await
    }

    async fn call(
        &self,
        of: Receiver<Obj, Arc<Class>>,
        name: &str,
        arguments: Vec<Worth>,
    ) -> Asking<Worth> {
        match of {
            Receiver::Value(value) => {
                let object = self.object(&value).await?;
                let kinds = self.serving.kinds_of(object.id).await?;
                self.call_of(Owner::Object(object.id), &kinds, name, arguments).await
            }
            Receiver::Type(class) => {
                let kinds = self.serving.vm.chain(class.id).await.map_err(said)?;
                self.call_of(Owner::Static, &kinds, name, arguments).await
            }
            Receiver::Here => {
                let mut this =
                    Some(self.serving.this(self.at).await?).filter(|it| *it != ObjectId::NULL);
                while let Some(object) = this {
                    let kinds = self.serving.kinds_of(object).await?;
                    if kinds.iter().any(|it| it.methods.iter().any(|it| it.name == name)) {
                        return self.call_of(Owner::Object(object), &kinds, name, arguments).await;
                    }
                    this = self.serving.vm.object_field(object, "this$0").await.map_err(said)?;
                }
                let class = self.class().await?;
                let kinds = self.serving.vm.chain(class.id).await.map_err(said)?;
                self.call_of(Owner::Static, &kinds, name, arguments).await
            }
        }
    }

    async fn create(&self, kind: Arc<Class>, arguments: Vec<Worth>) -> Asking<Worth> {
        self.call_of(Owner::New, &[kind], "<init>", arguments).await
    }

    async fn element(&self, of: &Worth, at: &[Worth]) -> Asking<Worth> {
        let object = self.object(of).await?;
        let class = self.serving.vm.class_of(object.id).await.map_err(said)?;
        if class.is_array() {
            let at = Self::index(at)?;
            let length = self.serving.vm.wire.array_length(object.id).await.map_err(said)?;
            if at >= length {
                return Err(format!("ArrayIndexOutOfBoundsException: {at} of {length}"));
            }
            let values = self.serving.vm.wire.elements(object.id, at, 1).await.map_err(said)?;
            return values.first().map(|it| worth(*it)).ok_or_else(|| "no such element".to_owned());
        }
        // Lists and maps, as one would write them in other languages.
        let kinds = self.serving.kinds_of(object.id).await?;
        let is = |name: &str| kinds.iter().any(|it| it.name == name);
        let name = match () {
            () if is("java.util.List") || is("java.util.Map") => "get",
            () if is("java.lang.CharSequence") => "charAt",
            () => return Err(format!("TypeMismatch: `{}` has no elements", class.short())),
        };
        self.call_of(Owner::Object(object.id), &kinds, name, at.to_vec()).await
    }

    async fn is_a(&self, of: &Worth, kind: &str) -> Asking<bool> {
        if matches!(of, Operand::Text(_)) {
            let kinds = ["String", "java.lang.String", "Object", "CharSequence", "Comparable"];
            return Ok(kinds.contains(&kind));
        }
        let Operand::Object(object) = of else {
            return Err(format!("TypeMismatch: that is no object, so no `{kind}`"));
        };
        let kinds = self.serving.kinds_of(object.id).await?;
        if kinds.iter().any(|it| it.name == kind) {
            return Ok(true);
        }
        match self.type_named(kind).await? {
            Some(class) => Ok(kinds.iter().any(|it| it.id == class.id)),
            None => Err(format!("UnknownName: no type `{kind}` is loaded")),
        }
    }

    async fn same(&self, left: &Worth, right: &Worth) -> Asking<bool> {
        // A literal is the one text of its kind: `==` is true where the program's own is that one too.
        let mut ids = Vec::new();
        for side in [left, right] {
            ids.push(match side {
                Operand::Null => ObjectId::NULL,
                Operand::Object(object) => object.id,
                Operand::Text(_) => {
                    match self.call(Receiver::Value(side.clone()), "intern", Vec::new()).await? {
                        Operand::Object(object) => object.id,
                        _ => ObjectId::NULL,
                    }
                }
                _ => return Err("TypeMismatch: an object is compared with what is none".to_owned()),
            });
        }
        Ok(ids.first() == ids.last())
    }

    async fn unboxed(&self, of: Worth) -> Asking<Worth> {
        self.serving.unbox(of).await
    }

    async fn text(&self, of: &Worth) -> Asking<String> {
        Ok(match self.serving.unbox(of.clone()).await? {
            Operand::Nothing => return Err("TypeMismatch: nothing is no part of a text".to_owned()),
            Operand::Null => "null".to_owned(),
            Operand::Bool(it) => it.to_string(),
            Operand::Char(it) => char_text(it).trim_matches('\'').to_owned(),
            Operand::Number(it) => it.text(),
            Operand::Text(it) => it,
            Operand::Object(it) if it.tag == b's' => {
                self.serving.vm.wire.string(it.id).await.map_err(said)?
            }
            object @ Operand::Object(_) => {
                let text = self.call(Receiver::Value(object), "toString", Vec::new()).await?;
                match text {
                    Operand::Object(it) => {
                        self.serving.vm.wire.string(it.id).await.map_err(said)?
                    }
                    _ => "null".to_owned(),
                }
            }
        })
    }

    async fn is_text(&self, of: &Worth) -> Asking<bool> {
        Ok(match of {
            Operand::Text(_) => true,
            Operand::Object(it) => it.tag == b's',
            _ => false,
        })
    }

    async fn assign(&self, to: Assignee<Obj, Arc<Class>>, value: Worth) -> Asking<Worth> {
        match to {
            Assignee::Named(name) => self.assign_named(name, value).await,
            Assignee::Field(object, name) => self.assign_field(object, &name, value).await,
            Assignee::Static(class, name) => self.assign_static(class.id, &name, value).await,
            Assignee::Element(object, at) => self.assign_element(object, &at, value).await,
        }
    }
}

/// Assigning, each with what the place holds afterwards.
impl Here<'_> {
    async fn assign_named(&self, name: String, value: Worth) -> Asking<Worth> {
        let (serving, thread) = (self.serving, self.at.thread);
        let locals = serving.locals(self.at).await?;
        if let Some((slot, _)) = locals.iter().rev().find(|(slot, _)| slot.name == name) {
            let value = serving.converted(thread, &slot.signature, value).await?;
            // Its number may have changed: a method was called for the value.
            let frame = serving.frame(self.at).await?;
            serving.vm.wire.set_slot(thread, frame.id, slot.slot, value).await.map_err(said)?;
            return self.named(&name).await?.ok_or_else(|| "it is gone".to_owned());
        }
        let this = serving.this(self.at).await?;
        if this != ObjectId::NULL && serving.vm.field(this, &name).await.map_err(said)?.is_some() {
            return self.assign_field(Obj { id: this, tag: b'L' }, &name, value).await;
        }
        let class = self.class().await?;
        self.assign_static(class.id, &name, value).await
    }

    async fn assign_field(&self, object: Obj, name: &str, value: Worth) -> Asking<Worth> {
        let (serving, thread) = (self.serving, self.at.thread);
        let class = serving.vm.wire.class_of(object.id).await.map_err(said)?;
        for class in serving.vm.chain(class).await.map_err(said)? {
            let is_it = |it: &&FieldInfo| it.name == name && it.flags & STATIC == 0;
            if let Some(field) = class.fields.iter().find(is_it) {
                let value = serving.converted(thread, &field.signature, value).await?;
                serving.vm.wire.set_value(object.id, field.id, value).await.map_err(said)?;
                return self.field(&Operand::Object(object), name).await;
            }
        }
        Err(format!("UnknownName: it has no field `{name}`"))
    }

    async fn assign_static(&self, class: ClassId, name: &str, value: Worth) -> Asking<Worth> {
        let (serving, thread) = (self.serving, self.at.thread);
        let Some((class, field)) = self.static_of(class, name).await? else {
            return Err(format!("UnknownName: no variable, field or static `{name}` here"));
        };
        let value = serving.converted(thread, &field.signature, value).await?;
        serving.vm.wire.set_static(class.id, field.id, value).await.map_err(said)?;
        self.static_value(class.id, name).await?.ok_or_else(|| "it is gone".to_owned())
    }

    async fn assign_element(&self, object: Obj, at: &[Worth], value: Worth) -> Asking<Worth> {
        let (serving, thread) = (self.serving, self.at.thread);
        let class = serving.vm.class_of(object.id).await.map_err(said)?;
        let Some(inner) = class.signature.strip_prefix('[') else {
            return Err(
                "Unsupported: only elements of arrays are assigned; call `set` or `put`".to_owned()
            );
        };
        let value = serving.converted(thread, inner, value).await?;
        serving.vm.wire.set_element(object.id, Self::index(at)?, value).await.map_err(said)?;
        self.element(&Operand::Object(object), at).await
    }
}
