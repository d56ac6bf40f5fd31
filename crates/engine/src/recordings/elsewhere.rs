//! Recordings that other processes begin and end: who shows the list is told of those, too.
//!
//! All of them are folders of one folder, which whoever begins or ends one touches, so the kernel's events of that one
//! folder tell it all. Where there are none, the folder is looked at now and then.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::SystemTime,
};

use rustix::{
    fs::inotify::{self, CreateFlags, WatchFlags},
    io::Errno,
};
use tokio::io::unix::AsyncFd;

use super::{Shared, folder};
use crate::limits;

/// Tells other processes that something of these recordings has changed.
pub(super) fn touch(base: &Path) {
    // What comes and goes is told everywhere; a time that is set is not.
    let mark = base.join(format!(".changed-{}", std::process::id()));
    let touched = std::fs::create_dir(&mark).and_then(|()| std::fs::remove_dir(&mark));
    if let Err(error) = touched {
        tracing::debug!(%error, "other servers do not hear of a recording at once");
    }
}

/// Tells whoever listens to `shared` what other processes do. Ends when nobody listens any more.
pub(super) fn listen(base: PathBuf, shared: Arc<Shared>) {
    if shared.is_listening.swap(true, Ordering::AcqRel) {
        return;
    }
    tokio::spawn(async move {
        let events = folder::make_private(&base).ok().and_then(|()| FolderEvents::new(&base));
        let mut before = changed_at(&base);
        loop {
            tokio::select! {
                () = shared.changes.closed() => break,
                () = wait(events.as_ref()) => {}
            }
            let now = changed_at(&base);
            if events.is_some() || now != before {
                shared.changed();
            }
            before = now;
        }
        shared.is_listening.store(false, Ordering::Release);
        // Somebody may have come between.
        if shared.changes.receiver_count() > 0 {
            listen(base, shared);
        }
    });
}

async fn wait(events: Option<&FolderEvents>) {
    match events {
        Some(events) => {
            events.changed().await;
            // One recording's beginning is several events.
            tokio::time::sleep(limits::RECORDINGS_SETTLE).await;
        }
        None => tokio::time::sleep(limits::RECORDINGS_LOOK).await,
    }
}

/// When the folder was last touched.
fn changed_at(base: &Path) -> Option<SystemTime> {
    std::fs::metadata(base).and_then(|it| it.modified()).ok()
}

/// The kernel's events of one folder; what they say is no matter.
struct FolderEvents(AsyncFd<std::os::fd::OwnedFd>);

const BUFFER: usize = 4096;

impl FolderEvents {
    fn new(folder: &Path) -> Option<FolderEvents> {
        let made = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let what =
            WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
        inotify::add_watch(&made, folder, what).ok()?;
        #[expect(
            deprecated,
            reason = "unsound for types that change their descriptor; an `OwnedFd` does not"
        )]
        AsyncFd::new(made).ok().map(FolderEvents)
    }

    /// Until there was one; all that came are taken.
    async fn changed(&self) {
        let Ok(mut ready) = self.0.readable().await else {
            return tokio::time::sleep(limits::RECORDINGS_LOOK).await;
        };
        let mut buffer = [0; BUFFER];
        loop {
            match rustix::io::read(self.0.get_ref(), &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return tokio::time::sleep(limits::RECORDINGS_LOOK).await,
            }
        }
        ready.clear_ready();
    }
}
