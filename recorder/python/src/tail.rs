//! What the buffer holds that is not in the stream's file yet, where others can read it: a mapped file beside it.
//!
//! So a program that waits, stands under a debugger or was killed is known to its last event, without a thread, a
//! timer or a signal of ours inside of it. Who reads takes the beginning, the payload, and the beginning again: within
//! one beginning the payload is only added to.

use std::{
    ffi::{c_int, c_void},
    fs::{self, File, OpenOptions},
    io::Write as _,
    os::{fd::AsRawFd as _, unix::fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
    ptr,
    sync::atomic::{AtomicU64, Ordering, fence},
};

const MAGIC: &[u8; 8] = b"HPTAIL\0\x01";
/// Before the payload: the magic, how long the stream's file is without it, how long it is itself.
const BEFORE: usize = 24;
/// A longer payload is a chunk of the stream.
pub(crate) const ROOM: usize = 64 << 10;

unsafe extern "C" {
    fn mmap(
        at: *mut c_void,
        length: usize,
        how: c_int,
        flags: c_int,
        fd: c_int,
        from: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
}

const READ_AND_WRITE: c_int = 3;
const SHARED: c_int = 1;

pub(crate) struct Tail {
    map: *mut u8,
    path: PathBuf,
    /// What of the payload is there.
    told: usize,
}

impl Tail {
    /// Beside the stream of that path, which has so many bytes; nothing where it cannot be mapped.
    /// Whether the disk is one on which a page can be written again however full it is, the server has said.
    pub(crate) fn beside(stream: &Path, bytes: u64) -> Option<Tail> {
        let path = stream.with_extension("tail");
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let Some(map) = filled(&mut file) else {
            fs::remove_file(&path).unwrap_or_default();
            return None;
        };
        let mut tail = Tail { map, path, told: 0 };
        tail.restart(bytes);
        Some(tail)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both words lie inside the mapping, which is aligned to a page.
        unsafe { AtomicU64::from_ptr(self.map.add(at).cast()) }
    }

    /// The payload is in the stream, which has so many bytes now.
    pub(crate) fn restart(&mut self, bytes: u64) {
        self.told = 0;
        self.word(16).store(0, Ordering::Release);
        self.word(8).store(bytes, Ordering::Release);
        // What follows is not seen before it.
        fence(Ordering::SeqCst);
    }

    /// The payload as it is now: what was told before, and more.
    #[inline]
    pub(crate) fn tell(&mut self, payload: &[u8]) {
        let Some(more) = payload.get(self.told..) else { return };
        if more.is_empty() || payload.len() > ROOM {
            return;
        }
        // SAFETY: the payload has room behind its beginning, and nobody else writes it.
        unsafe {
            ptr::copy_nonoverlapping(more.as_ptr(), self.map.add(BEFORE + self.told), more.len());
        }
        self.told = payload.len();
        self.word(16).store(self.told as u64, Ordering::Release);
    }

    /// The stream is whole without it.
    pub(crate) fn remove(&self) {
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody has it any more.
        unsafe { munmap(self.map.cast(), BEFORE + ROOM) };
    }
}

/// Its pages are there before it is mapped: where the disk has no room for them, the write says so.
fn filled(file: &mut File) -> Option<*mut u8> {
    let mut pages = vec![0; BEFORE + ROOM];
    pages.get_mut(..8)?.copy_from_slice(MAGIC);
    file.write_all(&pages).ok()?;
    // SAFETY: a new mapping of a file that is so long.
    let map =
        unsafe { mmap(ptr::null_mut(), pages.len(), READ_AND_WRITE, SHARED, file.as_raw_fd(), 0) };
    (map as isize != -1).then_some(map.cast())
}
