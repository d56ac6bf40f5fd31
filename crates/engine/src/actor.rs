//! Who did something: events of what was decided or changed say it, so that several who work on one program
//! know each other's hands.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::ClientId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// An agent, or another client of MCP.
    Client { id: Option<ClientId>, name: String },
    /// Somebody at the REST face.
    Person,
    /// An instrumented app, about itself.
    App,
    /// The server itself: it stops, or nobody else is left to do it.
    Server,
}

impl Actor {
    /// About how many bytes it keeps alive.
    pub fn weight(&self) -> usize {
        match self {
            Actor::Client { name, .. } => name.len(),
            Actor::Person | Actor::App | Actor::Server => 0,
        }
    }
}

/// `agent (c1)`, `a person`: what stands after "by".
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::Client { id: Some(id), name } => write!(f, "{name} ({id})"),
            Actor::Client { id: None, name } => f.write_str(name),
            Actor::Person => f.write_str("a person"),
            Actor::App => f.write_str("the app"),
            Actor::Server => f.write_str("the server"),
        }
    }
}
