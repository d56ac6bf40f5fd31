//! Node processes that a debugged program starts: `fork`, `node --test`, workers of test runners, `npm`.
//!
//! They dial nobody. So each runs a small script of ours first (`--require` in `NODE_OPTIONS`), which opens
//! its inspector, writes its address into a named pipe of ours, and waits. When the session is over the
//! pipe is gone, and the script does nothing.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::unix::pipe::Receiver,
};

use super::weave::{self, Weaving};
use crate::{
    adapter::provided::{self, write_once},
    backend::{
        Wanted,
        cdp::{BOOT, BOOT_NAME, WovenTexts},
    },
    failure::{Code, Failure},
};

/// Set for a program that we find by its stderr: it is not to announce itself.
pub(super) const FOUND: &str = "HOLDPOINT_NODE_MAIN";

/// Where children announce themselves.
pub(super) struct Announcements {
    lines: tokio::io::Lines<BufReader<Receiver>>,
    path: PathBuf,
    boot: PathBuf,
    /// Goes with the pipe, by which it is known that the session is over.
    weaving: Option<Weaving>,
}

/// A child that waits for us.
#[derive(Debug, Deserialize)]
pub(super) struct Child {
    pub(super) pid: u32,
    pub(super) url: String,
}

impl Announcements {
    pub(super) fn open(home: &Path) -> Result<Announcements, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let open = |home: &Path| {
            let folder = home.join("node");
            let boot = folder.join(BOOT_NAME);
            let path = folder.join(format!("{}-{number}.pipe", std::process::id()));
            std::fs::create_dir_all(&folder)?;
            write_once(&boot, BOOT)?;
            if path.exists() {
                // Left by a server of the same process id that was killed.
                std::fs::remove_file(&path)?;
            }
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)?;
            // Our own end for writing keeps the pipe from ending between two children.
            let file = std::fs::OpenOptions::new().read(true).write(true).open(&path)?;
            let lines = BufReader::new(Receiver::from_file(file)?).lines();
            Ok(Announcements { lines, path, boot, weaving: None })
        };
        provided::below(home, open).map_err(|error| {
            Failure::new(
                Code::LaunchFailed,
                format!("cannot prepare `{}`: {error}", home.join("node").display()),
            )
        })
    }

    /// Puts tracepoints into the texts of the program and of all that it starts.
    pub(super) fn weave(
        &mut self,
        home: &Path,
        wanted: Vec<(PathBuf, Vec<Wanted>)>,
    ) -> Arc<WovenTexts> {
        let name = self.path.file_stem().map(|it| it.to_string_lossy().into_owned());
        self.weaving = weave::weave(home, &name.unwrap_or_default(), wanted);
        self.weaving.as_ref().map(|it| Arc::clone(&it.texts)).unwrap_or_default()
    }

    /// What the program's environment needs, given the `NODE_OPTIONS` it has already.
    pub(super) fn env(&self, options: Option<&str>) -> Vec<(String, String)> {
        let quoted = |path: &Path| {
            let path = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            format!("--require \"{path}\"")
        };
        // Before our boot script, in which a child waits for us: from there on its texts are loaded.
        let loader = self.weaving.as_ref().map(|it| quoted(&it.loader));
        let given = options.filter(|it| !it.trim().is_empty()).map(str::to_owned);
        let options: Vec<String> =
            given.into_iter().chain(loader).chain([quoted(&self.boot)]).collect();
        let texts = self.weaving.as_ref().map(|it| (weave::TEXTS, it.file.display().to_string()));
        let ours = [
            ("NODE_OPTIONS", options.join(" ")),
            ("HOLDPOINT_NODE", self.path.display().to_string()),
        ];
        ours.into_iter().chain(texts).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The next child. Never ends by itself.
    pub(super) async fn next(&mut self) -> Option<Child> {
        loop {
            let line = match self.lines.next_line().await {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the pipe of child processes broke");
                    return None;
                }
            };
            match serde_json::from_str(&line) {
                Ok(child) => return Some(child),
                Err(error) => tracing::debug!(%error, line, "no child process says that"),
            }
        }
    }
}

impl Drop for Announcements {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "a pipe is gone already");
        }
    }
}
