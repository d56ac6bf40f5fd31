//! The runtime as a whole: its version, its threads, running and standing still, calls into the program.

use super::of;
use crate::{
    MethodRef, MonoError, MonoRequester, ObjectRef, TypeRef,
    error::INVOKE_ABORTED,
    value::WireValue,
    wire::{WireReader, WireWriter},
};

const VM: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonoVersion {
    pub runtime: String,
    pub major: i32,
    pub minor: i32,
}

/// A method that is to be called, in a thread that stands at an event.
#[derive(Debug, Clone)]
pub struct Invocation {
    pub thread: ObjectRef,
    pub method: MethodRef,
    /// Null for a static method, and for a constructor.
    pub this: WireValue,
    pub arguments: Vec<WireValue>,
    /// The method that the object's own type has in its place.
    pub is_virtual: bool,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Invoked {
    Returned(WireValue),
    /// The exception.
    Thrown(WireValue),
    BrokenOff,
}

/// While it runs nothing else stops: no breakpoint, no other thread.
const DISABLE_BREAKPOINTS: i32 = 1;
const SINGLE_THREADED: i32 = 2;
const VIRTUAL: i32 = 16;

impl MonoRequester {
    pub async fn version(&self) -> Result<MonoVersion, MonoError> {
        self.read((VM, 1), WireWriter::default(), |it| {
            Ok(MonoVersion { runtime: it.text()?, major: it.int()?, minor: it.int()? })
        })
        .await
    }

    /// Says which version we speak: what is newer is left out.
    pub async fn set_version(&self, major: i32, minor: i32) -> Result<(), MonoError> {
        self.tell((VM, 8), of(major).int(minor)).await
    }

    pub async fn threads(&self) -> Result<Vec<ObjectRef>, MonoError> {
        self.read((VM, 2), WireWriter::default(), |it| it.all(|it| it.int().map(ObjectRef))).await
    }

    pub async fn suspend(&self) -> Result<(), MonoError> {
        self.tell((VM, 3), WireWriter::default()).await
    }

    /// Takes back one suspension.
    pub async fn resume(&self) -> Result<(), MonoError> {
        self.tell((VM, 4), WireWriter::default()).await
    }

    pub async fn exit(&self, code: i32) -> Result<(), MonoError> {
        self.tell((VM, 5), of(code)).await
    }

    /// Lets go of the program: all requests are forgotten, and it runs on.
    pub async fn dispose(&self) -> Result<(), MonoError> {
        self.tell((VM, 6), WireWriter::default()).await
    }

    /// The call's number, by which [`MonoRequester::abort`] breaks it off, and what becomes of it.
    pub fn invoke(
        &self,
        call: &Invocation,
    ) -> (u32, impl Future<Output = Result<Invoked, MonoError>> + Send + use<>) {
        let mut flags = DISABLE_BREAKPOINTS | SINGLE_THREADED;
        if call.is_virtual {
            flags |= VIRTUAL;
        }
        let body = call.this.write(of(call.thread.0).int(flags).int(call.method.0));
        let body = body.count(call.arguments.len());
        let body = call.arguments.iter().fold(body, |body, it| it.write(body));
        let (id, answer) = self.send(VM, 7, body);
        let done = async move {
            let answer = match answer.await {
                Err(MonoError::Refused { code: INVOKE_ABORTED, .. }) => {
                    return Ok(Invoked::BrokenOff);
                }
                answer => answer?,
            };
            let mut from = WireReader::new(&answer);
            let returned = from.byte()? != 0;
            let value = WireValue::read(&mut from)?;
            Ok(if returned { Invoked::Returned(value) } else { Invoked::Thrown(value) })
        };
        (id, done)
    }

    pub async fn abort(&self, thread: ObjectRef, call: u32) -> Result<(), MonoError> {
        self.tell((VM, 9), of(thread.0).int(call.cast_signed())).await
    }

    /// The types of that whole name that were loaded.
    pub async fn types_named(&self, name: &str) -> Result<Vec<TypeRef>, MonoError> {
        let body = WireWriter::default().text(name).flag(false);
        self.read((VM, 12), body, |it| it.all(|it| it.int().map(TypeRef))).await
    }

    /// The loaded types with code of that file.
    pub async fn types_of_file(&self, file: &str) -> Result<Vec<TypeRef>, MonoError> {
        let body = WireWriter::default().text(file).flag(false);
        self.read((VM, 11), body, |it| it.all(|it| it.int().map(TypeRef))).await
    }

    pub async fn thread_name(&self, thread: ObjectRef) -> Result<String, MonoError> {
        self.read((11, 2), of(thread.0), |it| it.text()).await
    }

    pub async fn is_pool_thread(&self, thread: ObjectRef) -> Result<bool, MonoError> {
        self.read((11, 4), of(thread.0), |it| Ok(it.byte()? != 0)).await
    }
}
