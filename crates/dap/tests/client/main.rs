//! The client against an adapter that the test plays, over a pipe in memory.
//!
//! The other end is of the testkit. The clock is paused: a wait that nobody ends fails at once, and nothing sleeps.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

mod answers;
mod bounds;
mod closing;
mod forgetting;
mod order;
mod taped;
