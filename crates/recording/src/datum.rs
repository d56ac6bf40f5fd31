//! One value as a recorder saw it: exact builtin types and an object's own fields, never by the program's code.

use crate::{
    bytes::{Cursor, put_blob, put_number, put_signed, put_text},
    damage::Damage,
    limits,
};

/// Numbers are those of the stream: `kind` and names of its strings, items of its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    None,
    Undefined,
    True,
    False,
    Integer(i64),
    /// An integer of more than 64 bits, by its first digits.
    Digits(String),
    Float(f64),
    /// Its whole length, and its first characters.
    Text {
        chars: u64,
        text: String,
    },
    Bytes {
        length: u64,
        bytes: Vec<u8>,
    },
    List {
        object: u64,
        kind: u32,
        length: u64,
        items: Vec<u32>,
    },
    Dict {
        object: u64,
        kind: u32,
        length: u64,
        pairs: Vec<(u32, u32)>,
    },
    Object {
        object: u64,
        kind: u32,
        fields: u64,
        own: Vec<(u32, u32)>,
    },
    Exception {
        object: u64,
        kind: u32,
        message: String,
        bases: Vec<u32>,
    },
    /// A function, class or module.
    Named {
        kind: u32,
        name: u32,
    },
    /// Redacted where it was seen; the mark tells equal ones.
    Secret {
        kind: u32,
        length: u64,
        mark: Vec<u8>,
    },
    /// Seen from outside only.
    Opaque {
        object: u64,
        kind: u32,
    },
}

impl Datum {
    pub fn read(from: &mut Cursor<'_>) -> Result<Datum, Damage> {
        Ok(match from.number()? {
            0 => Datum::None,
            1 => Datum::Undefined,
            2 => Datum::True,
            3 => Datum::False,
            4 => Datum::Integer(from.signed()?),
            5 => Datum::Digits(from.text()?.into_owned()),
            6 => Datum::Float(float(from)?),
            7 => Datum::Text { chars: from.number()?, text: from.text()?.into_owned() },
            8 => Datum::Bytes { length: from.number()?, bytes: from.blob()?.to_vec() },
            kind => Datum::read_structure(kind, from)?,
        })
    }

    fn read_structure(kind: u64, from: &mut Cursor<'_>) -> Result<Datum, Damage> {
        Ok(match kind {
            9 => {
                let (object, kind, length) = (from.number()?, from.small()?, from.number()?);
                Datum::List { object, kind, length, items: parts(from, Cursor::small)? }
            }
            10 => {
                let (object, kind, length) = (from.number()?, from.small()?, from.number()?);
                Datum::Dict { object, kind, length, pairs: parts(from, pair)? }
            }
            11 => {
                let (object, kind, fields) = (from.number()?, from.small()?, from.number()?);
                Datum::Object { object, kind, fields, own: parts(from, pair)? }
            }
            12 => {
                let (object, kind) = (from.number()?, from.small()?);
                let message = from.text()?.into_owned();
                Datum::Exception { object, kind, message, bases: parts(from, Cursor::small)? }
            }
            13 => Datum::Named { kind: from.small()?, name: from.small()? },
            14 => {
                let (kind, length) = (from.small()?, from.number()?);
                Datum::Secret { kind, length, mark: from.blob()?.to_vec() }
            }
            15 => Datum::Opaque { object: from.number()?, kind: from.small()? },
            kind => return Err(Damage::Kind(kind)),
        })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Datum::None => put_number(out, 0),
            Datum::Undefined => put_number(out, 1),
            Datum::True => put_number(out, 2),
            Datum::False => put_number(out, 3),
            Datum::Integer(number) => {
                put_number(out, 4);
                put_signed(out, *number);
            }
            Datum::Digits(digits) => {
                put_number(out, 5);
                put_text(out, digits);
            }
            Datum::Float(number) => {
                put_number(out, 6);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Datum::Text { chars, text } => {
                put_all(out, &[7, *chars]);
                put_text(out, text);
            }
            Datum::Bytes { length, bytes } => {
                put_all(out, &[8, *length]);
                put_blob(out, bytes);
            }
            structure => structure.write_structure(out),
        }
    }

    fn write_structure(&self, out: &mut Vec<u8>) {
        match self {
            Datum::List { object, kind, length, items } => {
                put_all(out, &[9, *object, u64::from(*kind), *length, items.len() as u64]);
                items.iter().for_each(|it| put_number(out, u64::from(*it)));
            }
            Datum::Dict { object, kind, length, pairs } => {
                put_all(out, &[10, *object, u64::from(*kind), *length]);
                put_pairs(out, pairs);
            }
            Datum::Object { object, kind, fields, own } => {
                put_all(out, &[11, *object, u64::from(*kind), *fields]);
                put_pairs(out, own);
            }
            Datum::Exception { object, kind, message, bases } => {
                put_all(out, &[12, *object, u64::from(*kind)]);
                put_text(out, message);
                put_number(out, bases.len() as u64);
                bases.iter().for_each(|it| put_number(out, u64::from(*it)));
            }
            Datum::Named { kind, name } => put_all(out, &[13, u64::from(*kind), u64::from(*name)]),
            Datum::Secret { kind, length, mark } => {
                put_all(out, &[14, u64::from(*kind), *length]);
                put_blob(out, mark);
            }
            Datum::Opaque { object, kind } => put_all(out, &[15, *object, u64::from(*kind)]),
            plain => plain.write(out),
        }
    }

