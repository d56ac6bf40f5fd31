//! The streams that recorders write, as `docs/contract/recording.md` says: chunks, and the records in them.
//!
//! Bytes in, records out; whoever has the file reads it. A stream that is still written is read as far as it goes.

mod record;
mod writer;

pub use self::{
    record::{FunctionAt, Known, StreamRecord},
    writer::StreamWriter,
};
use crate::{damage::Damage, limits};

/// The first bytes of a stream; the last of them is the version.
pub const MAGIC: &[u8; 8] = b"HPSTRM\0\x01";

/// Before each payload: length, sum, time.
const HEADER: usize = 16;

/// Some records, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub written_ns: u64,
    pub payload: Vec<u8>,
}

/// Cuts bytes into chunks, however they come.
#[derive(Debug, Clone, Default)]
pub struct ChunkReader {
    pending: Vec<u8>,
    /// What of them was taken.
    at: usize,
    has_begun: bool,
    /// Bytes of all whole chunks.
    good: u64,
    damage: Option<Damage>,
}

impl ChunkReader {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.damage.is_none() {
            self.pending.drain(..self.at);
            self.at = 0;
            self.pending.extend_from_slice(bytes);
        }
    }

    /// The next one that is whole, if there is. After damage there is none ever again.
    pub fn take(&mut self) -> Result<Option<Chunk>, Damage> {
        if let Some(damage) = self.damage {
            return Err(damage);
        }
        let taken = self.cut();
        if let Err(damage) = &taken {
            self.damage = Some(*damage);
            self.pending = Vec::new();
        }
        taken
    }

    /// How many bytes were read and are whole.
    pub fn good(&self) -> u64 {
        self.good
    }

    /// Whether bytes of a chunk that is not whole stand at the end.
    pub fn is_cut(&self) -> bool {
        self.damage.is_none() && self.at < self.pending.len()
    }

    fn cut(&mut self) -> Result<Option<Chunk>, Damage> {
        if !self.has_begun {
            let Some(begin) = self.pending.first_chunk::<8>() else { return Ok(None) };
            check(begin)?;
            (self.has_begun, self.at, self.good) = (true, 8, 8);
        }
        let rest = self.pending.get(self.at..).unwrap_or_default();
        let Some((length, sum, written_ns)) = header(rest) else { return Ok(None) };
        if length > limits::CHUNK_MAX {
            return Err(Damage::Long);
        }
        let Some(payload) = rest.get(HEADER..HEADER + length) else { return Ok(None) };
        if crc32fast::hash(payload) != sum {
            return Err(Damage::Sum);
        }
        let chunk = Chunk { written_ns, payload: payload.to_vec() };
        self.at += HEADER + length;
        self.good += (HEADER + length) as u64;
        Ok(Some(chunk))
    }
}

fn check(begin: &[u8; 8]) -> Result<(), Damage> {
    match (begin.split_last(), MAGIC.split_last()) {
        (Some((version, name)), Some((ours, own))) if name == own => match version == ours {
            true => Ok(()),
            false => Err(Damage::Version(*version)),
        },
        _ => Err(Damage::Magic),
    }
}

fn header(bytes: &[u8]) -> Option<(usize, u32, u64)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let (time, _) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    Some((length, u32::from_le_bytes(*sum), u64::from_le_bytes(*time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_chunks() -> Vec<u8> {
        let mut writer = StreamWriter::new();
        writer.record(&StreamRecord::Process("{}".into()));
        writer.flush(5);
        writer.record(&StreamRecord::End("{}".into()));
        writer.flush(9);
        writer.take()
    }

    #[test]
    fn chunks_come_in_whatever_pieces() {
        let bytes = two_chunks();
        for size in 1..bytes.len() {
            let mut reader = ChunkReader::default();
            let mut times = Vec::new();
            for piece in bytes.chunks(size) {
                reader.push(piece);
                while let Some(chunk) = reader.take().unwrap() {
                    times.push(chunk.written_ns);
                }
            }
            assert_eq!(times, [5, 9]);
            assert_eq!(reader.good(), bytes.len() as u64);
            assert!(!reader.is_cut());
        }
    }

    #[test]
    fn what_is_wrong_ends_it_and_what_stood_before_counts() {
        let good = two_chunks();
        let mut bad = good.clone();
        *bad.last_mut().unwrap() ^= 1;
        let mut reader = ChunkReader::default();
        reader.push(&bad);
        assert_eq!(reader.take().unwrap().unwrap().written_ns, 5);
        assert_eq!(reader.take(), Err(Damage::Sum));
        reader.push(&good);
        assert_eq!(reader.take(), Err(Damage::Sum));
        let mut reader = ChunkReader::default();
        reader.push(b"HPSTRM\0\x02");
        assert_eq!(reader.take(), Err(Damage::Version(2)));
        let mut reader = ChunkReader::default();
        reader.push(b"#!/bin/sh");
        assert_eq!(reader.take(), Err(Damage::Magic));
    }
}
