//! Mutated pickles: read, shown and entered, without a panic and within bounds.
//!
//! `HOLDPOINT_FUZZ_COUNT` asks for more of them, as `cargo xtask fuzz pickle` does, and
//! `HOLDPOINT_FUZZ_SEED` for others; a failure prints the seed of the one that failed.

use std::time::Instant;

use holdpoint_pickle::{Limits, Pickle};

use super::look::{assert_peak, corpus, look};

/// Enough to meet every opcode in every place, quick enough for every test run.
const COUNT: u64 = 100_000;

/// Small and fast, and the same for the same seed: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

/// Opcodes that take from the stack or the memo, where mutations hurt most.
const OPCODES: &[u8] = b"(.012gpqrhjNIJKMLFGSTUVXBC]laet)}dsuRbicoPQ\
    \x80\x81\x82\x85\x86\x87\x88\x8a\x8c\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98";

fn mutate(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.byte()),
        2 => drop(bytes.splice(at..(at + random.below(9)).min(bytes.len()), [])),
        3 => bytes.insert(at, OPCODES[random.below(OPCODES.len())]),
        4 => {
            let from = random.below(other.len());
            let to = (from + random.below(40)).min(other.len());
            drop(bytes.splice(at..at, other[from..to].iter().copied()));
        }
        5 => {
            let piece = bytes[at..(at + random.below(20)).min(bytes.len())].to_vec();
            let times = 1 + random.below(50);
            drop(bytes.splice(at..at, piece.repeat(times)));
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = if random.below(2) == 0 {
                    random.byte()
                } else {
                    *byte ^ (1 << random.below(8))
                };
            }
        }
    }
}

/// A pickle without what begins and what ends it.
fn body(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
    match bytes {
        [0x80, _, 0x95, rest @ ..] if rest.len() >= 8 => &rest[8..],
        [0x80, _, rest @ ..] => rest,
        bytes => bytes,
    }
}

/// Two pickles as one, the second with the first's memo: sound structure, wrong values everywhere.
fn join(random: &mut Random, one: &[u8], other: &[u8]) -> Vec<u8> {
    const JOINTS: &[&[u8]] = &[
        b"\x86",
        b"R",
        b"\x81",
        b"b",
        b"a",
        b"\x86\x85R",
        b"\x85R",
        b"\x85b",
        b"0",
        b"Q",
        b"N\x87R0",
    ];
    let joint = JOINTS[random.below(JOINTS.len())];
    [body(one), body(other), joint, b"."].concat()
}

/// One mutated pickle; gives whether it could be read.
fn one(corpus: &[(&str, Vec<u8>)], seed: u64) -> bool {
    let mut random = Random(seed);
    let mut bytes = corpus[random.below(corpus.len())].1.clone();
    let other = &corpus[random.below(corpus.len())].1;
    let changes = if random.below(2) == 0 {
        bytes = join(&mut random, &bytes, other);
        random.below(3)
    } else {
        1 + random.below(4)
    };
    for _ in 0..changes {
        mutate(&mut random, &mut bytes, other);
    }
    let limits = match random.below(4) {
        0 => Limits { steps_max: random.below(300), nodes_max: random.below(200), memo_max: 3 },
        _ => Limits::default(),
    };
    let chars = [10, 80, 500, 3_000][random.below(4)];
    let read = Pickle::read(&bytes, &limits);
    if let Ok(pickle) = &read {
        look(pickle, chars);
    }
    read.is_ok()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect(name))
}

#[test]
fn mutated_pickles_are_read_or_refused() {
    let corpus = corpus();
    let (count, first) = (number("HOLDPOINT_FUZZ_COUNT", COUNT), number("HOLDPOINT_FUZZ_SEED", 1));
    let mut read = 0;
    let started = Instant::now();
    for seed in first..first.wrapping_add(count) {
        let result = std::panic::catch_unwind(|| one(&corpus, seed));
        match result {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => panic!("HOLDPOINT_FUZZ_SEED={seed} HOLDPOINT_FUZZ_COUNT=1"),
        }
    }
    assert_peak();
    println!("{read} of {count} could be read, in {:?}", started.elapsed());
    // Mutations that all fail at once would test nothing behind the reader.
    assert!(read >= count / 10, "only {read} of {count} could be read");
}
