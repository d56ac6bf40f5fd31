//! A recording whose program took the place of whoever began it: a process beside it waits until nobody writes any
//! more, and makes one file of it. Nobody but a parent learns how a process ended; its own last word says it where it knew.

use std::{collections::BTreeSet, time::Instant};

use super::{Recordings, broken, folder};
use crate::{aside::aside, failure::Failure, limits, process::Exit};

/// An end that was seen by the program's own last word, or by that there was none.
pub const UNSEEN_END: &str = "its own end";
const NO_LAST_WORD: &str = "no last word: it was killed, or it crashed";

impl Recordings {
    /// Returns when the program and whatever it started have ended, and their recording is one file.
    pub async fn keep(&self, id: &str) -> Result<(), Failure> {
        let began = Instant::now();
        let folder = self.find(Some(id))?;
        let mut about = folder.about();
        let program = about.program_pid;
        // From here on it is written for as long as this process lives.
        about.server_pid = std::process::id();
        let written = |error: std::io::Error| broken(folder.path(), &error);
        folder.write_about(&about).map_err(written)?;
        let mut seen = BTreeSet::new();
        if let Some(pid) = program {
            gone(pid).await;
            seen.insert(pid);
        }
        about.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        while let Some(pid) = folder.writers().into_iter().find(|it| !seen.contains(it)) {
            gone(pid).await;
            seen.insert(pid);
        }
        let shared = std::sync::Arc::clone(&self.shared);
        let finished = aside(move || {
            let (has_ended, exit) =
                shared.read(&folder, |one, _| (one.has_ended(program), one.said_exit(program)))?;
            about.exit_code = exit;
            about.ended = Some(match exit {
                Some(code) if code != 0 => Exit::Code(code).to_string(),
                Some(_) | None if has_ended => UNSEEN_END.to_owned(),
                Some(_) | None => NO_LAST_WORD.to_owned(),
            });
            folder.write_about(&about).map_err(|error| broken(folder.path(), &error))?;
            shared.finish(&folder)
        });
        finished.await.unwrap_or_else(|| Err(Failure::internal("reading its streams panicked")))
    }
}

/// Waits for the end of a process that is not ours.
async fn gone(pid: u32) {
    #[cfg(target_os = "linux")]
    match ending::of(pid) {
        ending::ProcessEnding::Gone => return,
        ending::ProcessEnding::Told(end) if end.readable().await.is_ok() => return,
        ending::ProcessEnding::Told(_) | ending::ProcessEnding::Untold => {}
    }
    while folder::lives(pid) {
        // An old system tells only parents.
        tokio::time::sleep(limits::LOOK_AGAIN).await;
    }
}

#[cfg(target_os = "linux")]
mod ending {
    use std::os::fd::OwnedFd;

    use rustix::{
        io::Errno,
        process::{Pid, PidfdFlags, pidfd_open},
    };
    use tokio::io::unix::AsyncFd;

    pub(super) enum ProcessEnding {
        Gone,
        /// It is readable then.
        Told(AsyncFd<OwnedFd>),
        Untold,
    }

    pub(super) fn of(pid: u32) -> ProcessEnding {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return ProcessEnding::Gone;
        };
        match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Err(Errno::SRCH) => ProcessEnding::Gone,
            Err(_) => ProcessEnding::Untold,
            Ok(fd) => {
                #[expect(
                    deprecated,
                    reason = "unsound for types that change their descriptor; an `OwnedFd` does not"
                )]
                let told = AsyncFd::new(fd);
                told.map_or(ProcessEnding::Untold, ProcessEnding::Told)
            }
        }
    }
}
