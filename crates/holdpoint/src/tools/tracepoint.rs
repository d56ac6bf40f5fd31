//! Tracepoints: the program passes, and says what it saw.

pub(crate) mod read;
pub(crate) mod set;
