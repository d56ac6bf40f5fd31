//! What an event says to a client: pure, from a record to the messages that tell of it.
//!
//! Each fact goes out twice: as our own notification (`notifications/breakpoint/hit`), and as a
//! standard log message for clients that drop what they do not know. Both are written once, as the text that
//! goes over the wire, for all clients.

use std::sync::Arc;

use holdpoint_engine::{
    actor::Actor,
    event::{Event, Hit, StoppedAt, TraceHit},
    ids::{BreakpointId, Seq, SessionId, ThreadKey},
    log::Record,
    session::Status,
};
use jiff::Timestamp;
use rmcp::model::LoggingLevel;
use serde::Serialize;
use serde_json::json;

/// One JSON-RPC message.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// For log messages: how loud it is. The others are for everybody.
    level: Option<LoggingLevel>,
    pub(super) json: Arc<str>,
}

impl Text {
    /// Whether a client hears it that wants log messages from `level` on.
    pub(super) fn is_for(&self, level: LoggingLevel) -> bool {
        self.level.is_none_or(|own| severity(level) <= severity(own))
    }
}

/// Everything that tells of a record.
pub(super) fn of(record: &Record) -> Vec<Text> {
    let mut all = ours(record);
    if let Some(level) = level(&record.event) {
        all.push(log(level, &record.to_text()));
    }
    all
}

/// The numbers `first..=last` left the log before this client was told of them.
pub(super) fn gap(first: Seq, last: Seq) -> Vec<Text> {
    let gap = json!({ "first": first, "last": last });
    let text = json!({ "text": "events were lost to this client", "gap": gap });
    vec![
        notice("notifications/timeline/gap", &gap.to_string()),
        log(LoggingLevel::Warning, &text.to_string()),
    ]
}

pub(super) fn updated(uri: &str) -> Text {
    notice("notifications/resources/updated", &json!({ "uri": uri }).to_string())
}

/// `params` is JSON.
fn notice(method: &str, params: &str) -> Text {
    let json = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
    Text { level: None, json: json.into() }
}

/// `data` is JSON.
fn log(level: LoggingLevel, data: &str) -> Text {
    let name = json!(level);
    let params = format!(r#"{{"level":{name},"logger":"holdpoint.timeline","data":{data}}}"#);
    Text { level: Some(level), ..notice("notifications/message", &params) }
}

/// The notifications of our own that tell of an event, if it has any.
fn ours(record: &Record) -> Vec<Text> {
    match &*record.event {
        Event::Note { .. } => vec![notice("notifications/timeline/note", &record.to_text())],
        Event::ServerStopping { .. } => {
            vec![notice("notifications/server/stopping", &record.to_text())]
        }
        Event::Stopped(at) => {
            let hits = at.hits.iter().map(|hit| stop_hit(record, at, hit));
            hits.chain([state(record, at.was, Status::Stopped, &at.reason, Some(at))]).collect()
        }
        Event::SessionStarted { .. } => {
            vec![state(record, None, Status::Starting, "started", None)]
        }
        Event::Resumed { was, by, .. } => {
            let reason = if *was == Status::Starting { "started" } else { "resumed" };
            let state = state_of(record, Some(*was), Status::Running, reason, None);
            vec![told(STATE, &StateParams { by: by.as_ref(), ..state })]
        }
        Event::SessionEnded { was, exit, .. } => {
            vec![state(record, *was, Status::Ended, exit, None)]
        }
        Event::TracepointHit(hit) => vec![trace_hit(record, hit)],
        Event::CallPaused { .. }
        | Event::CallResumed { .. }
        | Event::CallCompleted { .. }
        | Event::CallLost { .. }
        | Event::CallsCompleted { .. } => vec![of_call(record)],
        // These are on the timeline, and resources change with them.
        Event::CallsDropped { .. }
        | Event::CallsLost { .. }
        | Event::CallpointChanged { .. }
        | Event::FunctionRegistered { .. }
        | Event::ExternalServer { .. }
        | Event::ExternalLog { .. }
        | Event::ServerStarted { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::ControlChanged { .. }
        | Event::EditorSession(_)
        | Event::Evaluated(_)
        | Event::ReplChanged { .. }
        | Event::ProcessStarted { .. }
        | Event::ProcessEnded { .. }
        | Event::ThreadStarted { .. }
        | Event::ThreadEnded { .. }
        | Event::Output { .. }
        | Event::BreakpointChanged { .. }
        | Event::BreakpointBound(_)
        | Event::BreakpointUnbound { .. } => Vec::new(),
    }
}

/// The notification of what a call does.
fn of_call(record: &Record) -> Text {
    let seq = record.seq;
    match &*record.event {
        Event::CallPaused { pause_id, method_name, pause_reason, paused_at, .. } => call(
            "execution_paused",
            &json!({
                "pause_id": pause_id, "method_name": method_name, "pause_reason": pause_reason,
                "paused_at": paused_at, "seq": seq,
            }),
        ),
        Event::CallResumed { pause_id, method_name, action, by } => call(
            "execution_resumed",
            &json!({
                "pause_id": pause_id, "method_name": method_name, "action": action, "by": by,
                "seq": seq,
            }),
        ),
        Event::CallCompleted { call_id, method_name, status, .. } => call(
            "call_completed",
            &json!({ "call_id": call_id, "method_name": method_name, "status": status, "seq": seq }),
        ),
        Event::CallLost { .. } => call("call_lost", &record.to_json()),
        // In a flood, calls are told by their number.
        _ => call("calls_completed", &record.to_json()),
    }
}

/// What an intercepted call does.
fn call(what: &str, params: &serde_json::Value) -> Text {
    notice(&format!("notifications/breakpoint/{what}"), &params.to_string())
}

/// `notifications/breakpoint/hit`.
#[derive(Serialize)]
struct HitParams<'r> {
    breakpoint_id: Option<BreakpointId>,
    r#type: &'static str,
    session_id: SessionId,
    location: Location<'r>,
    thread_id: ThreadKey,
    timestamp: Timestamp,
    hit_count: u64,
    seq: Seq,
    /// What the runtime says of a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'r str>,
    /// What a tracepoint's template became.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_message: Option<&'r str>,
}

#[derive(Serialize)]
struct Location<'r> {
    file: Option<&'r str>,
    line: Option<u32>,
    column: Option<u32>,
    function: Option<&'r str>,
}

