//! Work that would hold up everybody else: reading large requests, hashing and showing their values.
//!
//! One thread does all of it, one piece after the other, and not the runtime's pool: every thread that
//! allocates keeps some of what it freed, which with full batches is 10 MB each, and on the one core
//! that an app leaves us a second thread is no faster.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock,
        mpsc::{SyncSender, sync_channel},
    },
    thread::Builder,
};

use tokio::sync::{Semaphore, oneshot};

use crate::limits;

type Job = Box<dyn FnOnce() + Send>;

/// Lives as long as the process; none when the system gives no thread.
static THREAD: LazyLock<Option<SyncSender<Job>>> = LazyLock::new(|| {
    let (jobs, queue) = sync_channel::<Job>(1);
    let work = move || queue.into_iter().for_each(|job| job());
    Builder::new().name("holdpoint-aside".to_owned()).spawn(work).ok().map(|_thread| jobs)
});

/// Whose turn it is; a job has it until it is done, even if nobody waits for it any more.
static TURN: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(1)));

/// Does `work` aside, or here where the system gives no thread. None when it panicked.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let turn = Arc::clone(&TURN).acquire_owned().await.ok()?;
    let (reply, answer) = oneshot::channel();
    let job = move || {
        let done = catch_unwind(AssertUnwindSafe(work));
        drop(turn);
        if let Ok(done) = done
            && reply.send(done).is_err()
        {
            tracing::debug!("nobody waits any more for what was done aside");
        }
    };
    match THREAD.as_ref() {
        Some(thread) => thread.send(Box::new(job)).ok()?,
        None => job(),
    }
    answer.await.ok()
}

/// Does it here and now, or aside where it is about more bytes than others can wait for.
pub async fn aside_if_large<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if bytes <= limits::ASIDE_BYTES { Some(work()) } else { Box::pin(aside(work)).await }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_after_the_other_and_a_panic_ends_only_itself() {
        let thread = || std::thread::current().id();
        let first = aside(thread).await.unwrap();
        assert_eq!(aside(|| -> u8 { panic!("on purpose") }).await, None);
        assert_eq!(aside(thread).await, Some(first));
        // One that is given up is still done, and the next waits for it.
        drop(tokio::time::timeout(std::time::Duration::ZERO, aside(thread)).await);
        assert_eq!(aside(thread).await, Some(first));
    }
}
