//! Methods of the program that are called for an expression, and values as they are handed to it.

use holdpoint_sdb::{
    MethodRef, MonoError, ObjectRef, TypeRef,
    command::{Invocation, Invoked},
    value::WireValue,
};

use super::{
    server::{Done, MonoServer, refused},
    types::whole_name,
};
use crate::{
    expression::{Numeric, NumericKind, Operand},
    limits,
};

/// What may be called: a method, and how well the arguments suit it.
struct Candidate {
    method: MethodRef,
    arguments: Vec<WireValue>,
    strangeness: u32,
}

impl MonoServer {
    /// Calls a method of the program in a thread that stands. Frames are others afterwards.
    pub(super) async fn invoke(
        &self,
        thread: ObjectRef,
        method: MethodRef,
        this: WireValue,
        arguments: Vec<WireValue>,
    ) -> Done<WireValue> {
        let is_virtual = this.object().is_some();
        let call = Invocation { thread, method, this, arguments, is_virtual };
        let (number, done) = self.mono.invoke(&call);
        self.state().calling = Some((thread, number));
        let done = done.await;
        {
            let mut state = self.state();
            state.calling = None;
            state.stacks.clear();
        }
        match done {
            Ok(Invoked::Returned(value)) => Ok(value),
            Ok(Invoked::Thrown(exception)) => match exception.object() {
                Some(exception) => Err(self.exception_text(exception).await?),
                None => Err("Exception: the call failed".to_owned()),
            },
            Ok(Invoked::BrokenOff) => Err("Interrupted: the call was broken off".to_owned()),
            Err(MonoError::Refused { .. }) => {
                let text = "NotCallable: the thread stands inside of the runtime, where nothing can be called; \
                            fields and variables can be read";
                Err(text.to_owned())
            }
            Err(error) => Err(refused(error)),
        }
    }

    /// The method of that name which suits these arguments best, of a type or of what it is derived from.
    pub(super) async fn find_method(
        &self,
        kind: TypeRef,
        name: &str,
        is_static: Option<bool>,
        arguments: &[Operand<WireValue>],
    ) -> Done<Option<(MethodRef, Vec<WireValue>)>> {
        let mut best: Option<Candidate> = None;
        for kind in self.types.chain(kind).await.map_err(refused)? {
            for method in self.mono.methods(kind).await.map_err(refused)? {
                let known = self.types.method(method).await.map_err(refused)?;
                if known.name != name || is_static.is_some_and(|it| it != known.is_static) {
                    continue;
                }
                let found = self.suits(method, arguments).await?;
                let is_better = |it: &Candidate| {
                    best.as_ref().is_none_or(|best| it.strangeness < best.strangeness)
                };
                if let Some(found) = found.filter(is_better) {
                    best = Some(found);
                }
            }
            if best.is_some() {
                break;
            }
        }
        Ok(best.map(|it| (it.method, it.arguments)))
    }

    async fn suits(
        &self,
        method: MethodRef,
        arguments: &[Operand<WireValue>],
    ) -> Done<Option<Candidate>> {
        let known = self.types.variables(method).await.map_err(refused)?;
        if known.parameters.types.len() != arguments.len() {
            return Ok(None);
        }
        let (mut fitted, mut strangeness) = (Vec::new(), 0);
        for (argument, kind) in arguments.iter().zip(&known.parameters.types) {
            let Some((value, strange)) = self.fit(argument, *kind).await? else { return Ok(None) };
            strangeness += strange;
            fitted.push(value);
        }
        Ok(Some(Candidate { method, arguments: fitted, strangeness }))
    }

    /// A value as something of that type; `None` where it is none. With it how much it had to be changed.
    pub(super) async fn fit(
        &self,
        value: &Operand<WireValue>,
        kind: TypeRef,
    ) -> Done<Option<(WireValue, u32)>> {
        let facts = self.types.facts(kind).await.map_err(refused)?;
        let is_any = facts.full == "System.Object";
        Ok(match value {
            Operand::Nothing => None,
            Operand::Null => (!facts.is_value).then_some((WireValue::Null, 1)),
            Operand::Bool(it) if facts.full == "System.Boolean" => Some((WireValue::Bool(*it), 0)),
            Operand::Char(it) if facts.full == "System.Char" => Some((WireValue::Char(*it), 0)),
            Operand::Number(it) if numeric_kind(&facts.full).is_some() => {
                let Some(to) = numeric_kind(&facts.full) else { return Ok(None) };
                fitted(*it, to)
            }
            Operand::Number(_) if facts.is_enum => None,
            Operand::Bool(_) | Operand::Char(_) | Operand::Number(_) => match is_any {
                true => self.boxed(value).await?.map(|it| (it, 20)),
                false => None,
            },
            Operand::Text(text) => match is_any || facts.full == "System.String" {
                true => Some((self.created(text).await?, u32::from(is_any))),
                false => None,
            },
            Operand::Object(it) => self.fit_object(it, kind).await?,
        })
    }

    async fn fit_object(&self, value: &WireValue, to: TypeRef) -> Done<Option<(WireValue, u32)>> {
        let from = match value {
            WireValue::Structure { kind, .. } => *kind,
            value => match value.object() {
                Some(object) => self.kind_of(object).await?,
                None => return Ok(Some((value.clone(), 1))),
            },
        };
        if from == to {
            return Ok(Some((value.clone(), 0)));
        }
        let is_one = self.mono.is_assignable(to, from).await.map_err(refused)?;
        if !is_one {
            return Ok(None);
        }
        if let WireValue::Structure { kind, .. } = value {
            let domain = self.mono.root_domain().await.map_err(refused)?;
            let boxed = self.mono.create_box(domain, *kind, value).await.map_err(refused)?;
            return Ok(Some((WireValue::Object(boxed), 20)));
        }
        Ok(Some((value.clone(), 5)))
    }

