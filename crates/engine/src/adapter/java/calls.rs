//! Methods of the program that are called for an expression, in the thread that stands.
//!
//! Only that thread runs meanwhile, and breakpoints on its way are passed. One that does not end is made to return:
//! an error thrown in it would wait until the program goes on, and hit that.

use std::sync::Arc;

use holdpoint_jdwp::{
    JdwpError,
    types::{ABSTRACT, ClassId, Invoked, MethodInfo, ObjectId, STATIC, Value},
};

use super::{
    serving::{Serving, said},
    vm::{Asking, Class, Vm, lock, readable},
    world::Worth,
};
use crate::expression::{Numeric, NumericKind, Operand};

/// Whose method it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner {
    Object(ObjectId),
    Static,
    New,
}

/// The parameters of `(ILjava/lang/String;[J)V`.
pub(super) fn parameters(signature: &str) -> Vec<String> {
    let inner = signature.strip_prefix('(').and_then(|it| it.split(')').next()).unwrap_or_default();
    let mut all = Vec::new();
    let mut current = String::new();
    let mut in_name = false;
    for it in inner.chars() {
        current.push(it);
        in_name = match (in_name, it) {
            (false, 'L') => true,
            (true, ';') => false,
            (state, _) => state,
        };
        if !in_name && it != '[' {
            all.push(std::mem::take(&mut current));
        }
    }
    all
}

