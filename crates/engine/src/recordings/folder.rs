//! One recording's folder: its name, what is known of it, and its files.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::elsewhere;
use crate::launch::Launch;

/// What is known of a recording beside what is in it. Kept in files, so its form is a contract.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordingAbout {
    pub version: u32,
    pub id: String,
    /// What its maker calls it.
    pub name: Option<String>,
    pub title: String,
    /// What differs from the recording that it was made to be compared with, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    pub launch: Launch,
    pub level: String,
    pub focus: Vec<String>,
    /// Folders that were asked for.
    pub scope: Vec<PathBuf>,
    pub started_at: Option<Timestamp>,
    /// The process that writes it.
    pub server_pid: u32,
    /// The program itself, where it is nobody's child here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_pid: Option<u32>,
    /// In words; none while it runs.
    pub ended: Option<String>,
    pub exit_code: Option<i32>,
    pub took_ms: u64,
    pub runtime: Option<String>,
    pub note: Option<String>,
    /// The end of what the program wrote, without secrets.
    pub output: String,
    pub imported_from: Option<String>,
    /// Somebody writes it still; true of this moment alone.
    #[serde(skip)]
    pub is_live: bool,
}

/// One line of the list.
#[derive(Debug, Clone, Serialize)]
pub struct RecordingFacts {
    pub id: String,
    pub name: Option<String>,
    pub title: String,
    pub started_at: Option<Timestamp>,
    /// `live` while it is written; it can be asked all the same.
    pub state: &'static str,
    pub ended: Option<String>,
    pub bytes: u64,
}

#[derive(Debug, Clone)]
pub(super) struct RecordingFolder {
    path: PathBuf,
    number: u64,
    id: String,
}

/// All of them, the oldest first.
pub(super) fn all(base: &Path) -> Vec<RecordingFolder> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let mut all: Vec<RecordingFolder> =
        entries.filter_map(|it| RecordingFolder::at(&it.path())).collect();
    all.sort_by_key(|it| it.number);
    all
}

impl RecordingFolder {
    fn at(path: &Path) -> Option<RecordingFolder> {
        let id = path.file_name()?.to_str()?.to_owned();
        let number = id.strip_prefix('r')?.parse().ok()?;
        path.is_dir().then(|| RecordingFolder { path: path.to_owned(), number, id })
    }

    /// A new one. Several servers share the base, so the name is taken by making it.
    pub(super) fn create(base: &Path) -> io::Result<RecordingFolder> {
        make_private(base)?;
        let mut number = all(base).last().map_or(1, |it| it.number + 1);
        loop {
            let path = base.join(format!("r{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let id = format!("r{number}");
                    return Ok(RecordingFolder { path, number, id });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn packed(&self) -> PathBuf {
        self.path.join("run.hpr")
    }

    pub(super) fn config(&self) -> PathBuf {
        self.path.join("config.json")
    }

    pub(super) fn about(&self) -> RecordingAbout {
        let text = fs::read(self.path.join("about.json")).unwrap_or_default();
        let about: RecordingAbout = serde_json::from_slice(&text).unwrap_or_default();
        let is_live = about.ended.is_none() && lives(about.server_pid);
        RecordingAbout { id: self.id.clone(), is_live, ..about }
    }

    pub(super) fn write_about(&self, about: &RecordingAbout) -> io::Result<()> {
        let text = serde_json::to_vec(about)?;
        write_whole(&self.path.join("about.json"), &text)?;
        if let Some(base) = self.path.parent() {
            elsewhere::touch(base);
        }
        Ok(())
    }

    /// Whether a server that lives writes it.
    pub(super) fn is_written(&self) -> bool {
        self.about().is_live
    }

    /// The processes that have written streams of it and live still.
    pub(super) fn writers(&self) -> Vec<u32> {
        let all = RecordingFolder::streams(&self.path);
        all.iter().filter_map(|it| writer(it)).filter(|it| lives(*it)).collect()
    }

    pub(super) fn streams(path: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|it| it.path());
        let mut all: Vec<PathBuf> =
            entries.filter(|it| it.extension().is_some_and(|it| it == "hps")).collect();
        all.sort();
        all
    }

    /// Its streams, once they are in its file.
    pub(super) fn drop_streams(&self) {
        for stream in RecordingFolder::streams(&self.path) {
            if let Err(error) = fs::remove_file(&stream) {
                tracing::debug!(%error, "a stream stays beside its recording");
            }
            // Of one that ended by itself there is none.
            fs::remove_file(stream.with_extension("tail")).unwrap_or_default();
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter_map(|it| it.metadata().ok()).map(|it| it.len()).sum()
    }

    pub(super) fn facts(&self) -> RecordingFacts {
        let about = self.about();
        let (state, ended) = match (&about.ended, about.is_live) {
            (Some(ended), _) => ("ended", Some(ended.clone())),
            (None, true) => ("live", None),
            (None, false) => ("ended", Some("its server ended first".to_owned())),
        };
        let (id, bytes) = (self.id.clone(), self.bytes());
        let RecordingAbout { name, title, started_at, .. } = about;
        RecordingFacts { id, name, title, started_at, state, ended, bytes }
    }
}

/// Whose stream it is: `4711-1.hps` is of process 4711.
pub(super) fn writer(stream: &Path) -> Option<u32> {
    stream.file_stem()?.to_str()?.split('-').next()?.parse().ok()
}

/// Whether a process of that number lives, on this machine.
pub(super) fn lives(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// A folder of this user's alone.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A file of this user's alone, whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.part", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    let written = file.write_all(bytes);
    drop(file);
    let moved = written.and_then(|()| fs::rename(&new, path));
    if moved.is_err() {
        fs::remove_file(&new).unwrap_or_default();
    }
    moved
}
