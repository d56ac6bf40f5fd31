//! The names of events, and what a reader may be watching.

/// The names of the events, for filters, streams and the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    ServerStarted,
    ServerStopping,
    ClientConnected,
    ClientLeft,
    Note,
    SessionStarted,
    Stopped,
    Resumed,
    SessionEnded,
    ControlChanged,
    EditorSession,
    Evaluated,
    ProcessStarted,
    ProcessEnded,
    ThreadStarted,
    ThreadEnded,
    Output,
    BreakpointChanged,
    BreakpointBound,
    BreakpointUnbound,
    TracepointHit,
    CallPaused,
    CallResumed,
    CallLost,
    CallCompleted,
    CallsCompleted,
    CallsDropped,
    CallsLost,
    CallpointChanged,
    FunctionRegistered,
    ReplChanged,
    ExternalServer,
    ExternalLog,
}

/// What a reader may be watching; an event says which of these it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    Status,
    Timeline,
    Callpoints,
    Paused,
    Calls,
    Functions,
}

impl EventKind {
    pub const ALL: &[EventKind] = &[
        EventKind::ServerStarted,
        EventKind::ServerStopping,
        EventKind::ClientConnected,
        EventKind::ClientLeft,
        EventKind::Note,
        EventKind::SessionStarted,
        EventKind::Stopped,
        EventKind::Resumed,
        EventKind::SessionEnded,
        EventKind::ControlChanged,
        EventKind::EditorSession,
        EventKind::Evaluated,
        EventKind::ProcessStarted,
        EventKind::ProcessEnded,
        EventKind::ThreadStarted,
        EventKind::ThreadEnded,
        EventKind::Output,
        EventKind::BreakpointChanged,
        EventKind::BreakpointBound,
        EventKind::BreakpointUnbound,
        EventKind::TracepointHit,
        EventKind::CallPaused,
        EventKind::CallResumed,
        EventKind::CallLost,
        EventKind::CallCompleted,
        EventKind::CallsCompleted,
        EventKind::CallsDropped,
        EventKind::CallsLost,
        EventKind::CallpointChanged,
        EventKind::FunctionRegistered,
        EventKind::ReplChanged,
        EventKind::ExternalServer,
        EventKind::ExternalLog,
    ];

    /// The stops that an exception caused; asking for stops finds them too.
    pub const EXCEPTION: &str = "exception";

