//! Tables keyed by what is a good enough hash already: addresses, and mixed contents.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A number of a string, a file, a function or a value in the stream.
pub(crate) type Number = u32;

pub(crate) type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<Spread>>;

#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| mix(sum ^ u64::from(*byte)));
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = mix(address as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(number);
    }
}

/// One-to-one, and every bit depends on every other.
#[inline]
pub(crate) fn mix(mut it: u64) -> u64 {
    it = (it ^ (it >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    it = (it ^ (it >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    it ^ (it >> 33)
}

/// The hash of a record's bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = mix(bytes.len() as u64 ^ 0x5bd1_e995_0f3a_7c41);
    for word in words {
        sum = mix(sum ^ u64::from_le_bytes(*word)).wrapping_add(sum << 1);
    }
    rest.iter().fold(sum, |sum, byte| mix(sum.wrapping_add(0x9e37) ^ u64::from(*byte)))
}

/// Which values stand in the stream already: one place for each hash, the last come stays. A value that was
/// driven out is written again, which costs bytes and nothing else.
pub(crate) struct Seen {
    places: Vec<(u64, Number)>,
}

const PLACES: usize = 1 << 16;

impl Seen {
    pub(crate) fn new() -> Seen {
        Seen { places: vec![(0, 0); PLACES] }
    }

    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<Number> {
        let (found, number) = *self.places.get(key as usize % PLACES)?;
        (found == key).then_some(number)
    }

    #[inline]
    pub(crate) fn put(&mut self, key: u64, number: Number) {
        if let Some(place) = self.places.get_mut(key as usize % PLACES) {
            *place = (key, number);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.places.fill((0, 0));
    }
}
