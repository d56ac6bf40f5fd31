//! Recordings of runs.

use std::time::Duration;

/// Recordings that are kept; the oldest go first. An agent asks the last few.
pub const RECORDINGS_KEPT: usize = 50;
/// Bytes of all of them together.
pub const RECORDINGS_BYTES: u64 = 2 << 30;
/// Recordings that are open at once; each holds what it has unpacked lately.
pub const RECORDINGS_OPEN: usize = 4;
/// How long recordings are looked into for a list of them before it is shown as far as it is known.
pub const RECORDINGS_BRIEFLY: Duration = Duration::from_millis(150);
/// Bytes of a program's output that are kept with its recording, of its end.
pub const RECORDED_OUTPUT: usize = 4 * 1024;
/// Bytes of one source file that are kept with a recording, and of all of them.
pub const RECORDED_SOURCE: u64 = 2 << 20;
pub const RECORDED_SOURCES: u64 = 32 << 20;
/// Streams of one recording that are read.
pub const RECORDED_STREAMS: usize = 1_024;
/// A stream is read in parts of this size.
pub const RECORDED_READ: usize = 1 << 20;
/// How long a program may be recorded.
pub const RECORDED_RUN: Duration = Duration::from_secs(3_600);
/// How long git may take to check a commit out.
pub const GIT: Duration = Duration::from_secs(60);

/// What a recorder holds that is not in its stream, at most; and how often it is looked at where its program writes
/// so fast that it becomes another one meanwhile.
pub const RECORDED_TAIL: usize = 64 << 10;
pub const RECORDED_TAIL_TRIES: usize = 16;

/// Of a frame that stands under the debugger so much is told; its tool tells all.
pub const RECORDED_LIFE_TOKENS: usize = 220;
/// A stop waits no longer for it.
pub const RECORDED_LIFE: Duration = Duration::from_millis(700);
/// How long after another process changed something of its recordings the list of them is looked at: one that begins is several
/// changes.
pub const RECORDINGS_SETTLE: Duration = Duration::from_millis(100);
/// How often they are looked at where the kernel does not tell.
pub const RECORDINGS_LOOK: Duration = Duration::from_secs(1);
