//! What can happen: one closed enum, so that adding a fact makes every reader decide about it.
//!
//! An event says what was observed. It carries no wishes and calls nobody.

mod conceal;
mod editor;
mod kind;
mod trace;

use serde::Serialize;

pub use self::{
    editor::InEditor,
    kind::{EventKind, Topic},
    trace::{TraceHit, Traced},
};
use crate::{
    actor::Actor,
    ids::{BreakpointId, ClientId, Epoch, SessionId, ThreadKey},
    nouns::{Status, Stream},
};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Event {
    ServerStarted {
        version: String,
        pid: u32,
    },
    ServerStopping {
        reason: String,
    },
    ClientConnected {
        client: ClientId,
        name: String,
        transport: &'static str,
        protocol: String,
    },
    ClientLeft {
        client: ClientId,
        name: String,
        transport: &'static str,
    },
    Note {
        text: String,
        by: String,
    },
    SessionStarted {
        session: SessionId,
        name: String,
        language: &'static str,
    },
    Stopped(StoppedAt),
    /// The program runs: from its start, or on from a stop.
    Resumed {
        session: SessionId,
        was: Status,
        /// None where nobody asked for it: at its start, or by itself.
        by: Option<Actor>,
    },
    SessionEnded {
        session: SessionId,
        exit: String,
        was: Status,
    },
    /// Somebody else steers the program from now on.
    ControlChanged {
        session: SessionId,
        /// `person` or `agents`.
        to: &'static str,
        by: Actor,
    },
    /// A person debugs something in the editor, by themselves.
    EditorSession(Box<InEditor>),
    /// An expression was evaluated where a program stands.
    Evaluated(Box<Evaluation>),
    /// A process or worker came under control: the program itself is 1, its children follow.
    ProcessStarted {
        session: SessionId,
        process: u32,
        pid: Option<u32>,
    },
    ProcessEnded {
        session: SessionId,
        process: u32,
        reason: String,
    },
    ThreadStarted {
        session: SessionId,
        thread: ThreadKey,
        name: Option<String>,
    },
    ThreadEnded {
        session: SessionId,
        thread: ThreadKey,
    },
    /// What one stream brought within a moment, cut to a line or two; `bytes` is all of it.
    Output {
        session: SessionId,
        stream: Stream,
        text: String,
        bytes: u64,
    },
    /// A breakpoint or tracepoint was set, changed or removed, whichever sessions there are.
    BreakpointChanged {
        breakpoint: BreakpointId,
        /// `breakpoint` or `tracepoint`.
        what: &'static str,
        /// `set`, `removed`, `enabled` or `disabled`.
        change: &'static str,
        place: String,
        by: Actor,
    },
    BreakpointBound(BoundAt),
    BreakpointUnbound {
        session: SessionId,
        breakpoint: BreakpointId,
        why: String,
    },
    /// The program passed a tracepoint and went on.
    TracepointHit(Box<TraceHit>),
    /// An intercepted call waits for a decision.
    CallPaused {
        pause_id: String,
        method_name: String,
        pause_reason: &'static str,
        /// Seconds since 1970.
        paused_at: f64,
        call_id: String,
        /// The call as a person writes it.
        line: String,
        /// Whose call it is: an app's `<start>+<pid>`, or the part of this server that makes it.
        process: String,
    },
    CallResumed {
        pause_id: String,
        method_name: String,
        action: String,
        by: Actor,
    },
    /// The app of a paused call is gone.
    CallLost {
        pause_id: String,
        method_name: String,
        why: String,
    },
    CallCompleted {
        call_id: String,
        method_name: String,
        status: String,
        /// Whose call it was, as for one that pauses.
        process: String,
    },
    /// More calls ended within a moment than are told one by one; `last` is of the last function.
    CallsCompleted {
        calls: u64,
        failed: u64,
        last: String,
    },
    /// An app recorded more than it could send.
    CallsDropped {
        process: String,
        calls: u64,
    },
    /// Calls that apps were told are taken, and that the store never took.
    CallsLost {
        calls: u64,
        why: String,
    },
    /// A callpoint, or the default behavior when no function is named.
    CallpointChanged {
        function_name: String,
        change: &'static str,
        by: Actor,
    },
    FunctionRegistered {
        function_name: String,
    },
    /// Expressions in a paused call: a session of them was opened or closed, or the app answered one.
    ReplChanged {
        repl: String,
        pause_id: String,
        function_name: String,
        /// `opened`, `answered` or `closed`.
        change: &'static str,
        /// What was asked and what came of it, cut to a few lines; empty where nothing was.
        expression: String,
        result: String,
        failed: bool,
    },
    /// How it stands with another MCP server that is used from here.
    ExternalServer {
        server: String,
        /// `connecting`, `connected`, `disconnected`, `error` or `failed`; `removed` or `changed` by its file.
        status: &'static str,
        detail: String,
    },
    /// Another MCP server said something.
    ExternalLog {
        server: String,
        level: String,
        text: String,
    },
}

