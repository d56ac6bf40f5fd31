//! Every bound of this crate, with its reason.

/// Bytes of one packet. An array of ten million longs is 80 MB; nobody here asks for one at once, and a length beyond
/// this is a stream that is out of step.
pub const PACKET_BYTES: usize = 256 * 1024 * 1024;
/// Bytes that are read at once.
pub const READ_BYTES: usize = 64 * 1024;
/// Packets that wait to be written. Full means that the virtual machine does not read.
pub const OUTBOX: usize = 64;
/// Composite events that wait to be taken. Full means that nothing more is read, answers included: take them in a place
/// that awaits no answers.
pub const INBOX: usize = 1_024;