    pub(super) async fn created(&self, text: &str) -> Done<WireValue> {
        let domain = self.mono.root_domain().await.map_err(refused)?;
        self.mono.create_text(domain, text).await.map(WireValue::Text).map_err(refused)
    }

    async fn boxed(&self, value: &Operand<WireValue>) -> Done<Option<WireValue>> {
        let (name, plain) = match value {
            Operand::Bool(it) => ("bool", WireValue::Bool(*it)),
            Operand::Char(it) => ("char", WireValue::Char(*it)),
            Operand::Number(it) => (alias(it.kind()), wire(*it)),
            _ => return Ok(None),
        };
        let domain = self.mono.root_domain().await.map_err(refused)?;
        let library = self.mono.core_library(domain).await.map_err(refused)?;
        let whole = whole_name(name).unwrap_or_default();
        let Some(kind) = self.mono.type_in(library, whole).await.map_err(refused)? else {
            return Ok(None);
        };
        let boxed = self.mono.create_box(domain, kind, &plain).await.map_err(refused)?;
        Ok(Some(WireValue::Object(boxed)))
    }

    /// A type by the name that is written in the program, wherever it is.
    pub(super) async fn type_by_name(&self, name: &str, here: &str) -> Done<Option<TypeRef>> {
        let mut names = vec![whole_name(name).unwrap_or(name).to_owned()];
        let mut around = here;
        while !around.is_empty() {
            names.push(format!("{around}.{name}"));
            names.push(format!("{around}+{name}"));
            around = around.rsplit_once(['.', '+']).map_or("", |(before, _)| before);
        }
        names.extend(["System", "System.Collections.Generic"].map(|it| format!("{it}.{name}")));
        let domain = self.mono.root_domain().await.map_err(refused)?;
        let assemblies = self.mono.assemblies(domain).await.map_err(refused)?;
        for name in names {
            for assembly in assemblies.iter().take(limits::MONO_ASSEMBLIES) {
                // One that cannot look for a type has none.
                if let Ok(Some(found)) = self.mono.type_in(*assembly, &name).await {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}

fn numeric_kind(full: &str) -> Option<NumericKind> {
    Some(match full {
        "System.SByte" => NumericKind::I8,
        "System.Byte" => NumericKind::U8,
        "System.Int16" => NumericKind::I16,
        "System.UInt16" => NumericKind::U16,
        "System.Int32" => NumericKind::I32,
        "System.UInt32" => NumericKind::U32,
        "System.Int64" => NumericKind::I64,
        "System.UInt64" => NumericKind::U64,
        "System.Single" => NumericKind::F32,
        "System.Double" => NumericKind::F64,
        _ => return None,
    })
}

fn alias(kind: NumericKind) -> &'static str {
    match kind {
        NumericKind::I8 => "sbyte",
        NumericKind::U8 => "byte",
        NumericKind::I16 => "short",
        NumericKind::U16 => "ushort",
        NumericKind::I32 => "int",
        NumericKind::U32 => "uint",
        NumericKind::I64 => "long",
        NumericKind::U64 => "ulong",
        NumericKind::F32 => "float",
        NumericKind::F64 => "double",
    }
}

/// A number in another kind of number, where it is the same number there.
fn fitted(number: Numeric, to: NumericKind) -> Option<(WireValue, u32)> {
    if number.kind() == to {
        return Some((wire(number), 0));
    }
    let cast = number.cast(to);
    let is_same = match (number.as_whole(), cast.as_whole()) {
        (Some(one), Some(other)) => one == other,
        (Some(_), None) => true,
        (None, None) => to == NumericKind::F64,
        (None, Some(_)) => false,
    };
    is_same.then(|| (wire(cast), if cast.as_whole().is_some() { 2 } else { 4 }))
}

pub(super) fn wire(number: Numeric) -> WireValue {
    match number {
        Numeric::I8(it) => WireValue::I1(it),
        Numeric::U8(it) => WireValue::U1(it),
        Numeric::I16(it) => WireValue::I2(it),
        Numeric::U16(it) => WireValue::U2(it),
        Numeric::I32(it) => WireValue::I4(it),
        Numeric::U32(it) => WireValue::U4(it),
        Numeric::I64(it) => WireValue::I8(it),
        Numeric::U64(it) => WireValue::U8(it),
        Numeric::F32(it) => WireValue::R4(it),
        Numeric::F64(it) => WireValue::R8(it),
    }
}

/// A value of the program, for an expression.
pub(super) fn operand(value: WireValue) -> Operand<WireValue> {
    match value {
        WireValue::Void => Operand::Nothing,
        WireValue::Null => Operand::Null,
        WireValue::Bool(it) => Operand::Bool(it),
        WireValue::Char(it) => Operand::Char(it),
        WireValue::I1(it) => Operand::Number(Numeric::I8(it)),
        WireValue::U1(it) => Operand::Number(Numeric::U8(it)),
        WireValue::I2(it) => Operand::Number(Numeric::I16(it)),
        WireValue::U2(it) => Operand::Number(Numeric::U16(it)),
        WireValue::I4(it) => Operand::Number(Numeric::I32(it)),
        WireValue::U4(it) => Operand::Number(Numeric::U32(it)),
        WireValue::I8(it) | WireValue::Native(it) => Operand::Number(Numeric::I64(it)),
        WireValue::U8(it) => Operand::Number(Numeric::U64(it)),
        WireValue::R4(it) => Operand::Number(Numeric::F32(it)),
        WireValue::R8(it) => Operand::Number(Numeric::F64(it)),
        other => Operand::Object(other),
    }
}