/// Where a program stands, as it was observed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoppedAt {
    pub session: SessionId,
    /// Counts the session's stops.
    pub epoch: Epoch,
    pub thread: ThreadKey,
    pub reason: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub function: Option<String>,
    /// What it hit: empty for a step or a pause.
    pub hits: Vec<Hit>,
    pub text: Option<String>,
    /// What the session was before.
    pub was: Status,
}

/// What was asked of a stopped program, and what came of it, cut to a few lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    pub session: SessionId,
    pub expression: String,
    /// Its value, or what it threw.
    pub result: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub failed: bool,
    pub by: Actor,
}

/// A breakpoint or an exception that stopped the program, and how often by now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// None for what no breakpoint of ours asked for: an uncaught exception, a `debugger` statement.
    pub breakpoint: Option<BreakpointId>,
    /// In this session, this one included.
    pub hit_count: u64,
}

/// Where a breakpoint came to lie in a process.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundAt {
    pub session: SessionId,
    pub breakpoint: BreakpointId,
    pub file: String,
    pub line: u32,
    pub column: Option<u32>,
    /// The line that was asked for has no code.
    pub moved: bool,
}

impl Event {
    pub fn kind(&self) -> EventKind {
        match self {
            Event::ServerStarted { .. } => EventKind::ServerStarted,
            Event::ServerStopping { .. } => EventKind::ServerStopping,
            Event::ClientConnected { .. } => EventKind::ClientConnected,
            Event::ClientLeft { .. } => EventKind::ClientLeft,
            Event::Note { .. } => EventKind::Note,
            Event::SessionStarted { .. } => EventKind::SessionStarted,
            Event::Stopped(_) => EventKind::Stopped,
            Event::Resumed { .. } => EventKind::Resumed,
            Event::SessionEnded { .. } => EventKind::SessionEnded,
            Event::ControlChanged { .. } => EventKind::ControlChanged,
            Event::EditorSession(_) => EventKind::EditorSession,
            Event::Evaluated(_) => EventKind::Evaluated,
            Event::ProcessStarted { .. } => EventKind::ProcessStarted,
            Event::ProcessEnded { .. } => EventKind::ProcessEnded,
            Event::ThreadStarted { .. } => EventKind::ThreadStarted,
            Event::ThreadEnded { .. } => EventKind::ThreadEnded,
            Event::Output { .. } => EventKind::Output,
            Event::BreakpointChanged { .. } => EventKind::BreakpointChanged,
            Event::BreakpointBound(_) => EventKind::BreakpointBound,
            Event::BreakpointUnbound { .. } => EventKind::BreakpointUnbound,
            Event::TracepointHit(_) => EventKind::TracepointHit,
            Event::CallPaused { .. } => EventKind::CallPaused,
            Event::CallResumed { .. } => EventKind::CallResumed,
            Event::CallLost { .. } => EventKind::CallLost,
            Event::CallCompleted { .. } => EventKind::CallCompleted,
            Event::CallsCompleted { .. } => EventKind::CallsCompleted,
            Event::CallsDropped { .. } => EventKind::CallsDropped,
            Event::CallsLost { .. } => EventKind::CallsLost,
            Event::CallpointChanged { .. } => EventKind::CallpointChanged,
            Event::FunctionRegistered { .. } => EventKind::FunctionRegistered,
            Event::ReplChanged { .. } => EventKind::ReplChanged,
            Event::ExternalServer { .. } => EventKind::ExternalServer,
            Event::ExternalLog { .. } => EventKind::ExternalLog,
        }
    }

