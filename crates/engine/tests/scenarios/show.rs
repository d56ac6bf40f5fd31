//! What came of a line, in few words.

use holdpoint_engine::{
    event::{Event, StoppedAt},
    failure::Failure,
    session::View,
};
use serde_json::Value;

/// Lines that follow each other and are the same: more of them say nothing.
const SAME: usize = 3;

/// What an adapter heard.
pub(crate) fn request(request: &Value) -> String {
    let command = request["command"].as_str().unwrap();
    if request["type"] == "response" {
        return format!("{command} answered: {}", request["message"]);
    }
    match &request["arguments"] {
        // Who we are is no matter of a scenario.
        _ if command == "initialize" => command.to_owned(),
        Value::Null => command.to_owned(),
        // What we put into a program is long, and no matter either.
        arguments if is_of_helper(arguments) => format!("{command}, of our helper"),
        arguments => format!("{command} {arguments}"),
    }
}

fn is_of_helper(arguments: &Value) -> bool {
    let expression = arguments["expression"].as_str().unwrap_or_default();
    expression.contains("holdpoint") || expression.starts_with("(lambda")
}

pub(crate) fn event(event: &Event) -> String {
    let kind = event.kind().as_str();
    match event {
        Event::Stopped(at) => stopped(at),
        Event::Resumed { was, .. } => format!("{kind}, was {}", was.as_str()),
        Event::SessionEnded { exit, was, .. } => format!("{kind}: {exit}, was {}", was.as_str()),
        Event::ProcessStarted { process, .. } => format!("{kind} {process}"),
        Event::ProcessEnded { process, reason, .. } => format!("{kind} {process}: {reason}"),
        Event::ThreadStarted { thread, .. } | Event::ThreadEnded { thread, .. } => {
            format!("{kind} {thread}")
        }
        Event::Output { stream, text, .. } => format!("{kind} {stream:?} {text:?}"),
        Event::BreakpointBound(at) => {
            let moved = if at.moved { ", moved" } else { "" };
            format!("{kind} {} at line {}{moved}", at.breakpoint, at.line)
        }
        Event::BreakpointUnbound { breakpoint, why, .. } => format!("{kind} {breakpoint}: {why}"),
        Event::TracepointHit(hit) => {
            let message = hit.message.as_deref().unwrap_or_default();
            format!("{kind} {}, hit {}: {message:?}", hit.breakpoint, hit.hit_count)
        }
        other => panic!("no session says {other:?}"),
    }
}

fn stopped(at: &StoppedAt) -> String {
    let line = at.line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let hit = |it: &holdpoint_engine::event::Hit| match it.breakpoint {
        Some(id) => format!(", hit {} of {id}", it.hit_count),
        None => format!(", hit {} of what nobody asked for", it.hit_count),
    };
    let hits: String = at.hits.iter().map(hit).collect();
    let text = at.text.as_ref().map(|text| format!(", {text:?}")).unwrap_or_default();
    let (epoch, thread, reason, was) = (at.epoch, at.thread, &at.reason, at.was.as_str());
    format!("stopped {epoch}: {reason} in thread {thread}{line}{hits}{text}, was {was}")
}

pub(crate) fn view(view: &View) -> String {
    let thread = |it: &holdpoint_engine::session::ThreadRow| {
        format!(", thread {} {}", it.key, if it.is_stopped { "stands" } else { "runs" })
    };
    let threads: String = view.threads.iter().map(thread).collect();
    let stop = view.stop.as_ref().map(|it| format!(" at stop {}", it.stop.epoch));
    format!("{}{}{threads}", view.status.as_str(), stop.unwrap_or_default())
}

pub(crate) fn failure(failure: &Failure) -> String {
    format!("error[{}] {}", failure.code.as_str(), failure.message)
}

/// Of many that are the same, the first few.
pub(crate) fn folded(lines: Vec<String>) -> Vec<String> {
    let mut folded = Vec::new();
    for same in lines.chunk_by(|one, next| one == next) {
        folded.extend(same.iter().take(SAME).cloned());
        folded.extend((same.len() > SAME).then(|| "…".to_owned()));
    }
    folded
}
