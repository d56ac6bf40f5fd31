//! Every bound of the system, with its reason.
//!
//! What reaches a bound says so in its answer, with the call that gets the rest.

mod calls;
mod described;
mod editor;
mod external;
mod page;
mod recordings;

use std::time::Duration;

pub use self::{calls::*, described::*, editor::*, external::*, page::*, recordings::*};

// The start.

/// Bytes of a file of options; one comes with every repository that is opened, and no real one comes near.
pub const CONFIG_BYTES: u64 = 64 * 1024;

// stderr.

/// Lines that wait for whoever reads stderr; more are dropped and counted.
pub const STDERR_LINES: usize = 256;
/// Bytes of one text there.
pub const STDERR_TEXT: usize = 8 * 1024;
/// How long the last lines have before the process ends without them.
pub const STDERR_LAST: Duration = Duration::from_millis(200);

// The log.

/// Events kept in memory. A reader that falls further behind is told of the gap.
pub const LOG_EVENTS: usize = 65_536;
/// Bytes of events kept in memory, so that large events push old ones out sooner. Hits of tracepoints, of
/// some 400 bytes, are all kept that [`LOG_EVENTS`] allows.
pub const LOG_BYTES: usize = 32 * 1024 * 1024;

// Tools.
//
// What a call may take beyond the time that it was given, and why:
// - `debug_continue`, `debug_step` (each step), `debug_pause`, `debug_wait`: TELL. What the debugger answers
//   and when is no matter of theirs: a command that was given is carried out whenever the program comes back.
// - `debug_launch`, `debug_restart`, `debug_attach`, `debug_probe`: what it takes until the program is under
//   control (CONNECT; INJECT for a process that runs), for nothing can be told of it before; START_GRACE in
//   all. Their time is for the first stop.
// - `debug_evaluate`: INTERRUPT, to end what does not end; TOOL_GRACE in all.
// - `breakpoint_set` and its like have no time of their own: PROMPT for each process, twice with a condition.
// - `debug_stop`: the guard ends a tree at once; then DRAIN, and LAST_HITS where tracepoints left a burst. One
//   that was attached to: DETACH.
// - Everything else is cut off at its time: TOOL_TIMEOUT, or `timeout_s`.

/// How long a tool may work or wait when the call does not say. Many clients give up after 60 seconds, and
/// a call that starts a program first may take [`START_GRACE`] more: with both it stays below 50.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(25);
/// How long after its last sign work that says itself what it does is waited for, whatever the call's deadline: a
/// compiler may take that long for one package.
pub const WORK_SHOWS: Duration = Duration::from_secs(40);
/// The longest wait a call may ask for. Longer waits are made of several calls.
pub const TOOL_TIMEOUT_MAX: Duration = Duration::from_secs(3600);
/// A tool that waits by itself answers at its deadline; the boundary cuts it off this much later.
pub const TOOL_GRACE: Duration = Duration::from_secs(5);
/// The same for one that starts a program first: that may take as long as [`CONNECT`].
pub const START_GRACE: Duration = Duration::from_secs(25);
/// A waiting tool tells a client that gave a progress token that it is alive, this often.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// What a call is doing, said and not yet passed on; more is not said.
pub const PROGRESS_QUEUE: usize = 16;
/// Where the system tells nobody (new sockets, processes that are not our children), it is asked this often.
pub const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// By how much the kernel's times of a process may be early.
pub const COARSE: Duration = Duration::from_millis(20);
/// How often an idle recorder looks whether anybody still wants it.
pub const STILL_WANTED: Duration = Duration::from_secs(1);
/// Calls of our own tools one client may have under way. More are refused, not queued: a client
/// that needs more is looping.
pub const CALLS_IN_FLIGHT: usize = 64;
/// Calls of other servers' tools that are under way for one client. More wait for their turn, apart from those of ours:
/// whoever asks for a thousand files at once means it, and a held call must not be in the way of what lets it go.
pub const TURNS: usize = 64;
/// How long such a call waits for its turn. Most clients have given it up by then.
pub const TURN: Duration = Duration::from_secs(120);
/// Requests of one connection that we have read and not yet answered. Past this we
/// stop reading: the client does not take its answers.
pub const UNANSWERED_REQUESTS: usize = 512;
/// Characters an answer may cost when the call does not say, counted as they stand inside JSON.
pub const ANSWER_CHARACTERS: usize = 6_000;
/// Characters of the whole answer, whatever stands around its lines: from 8,000 on clients cut the middle
/// out, or put a file in its place.
pub const ANSWER_CHARACTERS_MAX: usize = 7_500;
/// Of these, for what happened elsewhere since the client's last call.
pub const NEWS_CHARACTERS: usize = 500;
/// Things that happened elsewhere and are told one by one.
pub const NEWS: usize = 4;
/// Characters of a failure's text: of an error most clients show nothing else, and some cut it.
pub const FAILURE_CHARACTERS: usize = 2_000;
/// Bytes of a tool's or a parameter's name that are looked at. Ours have up to 31; a name of 4 MB took the
/// search for its nearest neighbour 26 s.
pub const CALLED_NAME_BYTES: usize = 256;
/// Bytes of the name that a tool may have: more, and some clients' backends refuse the whole list.
pub const TOOL_NAME_BYTES: usize = 64;
/// Characters of what a caller sent that an answer says back.
pub const ECHO_CHARS: usize = 80;
/// Tokens an answer may cost at the most, whatever the call says.
pub const ANSWER_TOKENS_MAX: usize = 50_000;

