//! Types: names, fields, properties, methods, static values.

use super::of;
use crate::{
    AssemblyRef, FieldRef, MethodRef, MonoError, MonoRequester, TypeRef, value::WireValue,
    wire::WireReader,
};

const TYPE: u8 = 23;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeFacts {
    pub namespace: String,
    pub name: String,
    /// With its namespace, what it is in, and its arguments: `System.Collections.Generic.List`1[System.Int32]`.
    pub full: String,
    pub assembly: AssemblyRef,
    pub base: Option<TypeRef>,
    /// Of an array.
    pub element: Option<TypeRef>,
    pub rank: u8,
    pub is_value: bool,
    pub is_primitive: bool,
    pub is_enum: bool,
    pub arguments: Vec<TypeRef>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonoField {
    pub id: FieldRef,
    pub name: String,
    pub kind: TypeRef,
    pub is_static: bool,
    /// A constant has no place of its own.
    pub is_constant: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonoProperty {
    pub name: String,
    pub getter: Option<MethodRef>,
    pub setter: Option<MethodRef>,
}

impl MonoRequester {
    pub async fn type_facts(&self, kind: TypeRef) -> Result<TypeFacts, MonoError> {
        self.read((TYPE, 1), of(kind.0), facts).await
    }

    /// Its own, not those of what it is derived from.
    pub async fn methods(&self, kind: TypeRef) -> Result<Vec<MethodRef>, MonoError> {
        self.read((TYPE, 2), of(kind.0), |it| it.all(|it| it.int().map(MethodRef))).await
    }

    /// Its own, in the order in which values of a structure are sent.
    pub async fn fields(&self, kind: TypeRef) -> Result<Vec<MonoField>, MonoError> {
        self.read((TYPE, 3), of(kind.0), |it| it.all(field)).await
    }

    /// Of static fields.
    pub async fn static_values(
        &self,
        kind: TypeRef,
        fields: &[FieldRef],
    ) -> Result<Vec<WireValue>, MonoError> {
        let body = of(kind.0).count(fields.len());
        let body = fields.iter().fold(body, |body, it| body.int(it.0));
        self.read((TYPE, 4), body, |it| it.some(fields.len(), WireValue::read)).await
    }

    pub async fn set_static(
        &self,
        kind: TypeRef,
        field: FieldRef,
        value: &WireValue,
    ) -> Result<(), MonoError> {
        self.tell((TYPE, 7), value.write(of(kind.0).int(1).int(field.0))).await
    }

    pub async fn is_assignable(&self, to: TypeRef, from: TypeRef) -> Result<bool, MonoError> {
        self.read((TYPE, 8), of(to.0).int(from.0), |it| Ok(it.byte()? != 0)).await
    }

    /// Its own.
    pub async fn properties(&self, kind: TypeRef) -> Result<Vec<MonoProperty>, MonoError> {
        self.read((TYPE, 9), of(kind.0), |it| {
            it.all(|it| {
                it.int()?;
                let name = it.text()?;
                let some = |id: i32| Some(MethodRef(id)).filter(|it| !it.is_none());
                let (getter, setter) = (some(it.int()?), some(it.int()?));
                it.int()?;
                Ok(MonoProperty { name, getter, setter })
            })
        })
        .await
    }
}

fn facts(it: &mut WireReader<'_>) -> Result<TypeFacts, MonoError> {
    let (namespace, name, full) = (it.text()?, it.text()?, it.text()?);
    let assembly = AssemblyRef(it.int()?);
    it.int()?;
    let some = |id: i32| Some(TypeRef(id)).filter(|it| !it.is_none());
    let (base, element) = (some(it.int()?), some(it.int()?));
    it.int()?;
    let rank = it.byte()?;
    it.int()?;
    let flags = it.byte()?;
    let has = |bit: u8| flags & bit != 0;
    it.all(|it| it.int())?;
    it.int()?;
    let arguments = match has(64) {
        true => it.all(|it| it.int().map(TypeRef))?,
        false => Vec::new(),
    };
    let (is_primitive, is_value, is_enum) = (has(4), has(8), has(16));
    Ok(TypeFacts {
        namespace,
        name,
        full,
        assembly,
        base,
        element,
        rank,
        is_value,
        is_primitive,
        is_enum,
        arguments,
    })
}

fn field(it: &mut WireReader<'_>) -> Result<MonoField, MonoError> {
    let (id, name, kind) = (FieldRef(it.int()?), it.text()?, TypeRef(it.int()?));
    let attributes = it.int()?;
    Ok(MonoField {
        id,
        name,
        kind,
        is_static: attributes & 0x10 != 0,
        is_constant: attributes & 0x40 != 0,
    })
}
