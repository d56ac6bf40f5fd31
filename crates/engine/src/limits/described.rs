//! Bounds of tools that a file describes.

use std::time::Duration;

/// Files of a workspace that are looked at: an agent's list is for choosing from.
pub const TOOL_FILES: usize = 64;
/// Bytes of what a command or an answer begins with that are kept; the rest is counted.
pub const TOOL_OUTPUT_HEAD: usize = 128 * 1024;
/// Bytes of its end that are kept: what went wrong is told last.
pub const TOOL_OUTPUT_TAIL: usize = 16 * 1024;
/// Bytes of the output that a failure shows.
pub const TOOL_FAILED_OUTPUT: usize = 1_200;
/// Bytes of an answer over HTTP; a tool's answer is for reading.
pub const TOOL_HTTP_BODY: usize = 1024 * 1024;
/// Bytes of one argument of a command; the system takes no more of a single one.
pub const TOOL_ARGUMENT: usize = 120 * 1024;
/// How long a tool that waits by itself may take beyond its wait: to be picked up, and to answer.
pub const TOOL_WAIT_GRACE: Duration = Duration::from_secs(10);
/// How long the pipes of a command that has ended are still read: a child of it may hold them open.
pub const TOOL_DRAIN: Duration = Duration::from_millis(500);