/// Bytes of a name that nobody knows, where an answer repeats it: 80 characters with the word about the rest.
pub const ECHO: usize = 60;

// The timeline.

/// Events in one page of the timeline when the call does not say.
pub const PAGE_EVENTS: usize = 50;
/// Hits of tracepoints in one answer when the call does not say: more are read in sum.
pub const PAGE_HITS: usize = 20;
/// Events in one page of the timeline at the most.
pub const PAGE_EVENTS_MAX: usize = 1_000;
/// Events written down at once. At 10,000 a second the ring holds four seconds of them at the least, and
/// the writer comes by forty times a second.
pub const TIMELINE_BATCH: usize = 2_048;
/// How long the writer gathers.
pub const TIMELINE_PAUSE: Duration = Duration::from_millis(25);
/// How long it waits after the store failed: a full disk stays full for a while.
pub const TIMELINE_RETRY: Duration = Duration::from_secs(1);
/// Bytes of an event's line in the store; its data is whole.
pub const TIMELINE_TEXT: usize = 400;
/// Servers before this one that an answer can name.
pub const RUNS: usize = 5;
/// Bytes of one note on the timeline. A note is a sentence, not a file.
pub const NOTE_BYTES: usize = 4_096;

// Clients.

/// Bytes kept of a name that a client gives itself.
pub const NAME_BYTES: usize = 128;
/// Resources one client may subscribe to.
pub const SUBSCRIPTIONS: usize = 256;
/// Clients at once, over all transports. Each may hold a notification task and queues; many HTTP clients
/// leave without a word and stay until their session is idle for too long.
pub const CLIENTS: usize = 1_024;
/// A streamable HTTP session in which nobody has a request or a stream open for this long is closed. Agents think
/// for a while between calls, and many do not survive a lost session, so it is longer than they think.
pub const HTTP_SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
/// How often they are looked at.
pub const HTTP_SESSIONS_LOOKED_AT: Duration = Duration::from_secs(60);
/// Streamable HTTP sessions from which on the longest idle makes room for a new one: half of [`CLIENTS`], so
/// that those who left without a word never keep others out.
pub const HTTP_SESSIONS: usize = CLIENTS / 2;
/// Clients that a status names one by one; the rest are counted.
pub const STATUS_CLIENTS: usize = 20;
/// Events taken from the log at once for one client's notifications.
pub const NOTIFY_BATCH: usize = 128;
/// Events that are told to a client of streamable HTTP that opens a stream after a while without one; those before are
/// named as missed.
pub const BACKLOG: u64 = 1_024;
/// Events whose messages are kept for the other clients: those that keep up are within a batch or two.
pub const WRITTEN: usize = 1_024;
/// Events within [`BURST_WINDOW`] from which on a client is told in batches.
pub const BURST: usize = 32;
pub const BURST_WINDOW: Duration = Duration::from_millis(10);
/// How long a batch gathers in a burst: nothing beside the 20 ms a notification may take.
pub const BURST_PAUSE: Duration = Duration::from_millis(2);
/// How often one client hears that its resources changed. Reading one again takes it longer.
pub const UPDATE_EVERY: Duration = Duration::from_millis(100);
/// HTTP+SSE connections at once; each holds two queues.
pub const SSE_STREAMS: usize = 256;
/// Messages queued in each direction of one HTTP+SSE connection.
pub const SSE_QUEUE: usize = 256;

