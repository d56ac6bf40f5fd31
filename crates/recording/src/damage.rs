//! What can be wrong with the bytes of a recording.

use std::{error::Error, fmt};

/// Why bytes cannot be read on. Everything before them counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// They end in the middle of something.
    Short,
    /// A number has more bits than it may.
    Number,
    /// The first bytes are not ours.
    Magic,
    /// Written by a newer Holdpoint.
    Version(u8),
    /// A chunk is longer than any that is written.
    Long,
    /// A chunk's sum is wrong.
    Sum,
    /// An opcode that nobody writes.
    Opcode(u8),
    /// A kind of value that nobody writes.
    Kind(u64),
    /// Something is named that does not stand before.
    Unknown(&'static str),
    /// More of something than is read.
    Many(&'static str),
    /// A compressed part that cannot be inflated.
    Packed,
    /// A call ends where none runs.
    NoFrame,
    /// Something stands after the end.
    AfterEnd,
}

impl fmt::Display for Damage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Short => write!(to, "it ends in the middle of something"),
            Damage::Number => write!(to, "a number is too large"),
            Damage::Magic => write!(to, "it does not begin as a recording does"),
            Damage::Version(version) => write!(to, "its version {version} is not known here"),
            Damage::Long => write!(to, "a chunk is longer than any that is written"),
            Damage::Sum => write!(to, "a chunk's sum is wrong"),
            Damage::Opcode(code) => write!(to, "there is no record {code:#04x}"),
            Damage::Kind(kind) => write!(to, "there is no kind of value {kind}"),
            Damage::Unknown(what) => write!(to, "it names a {what} that it does not have"),
            Damage::Many(what) => write!(to, "it has more {what} than are read"),
            Damage::Packed => write!(to, "a packed part cannot be unpacked"),
            Damage::NoFrame => write!(to, "something happens where no call runs"),
            Damage::AfterEnd => write!(to, "something stands after its end"),
        }
    }
}

impl Error for Damage {}
