//! What can happen: one closed enum, so that adding a fact makes every reader decide about it.
//!
//! An event says what was observed. It carries no wishes and calls nobody.

use serde::Serialize;

use crate::ids::{BreakpointId, ClientId, SessionId, ThreadKey};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Event {
    ServerStarted { version: String, pid: u32 },
    ServerStopping { reason: String },
    ClientConnected { client: ClientId, name: String, transport: &'static str, protocol: String },
    ClientLeft { client: ClientId, name: String, transport: &'static str },
    Note { text: String, by: String },
    SessionStarted { session: SessionId, name: String, language: &'static str },
    Stopped(StoppedAt),
    Resumed { session: SessionId },
    SessionEnded { session: SessionId, exit: String },
}

/// Where a program stands, as it was observed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoppedAt {
    pub session: SessionId,
    pub thread: ThreadKey,
    pub reason: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub function: Option<String>,
    pub hits: Vec<BreakpointId>,
    pub text: Option<String>,
}

/// The names of the events, for filters, streams and the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    ServerStarted,
    ServerStopping,
    ClientConnected,
    ClientLeft,
    Note,
    SessionStarted,
    Stopped,
    Resumed,
    SessionEnded,
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
            Event::SessionStarted { .. } => Kind::SessionStarted,
            Event::Stopped(_) => Kind::Stopped,
            Event::Resumed { .. } => Kind::Resumed,
            Event::SessionEnded { .. } => Kind::SessionEnded,
        }
    }

    /// The topics that look different after this event.
    pub fn touches(&self) -> &'static [Topic] {
        match self {
            Event::ServerStarted { .. }
            | Event::ServerStopping { .. }
            | Event::ClientConnected { .. }
            | Event::ClientLeft { .. }
            | Event::SessionStarted { .. }
            | Event::Stopped(_)
            | Event::Resumed { .. }
            | Event::SessionEnded { .. } => &[Topic::Status, Topic::Timeline],
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
            Event::SessionStarted { session, name, language } => {
                format!("{session} {name} ({language})")
            }
            Event::Stopped(at) => at.line(),
            Event::Resumed { session } => session.to_string(),
            Event::SessionEnded { session, exit } => format!("{session} {exit}"),
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
            Event::SessionStarted { name, .. } => name.len(),
            Event::Stopped(at) => at.weight(),
            Event::Resumed { .. } => 0,
            Event::SessionEnded { exit, .. } => exit.len(),
        };
        size_of::<Event>() + text
    }
}

impl StoppedAt {
    fn line(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" at {file}:{line}"),
            _ => String::new(),
        };
        let function = self.function.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
        let text = self.text.as_deref().map(|it| format!(", {it}")).unwrap_or_default();
        format!("{} {}{place}{function}{text}", self.session, self.reason)
    }

    fn weight(&self) -> usize {
        let texts = [&self.file, &self.function, &self.text];
        self.reason.len() + texts.iter().map(|it| it.as_ref().map_or(0, String::len)).sum::<usize>()
    }
}

impl Kind {
    pub const ALL: &[Kind] = &[
        Kind::ServerStarted,
        Kind::ServerStopping,
        Kind::ClientConnected,
        Kind::ClientLeft,
        Kind::Note,
        Kind::SessionStarted,
        Kind::Stopped,
        Kind::Resumed,
        Kind::SessionEnded,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::ServerStarted => "server_started",
            Kind::ServerStopping => "server_stopping",
            Kind::ClientConnected => "client_connected",
            Kind::ClientLeft => "client_left",
            Kind::Note => "note",
            Kind::SessionStarted => "session_started",
            Kind::Stopped => "stopped",
            Kind::Resumed => "resumed",
            Kind::SessionEnded => "session_ended",
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
            Event::SessionStarted { session: SessionId(1), name: "n".into(), language: "python" },
            Event::Stopped(StoppedAt {
                session: SessionId(1),
                thread: "1".parse().unwrap(),
                reason: "step".into(),
                file: None,
                line: None,
                function: None,
                hits: Vec::new(),
                text: None,
            }),
            Event::Resumed { session: SessionId(1) },
            Event::SessionEnded { session: SessionId(1), exit: "exit code 0".into() },
        ];
        assert_eq!(events.len(), Kind::ALL.len());
        for event in events {
            let name = serde_json::to_value(&event).unwrap()["kind"].as_str().unwrap().to_owned();
            assert_eq!(Kind::parse(&name), Some(event.kind()));
        }
    }
}
