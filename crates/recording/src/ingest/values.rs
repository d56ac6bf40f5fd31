//! The values of a stream: their bytes in blocks, and of each what the rest of reading needs.

use std::{collections::HashMap, sync::Arc};

use crate::{
    datum::Datum,
    hash::of_bytes,
    head::Part,
    limits, normal,
    pack::{Packed, deflate},
};

/// Kinds of results that are told apart: a class is its number, and for a structure the name of its type.
const EMPTY: u32 = 1 << 5;
const NAN: u32 = 1 << 6;
/// The type's name begins here.
const TYPE: u32 = 1 << 7;

#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    block: Vec<u8>,
    block_first: u32,
    blocks: Vec<(u32, Arc<[u8]>)>,
    hashes: Vec<u64>,
    classes: Vec<u32>,
    /// Of exceptions alone.
    objects: HashMap<u32, u64>,
    strings: Vec<(u64, bool)>,
}

impl Values {
    pub(super) fn string(&mut self, text: &str) {
        self.strings.push((of_bytes(text.as_bytes()), normal::is_set(text)));
    }

    pub(super) fn push(&mut self, datum: &Datum) {
        let number = self.hashes.len() as u32;
        if self.block.is_empty() {
            self.block_first = number;
        }
        datum.write(&mut self.block);
        let string = |it: u32| self.strings.get(it as usize).copied().unwrap_or((0, false));
        let value = |it: u32| self.hashes.get(it as usize).copied().unwrap_or(0);
        let hash = normal::hash(datum, string, value);
        self.hashes.push(hash);
        self.classes.push(class_of(datum));
        if let Datum::Exception { object, .. } = datum {
            self.objects.insert(number, *object);
        }
        if self.block.len() >= limits::PACK {
            let packed = deflate(&self.block);
            self.blocks.push((self.block_first, packed.into()));
            self.block.clear();
        }
    }

    pub(super) fn hash(&self, value: u32) -> u64 {
        self.hashes.get(value as usize).copied().unwrap_or(0)
    }

    pub(super) fn class(&self, value: u32) -> u32 {
        self.classes.get(value as usize).copied().unwrap_or(0)
    }

    /// What tells a thrown thing from others; a plain value is itself.
    pub(super) fn object(&self, value: u32) -> u64 {
        self.objects.get(&value).copied().unwrap_or(u64::MAX - u64::from(value))
    }

    pub(super) fn finish(&self, out: &mut Packed) -> Vec<(u32, Part)> {
        let mut all: Vec<_> =
            self.blocks.iter().map(|(first, bytes)| (*first, out.put(bytes))).collect();
        if !self.block.is_empty() {
            all.push((self.block_first, out.deflated(&self.block)));
        }
        all
    }
}

/// What a result is, as far as one that is unlike all others is odd.
fn class_of(datum: &Datum) -> u32 {
    let empty = |is_empty: bool| if is_empty { EMPTY } else { 0 };
    match datum {
        Datum::None => 0,
        Datum::Undefined => 1,
        Datum::True | Datum::False => 2,
        Datum::Integer(_) | Datum::Digits(_) => 4,
        Datum::Float(number) => 6 | if number.is_nan() { NAN } else { 0 },
        Datum::Text { chars, .. } => 7 | empty(*chars == 0),
        Datum::Bytes { length, .. } => 8 | empty(*length == 0),
        Datum::List { kind, length, .. } => 9 | empty(*length == 0) | kind.saturating_mul(TYPE),
        Datum::Dict { kind, length, .. } => 10 | empty(*length == 0) | kind.saturating_mul(TYPE),
        Datum::Object { kind, .. } => 11 | kind.saturating_mul(TYPE),
        Datum::Exception { kind, .. } => 12 | kind.saturating_mul(TYPE),
        Datum::Named { kind, .. } => 13 | kind.saturating_mul(TYPE),
        Datum::Secret { kind, .. } => 14 | kind.saturating_mul(TYPE),
        Datum::Opaque { kind, .. } => 11 | kind.saturating_mul(TYPE),
    }
}

/// A class in words.
pub(crate) fn class_name(class: u32, language: &str, strings: &[String]) -> String {
    let is_python = language == "python";
    let name = match class & 31 {
        0 if is_python => "None",
        0 => "null",
        1 => "undefined",
        2 if is_python => "bool",
        2 => "boolean",
        4 | 6 if !is_python => "number",
        4 => "int",
        6 => "float",
        7 if is_python => "str",
        7 => "string",
        8 => "bytes",
        _ => strings.get((class / TYPE) as usize).map_or("object", |it| it),
    };
    let prefix = if class & EMPTY != 0 {
        "empty "
    } else if class & NAN != 0 {
        return "NaN".to_owned();
    } else {
        ""
    };
    format!("{prefix}{name}")
}
