//! Work that a caller began and that goes on when they wait no longer. It ends with the session.

use std::sync::{Mutex, PoisonError};

use tokio::{sync::oneshot, task::JoinSet};

#[derive(Default)]
pub(super) struct Beside(Mutex<JoinSet<()>>);

impl Beside {
    /// Begins it; what comes of it can be waited for.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (done, answer) = oneshot::channel();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that have ended make room.
        while all.try_join_next().is_some() {}
        all.spawn(async move {
            // Whoever waited may be gone.
            done.send(work.await).map_err(drop).unwrap_or_default();
        });
        answer
    }
}
