//! The debugger's side of the [Java Debug Wire Protocol](https://docs.oracle.com/en/java/javase/17/docs/specs/jdwp/).
//!
//! It knows packets, ids of whatever size the virtual machine has, commands with their answers, and composite events.
//! It knows no sessions, no processes, no sources, and no deadline: drop a command's future to give it up. The answer
//! to a command that was given up is thrown away when it comes.

pub mod command;
mod error;
pub mod limits;
mod packet;
mod requester;
pub mod types;
mod wire;

pub use error::JdwpError;
pub use requester::{Inbox, Requester};
