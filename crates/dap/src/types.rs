//! The protocol's types, as far as a debugger uses them, one file per theme.
//!
//! Ours, not generated: the strict ones reject what real adapters send. A field that the protocol calls
//! required has a default, every other is an `Option`; how they are read is told in `lenient.rs`.
//! What stands in the protocol and not here travels by [`Requester::raw`](crate::Client::raw).
//! The meaning of a field is in the [specification](https://microsoft.github.io/debug-adapter-protocol/specification);
//! comments here say what the specification does not, or what is easily missed.

mod breakpoints;
mod capabilities;
mod empty;
mod events;
mod exceptions;
mod lifecycle;
mod modules;
mod running;
mod sources;
mod stack;
mod values;

pub use self::{
    breakpoints::*, capabilities::*, empty::*, events::*, exceptions::*, lifecycle::*, modules::*,
    running::*, sources::*, stack::*, values::*,
};