/// How long a client may take to tell its roots: its first call about a program waits for it.
pub const ROOTS: Duration = Duration::from_millis(800);

// HTTP.

/// Bytes of one request's body.
pub const BODY_BYTES: usize = 16 * 1024 * 1024;
/// Bytes after which reading a body fails. More than a piece past [`BODY_BYTES`], so that whoever reads
/// it finds it too large and says so; to the SDK a body that fails is a fault of the server.
pub const BODY_BYTES_READ: usize = BODY_BYTES + 1024 * 1024;
/// Bytes of one line on stdio, the same as an HTTP body.
pub const LINE_BYTES: usize = BODY_BYTES;
/// Connections at once, over all listeners; past that, those without a request under way make room.
pub const HTTP_CONNECTIONS: usize = 1_024;
/// Requests under way at once of everybody but apps, whose calls must find a place: event streams, MCP, pages.
/// As a share of the connections, in quarters.
pub const HTTP_OTHERS_QUARTERS: usize = 3;
/// Bytes of a connection's first request that tell which thread serves it.
pub const FIRST_BYTES: usize = 16;
/// Connections on their way to another thread.
pub const HANDED: usize = 64;
/// How long a new connection waits for a place when all others have requests under way. As a rule one
/// is answered within milliseconds; else its client is told.
pub const PLACE_WAIT: Duration = Duration::from_secs(2);
/// Bytes of a request's head, and of what comes in the same piece: a thousand connections hold as many.
pub const HEAD_BYTES: usize = 64 * 1024;
/// How long the next piece of a body may take to come.
pub const BODY_STALL: Duration = Duration::from_secs(30);
/// How long a large body waits for its memory; then it is read and not captured.
pub const BODY_ROOM: Duration = Duration::from_secs(2);
/// Ports tried after the wanted one when it is taken.
pub const PORTS_TRIED: u16 = 100;
/// Servers that a port file names.
pub const PORT_LINES: usize = 64;
/// How long one of them may take to accept: on this machine that is at once.
pub const PORT_ANSWERS: Duration = Duration::from_millis(200);
/// How often an idle event stream shows that it is alive.
pub const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// How long answers may still be read after a client closed its end.
pub const GONE_GRACE: Duration = Duration::from_millis(300);

// Shutting down.

/// How long clients have to take their last messages.
pub const FAREWELL: Duration = Duration::from_secs(2);
/// How long programs have to end, which as a rule takes milliseconds: in a burst of hits those that are on
/// their way come first.
pub const PROGRAMS_END: Duration = Duration::from_secs(4);
/// How long the store has to take the last events: as a rule a few dozen, after a burst of hits thousands.
pub const LAST_EVENTS: Duration = Duration::from_secs(5);
/// How long its disk has to take them too. They outlive us without that; only a power cut would take them.
pub const LAST_FLUSH: Duration = Duration::from_secs(1);

// Servers that `holdpoint tool` starts.

/// How long one lives that nobody needs.
pub const DETACHED_IDLE: Duration = Duration::from_secs(600);
/// How long it lives with programs under it that nobody has asked about: they must have been forgotten.
pub const FORGOTTEN: Duration = Duration::from_secs(12 * 3600);
/// How long it may take until it answers, which as a rule is a tenth of a second.
pub const DETACHED_START: Duration = Duration::from_secs(20);
/// How long it may take to end: everything of "Shutting down", and a loaded machine.
pub const DETACHED_STOP: Duration = Duration::from_secs(15);
/// How long `holdpoint stop` waits to hear what is about to end with the server.
pub const HEALTH_ANSWER: Duration = Duration::from_secs(2);

// Doors.

/// How long a key of `holdpoint open` waits for the browser that brings it.
pub const OPEN_KEY: Duration = Duration::from_secs(60);
/// Such keys at once: somebody who opens page after page, not more.
pub const OPEN_KEYS: usize = 16;
/// Users who may not connect and are named to the one who asks.
pub const STRANGERS: usize = 16;

// Sessions.

