//! The protocol's own words: ids, values, places, events and what is asked for to get them.

mod event;
mod request;

pub use self::{
    event::{Composite, Event, Suspended},
    request::{EventKind, Modifier, StepDepth, SuspendPolicy},
};

/// How wide ids are, as the virtual machine says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdSizes {
    pub field: usize,
    pub method: usize,
    pub object: usize,
    pub reference_type: usize,
    pub frame: usize,
}

impl Default for IdSizes {
    /// What every current virtual machine has.
    fn default() -> Self {
        IdSizes { field: 8, method: 8, object: 8, reference_type: 8, frame: 8 }
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident),*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub u64);
    )*};
}

ids!(
    /// Also a thread's, a string's, an array's and a class loader's.
    ObjectId,
    ClassId,
    MethodId,
    FieldId,
    /// Good until its thread runs, which a method that is called in it does too.
    FrameId
);

impl ObjectId {
    pub const NULL: ObjectId = ObjectId(0);
}

/// A value, as it goes over the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Void,
    Bool(bool),
    Byte(i8),
    Char(u16),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// `tag` tells strings, arrays, threads and others apart.
    Object {
        tag: u8,
        id: ObjectId,
    },
}

impl Value {
    pub const NULL: Value = Value::Object { tag: b'L', id: ObjectId::NULL };

    pub fn object(id: ObjectId) -> Value {
        Value::Object { tag: b'L', id }
    }
}

/// A class, an interface or an array type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassInfo {
    pub tag: u8,
    pub id: ClassId,
    /// `Ljava/lang/String;`
    pub signature: String,
    pub status: u32,
}

impl ClassInfo {
    /// Whether its methods and fields are there to be asked.
    pub fn is_prepared(&self) -> bool {
        self.status & 2 != 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldInfo {
    pub id: FieldId,
    pub name: String,
    pub signature: String,
    pub flags: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodInfo {
    pub id: MethodId,
    pub name: String,
    pub signature: String,
    pub flags: u32,
}

pub const STATIC: u32 = 0x0008;
pub const FINAL: u32 = 0x0010;
pub const BRIDGE: u32 = 0x0040;
pub const VARARGS: u32 = 0x0080;
pub const NATIVE: u32 = 0x0100;
pub const INTERFACE: u32 = 0x0200;
pub const ABSTRACT: u32 = 0x0400;
pub const SYNTHETIC: u32 = 0x1000;

/// A place in compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location {
    pub tag: u8,
    pub class: ClassId,
    pub method: MethodId,
    pub index: u64,
}

/// Where lines begin in a method's code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineTable {
    pub start: u64,
    pub end: u64,
    /// Code index and line.
    pub lines: Vec<(u64, u32)>,
}

impl LineTable {
    /// The line of an index.
    pub fn line(&self, index: u64) -> Option<u32> {
        let before = self.lines.iter().filter(|(at, _)| *at <= index);
        before.max_by_key(|(at, _)| *at).map(|(_, line)| *line)
    }
}

/// A variable of a method, and for which part of its code it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotInfo {
    pub start: u64,
    pub length: u64,
    pub name: String,
    pub signature: String,
    pub slot: u32,
}

impl SlotInfo {
    pub fn is_at(&self, index: u64) -> bool {
        (self.start..self.start.saturating_add(self.length)).contains(&index)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotTable {
    /// Slots that the arguments take.
    pub arguments: u32,
    pub slots: Vec<SlotInfo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameInfo {
    pub id: FrameId,
    pub location: Location,
}

/// What a method that was called came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Invoked {
    pub value: Value,
    /// What it threw; [`ObjectId::NULL`] where it returned.
    pub exception: ObjectId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionInfo {
    pub description: String,
    pub major: u32,
    pub minor: u32,
    /// `17.0.15`
    pub version: String,
    pub name: String,
}
