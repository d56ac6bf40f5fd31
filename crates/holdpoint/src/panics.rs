//! Panics of this process: each is told on stderr, counted, and ends no more than what it happened in.

use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    panic::{AssertUnwindSafe, PanicHookInfo},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

use futures::FutureExt as _;

use crate::stderr;

static PANICS: AtomicU64 = AtomicU64::new(0);

/// The system's own hook would wait for whoever reads stderr.
pub(crate) fn watch() {
    std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        PANICS.fetch_add(1, Relaxed);
        let thread = thread::current();
        let mut text = format!("thread `{}` {panic}", thread.name().unwrap_or("unnamed"));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            text += &format!("\n{trace}");
        }
        stderr::line(&text);
    }));
}

/// How many there were.
pub(crate) fn count() -> u64 {
    PANICS.load(Relaxed)
}

/// Ends a panic here. Every lock of ours is taken over from whoever panicked, and whole between statements.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Box<dyn Any + Send>> {
    AssertUnwindSafe(work).catch_unwind().await
}
