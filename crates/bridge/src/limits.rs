//! Every bound of the bridge, with its reason.

use std::time::Duration;

/// Jobs of ours at once; the bridge rejects the eleventh, and others may use it as well.
pub const JOBS_IN_FLIGHT: usize = 6;
/// The longest wait inside of a script. The public bridge runs a job again that it took 60 s ago.
pub const WAIT_SLICE: Duration = Duration::from_secs(50);
/// When a job of the public bridge is ended by us, whatever its caller's deadline is: before it is run again.
pub(crate) const LEASE: Duration = Duration::from_secs(55);

/// The heartbeat is every 5 s; a bridge without one for this long is dead.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(30);
/// A process that is not to be seen may be another machine's or container's, as long as the heart beats.
pub(crate) const MISSED_BEAT: Duration = Duration::from_secs(7);
/// How often a job that waits looks at the bridge itself: whether it lives, and whether it is still the same.
pub(crate) const LOOK_AT_HOST: Duration = Duration::from_secs(1);

/// Between a job's folder and its command: a watcher that is told of the folder needs as long to watch it.
pub(crate) const SETTLE: Duration = Duration::from_millis(50);
/// How often a command that nobody took is touched, so that a lost file event is told again.
pub(crate) const TOUCH: Duration = Duration::from_millis(250);
/// A job that nobody took in this time is taken back and given again. The bridge scans every 2 s.
pub(crate) const PICKUP: Duration = Duration::from_secs(5);
/// How often the files of a job are looked at where the system tells of no change.
pub(crate) const POLL: Duration = Duration::from_millis(25);
/// The same where it does: behind it, for the events that a network disk does not tell.
pub(crate) const SLOW_POLL: Duration = Duration::from_millis(250);
/// How long a cancelled job has to say so.
pub(crate) const CANCEL: Duration = Duration::from_secs(1);
/// An answer that is half written is whole within this.
pub(crate) const HALF_WRITTEN: Duration = Duration::from_secs(2);
/// The first pause before a job that was rejected for want of room is given again; it doubles.
pub(crate) const ROOM: Duration = Duration::from_millis(100);
/// The longest of these pauses.
pub(crate) const ROOM_MAX: Duration = Duration::from_secs(2);
/// Scanners of viruses hold a file for a moment: how often a rename is tried again, and after what time.
pub(crate) const RENAMES: u32 = 5;
pub(crate) const RENAME_AGAIN: Duration = Duration::from_millis(20);

/// The public bridge answers nobody after ten failures in a minute, and not all of them are ours.
pub(crate) const FAILURES: usize = 7;
/// The time in which they are counted.
pub(crate) const FAILURES_IN: Duration = Duration::from_secs(60);
/// How long a call waits for that to pass before it is told to come later.
pub(crate) const BREATHER: Duration = Duration::from_secs(3);

/// Bytes of `host.json` and of `claimed.json`.
pub(crate) const SMALL_FILE: u64 = 64 * 1024;
/// Bytes of an answer.
pub(crate) const ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of one line of events; outputs are cut at 8 kB.
pub(crate) const EVENT_LINE: usize = 1024 * 1024;
/// Bytes of events that are read at once.
pub(crate) const EVENTS_READ: usize = 1024 * 1024;
/// Characters of what a script says of its failure.
pub(crate) const MESSAGE: usize = 2_000;
/// Bridge folders whose pace is kept while nobody uses it.
pub(crate) const FOLDERS: usize = 16;
/// Folders above a workspace that are looked into.
pub(crate) const LEVELS: usize = 64;
