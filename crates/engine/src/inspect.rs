//! What a stopped program looks like, in few words: source around a line, stacks, values within a budget.

mod diff;
mod edited;
mod lines;
mod snapshot;
mod source;
mod values;

pub use self::{
    diff::{Change, Diff, What, diff},
    edited::{Edited, Source},
    lines::LineMap,
    snapshot::{FrameShot, Snapshot},
    source::{SourceView, excerpt, place, read, snippet},
    values::{Listed, Locals, changes, drill, is_noise, list, locals, one_line},
};
