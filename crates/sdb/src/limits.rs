//! The bounds of one connection.

/// Bytes of one packet: an array of a million numbers has five.
pub const PACKET_BYTES: usize = 64 * 1024 * 1024;
/// Events that wait to be taken; while they are full nothing more is read.
pub const INBOX: usize = 1_024;
/// Commands that wait to be written.
pub const OUTBOX: usize = 256;
/// Bytes of one read.
pub const READ_BYTES: usize = 16 * 1024;
/// Levels of structures inside of structures.
pub const VALUE_DEPTH: usize = 32;
