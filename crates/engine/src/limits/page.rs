//! Bounds of the page.

use std::time::Duration;

/// Bytes that an event keeps of an expression, and of its value: the caller has all of it.
pub const EVALUATION_TEXT: usize = 1_000;
/// How often a page is brought up to date at the most: faster than this nobody reads.
pub const PAGE_EVERY: Duration = Duration::from_millis(100);
/// What takes long to make rests this many times as long, so that a page takes a small part of a core.
pub const PAGE_SHARE: u32 = 12;
/// And it is brought up to date so often all the same.
pub const PAGE_SELDOM: Duration = Duration::from_millis(200);
/// How long a press waits for what came of it; what takes longer is shown when it comes.
pub const PAGE_ASKED: Duration = Duration::from_millis(250);
/// The same for a program that is started.
pub const PAGE_STARTS: Duration = Duration::from_secs(30);
/// How long its first stop is waited for before it is shown as it runs, in seconds.
pub const PAGE_FIRST_STOP: u64 = 2;
/// Stops that are kept with their values for pages, over all sessions.
pub const PAGE_STOPS: usize = 64;
/// Files that are kept for them as text.
pub const PAGE_TEXTS: usize = 16;
/// Windows of such files with their colours.
pub const PAGE_WINDOWS: usize = 16;
/// Lines of one window.
pub const PAGE_LINES: usize = 400;
/// Files of the stack that have a tab.
pub const PAGE_TABS: usize = 8;
/// Bytes of the program's output that are shown; the tools read all of it.
pub const PAGE_OUTPUT: usize = 16 * 1024;
/// Bytes of one value in the tree.
pub const PAGE_VALUE: usize = 300;
/// Parts of a value that are shown at once.
pub const PAGE_CHILDREN: usize = 100;
/// Records of calls in one page of the list, and moments of an object: what a browser lays out without a stutter.
pub const PAGE_RECORDS: usize = 100;
/// Calls of one window of the tree of calls, and rows of its flame.
pub const PAGE_TREE: usize = 200;
pub const PAGE_FLAME: usize = 24;
/// Functions, values and errors that are listed at once; a search finds the others.
pub const CALLS_LISTED: usize = 200;
/// Whoever asked the store a long question asks again only after this many times as long: a page that is open takes a
/// fraction of a core, however much is kept.
pub const PAGE_RESTS: u32 = 8;
/// Answers to long questions that are kept for pages.
pub const PAGE_ANSWERS: usize = 32;
/// Parts of two values that are compared, and how deep they are looked into.
pub const LEAVES: usize = 2_000;
pub const LEAF_DEPTH: usize = 12;
/// How deep a value that is nested deeper is shown: a path leads no further, and no reader does.
pub const SHOWN_DEPTH: usize = 60;
/// The time whose calls are counted beside each callpoint, and in how many parts.
pub const PAGE_RECENT: Duration = Duration::from_secs(60);
pub const PAGE_RECENT_PARTS: usize = 12;
/// How long an expression that makes an argument is waited for.
pub const PAGE_EVALUATES: Duration = Duration::from_secs(10);
/// How many calls around one are looked through for its place in the tree.
pub const PAGE_AROUND: usize = 10_000;
/// What a form of the page may send: an expression, a value, a note, a line to stdin.
pub const PAGE_FORM: usize = 4 << 20;
/// Events that the timeline draws: as many as the log keeps, so that whatever memory has is seen.
pub const PAGE_DRAWN: usize = super::LOG_EVENTS;
/// Events that are read for it before somebody else has their turn.
pub const PAGE_DRAWN_AT_ONCE: usize = 2_048;
/// Parts of one lane's width: a phone's lane has about so many pixels, and no two marks share one.
pub const PAGE_BINS: usize = 300;
/// Lanes that are drawn; more than this nobody overlooks.
pub const PAGE_LANES: usize = 60;
/// Stops, pauses and notes that a lane keeps with their words.
pub const PAGE_SPANS: usize = 2_000;
/// Values that are followed over time, and those that are drawn at once.
pub const PAGE_PLOTS: usize = 32;
pub const PAGE_PLOTS_SHOWN: usize = 4;
/// Events in one page of the timeline's list.
pub const PAGE_LISTED: usize = 60;
/// Timelines that are kept as they are drawn: this server's, and those before it that somebody looks at.
pub const PAGE_TIMELINES: usize = 3;
/// Words whose events are remembered for each of them.
pub const PAGE_SEARCHES: usize = 4;
/// Arguments of another server's tool that have a field of their own; the rest goes as JSON.
pub const PAGE_FIELDS: usize = 40;