    /// The name by which it is asked for: its kind, or `exception` for a stop that one caused.
    pub fn label(&self) -> &'static str {
        match self {
            Event::Stopped(at) if at.is_exception() => EventKind::EXCEPTION,
            event => event.kind().as_str(),
        }
    }

    /// The session that it is about, if it is about one.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Event::ServerStarted { .. }
            | Event::ServerStopping { .. }
            | Event::ClientConnected { .. }
            | Event::ClientLeft { .. }
            | Event::Note { .. }
            | Event::BreakpointChanged { .. }
            | Event::CallPaused { .. }
            | Event::CallResumed { .. }
            | Event::CallLost { .. }
            | Event::CallCompleted { .. }
            | Event::CallsCompleted { .. }
            | Event::CallsDropped { .. }
            | Event::CallsLost { .. }
            | Event::CallpointChanged { .. }
            | Event::FunctionRegistered { .. }
            | Event::ReplChanged { .. }
            | Event::ExternalServer { .. }
            | Event::ExternalLog { .. } => None,
            Event::Stopped(at) => Some(at.session),
            Event::BreakpointBound(at) => Some(at.session),
            Event::TracepointHit(hit) => Some(hit.session),
            Event::Evaluated(it) => Some(it.session),
            Event::EditorSession(it) => it.session,
            Event::ControlChanged { session, .. }
            | Event::SessionStarted { session, .. }
            | Event::Resumed { session, .. }
            | Event::SessionEnded { session, .. }
            | Event::ProcessStarted { session, .. }
            | Event::ProcessEnded { session, .. }
            | Event::ThreadStarted { session, .. }
            | Event::ThreadEnded { session, .. }
            | Event::Output { session, .. }
            | Event::BreakpointUnbound { session, .. } => Some(*session),
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
            | Event::SessionEnded { .. }
            | Event::ControlChanged { .. }
            | Event::EditorSession(_)
            | Event::ExternalServer { .. } => &[Topic::Status, Topic::Timeline],
            Event::Note { .. }
            | Event::Evaluated(_)
            | Event::ProcessStarted { .. }
            | Event::ProcessEnded { .. }
            | Event::ThreadStarted { .. }
            | Event::ThreadEnded { .. }
            | Event::Output { .. }
            | Event::BreakpointChanged { .. }
            | Event::BreakpointBound(_)
            | Event::BreakpointUnbound { .. }
            | Event::TracepointHit(_)
            | Event::CallsDropped { .. }
            | Event::CallsLost { .. }
            | Event::ReplChanged { .. }
            | Event::ExternalLog { .. } => &[Topic::Timeline],
            Event::CallPaused { .. } | Event::CallResumed { .. } | Event::CallLost { .. } => {
                &[Topic::Status, Topic::Timeline, Topic::Paused, Topic::Callpoints]
            }
            Event::CallCompleted { .. } | Event::CallsCompleted { .. } => {
                &[Topic::Timeline, Topic::Calls, Topic::Callpoints]
            }
            Event::CallpointChanged { .. } => &[Topic::Timeline, Topic::Callpoints],
            Event::FunctionRegistered { .. } => &[Topic::Timeline, Topic::Functions],
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
            Event::Resumed { session, by, .. } => resumed_line(*session, by.as_ref()),
            Event::SessionEnded { session, exit, .. } => format!("{session} {exit}"),
            Event::ControlChanged { session, to, by } => control_line(*session, to, by),
            Event::EditorSession(it) => it.line(),
            Event::Evaluated(it) => it.line(),
            Event::ProcessStarted { session, process, pid } => begun_line(*session, *process, *pid),
            Event::ProcessEnded { session, process, reason } => {
                format!("{session} process {process}: {reason}")
            }
            Event::ThreadStarted { session, thread, name } => {
                thread_line(*session, *thread, name.as_deref())
            }
            Event::ThreadEnded { session, thread } => format!("{session} thread {thread}"),
            Event::Output { session, stream, text, .. } => {
                format!("{session} {}: {}", stream.as_str(), text.trim_end())
            }
            Event::BreakpointChanged { breakpoint, what, change, place, by } => {
                format!("{what} {breakpoint} at {place} {change}, by {by}")
            }
            Event::BreakpointBound(at) => at.line(),
            Event::BreakpointUnbound { session, breakpoint, why } => {
                format!("{session} breakpoint {breakpoint}: {why}")
            }
            Event::TracepointHit(hit) => hit.line(),
            Event::CallPaused { pause_id, line, pause_reason, .. } => {
                format!("{line} ({pause_reason}), pause {pause_id}")
            }
            Event::CallResumed { pause_id, method_name, action, by } => {
                format!("{method_name}: {action}, pause {pause_id}, by {by}")
            }
            Event::CallLost { pause_id, method_name, why } => {
                format!("{method_name}: {why}, pause {pause_id}")
            }
            Event::CallCompleted { call_id, method_name, status, .. } => {
                format!("{method_name}: {status}, call {call_id}")
            }
            Event::CallsCompleted { calls, failed, last } => {
                format!("{calls} calls more, {failed} of them failed, the last of {last}")
            }
            Event::CallsDropped { process, calls } => {
                format!("{process}: {calls} calls were not recorded, the app was too fast")
            }
            Event::CallsLost { calls, why } => format!("{calls} recorded calls were lost: {why}"),
            Event::CallpointChanged { function_name, change, by } => match function_name.as_str() {
                "" => format!("{change}, by {by}"),
                name => format!("{name}: {change}, by {by}"),
            },
            Event::FunctionRegistered { function_name } => function_name.clone(),
            Event::ReplChanged { function_name, change, expression, result, repl, .. } => {
                repl_line(repl, function_name, change, expression, result)
            }
            Event::ExternalServer { server, status, detail } => {
                external_line(server, status, detail)
            }
            Event::ExternalLog { server, level, text } => format!("{server} {level}: {text}"),
        }
    }

    /// About how many bytes the event keeps alive.
    pub fn weight(&self) -> usize {
        let text = match self {
            Event::ServerStarted { version: text, .. }
            | Event::ServerStopping { reason: text }
            | Event::ClientLeft { name: text, .. }
            | Event::SessionStarted { name: text, .. }
            | Event::SessionEnded { exit: text, .. }
            | Event::ProcessEnded { reason: text, .. }
            | Event::Output { text, .. }
            | Event::BreakpointUnbound { why: text, .. }
            | Event::CallsCompleted { last: text, .. }
            | Event::CallsDropped { process: text, .. }
            | Event::CallsLost { why: text, .. }
            | Event::FunctionRegistered { function_name: text } => text.len(),
            Event::CallPaused { pause_id, method_name, call_id, line, process, .. } => {
                pause_id.len() + method_name.len() + call_id.len() + line.len() + process.len()
            }
            Event::CallpointChanged { function_name, by, .. } => function_name.len() + by.weight(),
            Event::CallResumed { pause_id, method_name, action, by } => {
                pause_id.len() + method_name.len() + action.len() + by.weight()
            }
            Event::CallLost { pause_id, method_name, why } => {
                pause_id.len() + method_name.len() + why.len()
            }
            Event::CallCompleted { call_id, method_name, status, process } => {
                call_id.len() + method_name.len() + status.len() + process.len()
            }
            Event::ClientConnected { name, protocol, .. } => name.len() + protocol.len(),
            Event::Note { text, by } => text.len() + by.len(),
            Event::ReplChanged { repl, pause_id, function_name, expression, result, .. } => {
                let ids = repl.len() + pause_id.len() + function_name.len();
                ids + expression.len() + result.len()
            }
            Event::ExternalServer { server: a, detail: b, .. } => a.len() + b.len(),
            Event::ExternalLog { server: a, level: b, text: c } => a.len() + b.len() + c.len(),
            Event::Stopped(at) => at.weight(),
            Event::ThreadStarted { name, .. } => name.as_ref().map_or(0, String::len),
            Event::BreakpointChanged { place, by, .. } => place.len() + by.weight(),
            Event::BreakpointBound(at) => at.file.len(),
            Event::TracepointHit(hit) => hit.weight(),
            Event::Resumed { by, .. } => by.as_ref().map_or(0, Actor::weight),
            Event::ControlChanged { by, .. } => by.weight(),
            Event::EditorSession(it) => it.weight(),
            Event::Evaluated(it) => {
                it.expression.len() + it.result.len() + it.by.weight() + size_of::<Evaluation>()
            }
            Event::ProcessStarted { .. } | Event::ThreadEnded { .. } => 0,
        };
        size_of::<Event>() + text
    }
}

