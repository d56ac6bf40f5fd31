//! Classes, their fields and their methods.

use crate::{
    JdwpError, Requester,
    types::{
        ClassId, FieldId, FieldInfo, LineTable, MethodId, MethodInfo, SlotInfo, SlotTable, Value,
    },
};

impl Requester {
    pub async fn signature(&self, of: ClassId) -> Result<String, JdwpError> {
        self.send((2, 1), self.fields().class(of), |it| it.text()).await
    }

    /// What it was declared as: public, abstract, an interface.
    pub async fn class_flags(&self, of: ClassId) -> Result<u32, JdwpError> {
        self.send((2, 3), self.fields().class(of), |it| it.u32()).await
    }

    pub async fn class_fields(&self, of: ClassId) -> Result<Vec<FieldInfo>, JdwpError> {
        self.send((2, 4), self.fields().class(of), |it| {
            it.list(|it| {
                let (id, name, signature) = (it.field()?, it.text()?, it.text()?);
                Ok(FieldInfo { id, name, signature, flags: it.u32()? })
            })
        })
        .await
    }

    pub async fn class_methods(&self, of: ClassId) -> Result<Vec<MethodInfo>, JdwpError> {
        self.send((2, 5), self.fields().class(of), |it| {
            it.list(|it| {
                let (id, name, signature) = (it.method()?, it.text()?, it.text()?);
                Ok(MethodInfo { id, name, signature, flags: it.u32()? })
            })
        })
        .await
    }

    pub async fn static_values(
        &self,
        of: ClassId,
        fields: &[FieldId],
    ) -> Result<Vec<Value>, JdwpError> {
        let asked = self.fields().class(of).all(fields, |it, field| it.field(*field));
        self.send((2, 6), asked, |it| it.list(|it| it.tagged())).await
    }

    /// `Cart.java`
    pub async fn source_file(&self, of: ClassId) -> Result<String, JdwpError> {
        self.send((2, 7), self.fields().class(of), |it| it.text()).await
    }

    pub async fn interfaces(&self, of: ClassId) -> Result<Vec<ClassId>, JdwpError> {
        self.send((2, 10), self.fields().class(of), |it| it.list(|it| it.class())).await
    }

    /// Nothing above `java.lang.Object`, or above an interface.
    pub async fn superclass(&self, of: ClassId) -> Result<Option<ClassId>, JdwpError> {
        let above = self.send((3, 1), self.fields().class(of), |it| it.class()).await?;
        Ok(Some(above).filter(|it| it.0 != 0))
    }

    pub async fn set_static(
        &self,
        of: ClassId,
        field: FieldId,
        value: Value,
    ) -> Result<(), JdwpError> {
        let asked = self.fields().class(of).u32(1).field(field).value(value);
        self.send((3, 2), asked, |_| Ok(())).await
    }

    pub async fn line_table(&self, of: ClassId, method: MethodId) -> Result<LineTable, JdwpError> {
        self.send((6, 1), self.fields().class(of).method(method), |it| {
            let (start, end) = (it.u64()?, it.u64()?);
            let lines = it.list(|it| Ok((it.u64()?, it.u32()?)))?;
            Ok(LineTable { start, end, lines })
        })
        .await
    }

    pub async fn slot_table(&self, of: ClassId, method: MethodId) -> Result<SlotTable, JdwpError> {
        self.send((6, 2), self.fields().class(of).method(method), |it| {
            let arguments = it.u32()?;
            let slots = it.list(|it| {
                let (start, name, signature) = (it.u64()?, it.text()?, it.text()?);
                let length = it.u32()?.into();
                Ok(SlotInfo { start, length, name, signature, slot: it.u32()? })
            })?;
            Ok(SlotTable { arguments, slots })
        })
        .await
    }
}
