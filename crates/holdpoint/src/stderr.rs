//! The only way to stderr, and no write there ever matters.
//!
//! Whoever should read it may have gone, or have left it full: a write then fails, or takes for ever. So lines
//! go to a thread of their own, which may be held up, and what its queue does not take is dropped and counted.
//! The next line that gets through says how many were lost.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use holdpoint_engine::{budget, limits, secrets::Secrets};

use crate::external::hidden;

/// Started with the first line: most servers on stdio never write one.
static LINES: OnceLock<Option<SyncSender<Said>>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum Said {
    Text(Vec<u8>),
    /// Everything before it was written.
    Reached(SyncSender<()>),
}

/// A line, or a few.
pub(crate) fn line(text: &str) {
    let mut text = budget::cut(text, limits::STDERR_TEXT);
    text.push('\n');
    say(Said::Text(text.into_bytes()));
}

/// LogLines that nobody could be told.
pub(crate) fn dropped() -> u64 {
    DROPPED.load(Relaxed)
}

/// Before the process ends: what is queued goes out, if anybody takes it.
pub(crate) fn finish() {
    let Some(Some(lines)) = LINES.get() else { return };
    let (reached, written) = sync_channel(1);
    if lines.try_send(Said::Reached(reached)).is_ok() {
        // Too late, or never: the process ends all the same.
        written.recv_timeout(limits::STDERR_LAST).unwrap_or_default();
    }
}

/// Whether a person reads it.
pub(crate) fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

fn say(said: Said) {
    let lines = LINES.get_or_init(start).as_ref();
    if lines.is_none_or(|lines| lines.try_send(said).is_err()) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// Ends with the process.
fn start() -> Option<SyncSender<Said>> {
    let (lines, queue) = sync_channel(limits::STDERR_LINES);
    let thread = thread::Builder::new().name("holdpoint-stderr".to_owned());
    thread.spawn(move || write(&queue)).ok()?;
    Some(lines)
}

fn write(queue: &Receiver<Said>) {
    let mut told = 0;
    while let Ok(said) = queue.recv() {
        let text = match said {
            Said::Text(text) => text,
            Said::Reached(reached) => {
                // Whoever waited may have given up.
                reached.try_send(()).unwrap_or_default();
                continue;
            }
        };
        let lost = dropped();
        let note = match lost > told {
            true => format!("{} lines before this one were not written\n", lost - told),
            false => String::new(),
        };
        match put(note.as_bytes()).and_then(|()| put(&text)) {
            Ok(()) => told = lost,
            Err(_gone) => drop(DROPPED.fetch_add(1, Relaxed)),
        }
    }
}

fn put(text: &[u8]) -> io::Result<()> {
    io::stderr().write_all(text)
}

/// What the log writes to: always takes everything, and shows no secret.
pub(crate) struct LogLines(pub(crate) Arc<Secrets>);

impl Write for LogLines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let said = String::from_utf8_lossy(text);
        let said = self.0.text(said.trim_end_matches('\n')).into_owned();
        line(&hidden::without(said));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