    /// The values that it names.
    pub fn inner(&self) -> impl Iterator<Item = u32> + '_ {
        let (items, pairs): (&[u32], &[(u32, u32)]) = match self {
            Datum::List { items, .. } => (items, &[]),
            Datum::Dict { pairs, .. } => (&[], pairs),
            Datum::Object { own, .. } => (&[], own),
            _ => (&[], &[]),
        };
        let is_dict = matches!(self, Datum::Dict { .. });
        let keys = pairs.iter().filter(move |_| is_dict).map(|(key, _)| *key);
        items.iter().copied().chain(keys).chain(pairs.iter().map(|(_, value)| *value))
    }

    /// The strings that it names.
    pub fn strings(&self) -> impl Iterator<Item = u32> + '_ {
        let (kind, more): (Option<u32>, &[u32]) = match self {
            Datum::List { kind, .. } | Datum::Dict { kind, .. } | Datum::Object { kind, .. } => {
                (Some(*kind), &[])
            }
            Datum::Secret { kind, .. } | Datum::Opaque { kind, .. } => (Some(*kind), &[]),
            Datum::Exception { kind, bases, .. } => (Some(*kind), bases),
            Datum::Named { kind, name } => (Some(*kind), std::slice::from_ref(name)),
            _ => (None, &[]),
        };
        let own: &[(u32, u32)] = match self {
            Datum::Object { own, .. } => own,
            _ => &[],
        };
        kind.into_iter().chain(more.iter().copied()).chain(own.iter().map(|(name, _)| *name))
    }

    /// What tells it from other objects for as long as it lives.
    pub fn object(&self) -> Option<u64> {
        match self {
            Datum::List { object, .. }
            | Datum::Dict { object, .. }
            | Datum::Object { object, .. }
            | Datum::Exception { object, .. }
            | Datum::Opaque { object, .. } => Some(*object),
            _ => None,
        }
    }

    /// `len()` of it, where it has one.
    pub fn length(&self) -> Option<u64> {
        match self {
            Datum::Text { chars: length, .. }
            | Datum::Bytes { length, .. }
            | Datum::List { length, .. }
            | Datum::Dict { length, .. }
            | Datum::Secret { length, .. } => Some(*length),
            _ => None,
        }
    }
}

fn float(from: &mut Cursor<'_>) -> Result<f64, Damage> {
    let bytes = from.take(8)?.try_into().map_err(|_| Damage::Short)?;
    Ok(f64::from_le_bytes(bytes))
}

fn pair(from: &mut Cursor<'_>) -> Result<(u32, u32), Damage> {
    Ok((from.small()?, from.small()?))
}

fn parts<'a, T>(
    from: &mut Cursor<'a>,
    one: impl Fn(&mut Cursor<'a>) -> Result<T, Damage>,
) -> Result<Vec<T>, Damage> {
    let count = from.count()?;
    if count > limits::PARTS_MAX {
        return Err(Damage::Many("parts of a value"));
    }
    (0..count).map(|_| one(from)).collect()
}

fn put_all(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|it| put_number(out, *it));
}

fn put_pairs(out: &mut Vec<u8>, pairs: &[(u32, u32)]) {
    put_number(out, pairs.len() as u64);
    for (name, value) in pairs {
        put_all(out, &[u64::from(*name), u64::from(*value)]);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One of each kind, naming strings and values below 3.
    pub(crate) fn one_of_each() -> Vec<Datum> {
        vec![
            Datum::None,
            Datum::Undefined,
            Datum::True,
            Datum::False,
            Datum::Integer(-7),
            Datum::Digits("123456789012345678901234567890".to_owned()),
            Datum::Float(0.1),
            Datum::Text { chars: 3, text: "VIP".to_owned() },
            Datum::Bytes { length: 2, bytes: vec![0, 255] },
            Datum::List { object: 1, kind: 0, length: 9, items: vec![0, 1, 2] },
            Datum::Dict { object: 2, kind: 1, length: 1, pairs: vec![(0, 1)] },
            Datum::Object { object: 3, kind: 2, fields: 1, own: vec![(0, 2)] },
            Datum::Exception { object: 4, kind: 0, message: "no".to_owned(), bases: vec![1, 2] },
            Datum::Named { kind: 0, name: 1 },
            Datum::Secret { kind: 0, length: 8, mark: vec![1, 2] },
            Datum::Opaque { object: 5, kind: 2 },
        ]
    }

    #[test]
    fn every_kind_comes_back() {
        for datum in one_of_each() {
            let mut out = Vec::new();
            datum.write(&mut out);
            let mut cursor = Cursor::new(&out);
            assert_eq!(Datum::read(&mut cursor).unwrap(), datum);
            assert!(cursor.is_empty());
            for end in 0..out.len() {
                assert!(Datum::read(&mut Cursor::new(&out[..end])).is_err(), "{datum:?} to {end}");
            }
        }
        assert_eq!(Datum::read(&mut Cursor::new(&[16])), Err(Damage::Kind(16)));
    }
}
