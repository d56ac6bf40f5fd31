//! What can go wrong, by whose fault.

use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JdwpError {
    /// The virtual machine answered with an error: the wrong moment, or something that is gone.
    #[error("{}", name(*.0))]
    Refused(u16),
    #[error("the connection to the virtual machine is closed: {0}")]
    Closed(Arc<str>),
    #[error("the virtual machine's answer makes no sense: {0}")]
    Malformed(&'static str),
}

impl JdwpError {
    /// An object that was collected, or an id that was never one.
    pub const INVALID_OBJECT: u16 = 20;
    /// The thread is not suspended, or has ended.
    pub const THREAD_NOT_SUSPENDED: u16 = 13;
    pub const INVALID_THREAD: u16 = 10;
    pub const ABSENT_INFORMATION: u16 = 101;
    pub const NATIVE_METHOD: u16 = 511;
    pub const INVALID_SLOT: u16 = 35;
    pub const VM_DEAD: u16 = 112;

    pub fn is(&self, code: u16) -> bool {
        *self == JdwpError::Refused(code)
    }

    /// Whether the virtual machine is gone, or going.
    pub fn is_end(&self) -> bool {
        matches!(self, JdwpError::Closed(_)) || self.is(JdwpError::VM_DEAD)
    }
}

/// As the specification says them.
fn name(code: u16) -> String {
    let name = match code {
        10 => "the thread is gone",
        13 => "the thread is not suspended",
        14 => "the thread is suspended already",
        15 => "the thread runs",
        20 => "the object is gone",
        21 => "no such class",
        22 => "the class is not prepared yet",
        23 => "no such method",
        24 => "no such location",
        25 => "no such field",
        30 => "no such frame",
        31 => "there are no more frames",
        32 => "the frame is a native one",
        34 => "a value of another type is wanted",
        35 => "the variable is not there at this line",
        99 => "this virtual machine cannot do that",
        101 => "the class was compiled without it (`javac -g` puts it in)",
        112 => "the virtual machine has ended",
        502 => "the thread is at a place where nothing can be called",
        503 => "no such array",
        504 => "the index is outside of the array",
        511 => "the method is a native one",
        other => return format!("the virtual machine refused it with error {other}"),
    };
    name.to_owned()
}
