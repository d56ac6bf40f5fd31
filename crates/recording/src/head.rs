//! What is known of one process of a recording before any of its calls is read, and where those stand.

use serde::{Deserialize, Serialize};

use crate::stream::FunctionAt;

/// No call, no value.
pub(crate) const NONE: u32 = u32::MAX;

/// Where bytes of the file stand, and their sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part(pub(crate) u64, pub(crate) u32, pub(crate) u32);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Its first record, JSON.
    pub(crate) process: String,
    /// Its last one, if it was written.
    pub(crate) end: Option<String>,
    pub(crate) state: StreamState,
    pub(crate) notes: Vec<String>,
    pub(crate) strings: Vec<String>,
    pub(crate) files: Vec<FileAt>,
    pub(crate) functions: Vec<FunctionAt>,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) tests: Vec<TestAt>,
    pub(crate) levels: Vec<LevelAt>,
    pub(crate) forks: Vec<(u32, u64)>,
    pub(crate) exceptions: Exceptions,
    pub(crate) calls: u32,
    pub(crate) values: u32,
    /// Everything that happened, lines and writes too.
    pub(crate) events: u64,
    pub(crate) lines: u64,
    /// Events of no call.
    pub(crate) stray: u64,
    /// Events that the recorder passed over, by its own count.
    pub(crate) gaps: u64,
    pub(crate) first_root: Option<u32>,
    pub(crate) ticks_ns: f64,
    pub(crate) ticks: u64,
    pub(crate) stream_bytes: u64,
    pub(crate) blocks: Vec<Vec<Part>>,
    pub(crate) value_blocks: Vec<(u32, Part)>,
    pub(crate) packs: Vec<Part>,
    pub(crate) pieces: Vec<PieceAt>,
}

/// How a stream ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamState {
    /// It is still written, or its process was killed.
    #[default]
    Open,
    /// Its last record was read.
    Ended,
    /// It cannot be read on.
    Damaged(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileAt {
    pub(crate) path: String,
    pub(crate) hash: Vec<u8>,
}

/// What the calls of one function have in common.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) calls: u64,
    /// Calls that have no record of their own.
    pub(crate) counted: u64,
    /// Calls of which lines were kept.
    pub(crate) with_lines: u64,
    pub(crate) raised: u64,
    /// What came back: the class, how often, the first call.
    pub(crate) results: Vec<(u32, u64, u32)>,
    /// How often each slot was written.
    pub(crate) writes: Vec<u64>,
    pub(crate) ticks: u64,
}

/// One thread, or one task of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lane {
    pub(crate) thread: u64,
    pub(crate) task: u64,
    pub(crate) name: String,
    /// The call that ran where it first appeared.
    pub(crate) within: Option<u32>,
}

/// What a test runner said, and how many calls there were before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestAt {
    pub(crate) said: String,
    pub(crate) calls: u32,
    pub(crate) lane: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LevelAt {
    pub(crate) function: u32,
    pub(crate) level: u32,
    pub(crate) why: String,
    pub(crate) event: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Exceptions {
    pub(crate) total: u64,
    pub(crate) swallowed: u64,
    /// The first and the last of them.
    pub(crate) kept: Vec<Episode>,
}

/// One exception from where it was raised to where it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Episode {
    pub(crate) value: u32,
    pub(crate) object: u64,
    pub(crate) lane: u32,
    /// Where it was raised.
    pub(crate) call: u32,
    pub(crate) line: u32,
    pub(crate) event: u64,
    /// Who caught it, and at which line.
    pub(crate) handled: Option<(u32, u32)>,
    /// It was caught by code that is not recorded.
    pub(crate) outside: bool,
    /// It left the outermost recorded call.
    pub(crate) escaped: bool,
    /// It was raised again, or another one in its place.
    pub(crate) again: bool,
    /// The handler wrote it to a log.
    pub(crate) logged: bool,
}

impl Episode {
    /// Caught by the program, and nobody was told.
    pub(crate) fn is_swallowed(&self) -> bool {
        self.handled.is_some() && !self.outside && !self.again && !self.logged
    }
}

/// Steps of frames of one function, one behind the other in a pack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PieceAt {
    pub(crate) function: u32,
    pub(crate) pack: u32,
    pub(crate) at: u32,
    pub(crate) length: u32,
    /// The first and the last call in it.
    pub(crate) low: u32,
    pub(crate) high: u32,
    /// Its first event, and the one behind its last; 0 in a file that has them not.
    #[serde(default)]
    pub(crate) begin: u64,
    #[serde(default)]
    pub(crate) end: u64,
    /// How many frames begin in it.
    #[serde(default)]
    pub(crate) frames: u32,
}
