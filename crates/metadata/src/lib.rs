//! Tools that are described by a file: what may stand in one, and what is wrong with one that is not right.
//!
//! There is one reader, [`ToolSpec::read`]: the build script puts every file of `tools/` through it, and a server
//! every file of a workspace. It is strict: an unknown key, an example that its own parameter refuses, a range that
//! holds nothing or a parameter without a hint is a [`Complaint`] with its line.
//! Nothing here runs anything or speaks a protocol: a [`Carrier`] only says by what a call is carried out.

mod argument;
mod carrier;
mod complaint;
mod fields;
mod folder;
mod literal;
mod loopback_url;
mod node;
mod param;
mod rule;
mod spec;

pub use self::{
    argument::{CommandPart, TextPiece, TextTemplate},
    carrier::{BridgeAsk, BridgeCarrier, Carrier, HttpCarrier, Method, ShellCarrier},
    complaint::Complaint,
    folder::{File, folder},
    literal::Literal,
    loopback_url::LoopbackUrl,
    param::{Param, ParamKind, TextPattern, Unfit},
    rule::Rule,
    spec::{KnownFailure, Prerequisite, ResponseClass, Safety, ToolSpec},
};

/// Bytes of one file; no real one comes near.
pub const FILE_BYTES: usize = 64 * 1024;