/// Messages that wait for a session, or from a process. Full means that a burst is faster than we are: whoever
/// sends waits.
pub const MAILBOX: usize = 64;
/// Signals that are taken one after the other before everything else has its turn. More than what a program
/// that stops still has to report, and a few milliseconds of a flood.
pub const IN_A_ROW: usize = 16;
/// Processes and workers of one session that may wait to be taken in.
pub const TARGETS: usize = 64;
/// Processes of one session whose state is known, those that are gone among them; only the oldest of those make room.
pub const TARGETS_KNOWN: usize = 1_024;
/// Processes of one session that are known by name, also after their end: a program may start thousands.
pub const PROCESSES: usize = 4_096;
/// How long a process may take to say what it is called.
pub const TITLE: Duration = Duration::from_secs(1);
/// How long a program may take to come under control: a cold interpreter on a loaded machine.
pub const CONNECT: Duration = Duration::from_secs(20);
/// Between two looks whether a debugger that was just started listens on its port: nobody tells.
pub const LISTENS_AGAIN: Duration = Duration::from_millis(10);
/// How long a host may take to take a connection, and what listens there to say what it is.
pub const REACH: Duration = Duration::from_secs(5);
/// How long a debugger that speaks first may take to; only then is it asked.
pub const GREETING: Duration = Duration::from_secs(1);
/// Bytes of its first answer that are looked at.
pub const ANSWER_HEAD: usize = 8 * 1024;
/// How long the system's own debugger may take to put ours into a process that runs.
pub const INJECT: Duration = Duration::from_secs(25);
/// When whoever waits for it is told why: as a rule it takes half a second.
pub const INJECT_SAID: Duration = Duration::from_secs(2);
/// How long a process may take to open its inspector when it is asked to: its event loop must turn.
pub const INSPECTOR: Duration = Duration::from_secs(10);
/// A new listening socket shows within this; only then are those that were there before looked at.
pub const NEW_SOCKET: Duration = Duration::from_millis(300);
/// How long children of a process that was let go may still dial: the time an interpreter takes to start.
pub const LATE_CHILDREN: Duration = Duration::from_secs(10);
/// How long a process may take to hear that we go. The connection ends in any case, and then it is free.
pub const DETACH: Duration = Duration::from_secs(2);
/// Events that are kept while a debugger is configured; a program that we attach to may write meanwhile. Full
/// means that it says nothing else: we stop reading, and its deadline comes.
pub const EARLY_EVENTS: usize = 16_384;
/// How long a debugger may take to answer what is not an evaluation.
pub const ADAPTER_ANSWER: Duration = Duration::from_secs(10);
/// How long whoever sets a breakpoint waits to hear what became of it, and whether its condition parses. A
/// program that keeps its interpreter to itself answers later; what was sent takes effect then.
pub const PROMPT: Duration = Duration::from_secs(3);
/// How long such an answer may take: as long as any call of the program.
pub const LATE: Duration = Duration::from_secs(3600);
/// How long after a caller's deadline the answer may come: what is found then is still to be told.
pub const TELL: Duration = Duration::from_millis(700);
/// How long a stop may take to have its stack, for a caller who comes in between.
pub const STOP_SHOWN: Duration = Duration::from_secs(2);
/// How long a program's last words may take to reach us when it stops: they were written before.
pub const LAST_WORDS: Duration = Duration::from_millis(400);
/// Bytes of a program that are looked through to know its language.
pub const PROGRAM_READ: u64 = 64 << 20;
/// Bytes of what a builder writes for us, and of what it says to people, that are kept.
pub const BUILD_OUTPUT: usize = 16 << 20;
pub const BUILD_ERRORS: usize = 256 << 10;
/// Bytes of that which are told.
pub const BUILD_TOLD: usize = 4_000;
/// How deep below a build's folder its program is looked for, and in how many folders of each.
pub const BUILD_DEPTH: usize = 3;
pub const BUILD_FOLDERS: usize = 64;
/// Programs of lone source files that are kept; the oldest go.
pub const COMPILED_KEPT: usize = 32;
/// How long the program's own code may take to show its values: a `repr` can do anything.
pub const VALUES: Duration = Duration::from_secs(3);
/// How long that takes to end once it was interrupted.
pub const INTERRUPT: Duration = Duration::from_secs(2);
/// How long what a killed guard left behind may take to end; killing is a matter of milliseconds.
pub const ORPHANS_END: Duration = Duration::from_secs(4);
/// What is dead for so long is nobody's: whoever waits for a child of ours takes it away at once.
pub const DEAD_FOR: Duration = Duration::from_secs(10);
/// How often it is looked whether a program lives that a debug server holds. Some of those let it lie for half a second.
pub const DEAD_LOOK: Duration = Duration::from_millis(100);
/// How many processes may stand above another.
pub const DEEP: usize = 1_000;
/// How long they have to tell its end.
pub const DEAD_SEEN: Duration = Duration::from_secs(1);
/// How long the program's last output may take to arrive after its end.
pub const DRAIN: Duration = Duration::from_millis(500);
/// Bytes of what a runtime says about a stop, or of a reason, on the timeline.
pub const STOP_TEXT: usize = 1_000;
/// How long the hits of tracepoints that a program left behind may take to be read.
pub const LAST_HITS: Duration = Duration::from_secs(20);
/// Frames that come with a stop.
pub const STACK_FRAMES: usize = 20;
/// Bytes of what a build says when it fails: the first errors, which are the causes.
pub const BUILD_CAUSES: usize = 3_000;
/// Lines of it that are kept.
pub const BUILD_LINES: usize = 200;
/// Programs that were built for a launch and are kept for the next.
pub const BUILDS: usize = 24;
/// Bytes of a program file that are looked through for who built it.
pub const PROGRAM_LOOK: u64 = 64 * 1024 * 1024;
/// Frames of a runtime that may be above the user's own: a panic goes through five of them.
pub const MACHINERY: usize = 16;
/// Frames among which the user's own is looked for when a step ends in a library.
pub const STEP_FRAMES: usize = 64;
/// How often a step that ends in a library is sent on: as often as one line may call such.
pub const STEPS_BACK: usize = 64;
/// Points that nobody wanted to stop at, on the way of one step.
pub const STEP_MEETS: usize = 10_000;
/// Breakpoints at once.
pub const BREAKPOINTS: usize = 1_000;
/// Bytes of a tracepoint's message, as it is written.
pub const TEMPLATE_BYTES: usize = 4_096;
/// Expressions in one message: each is evaluated at every hit.
pub const TEMPLATE_EXPRESSIONS: usize = 32;
/// Different values of one expression that are told apart; more are "at least that many".
pub const TRACE_DISTINCT: usize = 4_096;
/// Bytes of one expression's value at a hit.
pub const TRACE_VALUE: usize = 256;
/// Bytes of a value that is compared with what it was, of what V8 shows of it; in Python it is all of it.
pub const UNTIL_VALUE: usize = 4_096;
/// What a watched program may take longer than asked, to come to the next line of the user's code.
pub const UNTIL_GRACE: Duration = Duration::from_millis(500);
/// Hits that a program sends at once at the most.
pub const TRACE_BATCH: usize = 128;
/// Hits that come closer together than this go out together: a hit that comes alone is not kept back.
pub const TRACE_EVERY: Duration = Duration::from_millis(2);
/// Passes of a Node program after which what V8 compiled for them is collected: from there on they cost more with
/// each.
pub const TRACE_SWEEP: u32 = 5_000;
/// The share of the time that this may take; where it takes more it is done half as often.
pub const TRACE_SWEEP_SHARE: f64 = 0.1;
/// Batches of one program that may be on their way to us; a faster program waits, and loses none.
pub const TRACE_ROOM: usize = 8;
/// The same for a Node program whose text has the tracepoints, which are faster; and after how many it is told how far we are.
pub const TRACE_WOVEN_ROOM: u64 = 64;
pub const TRACE_TAKEN: u64 = 8;
/// Files of a launch that tracepoints are put into; more are left to the debugger.
pub const WOVEN_FILES: usize = 100;
/// How long a program that ends waits for each of these batches to leave it.
pub const TRACE_LAST: Duration = Duration::from_secs(5);
/// How long after a batch the rest of it is fetched from a program that passes no more tracepoints.
pub const TRACE_REST: Duration = Duration::from_millis(10);
/// How long a text that begins waits for V8 to give up the tracepoints that it has in it.
pub const WOVEN_RELEASE: Duration = Duration::from_secs(1);
/// How often a program whose text has tracepoints is asked for hits that it has kept back: the first of each point, whose
/// function is read where no step can stop in it.
pub const TRACE_IDLE: Duration = Duration::from_millis(50);
/// How long all expressions of one hit may take together: the program stands meanwhile.
pub const TRACE_EVALUATE: Duration = Duration::from_secs(1);
/// How often an expression may take longer than that before it is not evaluated any more: each time costs
/// the program as much.
pub const TRACE_HANGS: u32 = 3;
/// Passes of a place that a probe keeps as they were: the first ones, and the last ones after those. More than an
/// answer ever shows.
pub const PASSES_KEPT: usize = 500;
pub const PASSES_LAST: usize = 20;
/// Different values of one expression that a probe counts one by one.
pub const PASS_VALUES: usize = 64;
/// Groups of passes; the passes of further ones are only counted.
pub const PASS_GROUPS: usize = 1_000;
/// Stops that one probe may ask for at one place: each costs milliseconds. `"all"` does not stop.
pub const PROBE_HITS: u64 = 1_000;
/// Places of one probe.
pub const PROBE_PLACES: usize = 16;
/// Hypotheses of one experiment, each of which is a breakpoint of one run.
pub const EXPERIMENTS: usize = 20;
/// Lines and functions of a file that are marked, to tell what ran when a line was not reached.
pub const PROBE_MARKS: usize = 200;
/// Files and folders that are looked through for one that is named by the end of its path.
pub const PROBE_FILES: usize = 20_000;
/// Exceptions of a run without a place that are looked at, until one is sure to be its failure.
pub const PROBE_FAILURES: usize = 20;
/// Exceptions that a runner of tests provokes itself while it collects, and that are passed over.
pub const PROBE_PASSED_OVER: usize = 200;
/// After its failure a run may take this long to its end, which says what came of it.
pub const PROBE_AFTER: Duration = Duration::from_secs(10);
/// Probes whose output can still be read after their end. Each holds [`OUTPUT_BYTES`] at the most.
pub const PROBES_KEPT: usize = 4;
/// Classes of exceptions to stop at; each exception is compared with all of them.
pub const EXCEPTION_TYPES: usize = 64;
/// Bytes of a program's output kept per session.
pub const OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of output that one event of the timeline quotes; `debug_output` has all of it.
pub const OUTPUT_EVENT: usize = 1_024;
/// How often output becomes an event: a program that prints without end must not push everything else
/// out of the log.
pub const OUTPUT_EVERY: Duration = Duration::from_millis(50);
/// Bytes of output kept in one piece; old output goes piece by piece.
pub const OUTPUT_CHUNK: usize = 64 * 1024;
/// Lines shown before and after a place that was found in a program's output: a test's name, what it
/// expected and what it got.
pub const FOUND_BEFORE: usize = 1;
pub const FOUND_AFTER: usize = 8;
/// Sessions at once.
pub const SESSIONS: usize = 16;
/// Bytes of a source file we read to show a part of it.
pub const SOURCE_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of source files kept per process, in case they are edited while it runs: some hundred files.
pub const KEPT_TEXTS: usize = 32 * 1024 * 1024;
/// How far the clock that files have may be behind: it goes by the kernel's ticks.
pub const FILE_CLOCK: Duration = Duration::from_millis(20);
/// The same for a program that does not stop: what it loads first is loaded by then.
pub const LOOK_RUNNING: Duration = Duration::from_secs(1);
/// How long after a stop a process is asked which files it has loaded: not between the steps of one who steps.
pub const LOOK_AFTER: Duration = Duration::from_millis(100);
/// Bytes of one source line that is shown; minified files have lines of megabytes.
pub const SOURCE_LINE: usize = 200;
/// From this column on, a place is named with it: only lines that no person wrote are so long.
pub const COLUMN_TELLS: u32 = 120;
/// Lines shown before and after a stop.
pub const SOURCE_CONTEXT: u32 = 3;
/// Variables of one scope that are looked at.
pub const LOCALS: usize = 500;
/// Children of one value that are looked at.
pub const CHILDREN: usize = 10_000;
/// Bytes of one value in a listing.
pub const VALUE_BYTES: usize = 200;
/// Changed variables told with a stop.
pub const CHANGES: usize = 12;

