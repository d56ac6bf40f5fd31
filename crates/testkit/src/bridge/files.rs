//! The files of a bridge, as the editor's side writes and reads them.

use std::{
    fs,
    io::Write,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Mutex,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

/// Where a workspace has its bridge.
pub fn folder_of(workspace: &Path, is_ours: bool) -> PathBuf {
    workspace.join(if is_ours { ".holdpoint/bridge" } else { ".vsc-bridge" })
}

/// What a window that opens does: the public one wipes the folder, ours only its jobs.
pub(super) fn settle_in(folder: &Path, id: &str, workspace: &Path, is_ours: bool) {
    let wiped = if is_ours { folder.join("execute") } else { folder.to_owned() };
    // A client may write into it in this very moment.
    let gone = (0..100).any(|_| {
        fs::remove_dir_all(&wiped).ok();
        !wiped.exists()
    });
    assert!(gone, "`{}` cannot be wiped", wiped.display());
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder.join("execute")).unwrap();
    fs::write(folder.join(".gitignore"), "*").unwrap();
    if is_ours {
        fs::remove_file(folder.join("events.ndjson")).ok();
        write(folder, "events.ndjson", b"");
    }
    fs::write(folder.join("host.lock"), "").unwrap();
    let mut host = json!({
        "bridgeId": id, "version": 1, "platform": "linux", "workspace": workspace,
        "pid": std::process::id(), "startedAt": "2026-11-17T00:00:00Z", "wslAware": true,
    });
    if is_ours {
        let capabilities =
            ["typed-errors", "cancel", "events", "breakpoint-truth", "control", "exceptions"];
        host["holdpoint"] =
            json!({ "protocol": 1, "version": "0.1.0", "capabilities": capabilities });
    }
    write(folder, "host.json", host.to_string().as_bytes());
}

/// Atomically, for this user alone. A folder that is gone takes nothing.
pub(super) fn write(folder: &Path, name: &str, text: &[u8]) {
    let part = folder.join(format!(".{name}.tmp"));
    let mut options = fs::OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).mode(0o600).open(&part);
    let Ok(mut file) = opened else { return };
    file.write_all(text).unwrap();
    fs::rename(part, folder.join(name)).ok();
}

pub(super) async fn write_in_halves(folder: &Path, name: &str, text: &[u8], pause: Duration) {
    let Ok(mut file) = fs::File::create(folder.join(name)) else { return };
    let (one, other) = text.split_at(text.len() / 2);
    file.write_all(one).unwrap();
    tokio::time::sleep(pause).await;
    file.write_all(other).unwrap();
}

/// Whether the job is this bridge's from now on.
pub(super) async fn claim(job: &Path, id: &str, pause: Duration) -> bool {
    let path = job.join("claimed.json");
    let mut options = fs::OpenOptions::new();
    let Ok(mut file) = options.write(true).create_new(true).mode(0o600).open(path) else {
        return false;
    };
    if pause > Duration::ZERO {
        tokio::time::sleep(pause).await;
    }
    let body =
        json!({ "bridgeId": id, "claimedAt": "2026-11-17T00:00:00Z", "pid": std::process::id() });
    file.write_all(body.to_string().as_bytes()).unwrap();
    true
}

/// Jobs that nobody has taken, and when their commands changed last.
pub(super) fn waiting(folder: &Path) -> Vec<(PathBuf, SystemTime)> {
    let Ok(entries) = fs::read_dir(folder.join("execute")) else { return Vec::new() };
    let jobs = entries.flatten().map(|it| it.path());
    jobs.filter_map(|job| {
        let command = fs::metadata(job.join("command.json")).ok()?;
        let is_taken = ["claimed.json", "done", "dlq"].iter().any(|it| job.join(it).exists());
        (!is_taken).then_some((job, command.modified().ok()?))
    })
    .collect()
}

/// The public bridge's sweep: whoever took this job long ago is taken for dead.
pub(super) fn unclaim(job: &Path) {
    if !job.join("done").exists() {
        fs::remove_file(job.join("claimed.json")).ok();
    }
}

/// The file of events of our own extension.
pub struct EventFile {
    folder: PathBuf,
    id: String,
    next: Mutex<u64>,
}

impl EventFile {
    pub fn new(folder: &Path, id: &str) -> EventFile {
        EventFile { folder: folder.to_owned(), id: id.to_owned(), next: Mutex::new(1) }
    }

    /// Appends one; returns its number.
    pub fn push(&self, event: &str, mut body: Value) -> u64 {
        let mut next = self.next.lock().unwrap();
        let seq = *next;
        *next += 1;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        body["seq"] = json!(seq);
        body["bridgeId"] = json!(self.id);
        body["ts"] = json!(u64::try_from(now.as_millis()).unwrap());
        body["event"] = json!(event);
        self.append(format!("{body}\n").as_bytes());
        seq
    }

    /// Appends whatever bytes.
    pub fn append(&self, text: &[u8]) {
        let path = self.folder.join("events.ndjson");
        let mut options = fs::OpenOptions::new();
        let mut file = options.append(true).create(true).mode(0o600).open(path).unwrap();
        file.write_all(text).unwrap();
    }

    /// Renames it away and begins anew, as at 8 MiB.
    pub fn rotate(&self) {
        let file = self.folder.join("events.ndjson");
        fs::rename(&file, self.folder.join("events.1.ndjson")).unwrap();
        self.append(b"");
    }
}
