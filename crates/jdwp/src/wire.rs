//! The fields of packets, read and written.

use crate::{
    JdwpError,
    types::{ClassId, FieldId, FrameId, IdSizes, Location, MethodId, ObjectId, Value},
};

/// Reads the fields of an answer in their order.
pub(crate) struct Wire<'a> {
    rest: &'a [u8],
    sizes: IdSizes,
}

const SHORT: JdwpError = JdwpError::Malformed("it is too short");

impl<'a> Wire<'a> {
    pub(crate) fn new(rest: &'a [u8], sizes: IdSizes) -> Self {
        Wire { rest, sizes }
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], JdwpError> {
        let (found, rest) = self.rest.split_at_checked(count).ok_or(SHORT)?;
        self.rest = rest;
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], JdwpError> {
        let (found, rest) = self.rest.split_first_chunk::<N>().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*found)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, JdwpError> {
        self.array::<1>().map(|[it]| it)
    }

    pub(crate) fn bool(&mut self) -> Result<bool, JdwpError> {
        self.u8().map(|it| it != 0)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, JdwpError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, JdwpError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn text(&mut self) -> Result<String, JdwpError> {
        let length = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        Ok(String::from_utf8_lossy(self.bytes(length)?).into_owned())
    }

    fn id(&mut self, size: usize) -> Result<u64, JdwpError> {
        let wide = self.bytes(size)?.iter().fold(0_u64, |all, byte| (all << 8) | u64::from(*byte));
        Ok(wide)
    }

    pub(crate) fn object(&mut self) -> Result<ObjectId, JdwpError> {
        self.id(self.sizes.object).map(ObjectId)
    }

    pub(crate) fn class(&mut self) -> Result<ClassId, JdwpError> {
        self.id(self.sizes.reference_type).map(ClassId)
    }

    pub(crate) fn method(&mut self) -> Result<MethodId, JdwpError> {
        self.id(self.sizes.method).map(MethodId)
    }

    pub(crate) fn field(&mut self) -> Result<FieldId, JdwpError> {
        self.id(self.sizes.field).map(FieldId)
    }

    pub(crate) fn frame(&mut self) -> Result<FrameId, JdwpError> {
        self.id(self.sizes.frame).map(FrameId)
    }

    pub(crate) fn location(&mut self) -> Result<Location, JdwpError> {
        let (tag, class, method) = (self.u8()?, self.class()?, self.method()?);
        Ok(Location { tag, class, method, index: self.u64()? })
    }

    /// A value with its tag before it.
    pub(crate) fn tagged(&mut self) -> Result<Value, JdwpError> {
        let tag = self.u8()?;
        self.value(tag)
    }

    pub(crate) fn value(&mut self, tag: u8) -> Result<Value, JdwpError> {
        Ok(match tag {
            b'V' => Value::Void,
            b'Z' => Value::Bool(self.bool()?),
            b'B' => Value::Byte(i8::from_be_bytes(self.array()?)),
            b'C' => Value::Char(u16::from_be_bytes(self.array()?)),
            b'S' => Value::Short(i16::from_be_bytes(self.array()?)),
            b'I' => Value::Int(i32::from_be_bytes(self.array()?)),
            b'J' => Value::Long(i64::from_be_bytes(self.array()?)),
            b'F' => Value::Float(f32::from_be_bytes(self.array()?)),
            b'D' => Value::Double(f64::from_be_bytes(self.array()?)),
            b'L' | b'[' | b's' | b't' | b'g' | b'l' | b'c' => {
                Value::Object { tag, id: self.object()? }
            }
            _ => return Err(JdwpError::Malformed("a value of an unknown kind")),
        })
    }

    /// As many as the count before them says.
    pub(crate) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, JdwpError>,
    ) -> Result<Vec<T>, JdwpError> {
        let count = self.u32()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }
}

/// Writes the fields of a command.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    bytes: Vec<u8>,
    sizes: IdSizes,
}

