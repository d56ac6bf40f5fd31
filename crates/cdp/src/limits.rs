//! Every bound of this crate, with its reason.

use std::time::Duration;

/// The bounds of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one message from the program. An inspector frame is one message, so this bounds both.
    pub message_bytes: usize,
    /// Kilobytes of events that wait for the reader of the inbox, as they are in memory; each event counts as one at
    /// least.
    pub inbox_kilobytes: usize,
    /// How long a full inbox may stay full before the connection is given up.
    pub inbox_stall: Duration,
    /// Calls under way at once. More are refused here: somebody is looping.
    pub calls: usize,
    /// How long connecting and the websocket handshake may take together.
    pub connect: Duration,
    /// How long a program may take to hear that the connection ends. One that does not is left all the same.
    pub leave: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            // V8's longest string is half a gigabyte, and a program may well log or return tens of
            // megabytes; a message over the bound costs the whole connection. The buffer grows only
            // as bytes arrive, so a generous bound costs nothing until it is needed.
            message_bytes: 256 * 1024 * 1024,
            // Some 20,000 small events, or 64 MB of large ones as they are in memory: a big application
            // announces some 10,000 scripts at once when the debugger is enabled.
            inbox_kilobytes: 64 * 1024,
            // A reader that takes nothing for this long is stuck, often because it waits for the
            // answer to a call that is queued behind the events it does not take.
            inbox_stall: Duration::from_secs(10),
            calls: 1024,
            // Loopback, but a program that starts under load may take seconds to answer.
            connect: Duration::from_secs(10),
            // Whoever is inside of a system call hears nothing, and a session that lets go of it waits no
            // longer than two seconds.
            leave: Duration::from_millis(1500),
        }
    }
}

/// How much more an event takes in memory than as text: a stop with its frames and scopes four times as much.
pub const READ_WEIGHT: usize = 4;
/// Bytes of an answer to `/json/list`. Node's is under a kilobyte.
pub const LIST_BYTES: usize = 1024 * 1024;
/// Scripts with a file or a name that are remembered. Beyond it the oldest are forgotten.
pub const SCRIPTS: usize = 100_000;
/// Scripts without a URL (`eval`, `new Function`) that are remembered: programs make them for ever.
pub const ANONYMOUS_SCRIPTS: usize = 10_000;
/// Bytes of one source map. The largest bundles in use have maps of some 50 MB.
pub const MAP_BYTES: usize = 128 * 1024 * 1024;
/// Mappings of one source map. Each takes 20 bytes here.
pub const MAP_TOKENS: usize = 16 * 1024 * 1024;
/// Folders above a map that are tried for a source named only by its bundler (`webpack://…`).
pub const MAP_ANCESTORS: usize = 16;
