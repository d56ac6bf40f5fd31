//! Hashes that are kept in files and compared between machines, so they are our own and never change.
//! Nobody gains by a collision: the worst is a difference that is not shown.

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Takes one more number into a hash; the order counts.
pub(crate) fn mix(hash: u64, number: u64) -> u64 {
    let mut z = (hash.rotate_left(23) ^ number).wrapping_add(ODD);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = mix(ODD, bytes.len() as u64);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let last = rest.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    mix(hash, last)
}

/// Of our own small numbers in memory: nobody else chooses them, so no key is needed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NumberHasher(u64);

impl std::hash::Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = mix(self.0, of_bytes(bytes));
    }

    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0.rotate_left(29) ^ u64::from(number)).wrapping_mul(ODD);
        self.0 = mixed ^ (mixed >> 32);
    }
}
