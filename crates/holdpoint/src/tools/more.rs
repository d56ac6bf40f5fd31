//! `more_*`: the way to what a toolset leaves out.

pub(crate) mod tools;