impl Serving {
    /// The method of that name that takes such arguments best.
    pub(super) async fn choose(
        &self,
        kinds: &[Arc<Class>],
        name: &str,
        arguments: &[Worth],
        wants_static: bool,
    ) -> Asking<(Arc<Class>, MethodInfo)> {
        let mut best: Option<(u32, Arc<Class>, MethodInfo)> = None;
        let mut others = Vec::new();
        for class in kinds {
            for method in class.methods.iter().filter(|it| it.name == name) {
                let parameters = parameters(&method.signature);
                others.push(parameters.len());
                if wants_static && method.flags & STATIC == 0 && name != "<init>" {
                    continue;
                }
                let Some(cost) = self.cost(&parameters, arguments).await? else { continue };
                // Of an interface only where no class has it: there it is the same one, without code.
                let cost = cost * 2 + u32::from(method.flags & ABSTRACT != 0);
                if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
                    best = Some((cost, Arc::clone(class), method.clone()));
                }
            }
        }
        if let Some((_, class, method)) = best {
            return Ok((class, method));
        }
        let of = kinds.first().map(|it| it.short()).unwrap_or_default();
        Err(match others.is_empty() {
            true => format!("UnknownName: `{of}` has no method `{name}`"),
            false => format!(
                "TypeMismatch: no `{name}` of `{of}` takes these {} arguments",
                arguments.len()
            ),
        })
    }

    /// How far the arguments are from what is wanted; `None` where they do not fit.
    async fn cost(&self, parameters: &[String], arguments: &[Worth]) -> Asking<Option<u32>> {
        if parameters.len() != arguments.len() {
            return Ok(None);
        }
        let mut sum = 0;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            match self.fit(parameter, argument).await? {
                Some(cost) => sum += cost,
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    async fn fit(&self, parameter: &str, argument: &Worth) -> Asking<Option<u32>> {
        let is_object = parameter.starts_with(['L', '[']);
        Ok(match argument {
            Operand::Nothing => None,
            Operand::Null => is_object.then_some(0),
            Operand::Text(_) => match parameter {
                "Ljava/lang/String;" => Some(0),
                "Ljava/lang/CharSequence;" => Some(1),
                "Ljava/lang/Object;" | "Ljava/lang/Comparable;" => Some(2),
                _ => None,
            },
            Operand::Bool(_) => match parameter {
                "Z" => Some(0),
                "Ljava/lang/Boolean;" => Some(10),
                "Ljava/lang/Object;" => Some(12),
                _ => None,
            },
            Operand::Char(_) => match parameter {
                "C" => Some(0),
                "I" | "J" | "F" | "D" => Some(1),
                "Ljava/lang/Character;" => Some(10),
                "Ljava/lang/Object;" => Some(12),
                _ => None,
            },
            Operand::Number(number) => number_fit(parameter, *number),
            Operand::Object(object) => {
                let kinds = self.kinds_of(object.id).await?;
                let same = kinds.iter().position(|it| it.signature == parameter);
                match same.and_then(|it| u32::try_from(it).ok()) {
                    Some(distance) => Some(distance),
                    // A box is opened.
                    None if parameter.len() == 1 => {
                        let inner = self.unbox(argument.clone()).await?;
                        match inner {
                            Operand::Object(_) => None,
                            inner => Box::pin(self.fit(parameter, &inner)).await?.map(|it| it + 10),
                        }
                    }
                    None => None,
                }
            }
        })
    }

    pub(super) async fn kinds_of(&self, object: ObjectId) -> Asking<Vec<Arc<Class>>> {
        let class = self.vm.wire.class_of(object).await.map_err(said)?;
        self.vm.kinds(class).await.map_err(said)
    }

    /// An operand as a value of the machine, of the kind that is wanted.
    pub(super) async fn converted(
        &self,
        thread: ObjectId,
        to: &str,
        operand: Worth,
    ) -> Asking<Value> {
        let wrong = || format!("TypeMismatch: that is no `{}`", readable(to));
        let operand = if to.len() == 1 { self.unbox(operand).await? } else { operand };
        Ok(match (to, operand) {
            (_, Operand::Nothing) => return Err(wrong()),
            (_, Operand::Null) if to.len() > 1 => Value::NULL,
            (_, Operand::Null) => return Err(wrong()),
            ("Z", Operand::Bool(it)) => Value::Bool(it),
            ("C", Operand::Char(it)) => Value::Char(it),
            ("C", Operand::Number(it)) => match it.cast(NumericKind::U16) {
                Numeric::U16(unit) if it.as_whole() == Some(unit.into()) => Value::Char(unit),
                _ => return Err(wrong()),
            },
            (_, Operand::Char(it)) if to.len() == 1 => {
                number_value(to, Numeric::I32(it.into())).ok_or_else(wrong)?
            }
            (_, Operand::Number(it)) if to.len() == 1 => number_value(to, it).ok_or_else(wrong)?,
            (_, Operand::Object(object)) if to.len() > 1 => {
                let kinds = self.kinds_of(object.id).await?;
                if !kinds.iter().any(|it| it.signature == to) && to != "Ljava/lang/Object;" {
                    return Err(wrong());
                }
                Value::Object { tag: object.tag, id: object.id }
            }
            (_, Operand::Text(text)) if to.len() > 1 => {
                let id = self.vm.wire.create_string(&text).await.map_err(said)?;
                Value::Object { tag: b's', id }
            }
            (_, operand) if to.len() > 1 => self.boxed(thread, operand).await?,
            _ => return Err(wrong()),
        })
    }

    /// `Integer.valueOf(…)`
    async fn boxed(&self, thread: ObjectId, operand: Worth) -> Asking<Value> {
        let (class, value, tag) = match operand {
            Operand::Bool(it) => ("Boolean", Value::Bool(it), "Z"),
            Operand::Char(it) => ("Character", Value::Char(it), "C"),
            Operand::Number(it) => {
                let (class, tag) = match it.kind() {
                    NumericKind::I64 => ("Long", "J"),
                    NumericKind::F32 => ("Float", "F"),
                    NumericKind::F64 => ("Double", "D"),
                    NumericKind::I16 => ("Short", "S"),
                    NumericKind::I8 => ("Byte", "B"),
                    _ => ("Integer", "I"),
                };
                (class, number_value(tag, it).unwrap_or(Value::Int(0)), tag)
            }
            _ => return Err("TypeMismatch: that cannot be put into a box".to_owned()),
        };
        let signature = format!("Ljava/lang/{class};");
        let id = self
            .vm
            .first(&signature)
            .await?
            .ok_or_else(|| format!("UnknownName: `{class}` is not loaded"))?;
        let found = self.vm.class(id).await.map_err(said)?;
        let wanted = format!("({tag}){signature}");
        let method = found.methods.iter().find(|it| it.name == "valueOf" && it.signature == wanted);
        let method = method.ok_or("Unsupported: this runtime boxes in another way")?.clone();
        self.invoke(thread, Owner::Static, &found, &method, &[value]).await
    }

    /// Calls a method with arguments that fit.
    pub(super) async fn invoke(
        &self,
        thread: ObjectId,
        owner: Owner,
        class: &Class,
        method: &MethodInfo,
        arguments: &[Value],
    ) -> Asking<Value> {
        let _turn = self.calling.lock().await;
        let wire = &self.vm.wire;
        let below = wire.frame_count(thread).await.map_err(uncallable)?;
        let _calling = Calling::begin(self, Called { thread, below, is_broken_off: false });
        let of = (class.id, method.id);
        let done = match owner {
            Owner::Object(object) => wire.invoke(thread, object, of, arguments, true).await,
            Owner::Static => wire.invoke_static(thread, of, class.is_interface, arguments).await,
            Owner::New => wire.new_instance(thread, of, arguments).await,
        };
        let is_broken_off = lock(&self.state).called.is_some_and(|it| it.is_broken_off);
        let Invoked { value, exception } = done.map_err(uncallable)?;
        match exception {
            _ if is_broken_off => Err("Interrupted: it did not end and was broken off".to_owned()),
            ObjectId::NULL => Ok(value),
            exception => Err(self.vm.thrown(exception).await),
        }
    }

    /// Makes the method that runs for us return. Not where it waits in the machine's own code: that has no return of
    /// ours.
    pub(super) async fn interrupt(&self) -> Asking<()> {
        let Some(called) = lock(&self.state).called else { return Ok(()) };
        self.vm.wire.suspend_thread(called.thread).await.map_err(said)?;
        let returned = self.make_return(called).await;
        self.vm.wire.resume_thread(called.thread).await.map_err(said)?;
        returned
    }

    async fn make_return(&self, called: Called) -> Asking<()> {
        let wire = &self.vm.wire;
        let frames = wire.frames(called.thread, 0, None).await.map_err(said)?;
        // Beyond those that were there, the outermost is the method that was called.
        let inside = frames.len().saturating_sub(called.below);
        let own = frames.get(..inside).unwrap_or_default();
        let Some((method, within)) = own.split_last() else { return Ok(()) };
        if let Some(next) = within.last() {
            wire.pop_frames(called.thread, next.id).await.map_err(said)?;
        }
        let class = self.vm.class(method.location.class).await.map_err(said)?;
        let named = class.methods.iter().find(|it| it.id == method.location.method);
        let signature = named.map_or("()V", |it| it.signature.as_str());
        let kind = signature.rsplit(')').next().unwrap_or_default();
        wire.force_return(called.thread, nothing_of(kind)).await.map_err(said)?;
        if let Some(called) = &mut lock(&self.state).called {
            called.is_broken_off = true;
        }
        Ok(())
    }
}

/// A value of this kind that says nothing.
fn nothing_of(kind: &str) -> Value {
    match kind {
        "V" => Value::Void,
        "Z" => Value::Bool(false),
        "B" => Value::Byte(0),
        "C" => Value::Char(0),
        "S" => Value::Short(0),
        "I" => Value::Int(0),
        "J" => Value::Long(0),
        "F" => Value::Float(0.0),
        "D" => Value::Double(0.0),
        _ => Value::NULL,
    }
}

/// A method that runs for us.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called {
    pub(super) thread: ObjectId,
    /// How many frames were there before.
    below: usize,
    is_broken_off: bool,
}

