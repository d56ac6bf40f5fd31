//! What happened elsewhere since a client's last call, in one line at the end of its next answer.
//!
//! Pushed notifications end in a client's log file; its model reads answers alone. So each answer carries
//! what its reader cannot know: programs that ended, stops, calls that wait, points that lost their place,
//! notes of others. What the answer itself names is not said again, and what is over is not said at all.

use std::{collections::BTreeMap, sync::Arc};

use holdpoint_engine::{
    budget,
    event::{Event, InEditor, StoppedAt},
    ids::{Seq, SessionId},
    limits,
    log::Record,
    session::{Session, Status},
};

use crate::app::App;

/// Events looked at: a reader that is further behind is shown the way to the rest.
const LOOKED_AT: usize = 256;

/// The line, if there is anything to say to `reader` whose answer is `answer`.
pub(super) fn since(app: &App, from: Seq, reader: &str, answer: &str) -> Option<String> {
    let page = app.engine.log.page(from, LOOKED_AT, |record| matters(&record.event, reader));
    let mut told = Vec::new();
    let mut sessions: BTreeMap<SessionId, &Record> = BTreeMap::new();
    for record in &page.records {
        match &*record.event {
            // Of one program only the last is news.
            Event::Stopped(_) | Event::SessionEnded { .. } => {
                if let Some(session) = record.event.session() {
                    sessions.insert(session, record);
                }
            }
            Event::EditorSession(it) => told.extend(in_editor(&page.records, it, answer)),
            event => told.extend(other(app, event, answer)),
        }
    }
    let held = held(&page.records);
    let of_sessions = sessions.values().filter_map(|record| program(app, &record.event, answer));
    let all: Vec<String> = held.into_iter().chain(of_sessions).chain(told).collect();
    line(&all, page.more, from, app.catalogue.tool("timeline_query").is_ok())
}

/// What the person began to debug by themselves and has not ended, unless the answer names it.
fn in_editor(records: &[Record], begun: &InEditor, answer: &str) -> Option<String> {
    let is_end = |it: &Record| matches!(&*it.event, Event::EditorSession(it) if it.change == "ended" && it.editor_session == begun.editor_session);
    let is_news = begun.change == "started" && !names(answer, &begun.editor_session);
    (is_news && !records.iter().any(is_end))
        .then(|| format!("the person debugs {} in VS Code; `debug_attach` joins", begun.name))
}

/// Who steers each program now, where that changed.
fn held(records: &[Record]) -> Vec<String> {
    let mut last: BTreeMap<SessionId, &str> = BTreeMap::new();
    for record in records {
        if let Event::ControlChanged { session, to, .. } = &*record.event {
            last.insert(*session, to);
        }
    }
    let told = last.iter().map(|(session, to)| match *to {
        "person" => format!("a person took control of {session}"),
        _ => format!("{session} is handed back to you"),
    });
    told.collect()
}

fn line(all: &[String], unseen: usize, from: Seq, has_timeline: bool) -> Option<String> {
    if all.is_empty() {
        return None;
    }
    let shown: Vec<&str> = all.iter().take(limits::NEWS).map(String::as_str).collect();
    let more = all.len() - shown.len() + unseen;
    let rest = match (more, has_timeline) {
        (0, _) => String::new(),
        (more, true) => format!(" · {more} more: timeline_query {{\"since\": {from}}}"),
        (more, false) => format!(" · {more} more"),
    };
    let room = limits::NEWS_CHARACTERS - 80;
    let text = budget::cut(&shown.join(" · "), room).replace('\n', " ⏎ ");
    Some(format!("since your last call: {text}{rest}"))
}

