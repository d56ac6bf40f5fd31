//! One job's folder, from our side: made, filled, touched, taken back, cancelled, removed. Whoever creates `claimed.json`
//! owns the job, and so a job that we take back before anybody took it never runs.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{BridgeError, host, limits};

const COMMAND: &str = "command.json";
const CLAIMED: &str = "claimed.json";
const DONE: &str = "done";

/// A folder that was made before it was needed, so that nobody has to wait until the other side watches it.
#[derive(Default)]
pub(crate) struct Premade(Mutex<Option<(PathBuf, Instant)>>);

impl Premade {
    fn take(&self) -> Option<(PathBuf, Instant)> {
        self.lock().take().filter(|(folder, _)| folder.is_dir())
    }

    /// Makes the next one, if there is none.
    pub(crate) fn prepare(&self, bridge: &Path) {
        let mut next = self.lock();
        if next.as_ref().is_some_and(|(folder, _)| folder.is_dir()) {
            return;
        }
        *next = make(bridge).ok().map(|it| (it, Instant::now()));
    }

    /// It was never used.
    pub(crate) fn remove(&self) {
        if let Some((folder, _)) = self.lock().take()
            && let Err(error) = fs::remove_dir(folder)
        {
            tracing::debug!(%error, "an empty job folder stays");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(PathBuf, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `20261115T181216530Z-hp<pid>-<8 hex>`: in order of time, unique, and a name on every file system.
fn job_id() -> String {
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ");
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("{time}-hp{}-{}", std::process::id(), random.get(..8).unwrap_or(&random))
}

/// Removes the empty folders that processes of ours left which are gone.
pub(crate) fn sweep(bridge: &Path) {
    let entries = fs::read_dir(bridge.join("execute")).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.split('-').nth(1).and_then(|it| it.strip_prefix("hp")?.parse().ok());
        let is_left = pid.is_some_and(|pid| !host::is_alive(pid));
        // One that is not empty has been given, and stays.
        if is_left && let Err(error) = fs::remove_dir(entry.path()) {
            tracing::debug!(%error, "a job's folder stays");
        }
    }
}

fn make(bridge: &Path) -> io::Result<PathBuf> {
    let folder = bridge.join("execute").join(job_id());
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    Ok(folder)
}

/// Creates a file that must not be there, for this user alone.
fn create(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A job that was given. Dropped before it is over, it is taken back or cancelled, and removed.
pub(crate) struct Job {
    folder: PathBuf,
    is_over: bool,
}

/// Who took a job.
pub(crate) enum Claim {
    Nobody,
    /// By that bridge, where the file says it already.
    By(Option<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimFile {
    bridge_id: String,
}

impl Job {
    /// Makes the folder, waits until it is watched, and puts the command in.
    pub(crate) async fn submit(
        bridge: &Path,
        premade: &Premade,
        script: &str,
        params: &Value,
        timeout: Duration,
    ) -> Result<Job, BridgeError> {
        let failed = || BridgeError::io("a job's folder cannot be made");
        let (folder, made) = match premade.take() {
            Some(found) => found,
            None => (make(bridge).map_err(failed())?, Instant::now()),
        };
        let job = Job { folder, is_over: false };
        tokio::time::sleep_until(made + limits::SETTLE).await;
        let id = job.folder.file_name().map(|it| it.to_string_lossy().into_owned());
        let command = json!({
            "version": 1,
            "clientId": format!("holdpoint-{}", std::process::id()),
            "id": id,
            "createdAt": Timestamp::now().to_string(),
            "scriptName": script,
            "params": params,
            "timeout": u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        });
        job.write_command(command).await.map_err(BridgeError::io("a job cannot be written"))?;
        Ok(job)
    }

    async fn write_command(&self, command: Value) -> io::Result<()> {
        let (part, whole) = (self.folder.join("command.json.tmp"), self.folder.join(COMMAND));
        let write = {
            let part = part.clone();
            move || {
                let mut file = create(&part)?;
                file.write_all(command.to_string().as_bytes())?;
                file.sync_all()
            }
        };
        // A disk may take long to say that it has it.
        tokio::task::spawn_blocking(write).await.map_err(io::Error::other)??;
        for _ in 1..limits::RENAMES {
            match fs::rename(&part, &whole) {
                // Somebody looks through the file: Windows says so.
                Err(error) if is_held(&error) => {
                    tokio::time::sleep(limits::RENAME_AGAIN).await;
                }
                done => return done,
            }
        }
        fs::rename(&part, &whole)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn is_done(&self) -> bool {
        self.folder.join(DONE).exists()
    }

    /// Whether the folder is there still: a window that opens wipes all of them.
    pub(crate) fn is_there(&self) -> bool {
        self.folder.is_dir()
    }

    pub(crate) fn claim(&self) -> Claim {
        match host::small_file(&self.folder.join(CLAIMED)) {
            Err(_) => Claim::Nobody,
            Ok(text) => {
                let read: Result<ClaimFile, _> = serde_json::from_slice(&text);
                Claim::By(read.ok().map(|it| it.bridge_id))
            }
        }
    }

    /// So that a watcher that missed it is told again.
    pub(crate) fn touch(&self) {
        let touch = || {
            let file = fs::OpenOptions::new().append(true).open(self.folder.join(COMMAND))?;
            file.set_modified(SystemTime::now())
        };
        if let Err(error) = touch() {
            tracing::debug!(%error, "a job was not touched");
        }
    }

    /// Takes the job ourselves. Where that works nobody else ever will.
    pub(crate) fn take_back(&self) -> bool {
        let Ok(mut file) = create(&self.folder.join(CLAIMED)) else { return false };
        let mark = json!({
            "bridgeId": "client",
            "claimedAt": Timestamp::now().to_string(),
            "pid": std::process::id(),
        });
        // Its existence is the fact; what it says is for people.
        if let Err(error) = file.write_all(mark.to_string().as_bytes()) {
            tracing::debug!(%error, "a job was taken back without a word");
        }
        true
    }

    /// Tells whoever took it to stop.
    pub(crate) fn cancel(&self) {
        match create(&self.folder.join("cancel")) {
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "a job was not cancelled"),
        }
    }

    /// Removes its folder.
    pub(crate) fn over(mut self) {
        self.is_over = true;
        remove(&self.folder);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if self.take_back() || self.is_done() {
            return remove(&self.folder);
        }
        self.cancel();
        let folder = std::mem::take(&mut self.folder);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return remove(&folder);
        };
        // Ends within the time that a cancelled job has.
        runtime.spawn(async move {
            let until = Instant::now() + limits::CANCEL;
            while !folder.join(DONE).exists() && Instant::now() < until {
                tokio::time::sleep(limits::POLL).await;
            }
            remove(&folder);
        });
    }
}

fn remove(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::debug!(%error, "a job's folder stays"),
    }
}

/// Errors of Windows that pass.
fn is_held(error: &io::Error) -> bool {
    cfg!(windows)
        && matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy)
}
