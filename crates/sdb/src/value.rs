//! Values as they go over the wire.

use crate::{
    MonoError, ObjectRef, TypeRef, limits,
    wire::{WireReader, WireWriter},
};

#[derive(Debug, Clone, PartialEq)]
pub enum WireValue {
    /// Of a method that returns nothing.
    Void,
    Null,
    Bool(bool),
    Char(u16),
    I1(i8),
    U1(u8),
    I2(i16),
    U2(u16),
    I4(i32),
    U4(u32),
    I8(i64),
    U8(u64),
    R4(f32),
    R8(f64),
    /// `IntPtr` and `UIntPtr`.
    Native(i64),
    Pointer {
        address: i64,
        kind: TypeRef,
    },
    Text(ObjectRef),
    Array(ObjectRef),
    Object(ObjectRef),
    /// A structure, or what is in a box of it; its instance fields in their order.
    Structure {
        kind: TypeRef,
        is_enum: bool,
        fields: Vec<WireValue>,
    },
    Type(TypeRef),
    /// The structure around this one, where it has itself as a part.
    Around(i32),
    /// An array of fixed size inside of a structure.
    Fixed(Vec<WireValue>),
}

const BOOL: u8 = 0x02;
const CHAR: u8 = 0x03;
const I1: u8 = 0x04;
const U1: u8 = 0x05;
const I2: u8 = 0x06;
const U2: u8 = 0x07;
const I4: u8 = 0x08;
const U4: u8 = 0x09;
const I8: u8 = 0x0a;
const U8: u8 = 0x0b;
const R4: u8 = 0x0c;
const R8: u8 = 0x0d;
const STRUCTURE: u8 = 0x11;
const NATIVE_INT: u8 = 0x18;
/// The runtime takes references by no other tag, and tells them by several.
const OBJECT: u8 = 0x1c;
const NULL: u8 = 0xf0;

impl WireValue {
    pub(crate) fn read(from: &mut WireReader<'_>) -> Result<WireValue, MonoError> {
        WireValue::deep(from, 0)
    }

    fn deep(from: &mut WireReader<'_>, depth: usize) -> Result<WireValue, MonoError> {
        if depth > limits::VALUE_DEPTH {
            return Err(MonoError::Malformed("structures too deep inside of each other"));
        }
        let tag = from.byte()?;
        Ok(match tag {
            0x01 => WireValue::Void,
            0x0e => WireValue::Text(ObjectRef(from.int()?)),
            0x0f => WireValue::Pointer { address: from.long()?, kind: TypeRef(from.int()?) },
            STRUCTURE => {
                let is_enum = from.byte()? == 1;
                let kind = TypeRef(from.int()?);
                let fields = from.all(|it| WireValue::deep(it, depth + 1))?;
                WireValue::Structure { kind, is_enum, fields }
            }
            0x14 | 0x1d => WireValue::Array(ObjectRef(from.int()?)),
            0x12 | 0x15 | OBJECT => WireValue::Object(ObjectRef(from.int()?)),
            NULL => WireValue::Null,
            0xf1 => WireValue::Type(TypeRef(from.int()?)),
            0xf2 => WireValue::Around(from.int()?),
            0xf3 => {
                let tag = from.byte()?;
                WireValue::Fixed(from.all(|it| WireValue::plain(tag, it))?)
            }
            tag => WireValue::plain(tag, from)?,
        })
    }

    /// Narrow numbers are sent as wide as an int.
    fn plain(tag: u8, from: &mut WireReader<'_>) -> Result<WireValue, MonoError> {
        Ok(match tag {
            BOOL => WireValue::Bool(from.int()? != 0),
            CHAR => WireValue::Char(from.int()? as u16),
            I1 => WireValue::I1(from.int()? as i8),
            U1 => WireValue::U1(from.int()? as u8),
            I2 => WireValue::I2(from.int()? as i16),
            U2 => WireValue::U2(from.int()? as u16),
            I4 => WireValue::I4(from.int()?),
            U4 => WireValue::U4(from.int()?.cast_unsigned()),
            I8 => WireValue::I8(from.long()?),
            U8 => WireValue::U8(from.long()?.cast_unsigned()),
            R4 => WireValue::R4(from.single()?),
            R8 => WireValue::R8(from.double()?),
            NATIVE_INT | 0x19 | 0x1b => WireValue::Native(from.long()?),
            _ => return Err(MonoError::Malformed("a value of an unknown kind")),
        })
    }

