//! Pickles from nobody that is trusted: bombs, mutations, halves, and recorded ones.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it stands"
)]

mod bombs;
mod fuzz;
mod look;
mod properties;
mod recorded;
