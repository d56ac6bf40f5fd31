//! A recording in one file: packed parts one behind the other, then where they stand. The same bytes are the
//! working form and what is handed to another machine.
//!
//! `HPRECD\0\1`, parts, the directory (deflated JSON), its place, and the first bytes once more. A file that was
//! not written to its end has no directory and is refused.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use miniz_oxide::{deflate::compress_to_vec, inflate::decompress_to_vec_with_limit};
use serde::{Deserialize, Serialize};

use crate::{
    damage::Damage,
    head::{Head, Part},
    ingest::Ingest,
    limits,
};

const MAGIC: &[u8; 8] = b"HPRECD\0\x01";

/// Behind the directory: its place, length and sum, then [`MAGIC`].
const FOOTER: usize = 24;

/// Fast: the finest level saves a tenth and takes five times as long.
const LEVEL: u8 = 1;

pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, LEVEL)
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Damage> {
    decompress_to_vec_with_limit(bytes, limits::UNPACKED_MAX).map_err(|_| Damage::Packed)
}

/// A file of a recording on its way.
#[derive(Debug)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
}

impl Packed {
    pub(crate) fn put(&mut self, packed: &[u8]) -> Part {
        let at = self.bytes.len() as u64;
        self.bytes.extend_from_slice(packed);
        Part(at, packed.len() as u32, crc32fast::hash(packed))
    }

    pub(crate) fn deflated(&mut self, bytes: &[u8]) -> Part {
        self.put(&deflate(bytes))
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Directory {
    pub(crate) processes: Vec<Part>,
    /// What whoever made the recording says of it, JSON.
    pub(crate) about: String,
    /// Source files: path, whether they are certainly as they were loaded, text.
    pub(crate) sources: Vec<(String, bool, Part)>,
}

/// A source file that is kept with a recording, so that it is shown as it ran wherever it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSource {
    pub path: String,
    pub text: Vec<u8>,
    /// Its hash is the one that the recorder saw.
    pub is_same: bool,
}

/// All processes as one file's bytes. `about` is kept with them and never read here.
pub fn pack<'a>(
    processes: impl IntoIterator<Item = &'a Ingest>,
    sources: &[KeptSource],
    about: &str,
) -> Vec<u8> {
    let mut out = Packed { bytes: MAGIC.to_vec() };
    let mut directory = Directory { about: about.to_owned(), ..Directory::default() };
    for source in sources {
        let part = out.deflated(&source.text);
        directory.sources.push((source.path.clone(), source.is_same, part));
    }
    for process in processes.into_iter().take(limits::PROCESSES_MAX) {
        let head = process.pack(&mut out);
        let head = serde_json::to_vec(&head).unwrap_or_default();
        directory.processes.push(out.deflated(&head));
    }
    let Part(at, length, sum) = out.deflated(&serde_json::to_vec(&directory).unwrap_or_default());
    out.bytes.extend_from_slice(&at.to_le_bytes());
    out.bytes.extend_from_slice(&length.to_le_bytes());
    out.bytes.extend_from_slice(&sum.to_le_bytes());
    out.bytes.extend_from_slice(MAGIC);
    out.bytes
}

/// Where the bytes of a recording are. A file is read by parts, not mapped: what is mapped can be cut off by
/// somebody else under our hands, which ends the process.
#[derive(Debug)]
pub(crate) enum Bytes {
    Memory(Arc<[u8]>),
    File(Mutex<File>, u64),
}

impl Bytes {
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Bytes::File(Mutex::new(file), length))
    }

    fn length(&self) -> u64 {
        match self {
            Bytes::Memory(bytes) => bytes.len() as u64,
            Bytes::File(_, length) => *length,
        }
    }

    fn take(&self, at: u64, length: usize) -> Result<Vec<u8>, Damage> {
        let end = at.checked_add(length as u64).ok_or(Damage::Short)?;
        if end > self.length() {
            return Err(Damage::Short);
        }
        match self {
            Bytes::Memory(bytes) => {
                let begin = usize::try_from(at).map_err(|_| Damage::Short)?;
                bytes.get(begin..begin + length).map(<[u8]>::to_vec).ok_or(Damage::Short)
            }
            Bytes::File(file, _) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut bytes = vec![0; length];
                file.seek(SeekFrom::Start(at)).map_err(|_| Damage::Short)?;
                file.read_exact(&mut bytes).map_err(|_| Damage::Short)?;
                Ok(bytes)
            }
        }
    }

    /// A part, unpacked.
    pub(crate) fn part(&self, Part(at, length, sum): Part) -> Result<Vec<u8>, Damage> {
        let bytes = self.take(at, length as usize)?;
        if crc32fast::hash(&bytes) != sum {
            return Err(Damage::Sum);
        }
        inflate(&bytes)
    }

    pub(crate) fn directory(&self) -> Result<Directory, Damage> {
        let begin = self.take(0, MAGIC.len()).map_err(|_| Damage::Magic)?;
        check(&begin)?;
        let at = self.length().checked_sub(FOOTER as u64).ok_or(Damage::Short)?;
        let footer = self.take(at, FOOTER)?;
        let (place, rest) = footer.split_first_chunk::<8>().ok_or(Damage::Short)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(Damage::Short)?;
        let (sum, rest) = rest.split_first_chunk::<4>().ok_or(Damage::Short)?;
        // Without its end it was not written whole.
        check(rest).map_err(|_| Damage::Short)?;
        let length = u32::from_le_bytes(*length);
        let part = Part(u64::from_le_bytes(*place), length, u32::from_le_bytes(*sum));
        serde_json::from_slice(&self.part(part)?).map_err(|_| Damage::Packed)
    }

    pub(crate) fn head(&self, part: Part) -> Result<Head, Damage> {
        serde_json::from_slice(&self.part(part)?).map_err(|_| Damage::Packed)
    }
}

fn check(begin: &[u8]) -> Result<(), Damage> {
    match (begin.split_last(), MAGIC.split_last()) {
        (Some((version, name)), Some((ours, own))) if name == own => match version == ours {
            true => Ok(()),
            false => Err(Damage::Version(*version)),
        },
        _ => Err(Damage::Magic),
    }
}