fn control_line(session: SessionId, to: &str, by: &Actor) -> String {
    match to {
        "person" => format!("{session}: a person is in control"),
        _ => format!("{session}: handed back to agents, by {by}"),
    }
}

fn resumed_line(session: SessionId, by: Option<&Actor>) -> String {
    by.map_or_else(|| session.to_string(), |by| format!("{session}, by {by}"))
}

fn thread_line(session: SessionId, thread: ThreadKey, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    format!("{session} thread {thread}{name}")
}

fn external_line(server: &str, status: &str, detail: &str) -> String {
    let detail = if detail.is_empty() { "" } else { &format!(", {detail}") };
    format!("{server}: {status}{detail}")
}

fn repl_line(repl: &str, function: &str, change: &str, expression: &str, result: &str) -> String {
    match change {
        "answered" => format!("`{expression}` is {result} in {function}, REPL {repl}"),
        _ => format!("REPL {repl} in {function} {change}"),
    }
}

fn begun_line(session: SessionId, process: u32, pid: Option<u32>) -> String {
    let pid = pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
    format!("{session} process {process}{pid}")
}

impl Evaluation {
    fn line(&self) -> String {
        let Evaluation { session, expression, result, by, .. } = self;
        format!("{session} `{expression}` is {result}, by {by}")
    }
}

impl StoppedAt {
    /// Whether an exception stopped it.
    pub fn is_exception(&self) -> bool {
        self.reason == "exception"
    }

    fn line(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" at {file}:{line}"),
            _ => String::new(),
        };
        let function = self.function.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
        let text = self.text.as_deref().map(|it| format!(", {it}")).unwrap_or_default();
        let hits = self
            .hits
            .iter()
            .filter_map(|hit| hit.breakpoint.map(|id| format!(" {id} (hit {})", hit.hit_count)));
        let hits = hits.collect::<String>();
        format!("{} {}{hits}{place}{function}{text}", self.session, self.reason)
    }

    fn weight(&self) -> usize {
        let texts = [&self.file, &self.function, &self.text];
        self.reason.len()
            + texts.iter().map(|it| it.as_ref().map_or(0, String::len)).sum::<usize>()
            + self.hits.len() * size_of::<Hit>()
    }
}

impl BoundAt {
    fn line(&self) -> String {
        let moved = if self.moved { ", moved there" } else { "" };
        let BoundAt { session, breakpoint, file, line, .. } = self;
        format!("{session} breakpoint {breakpoint} at {file}:{line}{moved}")
    }
}
