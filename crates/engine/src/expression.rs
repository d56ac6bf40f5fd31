//! Expressions of languages whose debuggers evaluate none: read here, and carried out piece by piece in the program.
//!
//! [`parse`] is text in, tree out, and knows no program. [`evaluate`] walks a tree over a [`World`], which reads and
//! calls inside of a stopped program; whoever speaks a debugger's protocol is one. Java and C# are near enough to share
//! all of it: what differs is said by their [`Grammar`].
//!
//! Every failure is one line that begins with a word for its kind, `UnknownName: …`: a tracepoint tells that word alone.

mod evaluate;
mod numeric;
mod parse;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub(crate) use self::{
    evaluate::{Assignee, Operand, Receiver, World, evaluate},
    numeric::{Numeric, NumericKind},
    parse::parse,
    token::Grammar,
};
