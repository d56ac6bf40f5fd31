//! Mutated streams and files: read, asked and compared, without a panic and within bounds.
//!
//! `HOLDPOINT_FUZZ_COUNT` asks for more of them, as `cargo xtask fuzz recording` does, and `HOLDPOINT_FUZZ_SEED` for
//! others; a failure prints the seed of the one that failed.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

use std::time::Instant;

use holdpoint_recording::{
    CallOrder, CallsAsk, CallsForm, DiffAsk, FrameAsk, HistoryAsk, Ingest, Recording, pack,
};

#[path = "shop/stream.rs"]
mod written;

/// Enough to meet every record in every place, quick enough for every test run.
const COUNT: u64 = 300;

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
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.next().to_le_bytes()[0]),
        2 => drop(bytes.splice(at..(at + random.below(9)).min(bytes.len()), [])),
        3 => {
            let piece = bytes[at..(at + random.below(20)).min(bytes.len())].to_vec();
            let times = 1 + random.below(20);
            drop(bytes.splice(at..at, piece.repeat(times)));
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
}

/// The payloads of a stream as one chunk with a right sum, so that mutations reach the records.
fn payload(stream: &[u8]) -> Vec<u8> {
    let (mut rest, mut out) = (&stream[8..], Vec::new());
    while rest.len() >= 16 {
        let length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        out.extend_from_slice(&rest[16..16 + length]);
        rest = &rest[16 + length..];
    }
    out
}

fn chunked(payload: &[u8]) -> Vec<u8> {
    let mut out = b"HPSTRM\0\x01".to_vec();
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(payload);
    out
}

/// Everything that can be asked.
fn ask(recording: &Recording, other: &Recording) {
    if let Ok(overview) = recording.overview() {
        overview.tell("title", "", 1, 600);
    }
    for form in [CallsForm::Tree, CallsForm::List, CallsForm::Count] {
        let ask = CallsAsk {
            condition: Some("result is None or raised KeyError or len(args.tier) > 1".to_owned()),
            order: CallOrder::Slowest,
            form: Some(form),
            limit: Some(7),
            ..CallsAsk::default()
        };
        let Ok(found) = recording.calls(&ask) else { continue };
        found.tell(&ask, 600);
        for row in found.rows.iter().take(3) {
            if let Ok(told) = recording.frame(&FrameAsk { call: row.call.id, lines: None }) {
                told.tell(600);
            }
        }
    }
    for name in ["self.total", "tries"] {
        let ask = HistoryAsk { name: name.to_owned(), ..HistoryAsk::default() };
        if let Ok(found) = recording.history(&ask) {
            found.tell(&ask, 600);
        }
    }
    if let Ok(found) = recording.diff(other, &DiffAsk::default()) {
        found.tell(("a", "b"), 600);
    }
}

fn read(stream: &[u8]) -> Vec<u8> {
    let mut ingest = Ingest::new();
    ingest.push(stream);
    pack([&ingest], &[], "{}")
}

/// One mutated stream or file; gives whether it had any call.
fn one(stream: &[u8], file: &[u8], whole: &Recording, seed: u64) -> bool {
    let mut random = Random(seed);
    let is_file = random.below(4) == 0;
    let mut bytes = match (is_file, random.below(4)) {
        (true, _) => file.to_vec(),
        (false, 0) => stream.to_vec(),
        (false, _) => payload(stream),
    };
    let is_payload = !is_file && !bytes.starts_with(b"HPSTRM");
    for _ in 0..=random.below(3) {
        mutate(&mut random, &mut bytes);
    }
    let file = match (is_file, is_payload) {
        (true, _) => bytes,
        (false, true) => read(&chunked(&bytes)),
        (false, false) => read(&bytes),
    };
    let Ok(recording) = Recording::from_bytes(file) else { return false };
    ask(&recording, whole);
    ask(whole, &recording);
    recording.process_facts().iter().any(|it| it.calls > 0)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect(name))
}

#[test]
fn mutated_recordings_are_read_or_refused() {
    assert!(written::SOURCE.contains("def rate"));
    let stream = written::shop();
    let file = read(&stream);
    let (count, first) = (number("HOLDPOINT_FUZZ_COUNT", COUNT), number("HOLDPOINT_FUZZ_SEED", 1));
    let (mut found, started) = (0, Instant::now());
    for seed in first..first.wrapping_add(count) {
        let result = std::panic::catch_unwind(|| {
            let whole = Recording::from_bytes(file.clone()).unwrap();
            one(&stream, &file, &whole, seed)
        });
        match result {
            Ok(had_calls) => found += u64::from(had_calls),
            Err(_) => panic!("HOLDPOINT_FUZZ_SEED={seed} HOLDPOINT_FUZZ_COUNT=1"),
        }
    }
    println!("{found} of {count} had calls, in {:?}", started.elapsed());
    // Mutations that all fail at once would test nothing behind the reader.
    assert!(count < 100 || found >= count / 4, "only {found} of {count} had calls");
}
