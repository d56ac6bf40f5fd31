//! What happens in the editor, as our own extension appends it to a file. The file is kept open, so that one that is
//! renamed away is read to its end before the next.

use std::{
    fs, io,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{limits, watch::Watch};

/// From where on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// From now on.
    Now,
    /// All that is there still.
    Start,
    /// What came after the event of this number.
    Seq(u64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct BridgeEvent {
    pub seq: u64,
    pub bridge_id: String,
    pub kind: String,
    /// The whole object.
    pub body: Value,
}

impl BridgeEvent {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name).and_then(Value::as_str)
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.body.get(name).and_then(Value::as_i64)
    }

    fn read(line: &[u8]) -> Option<BridgeEvent> {
        let body: Value = serde_json::from_slice(line).ok()?;
        Some(BridgeEvent {
            seq: body.get("seq")?.as_u64()?,
            bridge_id: body.get("bridgeId")?.as_str()?.to_owned(),
            kind: body.get("event")?.as_str()?.to_owned(),
            body,
        })
    }
}

/// A reader of the events. It loses none that is in the files.
pub struct EventTail {
    folder: PathBuf,
    watch: Watch,
    is_watched: bool,
    open: Option<Open>,
    /// The last that was read, and whose.
    last: Option<(String, u64)>,
    since: Since,
    lost: u64,
}

struct Open {
    file: fs::File,
    identity: u64,
    offset: u64,
    /// A line whose rest is not there yet.
    half: Vec<u8>,
}

impl EventTail {
    pub(crate) fn open(folder: &Path, since: Since, is_watched: bool) -> EventTail {
        let watch = Watch::new(folder, is_watched);
        let folder = folder.to_owned();
        let mut tail =
            EventTail { folder, watch, is_watched, open: None, last: None, since, lost: 0 };
        if since == Since::Now {
            // Read and forgotten: what is half written now is whole when it is read.
            tail.read().clear();
        } else if let Ok(file) = fs::File::open(tail.folder.join("events.1.ndjson")) {
            tail.open = Some(Open::new(file));
        }
        tail
    }

    /// How many events were never read, since both files went on without us.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The next events; waits until there are some.
    pub async fn next(&mut self) -> Vec<BridgeEvent> {
        loop {
            let events = self.read();
            if !events.is_empty() {
                return events;
            }
            self.watch.changed(limits::SLOW_POLL).await;
            if !self.folder.is_dir() {
                continue;
            }
            if self.open.is_none() {
                // The folder may be another than the one that was watched.
                self.watch = Watch::new(&self.folder, self.is_watched);
            }
        }
    }

    /// What has come, without waiting.
    pub fn read(&mut self) -> Vec<BridgeEvent> {
        let mut all = Vec::new();
        loop {
            if let Some(open) = &mut self.open {
                match open.lines() {
                    Ok(lines) if !lines.is_empty() => {
                        let events = lines.iter().filter_map(|it| BridgeEvent::read(it));
                        all.extend(events.collect::<Vec<_>>());
                        continue;
                    }
                    Ok(_) => {}
                    Err(error) => tracing::debug!(%error, "events cannot be read"),
                }
            }
            if !self.advance() {
                break;
            }
        }
        all.retain(|it| self.is_new(it));
        all
    }

    /// Whether there is another file than the one that was read to its end.
    fn advance(&mut self) -> bool {
        let Ok(file) = fs::File::open(self.folder.join("events.ndjson")) else { return false };
        let next = Open::new(file);
        if self.open.as_ref().is_some_and(|it| it.identity == next.identity) {
            return false;
        }
        self.open = Some(next);
        true
    }

    fn is_new(&mut self, event: &BridgeEvent) -> bool {
        let known = self.last.as_ref().filter(|(bridge, _)| *bridge == event.bridge_id);
        let before = known.map(|(_, seq)| *seq);
        let since = match (self.since, before) {
            (_, Some(before)) => before,
            (Since::Seq(seq), None) if self.last.is_none() => seq,
            _ => 0,
        };
        if event.seq <= since {
            return false;
        }
        if before.is_some() {
            self.lost += event.seq - since - 1;
        }
        self.last = Some((event.bridge_id.clone(), event.seq));
        true
    }
}

impl Open {
    fn new(file: fs::File) -> Open {
        let identity = identity(&file);
        Open { file, identity, offset: 0, half: Vec::new() }
    }

    /// The whole lines that have come.
    fn lines(&mut self) -> io::Result<Vec<Vec<u8>>> {
        if self.file.metadata()?.len() < self.offset {
            // It was begun anew in its place.
            self.offset = 0;
            self.half.clear();
        }
        self.file.seek(SeekFrom::Start(self.offset))?;
        let mut text = Vec::new();
        let read = (&self.file).take(limits::EVENTS_READ as u64).read_to_end(&mut text)?;
        self.offset += read as u64;
        let mut lines = Vec::new();
        for part in text.split_inclusive(|it| *it == b'\n') {
            self.half.extend_from_slice(part);
            if part.ends_with(b"\n") {
                lines.push(std::mem::take(&mut self.half));
            } else if self.half.len() > limits::EVENT_LINE {
                self.half.clear();
            }
        }
        Ok(lines)
    }
}

#[cfg(unix)]
fn identity(file: &fs::File) -> u64 {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map(|it| it.ino()).unwrap_or_default()
}

#[cfg(not(unix))]
fn identity(file: &fs::File) -> u64 {
    let made = file.metadata().and_then(|it| it.created()).ok();
    let since = made.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
    since.map(|it| it.as_nanos() as u64).unwrap_or_default()
}
