//! The stream: records into a buffer, buffers into the file as chunks.
//!
//! One per process, under the interpreter's lock. A write that fails ends the recording and nothing else.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    mem::ManuallyDrop,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, RawFd},
        unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use crate::tail::Tail;

const MAGIC: &[u8; 8] = b"HPSTRM\0\x01";
const HEADER: usize = 16;
/// A buffer this long is written at the end of the event that made it so.
const CHUNK: usize = 64 << 10;
/// … or one this old.
const AGE_NS: u64 = 100_000_000;
/// A chunk's payload is at most this long.
const LONGEST: usize = 1 << 20;
/// Programs close the low descriptors of those that they do not know, when they become daemons.
const HIGH: i32 = 700;
pub(crate) const TICK_NS: u64 = 100;

pub(crate) struct Stream {
    pub(crate) buffer: Vec<u8>,
    file: Option<Place>,
    tail: Option<Tail>,
    has_tail: bool,
    /// Where the payload of the next chunk would be cut: records are whole.
    last: u64,
    written_at: u64,
    pub(crate) bytes: u64,
    table: [u32; 256],
}

struct Place {
    fd: RawFd,
    path: PathBuf,
    inode: (u64, u64),
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    fn fcntl(fd: i32, command: i32, argument: i32) -> i32;
}

const CLOCK_MONOTONIC: i32 = 1;
const F_DUPFD_CLOEXEC: i32 = 1030;

pub(crate) fn now_ns() -> u64 {
    let mut time = [0_i64; 2];
    // SAFETY: it writes two words, and fails for no clock that exists.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
    let [seconds, nanoseconds] = time;
    seconds.cast_unsigned() * 1_000_000_000 + nanoseconds.cast_unsigned()
}

impl Stream {
    /// `has_tail`: what is not written yet is shown to others.
    pub(crate) fn closed(has_tail: bool) -> Stream {
        Stream {
            buffer: Vec::with_capacity(2 * CHUNK),
            file: None,
            tail: None,
            has_tail,
            last: 0,
            written_at: 0,
            bytes: 0,
            table: crc_table(),
        }
    }

    /// Begins a file of its own in the folder.
    pub(crate) fn open(&mut self, folder: &Path) -> bool {
        self.buffer.clear();
        self.buffer.resize(HEADER, 0);
        self.bytes = 0;
        self.last = now_ns();
        self.written_at = self.last;
        self.file = create(folder);
        let shown = self.file.as_ref().filter(|_| self.has_tail);
        self.tail = shown.and_then(|it| Tail::beside(&it.path, MAGIC.len() as u64));
        self.file.is_some()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// The child of a fork leaves its parent's files alone.
    pub(crate) fn forget(&mut self) {
        self.file = None;
        self.tail = None;
        self.buffer.clear();
    }

    /// The last record was written.
    pub(crate) fn end(&mut self) {
        if let Some(tail) = &self.tail {
            tail.remove();
        }
        self.forget();
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        put(&mut self.buffer, number);
    }

    pub(crate) fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.buffer.extend_from_slice(text);
    }

    /// The ticks since the last record that has any.
    #[inline]
    pub(crate) fn ticks(&mut self) {
        let now = now_ns();
        let ticks = now.saturating_sub(self.last) / TICK_NS;
        self.last += ticks * TICK_NS;
        put(&mut self.buffer, ticks);
        if now.saturating_sub(self.written_at) > AGE_NS {
            // At the end of this event.
            self.written_at = 0;
        }
    }

    /// At the end of an event: the buffer is written if it is long or old, else others are shown it.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.buffer.len() >= CHUNK || self.written_at == 0 {
            self.flush();
        } else if let Some(tail) = &mut self.tail {
            tail.tell(self.buffer.get(HEADER..).unwrap_or_default());
        }
    }

    #[cold]
    pub(crate) fn flush(&mut self) {
        let now = now_ns();
        self.written_at = now.max(1);
        let payload = self.buffer.len().saturating_sub(HEADER);
        if payload == 0 || self.file.is_none() {
            self.buffer.truncate(HEADER);
            return;
        }
        debug_assert!(payload <= LONGEST, "an event is no longer than a chunk");
        let sum = crc(&self.table, self.buffer.get(HEADER..).unwrap_or_default());
        let length = u32::try_from(payload).unwrap_or(u32::MAX);
        if let Some(header) = self.buffer.get_mut(..HEADER) {
            let (sizes, time) = header.split_at_mut(8);
            let (head, tail) = sizes.split_at_mut(4);
            head.copy_from_slice(&length.to_le_bytes());
            tail.copy_from_slice(&sum.to_le_bytes());
            time.copy_from_slice(&now.to_le_bytes());
        }
        self.bytes += self.buffer.len() as u64;
        match self.file.as_mut().is_some_and(|it| it.append(&self.buffer)) {
            true => {
                if let Some(tail) = &mut self.tail {
                    tail.restart(MAGIC.len() as u64 + self.bytes);
                }
            }
            false => (self.file, self.tail) = (None, None),
        }
        self.buffer.truncate(HEADER);
    }
}

impl Place {
    /// One `write`; what was written short ends what can be read, so nothing follows it.
    fn append(&mut self, bytes: &[u8]) -> bool {
        if !self.is_ours() && !self.reopen() {
            return false;
        }
        // SAFETY: the descriptor was just found to be our file; it is not closed here.
        let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.fd) });
        file.write(bytes).is_ok_and(|it| it == bytes.len())
    }

    /// A program may have closed what it did not open, and opened something else in its place.
    fn is_ours(&self) -> bool {
        // SAFETY: it is asked about only, whatever it is; it is not closed here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.fd) });
        file.metadata().is_ok_and(|it| (it.dev(), it.ino()) == self.inode)
    }

    fn reopen(&mut self) -> bool {
        let Ok(file) = OpenOptions::new().append(true).open(&self.path) else { return false };
        self.fd = raised(file);
        self.is_ours()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_ours() {
            // SAFETY: it is ours, and nobody uses it after this.
            drop(unsafe { File::from_raw_fd(self.fd) });
        }
    }
}

fn create(folder: &Path) -> Option<Place> {
    let pid = std::process::id();
    for n in 1..10_000_u32 {
        let path = folder.join(format!("{pid}-{n}.hps"));
        let opened = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
        match opened {
            Ok(mut file) => {
                file.write_all(MAGIC).ok()?;
                let about = file.metadata().ok()?;
                let inode = (about.dev(), about.ino());
                return Some(Place { fd: raised(file), path, inode });
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => return None,
        }
    }
    None
}

/// The same file under a high number, or as it is where there are no high ones.
fn raised(file: File) -> RawFd {
    // SAFETY: it makes a second descriptor of a file that is open.
    match unsafe { fcntl(file.as_raw_fd(), F_DUPFD_CLOEXEC, HIGH) } {
        ..0 => file.into_raw_fd(),
        high => high,
    }
}

#[inline]
pub(crate) fn put(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn crc_table() -> [u32; 256] {
    std::array::from_fn(|index| {
        (0..8).fold(index as u32, |sum, _| (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg()))
    })
}

fn crc(table: &[u32; 256], bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (sum >> 8) ^ table.get(((sum ^ u32::from(*byte)) & 0xFF) as usize).copied().unwrap_or(0)
    };
    !bytes.iter().fold(u32::MAX, step)
}
