//! Every bound of the store, with its reason.

use std::time::Duration;

// Writing.

/// Commands queued and not yet committed. At the slowest disk we measured (6,000 records a
/// second) that is a sixth of a second of work: more is not a burst but a store that is behind.
pub const QUEUE: usize = 1024;
/// Rows in one statement. More save nothing: what a row itself costs is left.
pub const ROWS: usize = 16;
/// Commands in one commit. A commit costs as much as some ten writes, so past a few hundred there
/// is nothing to gain, and the other servers wait for the lock meanwhile.
pub const BATCH: usize = 256;
/// A batch that has worked this long commits with what it has, however much is queued: the first
/// caller of the batch waits for the last.
pub const BATCH_TIME: Duration = Duration::from_millis(5);
/// From this many commands on, a batch is a burst and waits for more; smaller ones wait for nobody.
pub const BURST: usize = 8;
/// A burst is over when nothing comes for this long: a few times what waking a thread takes.
pub const LULL: Duration = Duration::from_micros(250);
/// How long a caller waits for room in a full queue before it hears that the store is behind.
/// An agent waits for its tool meanwhile.
pub const QUEUE_WAIT: Duration = Duration::from_secs(2);
/// How long a connection waits for another process's lock. Ours are held for milliseconds; the
/// long ones are a person's SQLite tool with an open transaction.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);
/// How long a caller waits for any answer. Longer than a lock may take, so that the better
/// error comes first; what is left is a disk that hangs.
pub const ANSWER_WAIT: Duration = Duration::from_secs(10);

// Reading.

/// Connections that read at once. Reads take microseconds; two long ones may still overlap.
pub const READERS: usize = 3;

/// Statements a connection keeps compiled: every one of this crate, with room to grow.
pub const STATEMENTS: usize = 64;

// What is kept.

/// Bytes of one text or blob, and of one row. Larger values belong in files beside the database.
pub const ROW_BYTES: i32 = 4 * 1024 * 1024;
/// The same where there is no folder for larger ones: what one request can bring.
pub const MEMORY_ROW_BYTES: i32 = 32 * 1024 * 1024;
/// Bytes of a value that stay in the database. Larger ones are read and written faster as files.
pub const INLINE_BYTES: usize = 100 * 1024;
/// Bytes of a value that a batch copies to the others; a larger one costs more to copy than to keep apart.
pub const COPIED_BYTES: usize = 4 * 1024;
/// Bytes of a value that is shown as it is. A page of records shows hundreds of values.
pub const SHOWN_BYTES: u64 = 4 * 1024;
/// Calls, their values and objects older than this are dropped: last week's bug is closed.
pub const KEEP_AGE: Duration = Duration::from_secs(7 * 24 * 3600);
/// Bytes of calls and values kept, on disk. Half a million calls of an ordinary app.
pub const KEEP_BYTES: u64 = 512 * 1024 * 1024;
/// The same in memory, where nobody asked for a file.
pub const KEEP_BYTES_MEMORY: u64 = 24 * 1024 * 1024;
/// What is dropped is dropped in slots of this length: at full speed, some ten megabytes.
pub const ERA_SECONDS: f64 = 10.0;
/// Records of one app that are counted to say how many there are: of a million, that alone takes longer
/// than the page that shows them.
pub const COUNTED_CALLS: i64 = 100_000;
/// Rows of a table dropped by one command; recording goes on between two.
pub const DROP_ROWS: i64 = 2_000;
/// Breakpoints kept. All are applied again at each launch; more come from a loop.
pub const BREAKPOINTS: i64 = 4096;
/// Launches kept, the newest: enough to repeat last week's, small enough to show.
pub const LAUNCHES: usize = 200;
/// Events of the timeline kept, over all runs: two bursts of 100,000 hits, some 100 MB.
pub const EVENTS: i64 = 250_000;
/// How old an event may get. Last month's bug is found, last year's is in the version control.
pub const EVENT_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// Servers whose events are kept.
pub const RUNS: i64 = 500;
/// Events that one batch removes at the most: several times what it adds, and some milliseconds.
pub const TRIM: i64 = 8_192;
/// How far a page counts what is behind it.
pub const COUNTED: usize = 10_000;
/// Bytes of a page of a new file. In a burst nearly every page of the index of values changes in each batch, so
/// that as many bytes are written whatever the size, and with large ones by a quarter of the system calls.
pub const PAGE_BYTES: i64 = 16 * 1024;
/// Pages of the write-ahead log after which they are moved into the file: in a burst the same pages
/// change again and again, and are moved once.
pub const WAL_PAGES: i64 = WAL_BYTES / PAGE_BYTES;
/// Bytes to which the write-ahead log shrinks after a burst: what it needs as a rule.
pub const WAL_BYTES: i64 = 16 * 1024 * 1024;
/// Kilobytes of pages that the writer keeps. The index of values is entered at random: with SQLite's own
/// 2 MB, a batch writes and reads its pages several times, and the system works twice as long.
pub const WRITER_CACHE_KB: i64 = 16_000;

// Opening.

/// Attempts to turn a new file to WAL while other servers open the same one. Each waits for
/// their lock in between.
pub const WAL_ATTEMPTS: usize = 50;
