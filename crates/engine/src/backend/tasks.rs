//! What is done beside a connection: one set for each, which whoever reads the connection awaits or aborts at
//! its end.

use std::sync::{Mutex, PoisonError};

use tokio::task::JoinSet;

#[derive(Default)]
pub(super) struct Tasks(Mutex<JoinSet<()>>);

impl Tasks {
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that are done make room.
        while set.try_join_next().is_some() {}
        set.spawn(work);
    }

    /// Hands them to whoever ends the connection; dropped, they are aborted.
    pub(super) fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
