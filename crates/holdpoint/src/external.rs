//! Other MCP servers, used from here: connected at the start or later, their tools called through us, and
//! every such call recorded and holdable like a call of an app.
//!
//! Nothing of this is built until a configuration names a server or asks for the manager. A server that is
//! dead, hung or flooding hurts no other and not us: each has a task of its own ([`server`]), and whatever it
//! sends is bounded before it is read ([`stdio`], [`events`], [`http`]).

pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod expose;
pub(crate) mod failure;
pub(crate) mod hidden;
pub(crate) mod login;
pub(crate) mod manager;
pub(crate) mod plan;
pub(crate) mod server;

mod connection;
mod ears;
mod edits;
mod events;
mod http;
mod long;
mod noted;
mod sse;
mod stdio;
mod tail;