    /// Every name that events can be asked for by.
    pub fn labels() -> impl Iterator<Item = &'static str> {
        EventKind::ALL.iter().map(|kind| kind.as_str()).chain([EventKind::EXCEPTION])
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            EventKind::ServerStarted => "server_started",
            EventKind::ServerStopping => "server_stopping",
            EventKind::ClientConnected => "client_connected",
            EventKind::ClientLeft => "client_left",
            EventKind::Note => "note",
            EventKind::SessionStarted => "session_started",
            EventKind::Stopped => "stopped",
            EventKind::Resumed => "resumed",
            EventKind::SessionEnded => "session_ended",
            EventKind::ControlChanged => "control_changed",
            EventKind::EditorSession => "editor_session",
            EventKind::Evaluated => "evaluated",
            EventKind::ProcessStarted => "process_started",
            EventKind::ProcessEnded => "process_ended",
            EventKind::ThreadStarted => "thread_started",
            EventKind::ThreadEnded => "thread_ended",
            EventKind::Output => "output",
            EventKind::BreakpointChanged => "breakpoint_changed",
            EventKind::BreakpointBound => "breakpoint_bound",
            EventKind::BreakpointUnbound => "breakpoint_unbound",
            EventKind::TracepointHit => "tracepoint_hit",
            EventKind::CallPaused => "call_paused",
            EventKind::CallResumed => "call_resumed",
            EventKind::CallLost => "call_lost",
            EventKind::CallCompleted => "call_completed",
            EventKind::CallsCompleted => "calls_completed",
            EventKind::CallsDropped => "calls_dropped",
            EventKind::CallsLost => "calls_lost",
            EventKind::CallpointChanged => "callpoint_changed",
            EventKind::FunctionRegistered => "function_registered",
            EventKind::ReplChanged => "repl_changed",
            EventKind::ExternalServer => "external_server",
            EventKind::ExternalLog => "external_log",
        }
    }

    pub fn parse(name: &str) -> Option<EventKind> {
        EventKind::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        actor::Actor,
        event::{BoundAt, Evaluation, Event, InEditor, StoppedAt, TraceHit},
        ids::{BreakpointId, ClientId, Epoch, SessionId, ThreadKey},
        nouns::{Status, Stream},
    };

    const SESSION: SessionId = SessionId(1);

    fn thread() -> ThreadKey {
        "1".parse().unwrap()
    }

    fn stopped() -> StoppedAt {
        StoppedAt {
            session: SESSION,
            epoch: Epoch(1),
            thread: thread(),
            reason: "step".into(),
            file: None,
            line: None,
            column: None,
            function: None,
            hits: Vec::new(),
            text: None,
            was: Status::Running,
        }
    }

    fn sessions() -> [Event; 15] {
        let (session, thread, breakpoint) = (SESSION, thread(), BreakpointId(1));
        let bound =
            BoundAt { session, breakpoint, file: "f".into(), line: 1, column: None, moved: false };
        let hit = TraceHit {
            session,
            breakpoint,
            file: "f".into(),
            line: 1,
            column: None,
            function: None,
            thread,
            hit_count: 1,
            message: None,
            values: Vec::new(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        [
            Event::SessionStarted { session, name: "n".into(), language: "python" },
            Event::Stopped(stopped()),
            Event::Resumed { session, was: Status::Stopped, by: Some(Actor::Person) },
            Event::SessionEnded { session, exit: "exit code 0".into(), was: Status::Running },
            Event::ControlChanged { session, to: "person", by: Actor::Person },
            Event::EditorSession(Box::new(InEditor {
                session: Some(session),
                editor_session: "e".into(),
                name: "n".into(),
                change: "joined",
                detail: String::new(),
                by: Actor::Person,
            })),
            Event::Evaluated(Box::new(Evaluation {
                session,
                expression: "1 + 1".into(),
                result: "2".into(),
                kind: None,
                failed: false,
                by: Actor::Person,
            })),
            Event::ProcessStarted { session, process: 1, pid: None },
            Event::ProcessEnded { session, process: 1, reason: "r".into() },
            Event::ThreadStarted { session, thread, name: None },
            Event::ThreadEnded { session, thread },
            Event::Output { session, stream: Stream::Stdout, text: "t".into(), bytes: 1 },
            Event::BreakpointBound(bound),
            Event::BreakpointUnbound { session, breakpoint, why: "w".into() },
            Event::TracepointHit(Box::new(hit)),
        ]
    }

    fn calls() -> [Event; 10] {
        let text = || "t".to_owned();
        [
            Event::CallPaused {
                pause_id: text(),
                method_name: text(),
                pause_reason: "breakpoint",
                paused_at: 1.0,
                call_id: text(),
                line: text(),
                process: text(),
            },
            Event::CallResumed {
                pause_id: text(),
                method_name: text(),
                action: text(),
                by: Actor::Person,
            },
            Event::CallLost { pause_id: text(), method_name: text(), why: text() },
            Event::CallCompleted {
                call_id: text(),
                method_name: text(),
                status: text(),
                process: text(),
            },
            Event::CallsCompleted { calls: 1, failed: 0, last: text() },
            Event::CallsDropped { process: text(), calls: 1 },
            Event::CallsLost { calls: 1, why: text() },
            Event::CallpointChanged { function_name: text(), change: "added", by: Actor::App },
            Event::FunctionRegistered { function_name: text() },
            Event::ReplChanged {
                repl: text(),
                pause_id: text(),
                function_name: text(),
                change: "answered",
                expression: text(),
                result: text(),
                failed: false,
            },
        ]
    }

    #[test]
    fn the_wire_and_the_filters_use_one_name() {
        let (client, transport) = (ClientId(1), "stdio");
        let name = || "n".to_owned();
        let mut events = vec![
            Event::ServerStarted { version: "1".into(), pid: 1 },
            Event::ServerStopping { reason: "r".into() },
            Event::ClientConnected { client, name: name(), transport, protocol: "p".into() },
            Event::ClientLeft { client, name: name(), transport },
            Event::Note { text: "t".into(), by: "b".into() },
            Event::BreakpointChanged {
                breakpoint: BreakpointId(1),
                what: "breakpoint",
                change: "set",
                place: "p".into(),
                by: Actor::Person,
            },
        ];
        events.extend(sessions());
        events.extend(calls());
        events.extend([
            Event::ExternalServer { server: name(), status: "connected", detail: String::new() },
            Event::ExternalLog { server: name(), level: "info".into(), text: "t".into() },
        ]);
        assert_eq!(events.len(), EventKind::ALL.len());
        for event in events {
            let name = serde_json::to_value(&event).unwrap()["kind"].as_str().unwrap().to_owned();
            assert_eq!(EventKind::parse(&name), Some(event.kind()));
        }
    }

    #[test]
    fn what_is_about_a_session_names_it() {
        assert!(sessions().iter().all(|event| event.session() == Some(SESSION)));
    }
}
