//! What Holdpoint knows and does, whichever face asks: MCP, HTTP, the command line.
//!
//! Commands come down by call; facts go up by the [`log`], which every face reads from its own place.
//! This crate does not know MCP, serving HTTP, JSON schemas or stdout.

pub mod actor;
pub mod adapter;
pub mod aside;
pub mod attach;
pub mod backend;
pub mod breakpoints;
pub mod budget;
pub mod callpoints;
pub mod calls;
pub mod engine;
pub mod event;
mod expression;
pub mod failure;
pub mod ids;
pub mod inspect;
pub mod language;
pub mod launch;
pub mod limits;
pub mod log;
pub mod memory;
pub mod nouns;
pub mod process;
pub mod recordings;
pub mod records;
pub mod repl;
#[cfg(test)]
mod rooms;
pub mod running;
pub mod secrets;
pub mod session;
pub mod sessions;
pub mod snapshots;
pub mod template;
pub mod timeline;
