//! The V8 inspector (Chrome DevTools Protocol as Node speaks it) over a websocket.
//!
//! [`Requester`] calls, [`Inbox`] tells what happened, in order; workers are clients of the same kind.
//! [`Sources`] turns script ids and zero-based places into files and lines as people count them,
//! through source maps, and back.
//!
//! This crate starts no processes and knows no sessions: who launches, who decides what a stop
//! means, and how long a call may take are questions for its user. A call waits until it is
//! answered or the connection ends; drop its future to give up.

mod connection;
pub mod discover;
mod error;
mod hold;
mod inbox;
mod inserted;
pub mod limits;
mod message;
mod position;
mod requester;
mod router;
mod scripts;
mod source_map;
mod sources;
pub mod types;
mod vlq;

pub use discover::TargetInfo;
pub use error::{Closing, Error};
pub use hold::{HeldAt, Hold};
pub use inbox::{Inbox, Incoming};
pub use inserted::{Inserted, InsertedPiece};
pub use limits::Limits;
pub use message::parse as parse_payload;
pub use position::Position;
pub use requester::Requester;
pub use scripts::{Script, ScriptOrigin, Scripts, UserFile, file_url, path_of_url};
pub use source_map::{Generated, MapFailure, MappedSource, OnLine, Original, SourceMap};
pub use sources::{GeneratedAt, SourcePlace, Sources};
pub use types::{Command, Event, Target, WorkerSession};