// Snapshots.

/// Frames whose variables a snapshot keeps, the innermost.
pub const SNAPSHOT_FRAMES: usize = 5;
/// Values of one snapshot, over all levels: about 300 kB.
pub const SNAPSHOT_VALUES: usize = 1_000;
/// Parts of one value.
pub const SNAPSHOT_PARTS: usize = 100;
/// Levels inside of values, when the call does not say and at the most.
pub const SNAPSHOT_DEPTH: usize = 2;
pub const SNAPSHOT_DEPTH_MAX: usize = 5;
/// How long it may take; then it keeps what it has.
pub const SNAPSHOT_TIME: Duration = Duration::from_secs(5);
/// Snapshots at once; the oldest is forgotten.
pub const SNAPSHOTS: usize = 20;
/// Stops of one session that are remembered by the variables that were told with them.
pub const STOPS: usize = 50;
/// Bytes of a snapshot's label.
pub const LABEL_BYTES: usize = 64;

// Node.

/// A program that runs stops within this when it is asked to; one that does not waits for events.
pub const IDLE: Duration = Duration::from_millis(200);
/// Places of one line in one script: bundlers repeat code, but not endlessly.
pub const PLACES: usize = 16;
/// Source files of a project that are looked through for a function.
pub const FUNCTION_FILES: usize = 2_000;
/// Bytes of a file that is looked through: larger ones are bundles and data.
pub const FUNCTION_BYTES: u64 = 2 * 1024 * 1024;
/// Scripts that are kept as words and marks, to know what is declared where the program stands.
pub const SCRIPTS_READ: usize = 4;
/// Lines before and after one without code that are looked at for one that has.
pub const NEARBY: u32 = 50;
/// How many tasks back a stack names what scheduled it.
pub const ASYNC_DEPTH: u32 = 8;
/// Frames of Node's own code that a step leaves before it ends among them after all.
pub const INTERNAL_STEPS: u32 = 50;
/// Handled errors at the top level of modules that are looked at, in case nobody handles them after all.
/// Each look costs some milliseconds; later ones are told without what their frames held.
pub const LOOKS: u32 = 200;
/// Errors of which is kept what their frames held: those that are rejected and not yet handled.
pub const THROWN: usize = 8;
/// Frames of such an error whose variables are kept.
pub const KEPT_FRAMES: usize = 5;
/// Variables of such a frame.
pub const KEPT_VARIABLES: usize = 100;
/// Places at which a step may end that a stop of ours has interrupted.
pub const STEP_ENDS: usize = 64;

