//! The client against an other end that is played, with the faults of the real ones.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

#[path = "bridge/calls.rs"]
mod calls;
#[path = "bridge/events.rs"]
mod events;
#[path = "bridge/finding.rs"]
mod finding;
#[path = "bridge/seeds.rs"]
mod seeds;
#[path = "bridge/stage.rs"]
mod stage;