impl Fields {
    pub(crate) fn new(sizes: IdSizes) -> Self {
        Fields { bytes: Vec::new(), sizes }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn u8(mut self, it: u8) -> Self {
        self.bytes.push(it);
        self
    }

    pub(crate) fn u32(mut self, it: u32) -> Self {
        self.bytes.extend(it.to_be_bytes());
        self
    }

    /// A number of things, or a place among them.
    pub(crate) fn count(self, it: usize) -> Self {
        self.u32(u32::try_from(it).unwrap_or(u32::MAX))
    }

    pub(crate) fn u64(mut self, it: u64) -> Self {
        self.bytes.extend(it.to_be_bytes());
        self
    }

    pub(crate) fn text(self, it: &str) -> Self {
        let mut fields = self.count(it.len());
        fields.bytes.extend(it.as_bytes());
        fields
    }

    fn id(mut self, it: u64, size: usize) -> Self {
        let wide = it.to_be_bytes();
        self.bytes.extend(wide.get(wide.len().saturating_sub(size)..).unwrap_or_default());
        self
    }

    pub(crate) fn object(self, it: ObjectId) -> Self {
        let size = self.sizes.object;
        self.id(it.0, size)
    }

    pub(crate) fn class(self, it: ClassId) -> Self {
        let size = self.sizes.reference_type;
        self.id(it.0, size)
    }

    pub(crate) fn method(self, it: MethodId) -> Self {
        let size = self.sizes.method;
        self.id(it.0, size)
    }

    pub(crate) fn field(self, it: FieldId) -> Self {
        let size = self.sizes.field;
        self.id(it.0, size)
    }

    pub(crate) fn frame(self, it: FrameId) -> Self {
        let size = self.sizes.frame;
        self.id(it.0, size)
    }

    pub(crate) fn location(self, it: Location) -> Self {
        self.u8(it.tag).class(it.class).method(it.method).u64(it.index)
    }

    /// With its tag.
    pub(crate) fn tagged(self, it: Value) -> Self {
        let tag = match it {
            Value::Void => b'V',
            Value::Bool(_) => b'Z',
            Value::Byte(_) => b'B',
            Value::Char(_) => b'C',
            Value::Short(_) => b'S',
            Value::Int(_) => b'I',
            Value::Long(_) => b'J',
            Value::Float(_) => b'F',
            Value::Double(_) => b'D',
            Value::Object { tag, .. } => tag,
        };
        self.u8(tag).value(it)
    }

    pub(crate) fn value(mut self, it: Value) -> Self {
        match it {
            Value::Void => {}
            Value::Bool(it) => self.bytes.push(it.into()),
            Value::Byte(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Char(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Short(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Int(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Long(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Float(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Double(it) => self.bytes.extend(it.to_be_bytes()),
            Value::Object { id, .. } => return self.object(id),
        }
        self
    }

    pub(crate) fn all<T>(self, of: &[T], one: impl Fn(Self, &T) -> Self) -> Self {
        let counted = self.count(of.len());
        of.iter().fold(counted, one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_whatever_the_width_of_ids() {
        for size in [4, 8] {
            let sizes = IdSizes {
                field: size,
                method: size,
                object: size,
                reference_type: size,
                frame: size,
            };
            let location = Location { tag: 1, class: ClassId(3), method: MethodId(4), index: 5 };
            let values = [
                Value::Bool(true),
                Value::Byte(-1),
                Value::Char(65),
                Value::Short(-2),
                Value::Int(-3),
                Value::Long(i64::MIN),
                Value::Float(0.5),
                Value::Double(-0.1),
                Value::Object { tag: b's', id: ObjectId(0xdead_beef) },
            ];
            let fields = Fields::new(sizes)
                .text("Lä;")
                .location(location)
                .all(&values, |it, value| it.tagged(*value));
            let bytes = fields.into_bytes();
            let mut wire = Wire::new(&bytes, sizes);
            assert_eq!(wire.text().unwrap(), "Lä;");
            assert_eq!(wire.location().unwrap(), location);
            assert_eq!(wire.list(Wire::tagged).unwrap(), values);
            assert_eq!(wire.u8(), Err(SHORT));
        }
    }
}
