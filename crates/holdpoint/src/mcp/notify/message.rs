//! What an event says to a client: pure, from a record to the notifications that tell of it.
//!
//! Each fact goes out twice: as our own notification (`notifications/breakpoint/hit`, seed 004), and as a
//! standard log message for clients that drop what they do not know.

use holdpoint_engine::{
    event::{Event, Hit, StoppedAt, TraceHit},
    ids::Seq,
    log::Record,
    session::Status,
};
use rmcp::model::{CustomNotification, LoggingLevel, ServerNotification};
use serde_json::{Value, json};

pub(super) const HIT: &str = "notifications/breakpoint/hit";
pub(super) const STATE: &str = "notifications/debug/session_state";
const LOGGER: &str = "holdpoint.timeline";

/// Everything that tells of a record to a client that hears log messages from `level` on.
pub(super) fn of(record: &Record, level: LoggingLevel) -> Vec<ServerNotification> {
    let mut all: Vec<_> = ours(record).into_iter().map(|(method, it)| notice(method, it)).collect();
    if let Some(own) = self::level(&record.event).filter(|own| severity(level) <= severity(*own)) {
        all.push(log(own, record.to_json()));
    }
    all
}

/// The numbers `first..=last` left the log before this client was told of them.
pub(super) fn gap(first: Seq, last: Seq) -> [ServerNotification; 2] {
    let gap = json!({ "first": first, "last": last });
    let text = json!({ "text": "events were lost to this client", "gap": gap });
    [notice("notifications/timeline/gap", gap), log(LoggingLevel::Warning, text)]
}

fn notice(method: &str, params: Value) -> ServerNotification {
    ServerNotification::CustomNotification(CustomNotification::new(method, Some(params)))
}

fn log(level: LoggingLevel, data: Value) -> ServerNotification {
    let params = json!({ "level": level, "logger": LOGGER, "data": data });
    notice("notifications/message", params)
}

/// The notifications of our own that tell of an event, if it has any.
fn ours(record: &Record) -> Vec<(&'static str, Value)> {
    match &*record.event {
        Event::Note { .. } => vec![("notifications/timeline/note", record.to_json())],
        Event::ServerStopping { .. } => vec![("notifications/server/stopping", record.to_json())],
        Event::Stopped(at) => {
            let hits = at.hits.iter().map(|hit| (HIT, stop_hit(record, at, hit)));
            hits.chain([(STATE, state(record, at.was, Status::Stopped, &at.reason, Some(at)))])
                .collect()
        }
        Event::SessionStarted { .. } => {
            vec![(STATE, state(record, None, Status::Starting, "started", None))]
        }
        Event::Resumed { was, .. } => {
            let reason = if *was == Status::Starting { "started" } else { "resumed" };
            vec![(STATE, state(record, *was, Status::Running, reason, None))]
        }
        Event::SessionEnded { was, exit, .. } => {
            vec![(STATE, state(record, *was, Status::Ended, exit, None))]
        }
        Event::TracepointHit(hit) => vec![(HIT, trace_hit(record, hit))],
        Event::CallPaused { pause_id, method_name, pause_reason, paused_at, .. } => {
            let params = json!({
                "pause_id": pause_id, "method_name": method_name, "pause_reason": pause_reason,
                "paused_at": paused_at, "seq": record.seq,
            });
            vec![("notifications/breakpoint/execution_paused", params)]
        }
        Event::CallResumed { pause_id, method_name, action } => {
            let params = json!({
                "pause_id": pause_id, "method_name": method_name, "action": action,
                "seq": record.seq,
            });
            vec![("notifications/breakpoint/execution_resumed", params)]
        }
        Event::CallCompleted { call_id, method_name, status } => {
            let params = json!({
                "call_id": call_id, "method_name": method_name, "status": status,
                "seq": record.seq,
            });
            vec![("notifications/breakpoint/call_completed", params)]
        }
        Event::CallLost { .. } => vec![("notifications/breakpoint/call_lost", record.to_json())],
        // In a flood, calls are told by their number.
        Event::CallsCompleted { .. } => {
            vec![("notifications/breakpoint/calls_completed", record.to_json())]
        }
        // These are on the timeline, and resources change with them.
        Event::CallsDropped { .. }
        | Event::CallpointChanged { .. }
        | Event::FunctionRegistered { .. }
        | Event::ServerStarted { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::ProcessStarted { .. }
        | Event::ProcessEnded { .. }
        | Event::ThreadStarted { .. }
        | Event::ThreadEnded { .. }
        | Event::Output { .. }
        | Event::BreakpointBound(_)
        | Event::BreakpointUnbound { .. } => Vec::new(),
    }
}

fn stop_hit(record: &Record, at: &StoppedAt, hit: &Hit) -> Value {
    json!({
        "breakpoint_id": hit.breakpoint,
        "type": if at.is_exception() { "exception" } else { "breakpoint" },
        "session_id": at.session,
        "location": location(at),
        "thread_id": at.thread,
        "timestamp": record.at.to_string(),
        "hit_count": hit.hit_count,
        "seq": record.seq,
        "text": at.text,
    })
}

fn trace_hit(record: &Record, hit: &TraceHit) -> Value {
    json!({
        "breakpoint_id": hit.breakpoint,
        "type": "tracepoint",
        "session_id": hit.session,
        "location": {
            "file": hit.file, "line": hit.line, "column": hit.column, "function": hit.function,
        },
        "thread_id": hit.thread,
        "timestamp": hit.at.to_string(),
        "hit_count": hit.hit_count,
        "seq": record.seq,
        "log_message": hit.message,
    })
}

fn location(at: &StoppedAt) -> Value {
    json!({ "file": at.file, "line": at.line, "column": at.column, "function": at.function })
}

fn state(
    record: &Record,
    old: impl Into<Option<Status>>,
    new: Status,
    reason: &str,
    at: Option<&StoppedAt>,
) -> Value {
    json!({
        "session_id": record.event.session(),
        "old": old.into(),
        "new": new,
        "reason": reason,
        "location": at.map(location),
        "thread_id": at.map(|at| at.thread),
        "timestamp": record.at.to_string(),
        "seq": record.seq,
    })
}

/// How loud an event is as a log message; none is for those that are on the timeline only.
fn level(event: &Event) -> Option<LoggingLevel> {
    match event {
        Event::ServerStopping { .. } => Some(LoggingLevel::Warning),
        Event::Note { .. } => Some(LoggingLevel::Notice),
        Event::Stopped(_)
        | Event::SessionEnded { .. }
        | Event::TracepointHit(_)
        | Event::CallPaused { .. } => Some(LoggingLevel::Info),
        Event::CallLost { .. } | Event::CallsDropped { .. } => Some(LoggingLevel::Warning),
        Event::CallResumed { .. } => Some(LoggingLevel::Debug),
        Event::SessionStarted { .. } | Event::Resumed { .. } => Some(LoggingLevel::Debug),
        Event::ServerStarted { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::ProcessStarted { .. }
        | Event::ProcessEnded { .. }
        | Event::ThreadStarted { .. }
        | Event::ThreadEnded { .. }
        | Event::Output { .. }
        | Event::BreakpointBound(_)
        | Event::BreakpointUnbound { .. }
        | Event::CallCompleted { .. }
        | Event::CallsCompleted { .. }
        | Event::CallpointChanged { .. }
        | Event::FunctionRegistered { .. } => None,
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
