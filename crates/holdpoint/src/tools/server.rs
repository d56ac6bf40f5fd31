//! Tools about the server itself.

pub(crate) mod status;
