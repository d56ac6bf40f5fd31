//! Waiting for a folder to change: the kernel's own events where there are any, and a look now and then behind them.
//!
//! Linux alone has events here; elsewhere, and where the kernel has no more watches to give, looking is all.

use std::{path::Path, time::Duration};

use crate::limits;

pub(crate) struct Watch {
    #[cfg(target_os = "linux")]
    events: Option<linux::Events>,
}

impl Watch {
    /// Of these folders; one that is not there is left out.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(folder: &Path, is_watched: bool) -> Watch {
        Watch { events: is_watched.then(|| linux::Events::new(folder)).flatten() }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(_: &Path, _: bool) -> Watch {
        Watch {}
    }

    /// Returns when something may have changed, and after the longest of waits in any case.
    #[cfg(target_os = "linux")]
    pub(crate) async fn changed(&self, longest: Duration) {
        let Some(events) = &self.events else {
            return tokio::time::sleep(longest.min(limits::POLL)).await;
        };
        let longest = longest.min(limits::SLOW_POLL);
        // Whether it came by an event or not, the files are looked at.
        tokio::time::timeout(longest, events.changed()).await.unwrap_or_default();
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) async fn changed(&self, longest: Duration) {
        tokio::time::sleep(longest.min(limits::POLL)).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{os::fd::OwnedFd, path::Path};

    use rustix::{
        fs::inotify::{self, CreateFlags, WatchFlags},
        io::Errno,
    };
    use tokio::io::unix::AsyncFd;

    /// Bytes of events that are taken at once; what they say is no matter.
    const BUFFER: usize = 4096;

    pub(super) struct Events(AsyncFd<OwnedFd>);

    impl Events {
        pub(super) fn new(folder: &Path) -> Option<Events> {
            let made = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let what = WatchFlags::CREATE
                | WatchFlags::MOVED_TO
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::MODIFY
                | WatchFlags::DELETE_SELF;
            inotify::add_watch(&made, folder, what).ok()?;
            #[expect(
                deprecated,
                reason = "unsound for types that change their descriptor; an `OwnedFd` does not"
            )]
            AsyncFd::new(made).ok().map(Events)
        }

        pub(super) async fn changed(&self) {
            let Ok(mut ready) = self.0.readable().await else {
                return std::future::pending().await;
            };
            let mut buffer = [0; BUFFER];
            loop {
                match rustix::io::read(self.0.get_ref(), &mut buffer) {
                    Ok(0) | Err(Errno::AGAIN) => break,
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(_) => break,
                }
            }
            ready.clear_ready();
        }
    }
}