/// For as long as a method runs for us.
struct Calling<'a>(&'a Serving);

impl<'a> Calling<'a> {
    fn begin(serving: &'a Serving, called: Called) -> Self {
        lock(&serving.state).called = Some(called);
        Calling(serving)
    }
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).called = None;
    }
}

impl Vm {
    /// A loaded class of that signature.
    pub(super) async fn first(&self, signature: &str) -> Asking<Option<ClassId>> {
        let found = self.wire.classes_by_signature(signature).await.map_err(said)?;
        Ok(found.iter().find(|it| it.is_prepared()).or(found.first()).map(|it| it.id))
    }
}

fn uncallable(error: JdwpError) -> String {
    let is_place = error.is(JdwpError::INVALID_THREAD)
        || error.is(JdwpError::THREAD_NOT_SUSPENDED)
        || error.is(502);
    match is_place {
        true => "Refused: a method can be called only in the thread that a breakpoint, a step or an exception \
                 stopped, not after a pause"
            .to_owned(),
        false => format!("Refused: {error}"),
    }
}

fn number_fit(parameter: &str, number: Numeric) -> Option<u32> {
    let rank = |it: &str| ["B", "S", "I", "J", "F", "D"].iter().position(|known| *known == it);
    let own = match number.kind() {
        NumericKind::I8 | NumericKind::U8 => "B",
        NumericKind::I16 | NumericKind::U16 => "S",
        NumericKind::I32 | NumericKind::U32 => "I",
        NumericKind::I64 | NumericKind::U64 => "J",
        NumericKind::F32 => "F",
        NumericKind::F64 => "D",
    };
    if let Some((wanted, own)) = rank(parameter).zip(rank(own)) {
        return wanted.checked_sub(own).and_then(|it| u32::try_from(it).ok());
    }
    let boxed = match own {
        "B" => "Ljava/lang/Byte;",
        "S" => "Ljava/lang/Short;",
        "I" => "Ljava/lang/Integer;",
        "J" => "Ljava/lang/Long;",
        "F" => "Ljava/lang/Float;",
        _ => "Ljava/lang/Double;",
    };
    match parameter {
        it if it == boxed => Some(10),
        "Ljava/lang/Number;" => Some(11),
        "Ljava/lang/Object;" | "Ljava/lang/Comparable;" => Some(12),
        _ => None,
    }
}

