//! Events as rows of a list: when, what kind, what happened.

use holdpoint_engine::{
    event::{Event, EventKind},
    ids::Seq,
    log::Record,
};
use maud::{Markup, html};

use super::pieces;
use crate::app::App;

/// The newest events, newest first.
pub(super) fn newest(app: &App, count: usize, wanted: impl Fn(&Record) -> bool) -> Vec<Record> {
    let log = &app.engine.log;
    let mut records = log.page(log.before_newest(count, &wanted), count, &wanted).records;
    records.reverse();
    records
}

pub(super) fn row(record: &Record) -> Markup {
    let at = record.at.as_millisecond();
    let (word, class) = kind(&record.event);
    let (time, rest) = pieces::clock(at);
    html! {
        li id=(id(record.seq)) {
            time.tab data-at=(at) { (time) span { (rest) } }
            span class={ "kind " (class) } { (word) }
            span.txt { (pieces::line(&text(&record.event))) }
        }
    }
}

/// What happened, with the project's own files by their names in it.
fn text(event: &Event) -> String {
    short(&event.line())
}

/// The same of a line that is known already.
pub(super) fn short(line: &str) -> String {
    let here = crate::root::current().join("");
    line.replace(&*here.to_string_lossy(), "")
}

/// Of an event's row.
pub(super) fn id(seq: Seq) -> String {
    format!("e{seq}")
}

/// The word of a kind, and its hue.
pub(super) fn kind(event: &Event) -> (&'static str, &'static str) {
    match event.label() {
        EventKind::EXCEPTION => ("exception", "fail"),
        _ => word(event.kind()),
    }
}

/// The same of an event of which only the kind is known.
pub(super) fn word(kind: EventKind) -> (&'static str, &'static str) {
    match kind {
        EventKind::ServerStarted | EventKind::ServerStopping => ("server", ""),
        EventKind::ClientConnected => ("connected", ""),
        EventKind::ClientLeft => ("left", ""),
        EventKind::Note => ("note", ""),
        EventKind::SessionStarted => ("session", ""),
        EventKind::Stopped => ("stopped", "hold"),
        EventKind::Resumed => ("resumed", "run"),
        EventKind::ControlChanged => ("control", ""),
        EventKind::EditorSession => ("editor", ""),
        EventKind::Evaluated => ("evaluated", ""),
        EventKind::ReplChanged => ("REPL", ""),
        EventKind::SessionEnded => ("ended", ""),
        EventKind::ProcessStarted | EventKind::ProcessEnded => ("process", ""),
        EventKind::ThreadStarted | EventKind::ThreadEnded => ("thread", ""),
        EventKind::Output => ("output", ""),
        EventKind::BreakpointChanged
        | EventKind::BreakpointBound
        | EventKind::BreakpointUnbound => ("breakpoint", ""),
        EventKind::TracepointHit => ("tracepoint", "trace"),
        EventKind::CallPaused => ("paused", "hold"),
        EventKind::CallResumed => ("decided", "run"),
        EventKind::CallLost | EventKind::CallsLost | EventKind::CallsDropped => ("lost", "fail"),
        EventKind::CallCompleted | EventKind::CallsCompleted => ("calls", "call"),
        EventKind::CallpointChanged => ("callpoint", "call"),
        EventKind::FunctionRegistered => ("function", ""),
        EventKind::ExternalServer | EventKind::ExternalLog => ("external", ""),
    }
}
