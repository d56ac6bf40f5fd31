//! The commands and events of the protocol that a debugger needs, by theme.
//!
//! Lenient: unknown fields are ignored, most known ones optional, so that another version of Node
//! still parses. Lines and columns here are the protocol's own and start at zero;
//! [`crate::Position`] converts. What is not here can be sent with [`crate::Client::call`] and
//! arrives as [`Event::Other`].
//! Protocol: <https://chromedevtools.github.io/devtools-protocol/v8/>.

pub mod debugger;
mod event;
pub mod runtime;
pub mod worker;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use debugger::{CallFrame, Location, Paused, ScriptParsed};
pub use event::Event;
pub use runtime::RemoteObject;

/// A command of the protocol: its parameters are the type itself.
pub trait Command: Serialize {
    const METHOD: &'static str;
    type Answer: DeserializeOwned;
}

/// The answer of a command that has nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Done {}

/// Which thread of the program a message is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Main,
    Worker(WorkerSession),
}

/// Ids that the inspector gives and we only give back.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// The inspector's name for its connection with one worker thread.
    WorkerSession;
    /// One compiled script. The same file loaded twice has two.
    ScriptId;
    /// One frame of one pause; stale after the next resume.
    CallFrameId;
    /// A breakpoint as the inspector knows it.
    BreakpointId;
    /// A value inside the program that is kept alive for us until its group is released.
    ObjectId;
}

/// One execution context. `vm` makes more of them, and their end is not the program's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextId(pub i64);

/// A line or column. Scripts that `vm` compiles with an offset may begin before the first one.
fn place_number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = i64::deserialize(from)?;
    Ok(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
}

fn optional_place_number<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<u32>, D::Error> {
    let number = Option::<i64>::deserialize(from)?;
    Ok(number.map(|number| u32::try_from(number.max(0)).unwrap_or(u32::MAX)))
}

/// The table of commands: type, method, answer.
macro_rules! commands {
    ($($name:ty => $method:literal, $answer:ty;)*) => {$(
        impl $crate::types::Command for $name {
            const METHOD: &'static str = $method;
            type Answer = $answer;
        }
    )*};
}
use commands;
