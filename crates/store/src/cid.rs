//! The name of a value: the SHA-512 of its bytes.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// 64 bytes; written as 128 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cid(pub [u8; 64]);

impl Cid {
    pub fn parse(text: &str) -> Option<Cid> {
        let digits = text.as_bytes();
        if digits.len() != 128 {
            return None;
        }
        let mut bytes = [0; 64];
        // Without a branch for each digit: every value of every call comes by here.
        let mut wrong = 0;
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            let (high, low) = (nibble(*high), nibble(*low));
            wrong |= high | low;
            *byte = high << 4 | low & 15;
        }
        (wrong < 16).then_some(Cid(bytes))
    }

    /// The first and the last one that begin with these digits.
    pub fn beginning(digits: &str) -> Option<(Cid, Cid)> {
        let filled = |with: char| {
            let rest = 128_usize.checked_sub(digits.len())?;
            let text = digits.chars().chain(std::iter::repeat_n(with, rest));
            Cid::parse(&text.collect::<String>())
        };
        Some((filled('0')?, filled('f')?))
    }

    /// The first eight bytes, as the index keeps them.
    pub(crate) fn head(&self) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        i64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// 16 and more is none.
fn nibble(digit: u8) -> u8 {
    const NIBBLES: [u8; 256] = {
        let mut nibbles = [0xff; 256];
        let mut value: u8 = 0;
        while value < 16 {
            let digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
            #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
            {
                nibbles[digit as usize] = value;
            }
            value += 1;
        }
        nibbles
    };
    NIBBLES.get(usize::from(digit)).copied().unwrap_or(0xff)
}

impl fmt::Display for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
        let text: String =
            self.0.iter().flat_map(|it| [digit(it >> 4), digit(it & 15)]).map(char::from).collect();
        f.write_str(&text)
    }
}

impl fmt::Debug for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ToSql for Cid {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Cid {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let found = bytes.try_into().map_err(|_| FromSqlError::InvalidType)?;
        Ok(Cid(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_nothing_else_does() {
        let cid = Cid(std::array::from_fn(|at| u8::try_from(at * 3 % 256).unwrap()));
        let text = cid.to_string();
        assert_eq!((text.len(), Cid::parse(&text)), (128, Some(cid)));
        assert_eq!(Cid::parse(&text.to_uppercase()), None);
        assert_eq!(Cid::parse(text.trim_start_matches('0')), None);
        let (first, last) = Cid::beginning("00030609").unwrap();
        assert!(first < cid && cid < last && Cid::beginning(&text) == Some((cid, cid)));
        assert_eq!(Cid::beginning("xyz"), None);
    }
}
