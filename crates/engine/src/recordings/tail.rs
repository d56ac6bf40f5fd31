//! What a recorder holds that is not in its stream yet: a file that it has mapped, beside the stream. So a program that
//! waits, stands under a debugger or was killed is known to its last event.

use std::{fs::File, io, os::unix::fs::FileExt as _, path::Path};

use crate::limits;

const MAGIC: &[u8; 8] = b"HPTAIL\0\x01";

/// Where a page that was written once can be written again, however full the disk is: a recorder that writes one for
/// which there is no room would end its program. `ext4`, `xfs`, `tmpfs`, `overlayfs`, `f2fs`.
const SAFE: [u64; 5] = [0xEF53, 0x5846_5342, 0x0102_1994, 0x794C_7630, 0xF2F5_2010];

/// Records that follow a stream of so many bytes.
pub(super) struct StreamTail {
    pub(super) after: u64,
    pub(super) payload: Vec<u8>,
}

impl StreamTail {
    /// As it is now. Its process goes on meanwhile: what begins elsewhere after it was read is read again.
    pub(super) fn beside(stream: &Path) -> Option<StreamTail> {
        let file = File::open(stream.with_extension("tail")).ok()?;
        for _ in 0..limits::RECORDED_TAIL_TRIES {
            let (after, length) = beginning(&file).ok()?;
            let mut payload = vec![0; usize::try_from(length).ok()?.min(limits::RECORDED_TAIL)];
            file.read_exact_at(&mut payload, 24).ok()?;
            if beginning(&file).ok()?.0 == after {
                return Some(StreamTail { after, payload });
            }
        }
        None
    }
}

/// How long the stream is, and how long this is behind it.
fn beginning(file: &File) -> io::Result<(u64, u64)> {
    let mut bytes = [0; 24];
    file.read_exact_at(&mut bytes, 0)?;
    let (magic, rest) = bytes.split_at(MAGIC.len());
    let word = |at: usize| rest.get(at..).and_then(|it| it.first_chunk::<8>()).copied();
    match (magic == MAGIC, word(0), word(8)) {
        (true, Some(after), Some(length)) => {
            Ok((u64::from_le_bytes(after), u64::from_le_bytes(length)))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Whether recorders may map files of this folder.
pub(super) fn is_safe(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        let kind = rustix::fs::statfs(folder).ok().and_then(|it| u64::try_from(it.f_type).ok());
        kind.is_some_and(|it| SAFE.contains(&it))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _unused = (folder, SAFE);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_read_with_where_it_belongs() {
        let folder = tempfile::tempdir().unwrap();
        let stream = folder.path().join("7-1.hps");
        assert!(StreamTail::beside(&stream).is_none());
        let mut bytes = MAGIC.to_vec();
        bytes.extend(40_u64.to_le_bytes());
        bytes.extend(3_u64.to_le_bytes());
        bytes.extend(b"abc---");
        std::fs::write(stream.with_extension("tail"), &bytes).unwrap();
        let tail = StreamTail::beside(&stream).unwrap();
        assert_eq!((tail.after, tail.payload.as_slice()), (40, b"abc".as_slice()));
        std::fs::write(stream.with_extension("tail"), b"something else, which is long enough")
            .unwrap();
        assert!(StreamTail::beside(&stream).is_none());
    }
}
