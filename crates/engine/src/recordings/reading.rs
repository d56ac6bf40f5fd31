//! The streams of one recording, read as far as they go and further when they have grown.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_recording::{Damage, Ingest, KeptSource, Recording, StreamState, pack};
use sha2::{Digest as _, Sha256};

use super::{
    folder::{RecordingFolder, writer},
    tail::StreamTail,
};
use crate::limits;

#[derive(Default)]
pub(super) struct Growing {
    streams: BTreeMap<PathBuf, GrowingStream>,
    /// As it was asked last, and how much there was then.
    opened: Option<(StreamLengths, Arc<Recording>)>,
}

/// Of each stream: what was taken, and what its process has not written yet.
type StreamLengths = Vec<(u64, usize)>;

/// One of them.
struct GrowingStream {
    ingest: Ingest,
    taken: u64,
    /// What its process has not written yet.
    tail: Vec<u8>,
}

impl Growing {
    /// Takes what was written since.
    pub(super) fn read(&mut self, folder: &Path) -> io::Result<()> {
        for path in RecordingFolder::streams(folder).into_iter().take(limits::RECORDED_STREAMS) {
            let new = || GrowingStream { ingest: Ingest::new(), taken: 0, tail: Vec::new() };
            let one = self.streams.entry(path.clone()).or_insert_with(new);
            // Before the stream: what is written meanwhile is there twice, and not nowhere.
            let tail = StreamTail::beside(&path);
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(one.taken))?;
            let mut part = vec![0; limits::RECORDED_READ];
            loop {
                let count = file.read(&mut part)?;
                if count == 0 {
                    break;
                }
                one.ingest.push(part.get(..count).unwrap_or_default());
                one.taken += count as u64;
            }
            one.tail =
                tail.filter(|it| it.after == one.taken).map_or_else(Vec::new, |it| it.payload);
        }
        Ok(())
    }

    /// To be asked, as far as it was read; what is asked twice of the same is read once.
    pub(super) fn open(&mut self, about: &str) -> Result<Arc<Recording>, Damage> {
        let much: StreamLengths =
            self.streams.values().map(|it| (it.taken, it.tail.len())).collect();
        if let Some((before, recording)) = &self.opened
            && *before == much
        {
            return Ok(Arc::clone(recording));
        }
        let recording = Arc::new(Recording::from_bytes(self.pack(about))?);
        self.opened = Some((much, Arc::clone(&recording)));
        Ok(recording)
    }

    /// Whether that process said goodbye; where it has no stream, as one that only starts another, whether any did.
    pub(super) fn has_ended(&self, pid: Option<u32>) -> bool {
        let is_own = |path: &Path| writer(path) == pid;
        let is_recorded = self.streams.keys().any(|it| is_own(it));
        let of = self.streams.iter().filter(|(path, _)| !is_recorded || is_own(path));
        let mut states = of.map(|(_, it)| it.ingest.state());
        self.streams.is_empty() || states.any(|it| *it == StreamState::Ended)
    }

    /// The exit code that the process said itself, if it has a stream and knew: only a parent learns it otherwise.
    pub(super) fn said_exit(&self, pid: Option<u32>) -> Option<i32> {
        let mut own = self.streams.iter().filter(|(path, _)| pid.is_some() && writer(path) == pid);
        let (_, stream) = own.next().filter(|_| own.next().is_none())?;
        i32::try_from(stream.ingest.exit()?).ok()
    }

    pub(super) fn pack(&self, about: &str) -> Vec<u8> {
        let whole = self.streams.values().map(|it| {
            let more = (!it.tail.is_empty()).then(|| it.ingest.with_tail(&it.tail)).flatten();
            more.map_or(Cow::Borrowed(&it.ingest), Cow::Owned)
        });
        let mut all: Vec<Cow<'_, Ingest>> = whole.collect();
        all.sort_by_cached_key(|it| it.rank());
        let sources = sources(&all);
        pack(all.iter().map(AsRef::as_ref), &sources, about)
    }
}

/// The source files as they are now, and whether that is how they were loaded.
fn sources(streams: &[Cow<'_, Ingest>]) -> Vec<KeptSource> {
    let mut seen: HashMap<&str, &[u8]> = HashMap::new();
    for (path, hash) in streams.iter().flat_map(|it| it.files()) {
        seen.insert(path, hash);
    }
    let mut paths: Vec<(&str, &[u8])> = seen.into_iter().collect();
    paths.sort_unstable();
    let (mut kept, mut left) = (Vec::new(), limits::RECORDED_SOURCES);
    for (path, hash) in paths {
        let size = fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|it| it.len());
        let Some(size) = size.filter(|it| *it <= limits::RECORDED_SOURCE.min(left)) else {
            continue;
        };
        let Ok(text) = fs::read(path) else { continue };
        left = left.saturating_sub(size);
        let is_same = !hash.is_empty() && Sha256::digest(&text).as_slice() == hash;
        // One that was edited since would show wrong lines.
        if is_same || hash.is_empty() {
            kept.push(KeptSource { path: path.to_owned(), text, is_same });
        }
    }
    kept
}
