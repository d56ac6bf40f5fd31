//! The embedded database: what outlives a session and a server.
//!
//! One SQLite file in WAL mode that any SQLite tool opens and several servers share. One thread
//! writes, many commands to a commit; a few connections read beside it. A table is one file here
//! (`breakpoints.rs`, `timeline.rs`, `calls.rs`, …) and one step in `schema.rs`; values too large for
//! a row lie in files beside the database, by their CID. It knows SQLite, files and retention, and
//! neither sessions nor MCP nor HTTP. Callers hold [`Tables`], which names no engine; [`Store`] is the one
//! that there is.
//!
//! # The store failing never fails a session
//!
//! Nothing here panics, and every call answers within [`limits::QUEUE_WAIT`] and
//! [`limits::ANSWER_WAIT`] together, with an error if need be. A write that fails is logged and
//! counted ([`Stats::failed`]) before its caller hears of it, so a caller with something better to
//! do may drop the error: the session goes on, only its memory is poorer. When [`Store::open`]
//! refuses a file, the file is as it was; the server goes on with [`Location::Memory`] and says so.

mod batch;
mod breakpoints;
mod callpoints;
mod calls;
mod counts;
mod launches;
mod retention;
mod rows;
mod store;
mod tables;
mod timeline;
mod values;

mod cid;
mod connection;
mod error;
mod host;
pub mod limits;
mod readers;
mod schema;
mod text;
mod writer;

pub use batch::Batch;
pub use breakpoints::{BreakpointKey, BreakpointRow, KeptBreakpoint};
pub use callpoints::{CallpointChange, CallpointRow, FunctionRow, Kept, ReplQuery, ReplRow};
pub use calls::{AppRow, CallPage, CallQuery, CallRow, NewCall, SnapshotRow};
pub use cid::Cid;
pub use connection::Location;
pub use counts::CallCount;
pub use error::StoreError;
pub use host::{AppKey, Host};
pub use launches::{KeptLaunch, LaunchId, LaunchRow};
pub use retention::{CallStats, Pruned, Retention, era};
pub use store::{Stats, Store};
pub use tables::{Answering, NewEvents, Tables};
pub use timeline::{EventRow, EventsPage, EventsWanted, NewEvent, Run, RunId, RunRow};
pub use values::{NewValue, ValueRow};
