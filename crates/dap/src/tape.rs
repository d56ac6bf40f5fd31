//! A record of all traffic, for finding out afterwards what an adapter really said.
//!
//! One JSON per line: `{"t_ms":12.345,"label":"python","dir":"→","msg":{…}}`. `→` went to the adapter,
//! `←` came from it; `t_ms` counts from the opening of the tape. What came and was no message stands in
//! `noise` instead of `msg`. Values of the program and its environment are in it: on Unix the file is
//! for its owner only. A tape that cannot be written ends, says so once, and never disturbs a session.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use serde::Serialize;
use serde_json::Value;

use crate::limits;

/// Cloning is cheap; all clones write into the same file.
#[derive(Debug, Clone)]
pub struct Tape {
    reel: Arc<Reel>,
    label: Arc<str>,
}

#[derive(Debug)]
struct Reel {
    opened: Instant,
    /// Empty once writing failed or the tape was full.
    file: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    file: File,
    bytes: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    t_ms: f64,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    dir: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    msg: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<&'a str>,
}

impl Tape {
    /// Opens the file once; what is in it stays.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Tape> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        let bytes = file.metadata()?.len();
        let reel = Reel { opened: Instant::now(), file: Mutex::new(Some(Open { file, bytes })) };
        Ok(Tape { reel: Arc::new(reel), label: Arc::from("") })
    }

    /// The same tape for another connection.
    pub fn labelled(&self, label: impl Into<Arc<str>>) -> Tape {
        Tape { reel: Arc::clone(&self.reel), label: label.into() }
    }

    pub(crate) fn sent(&self, message: &Value) {
        self.write("→", Some(message), None);
    }

    pub(crate) fn received(&self, message: &Value) {
        self.write("←", Some(message), None);
    }

    pub(crate) fn noise(&self, text: &str) {
        self.write("←", None, Some(text));
    }

    fn write(&self, dir: &'static str, msg: Option<&Value>, noise: Option<&str>) {
        let mut slot = self.reel.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = slot.as_mut() else { return };
        let micros = self.reel.opened.elapsed().as_micros();
        let t_ms = micros as f64 / 1000.0;
        if let Err(problem) = open.write(&Line { t_ms, label: &self.label, dir, msg, noise }) {
            tracing::warn!(%problem, "the tape of the debug traffic ends here");
            *slot = None;
        }
    }
}

impl Open {
    /// One write per line, so that lines of several processes do not mix.
    fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.bytes += bytes.len() as u64;
        if self.bytes > limits::TAPE_BYTES {
            return Err(io::Error::other(format!("it has {} bytes", limits::TAPE_BYTES)));
        }
        self.file.write_all(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &mut lines {
            assert!(line.as_object_mut().unwrap().shift_remove("t_ms").unwrap().is_f64());
        }
        lines
    }

    #[test]
    fn several_connections_write_to_one_file_and_what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let tape = Tape::open(&path).unwrap();
        tape.sent(&json!({"text": "two\nlines"}));
        tape.labelled("child").received(&json!(1));
        drop(tape);
        Tape::open(&path).unwrap().noise("printed");
        assert_eq!(
            lines(&path),
            [
                json!({"dir": "→", "msg": {"text": "two\nlines"}}),
                json!({"label": "child", "dir": "←", "msg": 1}),
                json!({"dir": "←", "noise": "printed"}),
            ]
        );
    }

    #[test]
    fn a_full_tape_ends_without_a_fuss() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let tape = Tape::open(&path).unwrap();
        tape.reel.file.lock().unwrap().as_mut().unwrap().bytes = limits::TAPE_BYTES - 1;
        tape.sent(&json!(1));
        tape.sent(&json!(2));
        assert_eq!(lines(&path), [] as [Value; 0]);
        assert!(tape.reel.file.lock().unwrap().is_none());
    }

    #[test]
    fn a_tape_that_cannot_be_opened_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Tape::open(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let _tape = Tape::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
    }
}
