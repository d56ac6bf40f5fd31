//! Numbers and texts as packets have them: big-endian, texts with their length before them.

use crate::MonoError;

type Read<T> = Result<T, MonoError>;

const SHORT: MonoError = MonoError::Malformed("it is too short");

/// Reads a body from its begin to its end.
#[derive(Debug, Clone)]
pub(crate) struct WireReader<'a> {
    rest: &'a [u8],
}

impl<'a> WireReader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        WireReader { rest: body }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.bytes(N)?.try_into().map_err(|_| SHORT)
    }

    pub(crate) fn byte(&mut self) -> Read<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn int(&mut self) -> Read<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn long(&mut self) -> Read<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub(crate) fn single(&mut self) -> Read<f32> {
        Ok(f32::from_be_bytes(self.array()?))
    }

    pub(crate) fn double(&mut self) -> Read<f64> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    /// How many of something follow. Each takes a byte at least, so that a wrong number asks for no memory.
    pub(crate) fn count(&mut self) -> Read<usize> {
        let count =
            usize::try_from(self.int()?).map_err(|_| MonoError::Malformed("a negative count"))?;
        if count > self.rest.len() { Err(SHORT) } else { Ok(count) }
    }

    pub(crate) fn text(&mut self) -> Read<String> {
        let count = self.count()?;
        Ok(String::from_utf8_lossy(self.bytes(count)?).into_owned())
    }

    /// A text of 16-bit units, little-endian.
    pub(crate) fn wide_text(&mut self) -> Read<String> {
        let count = self.count()?;
        let units = self.bytes(count)?.chunks_exact(2);
        let units: Vec<u16> =
            units.filter_map(|it| it.try_into().ok().map(u16::from_le_bytes)).collect();
        Ok(String::from_utf16_lossy(&units))
    }

    /// As many as their count says.
    pub(crate) fn all<T>(&mut self, one: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        self.some(count, one)
    }

    pub(crate) fn some<T>(
        &mut self,
        count: usize,
        mut one: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        (0..count).map(|_| one(self)).collect()
    }
}

/// Writes a body.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireWriter(pub(crate) Vec<u8>);

impl WireWriter {
    pub(crate) fn byte(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn flag(self, value: bool) -> Self {
        self.byte(value.into())
    }

    pub(crate) fn int(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn long(mut self, value: i64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn count(self, value: usize) -> Self {
        // No list of ours is that long.
        self.int(i32::try_from(value).unwrap_or(i32::MAX))
    }

    pub(crate) fn text(self, value: &str) -> Self {
        let mut longer = self.count(value.len());
        longer.0.extend(value.as_bytes());
        longer
    }
}
