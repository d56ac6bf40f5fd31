//! Numbers and texts as bytes: LEB128, zigzag, lengths before texts. Reading never allocates by a number it read.

use std::borrow::Cow;

use crate::damage::Damage;

/// Bytes on their way from the first to the last.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    pub fn byte(&mut self) -> Result<u8, Damage> {
        let byte = *self.bytes.get(self.at).ok_or(Damage::Short)?;
        self.at += 1;
        Ok(byte)
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let end = self.at.checked_add(count).ok_or(Damage::Short)?;
        let taken = self.bytes.get(self.at..end).ok_or(Damage::Short)?;
        self.at = end;
        Ok(taken)
    }

    /// An unsigned LEB128 of at most 64 bits.
    pub fn number(&mut self) -> Result<u64, Damage> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let (mut all, mut shift) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 || shift > 63 {
                return Err(Damage::Number);
            }
            all |= part << shift;
            if byte < 0x80 {
                return Ok(all);
            }
            shift += 7;
        }
    }

    /// The same, where more than 32 bits mean nothing.
    pub fn small(&mut self) -> Result<u32, Damage> {
        u32::try_from(self.number()?).map_err(|_| Damage::Number)
    }

    /// A number of things that follow, each of at least one byte.
    pub fn count(&mut self) -> Result<usize, Damage> {
        let count = usize::try_from(self.number()?).map_err(|_| Damage::Number)?;
        if count > self.remaining() { Err(Damage::Short) } else { Ok(count) }
    }

    pub fn signed(&mut self) -> Result<i64, Damage> {
        let coded = self.number()?;
        Ok((coded >> 1).cast_signed() ^ -(coded & 1).cast_signed())
    }

    pub fn blob(&mut self) -> Result<&'a [u8], Damage> {
        let count = self.count()?;
        self.take(count)
    }

    /// What is no UTF-8 is shown as such.
    pub fn text(&mut self) -> Result<Cow<'a, str>, Damage> {
        self.blob().map(String::from_utf8_lossy)
    }
}

pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

pub(crate) fn put_blob(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_blob(out, text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64, text: String) {
            let mut out = Vec::new();
            put_number(&mut out, number);
            put_signed(&mut out, signed);
            put_text(&mut out, &text);
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.number().unwrap(), number);
            prop_assert_eq!(cursor.signed().unwrap(), signed);
            prop_assert_eq!(cursor.text().unwrap(), text);
            prop_assert!(cursor.is_empty());
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let long = [0xff; 9].iter().chain(&[0x02]).copied().collect::<Vec<u8>>();
        assert_eq!(Cursor::new(&long).number(), Err(Damage::Number));
        assert_eq!(Cursor::new(&[0x80; 20]).number(), Err(Damage::Number));
        assert_eq!(Cursor::new(&[0x80; 3]).number(), Err(Damage::Short));
    }

    #[test]
    fn a_length_beyond_the_end_is_refused_before_anything_is_taken() {
        let mut out = Vec::new();
        put_number(&mut out, u64::MAX / 2);
        assert_eq!(Cursor::new(&out).blob(), Err(Damage::Short));
    }
}
