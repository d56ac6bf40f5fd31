//! Who is at the other end, and whether it lives: lock, heartbeat, process.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::Deserialize;

use crate::limits;

/// Whose extension is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Ours,
    Public,
}

impl Flavour {
    /// The one that is preferred first.
    pub(crate) const ALL: [Flavour; 2] = [Flavour::Ours, Flavour::Public];

    /// Its folder in a workspace.
    pub fn folder(self) -> &'static str {
        match self {
            Flavour::Ours => ".holdpoint/bridge",
            Flavour::Public => ".vsc-bridge",
        }
    }

    /// As people say it.
    pub fn called(self) -> &'static str {
        match self {
            Flavour::Ours => "Holdpoint",
            Flavour::Public => "VSC-Bridge",
        }
    }

    pub(crate) fn workspace_of(self, folder: &Path) -> &Path {
        let levels = self.folder().split('/').count();
        folder.ancestors().nth(levels).unwrap_or(folder)
    }
}

/// `host.json`. What it has beyond is not ours.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HostFile {
    pub(crate) bridge_id: String,
    #[serde(default)]
    pub(crate) platform: Option<String>,
    #[serde(default)]
    pub(crate) pid: Option<i64>,
    #[serde(default)]
    holdpoint: Option<Capabilities>,
}

/// What our own extension says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Capabilities {
    #[serde(default)]
    pub protocol: u32,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub capabilities: Vec<String>,
}

impl Capabilities {
    pub fn has(&self, name: &str) -> bool {
        self.capabilities.iter().any(|it| it == name)
    }
}

/// How a bridge stands.
#[derive(Debug, Clone)]
pub struct BridgeStatus {
    pub flavour: Flavour,
    pub folder: PathBuf,
    pub workspace: PathBuf,
    /// Why it does not live; `None` where it does.
    pub dead: Option<String>,
    pub bridge_id: Option<String>,
    pub pid: Option<u32>,
    pub platform: Option<String>,
    /// How long ago its heart beat.
    pub last_seen: Option<Duration>,
    /// Of our own extension alone.
    pub capabilities: Capabilities,
    /// Our jobs that are under way.
    pub in_flight: usize,
    /// Two bridges that answered for the folder at once.
    pub split: Option<(String, String)>,
}

pub(crate) fn status(folder: &Path, flavour: Flavour) -> BridgeStatus {
    let mut status = BridgeStatus {
        flavour,
        folder: folder.to_owned(),
        workspace: flavour.workspace_of(folder).to_owned(),
        dead: None,
        bridge_id: None,
        pid: None,
        platform: None,
        last_seen: None,
        capabilities: Capabilities::default(),
        in_flight: 0,
        split: None,
    };
    let host = match read(folder) {
        Ok(host) => host,
        Err(why) => {
            status.dead = Some(why);
            return status;
        }
    };
    let age = age(&folder.join("host.json"));
    status.pid = host.pid.and_then(|it| u32::try_from(it).ok());
    status.dead = why_dead(folder, &host, age);
    status.last_seen = age;
    status.bridge_id = Some(host.bridge_id);
    status.platform = host.platform;
    status.capabilities = host.holdpoint.unwrap_or_default();
    status
}

/// `host.json` as it is; an error says why there is none.
pub(crate) fn read(folder: &Path) -> Result<HostFile, String> {
    let text = small_file(&folder.join("host.json")).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "`host.json` is missing".to_owned(),
        _ => format!("`host.json` cannot be read: {error}"),
    })?;
    serde_json::from_slice(&text).map_err(|error| format!("`host.json` cannot be read: {error}"))
}

/// A file of a few lines, whoever wrote it.
pub(crate) fn small_file(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read;
    let mut text = Vec::new();
    fs::File::open(path)?.take(limits::SMALL_FILE).read_to_end(&mut text)?;
    Ok(text)
}

fn why_dead(folder: &Path, host: &HostFile, age: Option<Duration>) -> Option<String> {
    if !folder.join("host.lock").exists() {
        return Some("its window was closed (`host.lock` is gone)".to_owned());
    }
    if !folder.join("execute").is_dir() {
        return Some("it has no `execute` folder".to_owned());
    }
    let age = age.unwrap_or(Duration::MAX);
    if age > limits::HEARTBEAT {
        return Some(format!("its last sign of life was {} s ago", age.as_secs()));
    }
    let pid = host.pid.and_then(|it| i32::try_from(it).ok());
    if age > limits::MISSED_BEAT
        && is_same_system(host.platform.as_deref())
        && let Some(pid) = pid
        && !is_alive(pid)
    {
        return Some(format!("its process {pid} is gone"));
    }
    None
}

/// How long ago it was changed; a time that is still to come is now.
fn age(path: &Path) -> Option<Duration> {
    let changed = fs::metadata(path).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(changed).unwrap_or_default())
}

/// Whether process numbers of the other side may be of this system.
fn is_same_system(platform: Option<&str>) -> bool {
    let ours = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    platform.is_none_or(|it| it == ours)
}

#[cfg(unix)]
pub(crate) fn is_alive(pid: i32) -> bool {
    use rustix::{io::Errno, process::Pid};
    let Some(pid) = Pid::from_raw(pid) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(Errno::SRCH))
}

#[cfg(not(unix))]
pub(crate) fn is_alive(_: i32) -> bool {
    true
}

/// Whether a folder is this user's, and nobody else's to write who may not.
#[cfg(unix)]
pub(crate) fn is_ours(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(path)?.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
pub(crate) fn is_ours(path: &Path) -> io::Result<bool> {
    fs::metadata(path).map(|_| true)
}
