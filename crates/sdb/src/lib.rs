//! The wire of Mono's soft debugger, which lives inside of the runtime (`--debugger-agent`).
//!
//! [`codec`] is bytes in, packets out. [`MonoRequester`] sends commands as typed as the protocol has them and
//! matches the answers; [`MonoInbox`] tells what happened, in order. The runtime speaks first.
//!
//! This crate starts no processes and knows no sessions. Two things of the runtime its user must know: a command about
//! a thread's frames is answered only while the program stands still, and holds up every other command until then; and
//! each event that suspends the program counts, so that it takes as many resumes.

pub mod codec;
pub mod command;
mod error;
pub mod event;
pub mod limits;
mod requester;
pub mod value;
mod wire;

pub use self::{
    error::MonoError,
    requester::{MonoInbox, MonoRequester},
};

macro_rules! references {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i32);

        impl $name {
            /// Zero stands for none.
            pub fn is_none(self) -> bool {
                self.0 == 0
            }
        })*
    };
}

references! {
    /// An object of the program, a thread among them. It lives as long as the program keeps it.
    ObjectRef
    TypeRef
    MethodRef
    FieldRef
    AssemblyRef
    DomainRef
    /// What events were asked for by it.
    EventRequest
}
