//! Drives a real Holdpoint from the outside, as its users do: over stdio, HTTP and the command line. And plays
//! the other end for the crates inside: [`adapter`] is a debug adapter that does what a test tells it.
//!
//! For tests and benches only. Everything waits with a deadline, and every process started here
//! is gone when its handle is dropped.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

pub mod adapter;
pub mod bridge;
pub mod browser;
pub mod calls;
pub mod debug;
pub mod http;
pub mod listen;
pub mod node;
pub mod packages;
pub mod process;
pub mod rpc;
pub mod servers;
pub mod stage;
pub mod user;

use std::time::{Duration, Instant};

/// Long enough for a loaded machine, short enough for a test that hangs.
pub const DEADLINE: Duration = Duration::from_secs(40);

/// Asks again and again until there is an answer. For things that announce nothing.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < DEADLINE, "{what} did not happen within {DEADLINE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
