//! Tools about the timeline: everything that happened, in one order.

pub(crate) mod note;
pub(crate) mod query;
