//! Every bound of reading and asking a recording, with its reason.

/// A chunk of a stream. Recorders write 64 KiB; a single record may be longer.
pub(crate) const CHUNK_MAX: usize = 1 << 20;

/// Calls of one process: 48 bytes of memory each while it is read.
pub(crate) const CALLS_MAX: usize = 8 << 20;

/// Values of one process: about 16 bytes of memory each while it is read.
pub(crate) const VALUES_MAX: usize = 16 << 20;

/// Strings, files, functions of one process each: far more than any program has.
pub(crate) const NAMES_MAX: usize = 1 << 20;

/// Bytes of all strings of one process.
pub(crate) const NAMES_BYTES_MAX: usize = 64 << 20;

/// Threads and tasks of one process, together; further ones share the last lane.
pub(crate) const LANES_MAX: usize = 1 << 20;

/// Calls that are open at once in one process, on stacks and suspended.
pub(crate) const OPEN_MAX: usize = 1 << 20;

/// How far up it is told that a call has ended whose caller had ended before: deeper than programs wait for each other.
pub(crate) const LATE_DEPTH_MAX: usize = 256;

/// Parts of one value that are read: recorders write 8.
pub(crate) const PARTS_MAX: usize = 256;

/// Parameters and slots of one function.
pub(crate) const SLOTS_MAX: usize = 1 << 16;

/// Processes of one recording.
pub(crate) const PROCESSES_MAX: usize = 1_024;

/// Calls of one block of columns.
pub(crate) const BLOCK: usize = 4_096;

/// Steps of frames that are packed together; a longer frame is in several parts.
pub(crate) const PACK: usize = 64 << 10;

/// What a packed part may have unpacked: four packs, or a block's widest column.
pub(crate) const UNPACKED_MAX: usize = 16 << 20;

/// Exceptions that are kept: as many of the first as of the last.
pub(crate) const EXCEPTIONS_KEPT: usize = 2_048;

/// Tests, notes and changes of level that are kept of one process each.
pub(crate) const FACTS_KEPT: usize = 20_000;

/// Classes of results that are counted of one function; a function with more has no odd one.
pub(crate) const CLASSES_MAX: usize = 16;

/// Steps of one frame that an answer looks at.
pub(crate) const FRAME_STEPS_MAX: usize = 2_000_000;

/// What opened columns, values and packs may hold of memory, in bytes; then they are read again.
pub(crate) const CACHE_MAX: usize = 48 << 20;

/// How deep a value is shown and compared: recorders write two levels.
pub(crate) const VALUE_DEPTH_MAX: usize = 8;

/// A condition's text, and how deep its parentheses go.
pub(crate) const WHERE_MAX: usize = 2_000;
pub(crate) const WHERE_DEPTH_MAX: usize = 32;

/// Writes that one history looks at.
pub(crate) const WRITES_MAX: usize = 1_000_000;

/// Children of one call that two runs are aligned over; beyond, they are compared in order.
pub(crate) const ALIGNED_MAX: usize = 2_000;

/// Pairs of calls that one comparison opens.
pub(crate) const COMPARED_MAX: usize = 200_000;
