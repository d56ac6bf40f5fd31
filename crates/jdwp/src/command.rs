//! The commands, as methods of [`Requester`](crate::Requester): one for each that a debugger of ours needs.

mod classes;
mod machine;
mod objects;
mod requests;
mod threads;
