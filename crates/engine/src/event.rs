//! What can happen: one closed enum, so that adding a fact makes every reader decide about it.
//!
//! An event says what was observed. It carries no wishes and calls nobody.

use serde::Serialize;

use crate::ids::ClientId;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Event {
    ServerStarted { version: String, pid: u32 },
    ServerStopping { reason: String },
    ClientConnected { client: ClientId, name: String, transport: &'static str, protocol: String },
    ClientLeft { client: ClientId, name: String, transport: &'static str },
    Note { text: String, by: String },
}

/// The names of the events, for filters, streams and the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    ServerStarted,
    ServerStopping,
    ClientConnected,
    ClientLeft,
    Note,
}

/// What a reader may be watching; an event says which of these it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    Status,
    Timeline,
}

impl Event {
    pub fn kind(&self) -> Kind {
        match self {
            Event::ServerStarted { .. } => Kind::ServerStarted,
            Event::ServerStopping { .. } => Kind::ServerStopping,
            Event::ClientConnected { .. } => Kind::ClientConnected,
            Event::ClientLeft { .. } => Kind::ClientLeft,
            Event::Note { .. } => Kind::Note,
        }
    }

    /// The topics that look different after this event.
    pub fn touches(&self) -> &'static [Topic] {
        match self {
            Event::ServerStarted { .. }
            | Event::ServerStopping { .. }
            | Event::ClientConnected { .. }
            | Event::ClientLeft { .. } => &[Topic::Status, Topic::Timeline],
            Event::Note { .. } => &[Topic::Timeline],
        }
    }

    /// One line for people and agents, without seq and time.
    pub fn line(&self) -> String {
        match self {
            Event::ServerStarted { version, pid } => format!("holdpoint {version}, pid {pid}"),
            Event::ServerStopping { reason } => reason.clone(),
            Event::ClientConnected { client, name, transport, protocol } => {
                format!("{client} {name} over {transport}, MCP {protocol}")
            }
            Event::ClientLeft { client, name, transport } => {
                format!("{client} {name} over {transport}")
            }
            Event::Note { text, by } => format!("{by}: {text}"),
        }
    }

    /// About how many bytes the event keeps alive.
    pub fn weight(&self) -> usize {
        let text = match self {
            Event::ServerStarted { version, .. } => version.len(),
            Event::ServerStopping { reason } => reason.len(),
            Event::ClientConnected { name, protocol, .. } => name.len() + protocol.len(),
            Event::ClientLeft { name, .. } => name.len(),
            Event::Note { text, by } => text.len() + by.len(),
        };
        size_of::<Event>() + text
    }
}

impl Kind {
    pub const ALL: &[Kind] = &[
        Kind::ServerStarted,
        Kind::ServerStopping,
        Kind::ClientConnected,
        Kind::ClientLeft,
        Kind::Note,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::ServerStarted => "server_started",
            Kind::ServerStopping => "server_stopping",
            Kind::ClientConnected => "client_connected",
            Kind::ClientLeft => "client_left",
            Kind::Note => "note",
        }
    }

    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_and_the_filters_use_one_name() {
        let events = [
            Event::ServerStarted { version: "1".into(), pid: 1 },
            Event::ServerStopping { reason: "r".into() },
            Event::ClientConnected {
                client: ClientId(1),
                name: "n".into(),
                transport: "stdio",
                protocol: "p".into(),
            },
            Event::ClientLeft { client: ClientId(1), name: "n".into(), transport: "stdio" },
            Event::Note { text: "t".into(), by: "b".into() },
        ];
        assert_eq!(events.len(), Kind::ALL.len());
        for event in events {
            let name = serde_json::to_value(&event).unwrap()["kind"].as_str().unwrap().to_owned();
            assert_eq!(Kind::parse(&name), Some(event.kind()));
        }
    }
}
