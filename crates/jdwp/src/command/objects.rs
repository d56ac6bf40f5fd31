//! Objects, strings and arrays, and calling methods.

use crate::{
    JdwpError, Requester,
    types::{ClassId, FieldId, Invoked, MethodId, ObjectId, Value},
};

/// Only the thread that is named runs meanwhile.
const SINGLE_THREADED: u32 = 1;
/// The method of that class, whatever the object's own class made of it.
const NONVIRTUAL: u32 = 2;

impl Requester {
    pub async fn class_of(&self, object: ObjectId) -> Result<ClassId, JdwpError> {
        self.send((9, 1), self.fields().object(object), |it| {
            let _tag = it.u8()?;
            it.class()
        })
        .await
    }

    pub async fn values(&self, of: ObjectId, fields: &[FieldId]) -> Result<Vec<Value>, JdwpError> {
        let asked = self.fields().object(of).all(fields, |it, field| it.field(*field));
        self.send((9, 2), asked, |it| it.list(|it| it.tagged())).await
    }

    pub async fn set_value(
        &self,
        of: ObjectId,
        field: FieldId,
        value: Value,
    ) -> Result<(), JdwpError> {
        let asked = self.fields().object(of).u32(1).field(field).value(value);
        self.send((9, 3), asked, |_| Ok(())).await
    }

    pub async fn string(&self, of: ObjectId) -> Result<String, JdwpError> {
        self.send((10, 1), self.fields().object(of), |it| it.text()).await
    }

    pub async fn array_length(&self, of: ObjectId) -> Result<usize, JdwpError> {
        let length = self.send((13, 1), self.fields().object(of), |it| it.u32()).await?;
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    pub async fn elements(
        &self,
        of: ObjectId,
        start: usize,
        count: usize,
    ) -> Result<Vec<Value>, JdwpError> {
        let asked = self.fields().object(of).count(start).count(count);
        self.send((13, 2), asked, |it| {
            let tag = it.u8()?;
            // Objects have their own tags, which may be of kinds below.
            let is_object = matches!(tag, b'L' | b'[' | b's' | b't' | b'g' | b'l' | b'c');
            it.list(|it| if is_object { it.tagged() } else { it.value(tag) })
        })
        .await
    }

    pub async fn set_element(
        &self,
        of: ObjectId,
        at: usize,
        value: Value,
    ) -> Result<(), JdwpError> {
        let asked = self.fields().object(of).count(at).u32(1).value(value);
        self.send((13, 3), asked, |_| Ok(())).await
    }

    /// Calls a method of an object in a thread that an event has stopped; no other thread runs meanwhile.
    pub async fn invoke(
        &self,
        thread: ObjectId,
        object: ObjectId,
        (class, method): (ClassId, MethodId),
        arguments: &[Value],
        is_virtual: bool,
    ) -> Result<Invoked, JdwpError> {
        let options = if is_virtual { SINGLE_THREADED } else { SINGLE_THREADED | NONVIRTUAL };
        let asked = self.fields().object(object).object(thread).class(class).method(method);
        let asked = asked.all(arguments, |it, value| it.tagged(*value)).u32(options);
        self.send((9, 6), asked, invoked).await
    }

    pub async fn invoke_static(
        &self,
        thread: ObjectId,
        (class, method): (ClassId, MethodId),
        is_interface: bool,
        arguments: &[Value],
    ) -> Result<Invoked, JdwpError> {
        let asked = self.fields().class(class).object(thread).method(method);
        let asked = asked.all(arguments, |it, value| it.tagged(*value)).u32(SINGLE_THREADED);
        let set = if is_interface { (5, 1) } else { (3, 3) };
        self.send(set, asked, invoked).await
    }

    /// Calls a constructor.
    pub async fn new_instance(
        &self,
        thread: ObjectId,
        (class, method): (ClassId, MethodId),
        arguments: &[Value],
    ) -> Result<Invoked, JdwpError> {
        let asked = self.fields().class(class).object(thread).method(method);
        let asked = asked.all(arguments, |it, value| it.tagged(*value)).u32(SINGLE_THREADED);
        self.send((3, 4), asked, invoked).await
    }
}

fn invoked(it: &mut crate::wire::Wire<'_>) -> Result<Invoked, JdwpError> {
    let value = it.tagged()?;
    let _tag = it.u8()?;
    Ok(Invoked { value, exception: it.object()? })
}