/// A whole number fits where nothing of it is lost; a fraction only into one that has room for it.
fn number_value(to: &str, number: Numeric) -> Option<Value> {
    let whole = |kind| {
        let cast = number.cast(kind);
        (number.as_whole().is_some() && cast.as_whole() == number.as_whole()).then_some(cast)
    };
    Some(match to {
        "B" => match whole(NumericKind::I8)? {
            Numeric::I8(it) => Value::Byte(it),
            _ => return None,
        },
        "S" => match whole(NumericKind::I16)? {
            Numeric::I16(it) => Value::Short(it),
            _ => return None,
        },
        "I" => match whole(NumericKind::I32)? {
            Numeric::I32(it) => Value::Int(it),
            _ => return None,
        },
        "J" => match whole(NumericKind::I64)? {
            Numeric::I64(it) => Value::Long(it),
            _ => return None,
        },
        "F" => match number.cast(NumericKind::F32) {
            Numeric::F32(it) => Value::Float(it),
            _ => return None,
        },
        "D" => Value::Double(number.as_real()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        assert_eq!(
            parameters("(ILjava/lang/String;[[JZ)V"),
            ["I", "Ljava/lang/String;", "[[J", "Z"]
        );
        assert!(parameters("()V").is_empty());
    }

    #[test]
    fn numbers_fit_where_nothing_is_lost() {
        assert_eq!(number_value("B", Numeric::I32(300)), None);
        assert_eq!(number_value("J", Numeric::I32(3)), Some(Value::Long(3)));
        assert_eq!(number_value("I", Numeric::F64(3.0)), None);
        assert_eq!(number_fit("J", Numeric::I32(1)), Some(1));
        assert_eq!(number_fit("I", Numeric::I64(1)), None);
    }
}