// Expressions that we evaluate ourselves, for debuggers that evaluate none.

/// Bytes of one: a sentence, not a program.
pub const EXPRESSION_BYTES: usize = 4_096;
/// Levels of one, and signs in a row: each costs the walk a frame.
pub const EXPRESSION_DEPTH: usize = 64;

// Debug servers that live in this process.

/// Bytes of the pipe between one and the rest of us, in each direction.
pub const SERVED_PIPE: usize = 64 * 1024;
/// Answers and events that wait to be written into it.
pub const SERVED_OUTBOX: usize = 256;

// Runtimes that are their own debuggers.

/// Questions that are on their way to one at once.
pub const ASKED_AT_ONCE: usize = 32;

// Java.

/// Parts of a value that are shown beside its name, and parts of those.
pub const JAVA_GLANCE: &[usize] = &[8, 4];
/// Bytes of a text or a message.
pub const JAVA_TEXT: usize = 10_000;
/// How long a compiler may take for one source file: a cold `javac` on a loaded machine.
pub const COMPILE: Duration = Duration::from_secs(40);
/// How long a build tool may take until its test runs; what it writes meanwhile is shown.
pub const BUILD: Duration = Duration::from_secs(600);
/// Steps that end where there is no line of anybody's, one after the other.
pub const LINELESS_STEPS: u32 = 50;

