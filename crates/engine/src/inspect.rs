//! What a stopped program looks like, in few words: source around a line, stacks, values within a budget.

mod diff;
mod edited;
mod lines;
mod outline;
mod snapshot;
mod source;
mod text;
mod values;

pub use self::{
    diff::{Change, Diff, What, diff},
    edited::{Edited, Source},
    lines::LineMap,
    outline::{function_at, outline},
    snapshot::{FrameShot, Snapshot},
    source::{SourceView, excerpt, normal, place, read, snippet},
    text::SourceText,
    values::{Listed, Locals, changes, drill, is_noise, list, locals, one_line},
};