/// `notifications/debug/session_state`.
#[derive(Serialize)]
struct StateParams<'r> {
    session_id: Option<SessionId>,
    old: Option<Status>,
    new: Status,
    reason: &'r str,
    location: Option<Location<'r>>,
    thread_id: Option<ThreadKey>,
    timestamp: Timestamp,
    seq: Seq,
    /// Who asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'r Actor>,
}

fn stop_hit(record: &Record, at: &StoppedAt, hit: &Hit) -> Text {
    told(
        "notifications/breakpoint/hit",
        &HitParams {
            breakpoint_id: hit.breakpoint,
            r#type: if at.is_exception() { "exception" } else { "breakpoint" },
            session_id: at.session,
            location: Location::of(at),
            thread_id: at.thread,
            timestamp: record.at,
            hit_count: hit.hit_count,
            seq: record.seq,
            text: at.text.as_deref(),
            log_message: None,
        },
    )
}

fn trace_hit(record: &Record, hit: &TraceHit) -> Text {
    let file = Some(&*hit.file);
    let (line, column, function) = (Some(hit.line), hit.column, hit.function.as_deref());
    told(
        "notifications/breakpoint/hit",
        &HitParams {
            breakpoint_id: Some(hit.breakpoint),
            r#type: "tracepoint",
            session_id: hit.session,
            location: Location { file, line, column, function },
            thread_id: hit.thread,
            timestamp: hit.at,
            hit_count: hit.hit_count,
            seq: record.seq,
            text: None,
            log_message: hit.message.as_deref(),
        },
    )
}

const STATE: &str = "notifications/debug/session_state";

fn state(
    record: &Record,
    old: impl Into<Option<Status>>,
    new: Status,
    reason: &str,
    at: Option<&StoppedAt>,
) -> Text {
    told(STATE, &state_of(record, old.into(), new, reason, at))
}

fn state_of<'r>(
    record: &'r Record,
    old: Option<Status>,
    new: Status,
    reason: &'r str,
    at: Option<&'r StoppedAt>,
) -> StateParams<'r> {
    StateParams {
        session_id: record.event.session(),
        old,
        new,
        reason,
        location: at.map(Location::of),
        thread_id: at.map(|at| at.thread),
        timestamp: record.at,
        seq: record.seq,
        by: None,
    }
}

fn told(method: &str, params: &impl Serialize) -> Text {
    // Plain fields, so this cannot fail.
    notice(method, &serde_json::to_string(params).unwrap_or_else(|_| "{}".to_owned()))
}

impl<'r> Location<'r> {
    fn of(at: &'r StoppedAt) -> Location<'r> {
        Location {
            file: at.file.as_deref(),
            line: at.line,
            column: at.column,
            function: at.function.as_deref(),
        }
    }
}

/// How loud an event is as a log message; none is for those that are on the timeline only.
fn level(event: &Event) -> Option<LoggingLevel> {
    match event {
        Event::ServerStopping { .. } => Some(LoggingLevel::Warning),
        Event::Note { .. } | Event::ControlChanged { .. } => Some(LoggingLevel::Notice),
        Event::Stopped(_)
        | Event::SessionEnded { .. }
        | Event::EditorSession(_)
        | Event::TracepointHit(_)
        | Event::CallPaused { .. } => Some(LoggingLevel::Info),
        Event::CallLost { .. } | Event::CallsDropped { .. } | Event::CallsLost { .. } => {
            Some(LoggingLevel::Warning)
        }
        Event::CallResumed { .. } => Some(LoggingLevel::Debug),
        Event::SessionStarted { .. } | Event::Resumed { .. } => Some(LoggingLevel::Debug),
        Event::ServerStarted { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::Evaluated(_)
        | Event::ReplChanged { .. }
        | Event::ProcessStarted { .. }
        | Event::ProcessEnded { .. }
        | Event::ThreadStarted { .. }
        | Event::ThreadEnded { .. }
        | Event::Output { .. }
        | Event::BreakpointChanged { .. }
        | Event::BreakpointBound(_)
        | Event::BreakpointUnbound { .. }
        | Event::CallCompleted { .. }
        | Event::CallsCompleted { .. }
        | Event::CallpointChanged { .. }
        | Event::FunctionRegistered { .. }
        | Event::ExternalServer { .. }
        | Event::ExternalLog { .. } => None,
    }
}

/// The SDK's levels have no order; the protocol's do (RFC 5424).
fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