// Mono's debugger.

/// The newest version of its protocol that we know, behind the point.
pub const MONO_PROTOCOL: i32 = 54;
/// Methods of one assembly that are looked through for lines.
pub const MONO_METHODS: u32 = 200_000;
/// Assemblies in which a type is looked for.
pub const MONO_ASSEMBLIES: usize = 200;
/// Types of which one may be derived, each from the next.
pub const MONO_BASES: usize = 64;
/// How often a step is taken again that ended where nobody has written anything.
pub const MONO_STEPS: usize = 50;
/// Threads that are looked at for one that is in the user's own code, when the program is paused.
pub const MONO_PAUSE_THREADS: usize = 64;
/// Characters of one text.
pub const MONO_TEXT: i64 = 4_096;
/// Parts of a value that are named beside it.
pub const MONO_PREVIEW: usize = 5;
/// Parts of a value that are listed; the rest is there by index.
pub const MONO_PARTS: usize = 2_000;
/// Entries of a list or a table that are looked through for one.
pub const MONO_SEARCHED: usize = 10_000;

/// A lone source file, by its compiler, on a busy machine.
pub const MONO_COMPILE: Duration = Duration::from_secs(60);
/// Programs that were compiled from such files and are kept.
pub const MONO_COMPILED: usize = 32;
