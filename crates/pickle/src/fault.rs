//! Why bytes could not be read as a pickle, and where.

use std::fmt;

/// Bytes that are no pickle, or half of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The byte at which reading ended.
    pub at: usize,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The input ends where more must follow.
    Truncated,
    UnknownOpcode(u8),
    /// An opcode takes more values than there are.
    StackUnderflow,
    /// An opcode takes everything since a mark, and there is none.
    NoMark,
    /// A value is asked for that was never remembered.
    NotInMemo(u64),
    /// A number or a text that does not read as one.
    BadText,
    /// An opcode that changes a value of a kind that cannot be changed so.
    WrongKind,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Truncated => write!(f, "it ends too early"),
            FaultKind::UnknownOpcode(byte) => write!(f, "0x{byte:02x} is no opcode"),
            FaultKind::StackUnderflow => write!(f, "an opcode finds too few values"),
            FaultKind::NoMark => write!(f, "an opcode finds no mark"),
            FaultKind::NotInMemo(index) => write!(f, "memo entry {index} was never set"),
            FaultKind::BadText => write!(f, "a number or text is malformed"),
            FaultKind::WrongKind => write!(f, "an opcode changes a value of the wrong kind"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a pickle: {} (byte {})", self.kind, self.at)
    }
}

impl std::error::Error for Fault {}

/// Reading ended at a bound; what was read until then is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many bytes were read, of how many.
    pub at: usize,
    pub of: usize,
    pub bound: OverBound,
}

/// The bound that ended reading; [`crate::Limits`] holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverBound {
    Steps,
    Nodes,
    Memo,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.bound {
            OverBound::Steps => "steps",
            OverBound::Nodes => "values",
            OverBound::Memo => "memo entries",
        };
        write!(f, "read {} of {} bytes: too many {what}", self.at, self.of)
    }
}
