//! Every bound of this crate, with its reason.

/// Bytes of one header block. Real ones have 20 to 60; what is longer is not a header.
pub const HEADER_BYTES: usize = 4 * 1024;
/// Bytes of one message's body. A 10 MB string of the program, escaped, still fits; a larger
/// body is skipped without being kept, and reported.
pub const BODY_BYTES: usize = 64 * 1024 * 1024;
/// A length beyond this is a lie: skipping that much would swallow every later message.
pub const SKIP_BYTES: usize = 1024 * 1024 * 1024;
/// Bytes kept of what was skipped: enough to recognise it, and to find the number of the
/// request that an unreadable message answers.
pub const SAMPLE_BYTES: usize = 256;
/// Room that the decoder keeps between messages; more is given back after a large one.
pub const IDLE_BUFFER_BYTES: usize = 256 * 1024;
/// Bytes asked of the connection at once.
pub const READ_BYTES: usize = 64 * 1024;

/// Requests of one connection that wait for an answer. A debugger has a handful under way;
/// the next one waits for room.
pub const IN_FLIGHT: usize = 64;
/// Messages that wait to be written. Full means that the adapter does not read.
pub const OUTBOX: usize = 64;
/// Requests nobody waits for any more, remembered so that a late answer is not taken for a
/// stray one. The oldest is dropped first.
pub const FORGOTTEN: usize = 1024;
/// Messages that wait in the inbox. Full means that nobody listens: we stop reading, and the
/// adapter has to wait. Few, because a message may carry a hundred hits of a tracepoint, and what
/// follows them waits behind.
pub const INBOX: usize = 64;
/// KiB of messages that wait in the inbox, because one message can be very large.
pub const INBOX_KIB: u32 = 32 * 1024;

/// Stray or unreadable messages of one connection that are logged as warnings. An adapter that
/// prints its own log between messages would fill ours.
pub const NOISE_WARNINGS: u64 = 10;
/// Bytes of one tape. A forgotten `--dap-log` must not fill the disk.
pub const TAPE_BYTES: u64 = 1024 * 1024 * 1024;
