//! Bounds of what apps tell of their calls.

use std::time::Duration;

use super::BODY_BYTES;

/// Callpoints at once. Every function that an app wraps is one.
pub const CALLPOINTS: usize = 20_000;
/// Functions that apps have named.
pub const FUNCTIONS: usize = 20_000;
/// Calls that have begun and not ended. An app has as many as it has threads and tasks; the rest are
/// those whose end was never told.
pub const IN_FLIGHT: usize = 16_384;
/// Of these, how many are shown.
pub const IN_FLIGHT_SHOWN: usize = 200;
/// Calls paused at once. Nobody looks at more; the next ones go on.
pub const PAUSES: usize = 1_024;
/// Decisions kept for apps that have not fetched theirs, and for how long.
pub const DECIDED: usize = 4_096;
pub const DECIDED_KEPT: Duration = Duration::from_secs(600);
/// Pauses that are over and still known as such, for whoever decides too late.
pub const RESUMED_KNOWN: usize = 1_000;
/// Pauses that were given up and can be put back.
pub const LOST_PAUSES: usize = 64;
/// Polls held at once; each is a connection. Past that, apps ask every 100 ms.
pub const HELD_POLLS: usize = 400;
/// How long a poll is held. Existing clients give up after 30 s.
pub const HOLD: Duration = Duration::from_secs(10);
/// The same for a page, whose browser has six connections to one server.
pub const HOLD_JSON: Duration = Duration::from_secs(2);
/// The longest hold that a client can ask for.
pub const HOLD_MAX: Duration = Duration::from_secs(25);
/// The longest that a watcher of the callpoints waits.
pub const WATCH: Duration = Duration::from_secs(25);
/// How often an evaluation that nobody fetched is announced to the app.
pub const ANNOUNCE_EVERY: Duration = Duration::from_millis(100);
/// A paused app polls many times a second. Silent for this long, it is looked after.
pub const SILENCE: Duration = Duration::from_secs(5);
/// Silent for this long, it is given up, though its process may be there.
pub const SILENCE_MAX: Duration = Duration::from_secs(180);
/// A client that waits begins to within this.
pub const FIRST_POLL: Duration = Duration::from_secs(3);
/// How long apps that were paused have to tell how their calls ended, when the server stops.
pub const LAST_CALLS: Duration = Duration::from_secs(5);
/// How often apps are looked after.
pub const LIVENESS_EVERY: Duration = Duration::from_secs(1);
/// How often old records are dropped.
pub const PRUNE_EVERY: Duration = Duration::from_secs(10);
/// What was recorded is written at the latest after this, or after the commit that is under way then. A crash
/// loses that and what is being committed: as a rule 110 ms of calls, on a loaded machine, where a commit takes
/// 100 ms and more, up to half a second (`docs/contract/calls.md`).
/// At full speed the index of values is entered all over by each batch: in 40 ms it writes twice as much.
pub const FLUSH_EVERY: Duration = Duration::from_millis(100);
/// Bytes that make a batch at once.
pub const BATCH_BYTES: usize = 2 * 1024 * 1024;
/// Bytes recorded and not yet written; past this, apps wait for the disk. As much may be on its way.
pub const PENDING_BYTES: usize = 3 * 1024 * 1024;
/// Bytes recorded that the store could not take, kept for when it can: seconds of a full disk at full speed,
/// a minute of an ordinary app. Past this the oldest are lost, and counted.
pub const KEPT_BACK_BYTES: usize = 8 * 1024 * 1024;
/// How often a loss that goes on is told.
pub const LOSS_TOLD: Duration = Duration::from_secs(1);
/// Bytes that a change, an app or a moment weighs in what is pending, beside its texts.
pub const ROW_WEIGHT: usize = 256;
/// How long a reader waits for what was recorded before it.
pub const SETTLE: Duration = Duration::from_secs(5);
/// Values known without asking the store: about 150 bytes each.
pub const KNOWN_VALUES: usize = 32_768;
/// Bytes of stacks known by their text.
pub const STACK_CACHE: usize = 1024 * 1024;
/// Bytes of one stack of frames that are kept.
pub const STACK_BYTES: usize = 256 * 1024;
/// Values of more than this are hashed aside.
pub const ASIDE_BYTES: usize = 64 * 1024;
/// Characters of a value in a line, and in a list (the wire's 500).
pub const SHORT_VALUE: usize = 60;
pub const PRETTY_VALUE: usize = 500;
/// Digits by which a value may be named at the least: eight are unique among tens of thousands.
pub const CID_DIGITS: usize = 8;
/// Values counted that have the same beginning.
pub const CIDS_COUNTED: usize = 1_000;
/// Characters of a CID, and of a value, in a record that is shown in short.
pub const CID_SHOWN: usize = 16;
pub const VALUE_SHOWN: usize = 80;
/// Names listed to whoever named none of them.
pub const NAMES_SHOWN: usize = 20;
/// Bytes of a name that is said back to whoever made it up.
pub const NAME_SHOWN: usize = 80;
/// Digits of an integer that is carried exactly: Python reads no more.
pub const INTEGER_DIGITS: usize = 4_300;
/// Bytes after which a call's line names no more arguments.
pub const CALL_LINE: usize = 300;
/// Bytes of the new arguments that the record of a changed call keeps; more would be a second copy of a value.
pub const VERDICT_BYTES: usize = 2 * 1024;
/// Bytes of an exception's text that are kept.
pub const TRACEBACK_BYTES: usize = 32 * 1024;
/// Starts remembered that were asked to send values again.
pub const ASKED: usize = 1_024;
/// Apps remembered, and how often the store hears that one is alive.
pub const APPS: usize = 1_024;
pub const APP_SEEN: Duration = Duration::from_secs(30);
/// Errors of connections that apps reported (the wire's 500).
pub const COM_ERRORS: usize = 500;
/// Calls whose end is told one by one in each window; the rest of them by their number, but for those
/// that failed or were paused.
pub const TELL_EACH: u32 = 1_000;
pub const TELL_WINDOW: Duration = Duration::from_secs(1);
/// REPL sessions open at once, entries of a transcript, bytes of one output, expressions that wait.
pub const REPL_SESSIONS: usize = 256;
pub const REPL_ENTRIES: usize = 1_000;
pub const REPL_BYTES: usize = 64 * 1024;
pub const EVALS: usize = 64;
/// How long an evaluation may take when the call does not say (the wire's 30 s).
pub const EVAL: Duration = Duration::from_secs(30);
/// Batches remembered, so that one that is sent again counts once.
pub const BATCHES: usize = 256;
/// Records taken from a batch before others get their turn.
pub const BATCH_PIECE: usize = 200;
/// Missing values named in the answer to a batch.
pub const MISSING_NAMED: usize = 10_000;
/// Tokens of a resource or prompt about calls: context that nobody can page through.
pub const RESOURCE_TOKENS: usize = 16_000;
/// Records of one page when the call does not say, and at the most.
pub const RECORDS_PAGE: usize = 100;
pub const RECORDS_PAGE_MAX: usize = 1_000;
/// Calls of one tree, and moments of one object's history.
pub const TREE_CALLS: usize = 20_000;
pub const HISTORY: usize = 1_000;
/// Things shown inside one value.
pub const ATTRIBUTES: usize = 100;
/// Things shown inside one value of a placeholder (the wire's 50).
pub const PLACEHOLDER_ATTRIBUTES: usize = 50;
/// Bytes of one request about a call that are read into memory. What is larger is not captured,
/// and the app goes on.
pub const CALL_BODY: usize = BODY_BYTES;
/// Bytes of large requests that are in memory at once.
pub const CALL_BODIES: usize = 64 * 1024 * 1024;
/// Requests of more than this are counted, and read as JSON aside.
pub const CALL_BODY_SMALL: usize = 256 * 1024;
