//! Objects, arrays and texts.

use super::of;
use crate::{FieldRef, MonoError, MonoRequester, ObjectRef, TypeRef, value::WireValue};

impl MonoRequester {
    pub async fn type_of(&self, object: ObjectRef) -> Result<TypeRef, MonoError> {
        self.read((9, 1), of(object.0), |it| it.int().map(TypeRef)).await
    }

    pub async fn field_values(
        &self,
        object: ObjectRef,
        fields: &[FieldRef],
    ) -> Result<Vec<WireValue>, MonoError> {
        let body = of(object.0).count(fields.len());
        let body = fields.iter().fold(body, |body, it| body.int(it.0));
        self.read((9, 2), body, |it| it.some(fields.len(), WireValue::read)).await
    }

    pub async fn set_field(
        &self,
        object: ObjectRef,
        field: FieldRef,
        value: &WireValue,
    ) -> Result<(), MonoError> {
        self.tell((9, 6), value.write(of(object.0).int(1).int(field.0))).await
    }

    /// How long it is in each direction.
    pub async fn lengths(&self, array: ObjectRef) -> Result<Vec<i32>, MonoError> {
        self.read((13, 1), of(array.0), |it| {
            it.all(|it| {
                let length = it.int()?;
                it.int()?;
                Ok(length)
            })
        })
        .await
    }

    /// Some of its elements, as they lie one behind the other.
    pub async fn elements(
        &self,
        array: ObjectRef,
        start: i32,
        count: i32,
    ) -> Result<Vec<WireValue>, MonoError> {
        let wanted = usize::try_from(count).unwrap_or_default();
        let body = of(array.0).int(start).int(count);
        self.read((13, 2), body, |it| it.some(wanted, WireValue::read)).await
    }

    pub async fn set_element(
        &self,
        array: ObjectRef,
        at: i32,
        value: &WireValue,
    ) -> Result<(), MonoError> {
        self.tell((13, 3), value.write(of(array.0).int(at).int(1))).await
    }

    pub async fn text(&self, text: ObjectRef) -> Result<String, MonoError> {
        self.read((10, 1), of(text.0), |it| match it.byte()? {
            1 => it.wide_text(),
            _ => it.text(),
        })
        .await
    }

    /// In 16-bit units.
    pub async fn text_length(&self, text: ObjectRef) -> Result<i64, MonoError> {
        self.read((10, 2), of(text.0), |it| it.long()).await
    }

    /// A part of a text, by its units.
    pub async fn text_part(
        &self,
        text: ObjectRef,
        start: i64,
        count: i64,
    ) -> Result<String, MonoError> {
        let wanted = usize::try_from(count).unwrap_or_default();
        let body = of(text.0).long(start).long(count);
        self.read((10, 3), body, |it| {
            let units = it.some(wanted, |it| Ok(u16::from_be_bytes([it.byte()?, it.byte()?])))?;
            Ok(String::from_utf16_lossy(&units))
        })
        .await
    }
}
