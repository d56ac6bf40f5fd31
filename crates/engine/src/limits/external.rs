//! Bounds of what other MCP servers send and take.

use std::time::Duration;

/// Bytes of one message of another MCP server. Tools return files: 50 MB must pass, with what JSON adds.
pub const EXTERNAL_MESSAGE: usize = 64 * 1024 * 1024;
/// How long another server may take to connect: to start, and to answer the first request (the contract's 30 s).
pub const EXTERNAL_CONNECT: Duration = Duration::from_secs(30);
/// How long a call of it may take where its configuration does not say (the contract's 30 s).
pub const EXTERNAL_CALL: Duration = Duration::from_secs(30);
/// How much longer than its time a call may take that shows progress: so many times as long.
pub const EXTERNAL_PROGRESS: u32 = 20;
/// How long is waited before each attempt to reconnect; after the last it has failed (the contract's).
pub const EXTERNAL_RECONNECT: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];
/// A connection that held so long counts as a good one: attempts are counted anew after it.
pub const EXTERNAL_STEADY: Duration = Duration::from_secs(30);
/// How often a server that nobody calls is asked whether it is there, and how long it may take to say so.
pub const EXTERNAL_PING: Duration = Duration::from_secs(30);
pub const EXTERNAL_PONG: Duration = Duration::from_secs(10);
/// How long a server may take to end by itself once its stdin is closed. Shutdown is to end within 5 s in all.
pub const EXTERNAL_END: Duration = Duration::from_millis(1_500);
/// How long whoever is told that a call is cancelled may take to hear it.
pub const EXTERNAL_FAREWELL: Duration = Duration::from_secs(2);
/// Bytes of what a server wrote to stderr last, which its status and its failures show.
pub const EXTERNAL_STDERR: usize = 4 * 1024;
/// Bytes of an error of another server that are shown.
pub const EXTERNAL_ERROR: usize = 2 * 1024;
/// Pages of one list; a server that always has another is no reason to ask for ever.
pub const EXTERNAL_PAGES: usize = 1_000;
/// Tools and resources of one server that are kept.
pub const EXTERNAL_ITEMS: usize = 20_000;
/// How long after one refresh of a server's lists the next may come.
pub const EXTERNAL_REFRESH: Duration = Duration::from_millis(200);
/// Log messages of one server that go to the timeline, per second; the rest are counted.
pub const EXTERNAL_LOGS: u32 = 20;
/// Bytes of such a message.
pub const EXTERNAL_LOG: usize = 1_024;
/// How often a tool that asks for input is told that nobody is there, before that is its last word.
pub const EXTERNAL_ROUNDS: usize = 4;
/// Tokens of other servers that no log line shows: the last ones, since each is renewed every hour or so.
pub const EXTERNAL_TOKENS: usize = 128;
/// How long before its end a token is renewed: a request with it has to arrive in time, by clocks that differ.
pub const EXTERNAL_TOKEN: Duration = Duration::from_secs(30);
/// How long a person may take to log in at another server.
pub const EXTERNAL_LOGIN: Duration = Duration::from_secs(10 * 60);
/// Requests that one HTTP server is asked at once: one that is held at a callpoint there takes a place too.
pub const EXTERNAL_REQUESTS: usize = 1_024;
/// Messages on their way from or to one server.
pub const EXTERNAL_QUEUE: usize = 256;
/// How often it is looked whether the file of the other servers was edited: no system tells it everywhere.
pub const EXTERNAL_EDITS: Duration = Duration::from_secs(1);
/// Bytes of the file of other servers; agents' own files hold whole histories.
pub const EXTERNAL_CONFIG: u64 = 16 * 1024 * 1024;
/// Characters of a result that is handed to an agent; more fills its context, and most cut it themselves.
pub const EXTERNAL_SHOWN: usize = 30_000;