fn matters(event: &Event, reader: &str) -> bool {
    match event {
        Event::Note { by, .. } => by != reader,
        Event::Stopped(_)
        | Event::SessionEnded { .. }
        | Event::ControlChanged { .. }
        | Event::BreakpointUnbound { .. }
        | Event::CallPaused { .. }
        | Event::CallsDropped { .. }
        | Event::CallsLost { .. } => true,
        Event::ServerStarted { .. }
        | Event::ServerStopping { .. }
        | Event::ClientConnected { .. }
        | Event::ClientLeft { .. }
        | Event::SessionStarted { .. }
        | Event::Resumed { .. }
        | Event::Evaluated(_)
        | Event::ReplChanged { .. }
        | Event::ProcessStarted { .. }
        | Event::ProcessEnded { .. }
        | Event::ThreadStarted { .. }
        | Event::ThreadEnded { .. }
        | Event::Output { .. }
        | Event::BreakpointChanged { .. }
        | Event::BreakpointBound(_)
        | Event::TracepointHit(_)
        | Event::CallResumed { .. }
        | Event::CallLost { .. }
        | Event::CallCompleted { .. }
        | Event::CallsCompleted { .. }
        | Event::CallpointChanged { .. }
        | Event::FunctionRegistered { .. }
        | Event::ExternalLog { .. } => false,
        // The person may want to be joined.
        Event::EditorSession(it) => it.change == "started" || it.change == "ended",
        // What the reader counts on may be gone.
        Event::ExternalServer { status, .. } => matches!(*status, "disconnected" | "failed"),
    }
}

/// A program that stands somewhere or has ended, unless the answer speaks of it.
fn program(app: &App, event: &Event, answer: &str) -> Option<String> {
    let session = event.session()?;
    let name = session.to_string();
    if names(answer, &name) {
        return None;
    }
    let found = listed(app, session)?;
    match event {
        Event::Stopped(at) => {
            let stands = found.view().status == Status::Stopped;
            stands.then(|| format!("{name} stopped ({}){}", at.reason, place(at)))
        }
        Event::SessionEnded { exit, .. } => Some(format!("{name} ended with {exit}")),
        _ => None,
    }
}

/// What a probe ran was its own, and its answer told.
fn listed(app: &App, session: SessionId) -> Option<Arc<Session>> {
    app.engine.sessions.all().into_iter().find(|it| it.id == session)
}

fn place(at: &StoppedAt) -> String {
    let file = at.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    match (file, at.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    }
}

fn other(app: &App, event: &Event, answer: &str) -> Option<String> {
    match event {
        Event::Note { text, by } => Some(format!("note of {by}: {}", budget::cut(text, 160))),
        Event::BreakpointUnbound { session, breakpoint, why } => {
            let is_told = names(answer, &session.to_string());
            let is_over = listed(app, *session)?.view().status == Status::Ended;
            let why = budget::cut(why, 80);
            (!is_told && !is_over)
                .then(|| format!("breakpoint {breakpoint} lost its place in {session}: {why}"))
        }
        Event::CallPaused { pause_id, line, .. } => {
            let paused = app.engine.opened_callpoints()?.paused_one(pause_id).is_some();
            let is_news = paused && !answer.contains(pause_id.as_str());
            is_news.then(|| format!("paused: {} ({pause_id})", budget::cut(line, 100)))
        }
        Event::CallsDropped { process, calls } => {
            Some(format!("{calls} calls of {process} were not recorded"))
        }
        Event::CallsLost { calls, why } => {
            Some(format!("{calls} recorded calls were lost: {}", budget::cut(why, 120)))
        }
        _ => None,
    }
}

/// Whether a text has a name as a word of its own: `s1` is not in `s12`.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|it| it.chars().next());
        [before, after].into_iter().flatten().all(|it| !it.is_alphanumeric() && it != '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(names("Stopped · s1", "s1") && names("{\"session_id\":\"s1\"}", "s1"));
        assert!(!names("s12 and xs1", "s1"));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let all: Vec<String> = (1..=6).map(|it| format!("s{it} ended with exit code 0")).collect();
        assert_eq!(
            line(&all, 0, Seq(7), true).unwrap(),
            "since your last call: s1 ended with exit code 0 · s2 ended with exit code 0 · \
             s3 ended with exit code 0 · s4 ended with exit code 0 · 2 more: timeline_query {\"since\": 7}"
        );
        assert_eq!(line(&[], 0, Seq(7), true), None);
        let long = vec!["x".repeat(4_000)];
        assert!(line(&long, 3, Seq(7), true).unwrap().len() <= limits::NEWS_CHARACTERS);
    }
}