    pub(crate) fn write(&self, to: WireWriter) -> WireWriter {
        match self {
            WireValue::Void | WireValue::Null | WireValue::Around(_) | WireValue::Fixed(_) => {
                to.byte(NULL)
            }
            WireValue::Bool(it) => to.byte(BOOL).int((*it).into()),
            WireValue::Char(it) => to.byte(CHAR).int((*it).into()),
            WireValue::I1(it) => to.byte(I1).int((*it).into()),
            WireValue::U1(it) => to.byte(U1).int((*it).into()),
            WireValue::I2(it) => to.byte(I2).int((*it).into()),
            WireValue::U2(it) => to.byte(U2).int((*it).into()),
            WireValue::I4(it) => to.byte(I4).int(*it),
            WireValue::U4(it) => to.byte(U4).int(it.cast_signed()),
            WireValue::I8(it) => to.byte(I8).long(*it),
            WireValue::U8(it) => to.byte(U8).long(it.cast_signed()),
            WireValue::R4(it) => to.byte(R4).int(it.to_bits().cast_signed()),
            WireValue::R8(it) => to.byte(R8).long(it.to_bits().cast_signed()),
            WireValue::Native(it) => to.byte(NATIVE_INT).long(*it),
            WireValue::Pointer { address, kind } => to.byte(0x0f).long(*address).int(kind.0),
            WireValue::Text(it) | WireValue::Array(it) | WireValue::Object(it) => {
                to.byte(OBJECT).int(it.0)
            }
            WireValue::Type(it) => to.byte(0xf1).int(it.0),
            WireValue::Structure { kind, is_enum, fields } => {
                let to = to.byte(STRUCTURE).flag(*is_enum).int(kind.0).count(fields.len());
                fields.iter().fold(to, |to, field| field.write(to))
            }
        }
    }

    /// The object that it refers to.
    pub fn object(&self) -> Option<ObjectRef> {
        match self {
            WireValue::Text(it) | WireValue::Array(it) | WireValue::Object(it) => Some(*it),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let all = [
            WireValue::Null,
            WireValue::Bool(true),
            WireValue::Char(120),
            WireValue::I1(-3),
            WireValue::U1(250),
            WireValue::I2(-300),
            WireValue::U2(60_000),
            WireValue::I4(-70_000),
            WireValue::U4(4_000_000_000),
            WireValue::I8(-(1 << 40)),
            WireValue::U8(1 << 63),
            WireValue::R4(1.5),
            WireValue::R8(-2.25),
            WireValue::Native(12),
            WireValue::Object(ObjectRef(9)),
        ];
        let whole = WireValue::Structure { kind: TypeRef(4), is_enum: false, fields: all.into() };
        let bytes = whole.write(WireWriter::default()).0;
        assert_eq!(WireValue::read(&mut WireReader::new(&bytes)), Ok(whole));
    }

    #[test]
    fn what_is_cut_off_or_endless_is_refused() {
        let deep = [STRUCTURE, 0, 0, 0, 0, 1, 0, 0, 0, 1].repeat(limits::VALUE_DEPTH + 2);
        for bytes in
            [&[] as &[u8], &[I4, 0], &[0x77], &[STRUCTURE, 0, 0, 0, 0, 1, 127, 0, 0, 0], &deep]
        {
            assert!(WireValue::read(&mut WireReader::new(bytes)).is_err(), "{bytes:?}");
        }
    }
}
