//! The one form in which every tool tells where a program stands.

mod ending;
mod life;
pub(crate) mod who;

use std::{collections::BTreeMap, time::Duration};

use holdpoint_engine::{
    adapter::Runtime,
    backend::{Backend, Frame, StopReason},
    breakpoints::{Breakpoint, Place},
    budget,
    failure::Failure,
    inspect, limits,
    process::Exit,
    session::{Outcome, OutputText, Session, Shown, Stream},
};
use serde_json::{Value, json};

use crate::tool::{Answer, Reply};

/// Bytes of new output that come along with a stop.
const OUTPUT_TAIL: usize = 1_000;

/// Bytes of the debugger's own words that come along.
const NOTE: usize = 160;

/// Breakpoints that are bound to nothing and are named at the beginning.
const PENDING: usize = 5;

/// What a wait found, told; `since` is where the program's output was read up to before.
pub(crate) async fn outcome(
    session: &Session,
    outcome: Outcome,
    since: u64,
    waited: Duration,
) -> Result<Reply, Failure> {
    match outcome {
        Outcome::Stopped(shown) => stopped(session, &shown, since).await,
        Outcome::Ended(exit) => {
            Ok(ending::ended(session, exit, since)?.with_note(life::whole(session)))
        }
        Outcome::Running => running(session, waited),
    }
}

/// The same where the program does not show its values in time.
pub(crate) async fn without_values(
    session: &Session,
    found: Outcome,
    since: u64,
    waited: Duration,
) -> Result<Reply, Failure> {
    let Outcome::Stopped(shown) = &found else {
        return outcome(session, found, since, waited).await;
    };
    let text = format!(
        "{}\nits values do not come in time: `debug_variables` waits for them{}",
        header(session, shown),
        new_output(&session.output.since(since, None))
    );
    Ok(Answer::new(text, &stopped_json(session, shown))?.into())
}

/// The same for a session that has just begun: what is bound to nothing yet looks like what works, so it
/// is named. At the end it would be named as never hit.
pub(crate) async fn begun(
    session: &Session,
    found: Outcome,
    waited: Duration,
) -> Result<Reply, Failure> {
    let is_over = matches!(found, Outcome::Ended(_));
    let reply = outcome(session, found, 0, waited).await?;
    let reply = match &session.runtime {
        Some(runtime) => reply
            .with_note(says_something(runtime).then(|| runs_with(session, runtime)))
            .with_data([("runtime", json!({ "path": runtime.path, "why": runtime.why }))]),
        None => reply,
    };
    let reply = if is_over { reply } else { reply.with_note(life::begun(session)) };
    let pending = if is_over { Vec::new() } else { session.pending() };
    if pending.is_empty() {
        return Ok(reply);
    }
    let one = |(it, why): &(Breakpoint, Option<String>)| {
        let why = why.as_deref().map(|why| format!(": {}", budget::cut(why, 100)));
        format!("{} {} ({}{})", it.kind(), it.id, short(session, it), why.unwrap_or_default())
    };
    let named: Vec<String> = pending.iter().take(PENDING).map(one).collect();
    let more = match pending.len().saturating_sub(PENDING) {
        0 => String::new(),
        more => format!(", {more} more: breakpoint_list"),
    };
    let ids: Vec<_> = pending.iter().take(PENDING).map(|(it, _)| it.id).collect();
    let note = format!("not bound yet: {}{more}", named.join(", "));
    Ok(reply.with_note(Some(note)).with_data([("pending", json!(ids))]))
}

/// The Python of PATH, where nothing asks for another, goes without saying.
fn says_something(runtime: &Runtime) -> bool {
    let is_usual = runtime.why.starts_with("PATH: ") && !runtime.why.contains("; ");
    !is_usual || runtime.installed.is_some()
}

/// `python 3.11.7: /app/.venv/bin/python, .venv in /app`
fn runs_with(session: &Session, runtime: &Runtime) -> String {
    let Runtime { path, version, why, installed } = runtime;
    let version = version.as_deref().map(|it| format!(" {it}")).unwrap_or_default();
    let installed = installed.as_deref().map(|it| format!("; {it}")).unwrap_or_default();
    format!("{}{version}: {}, {why}{installed}", session.language, path.display())
}

async fn stopped(session: &Session, shown: &Shown, since: u64) -> Result<Reply, Failure> {
    let mut text = head(session, shown).await;
    if let Some(top) = shown.stack.frames.first()
        && let Ok(backend) = session.backend(shown.stop.thread.target)
    {
        text += &changed(session, &backend, shown, top).await;
    }
    let life = session.life(shown).await;
    text += &life::told(session, life.as_ref());
    text += &new_output(&session.output.since(since, None));
    text += &notes(session, since);
    if shown.stop.reason == StopReason::Exception {
        text += "\nhint: `debug_exception` shows its causes, and the values of each frame";
    }
    let mut data = stopped_json(session, shown);
    life::add(&mut data, session, life.as_ref());
    Ok(Answer::new(text, &data)?.into())
}

fn stopped_json(session: &Session, shown: &Shown) -> Value {
    json!({
        "session_id": session.id,
        "state": "stopped",
        "stop": stop_json(shown),
        "seq": shown.seq,
    })
}

/// The header and the source around it.
pub(crate) async fn head(session: &Session, shown: &Shown) -> String {
    let header = header(session, shown);
    let source = match shown.stack.frames.first() {
        Some(top) => around(session, shown, top).await,
        None => None,
    };
    source.map_or(header.clone(), |source| format!("{header}\n{source}"))
}

/// `Stopped (breakpoint 1) at orders.py:19 in process · s1`
fn header(session: &Session, shown: &Shown) -> String {
    let stop = &shown.stop;
    let hits: Vec<String> = stop.hits.iter().map(|id| format!(" {id}")).collect();
    let place = match shown.stack.frames.first() {
        Some(top) => format!(" at {} in {}", spot(top, session), top.function),
        None => String::new(),
    };
    let what =
        stop.text.as_deref().map(|it| format!(": {}", budget::cut(it, 300))).unwrap_or_default();
    // The first thread of a compiled program has its process's number.
    let pid = session.process(stop.thread.target).and_then(|it| it.pid);
    let is_first = pid.is_some_and(|pid| i64::from(pid) == stop.thread.thread);
    let is_plain = (stop.thread.is_main() || is_first) && session.processes() < 2;
    let thread = who::of(session, stop.thread, shown.thread.as_deref());
    let thread = if is_plain { String::new() } else { format!(", {thread}") };
    let again = shown.hits.iter().map(|hit| hit.hit_count).max().filter(|count| *count > 1);
    let again = again.map(|count| format!(", hit {count}")).unwrap_or_default();
    format!(
        "Stopped ({}{}){place}{what} · {}{thread}{again}",
        stop.reason.as_str(),
        hits.concat(),
        session.id
    )
}

/// `orders.py:19`, with a column where the line alone says too little: `bundle.js:1:20305`.
pub(crate) fn spot(frame: &Frame, session: &Session) -> String {
    let column = frame.column.filter(|column| *column >= limits::COLUMN_TELLS);
    let column = column.map(|column| format!(":{column}")).unwrap_or_default();
    format!("{}:{}{column}", place(frame, session), frame.line)
}

fn place(frame: &Frame, session: &Session) -> String {
    match (&frame.file, &frame.place) {
        (Some(file), _) => inspect::place(file, session.cwd()),
        (None, Some(place)) => place.clone(),
        (None, None) => "unknown source".to_owned(),
    }
}

/// What runs there, and a word where the file has become something else.
async fn around(session: &Session, shown: &Shown, top: &Frame) -> Option<String> {
    let context = limits::SOURCE_CONTEXT;
    let (first, last) = (top.line.saturating_sub(context), top.line.saturating_add(context));
    let file = top.file.as_deref()?;
    let source = session.source(Some(shown.stop.thread.target), file).await?;
    let view = source.excerpt(first, last, Some((top.line, top.column)));
    Some(match source.edited {
        Some(edited) => format!("{}\n{}", view.text, edited.note(file, Some(top.line))),
        None => view.text,
    })
}

/// What is new or different since the last stop in the same function; at the first, everything.
async fn changed(session: &Session, backend: &Backend, shown: &Shown, top: &Frame) -> String {
    let Ok(locals) = inspect::locals(backend, &top.id).await else { return String::new() };
    session.remember(shown, &locals);
    let now: BTreeMap<String, String> =
        locals.iter().map(|it| (it.name.clone(), it.value.text.clone())).collect();
    let first = BTreeMap::new();
    let before = session.tell(shown.seq, &top.function, now);
    // A module's imports are no news.
    let is_module = top.function == "<module>" && before.is_none();
    let lines = if is_module {
        Vec::new()
    } else {
        inspect::changes(before.as_ref().unwrap_or(&first), &locals, 100)
    };
    if lines.is_empty() {
        return String::new();
    }
    let title = if before.is_some() { "changed" } else { "locals" };
    let more = lines.len().saturating_sub(limits::CHANGES);
    let shown: Vec<&str> = lines.iter().take(limits::CHANGES).map(String::as_str).collect();
    let rest =
        if more > 0 { format!("\n  … {more} more: `debug_variables`") } else { String::new() };
    format!("\n{title}:\n{}{rest}", shown.join("\n"))
}

pub(crate) fn new_output(text: &OutputText) -> String {
    if text.text.trim().is_empty() {
        return String::new();
    }
    let cut = budget::cut(text.text.trim_end(), OUTPUT_TAIL);
    let lost = if text.lost > 0 {
        format!(" ({} bytes before it are lost)", text.lost)
    } else {
        String::new()
    };
    let more = if cut.len() < text.text.trim_end().len() {
        "\n(cut: `debug_output` shows all of it, its `find` searches)"
    } else {
        ""
    };
    format!("\n--- Program output{lost} ---\n{cut}{more}")
}

/// Where a breakpoint was asked for, in few words.
fn short(session: &Session, breakpoint: &Breakpoint) -> String {
    match &breakpoint.place {
        Place::Line { file, line, .. } => {
            format!("{}:{line}", inspect::place(file, session.cwd()))
        }
        place @ Place::Function { .. } => place.to_string(),
    }
}

/// What the debugger had to say, in one line: it is not the program's output.
fn notes(session: &Session, since: u64) -> String {
    let said = session.output.since(since, Some(Stream::Debugger)).text;
    let lines: Vec<&str> = said.lines().filter(|it| !it.trim().is_empty()).collect();
    let Some(first) = lines.first() else { return String::new() };
    let call = "`debug_output {\"stream\": \"debugger\"}`";
    match lines.len() - 1 {
        0 if first.len() <= NOTE => format!("\n(the debugger: {first})"),
        0 => format!("\n(the debugger: {}: {call})", budget::cut(first, NOTE)),
        more => {
            format!("\n(the debugger: {}; {more} more lines: {call})", budget::cut(first, NOTE))
        }
    }
}

fn running(session: &Session, waited: Duration) -> Result<Reply, Failure> {
    if session.view().is_ending {
        let text = format!(
            "Ended · {} · what it reported last is still read\nhint: `debug_wait` returns when all of it is, and tells \
             how it ended",
            session.id
        );
        let data = json!({ "session_id": session.id, "state": "ending", "timed_out": true });
        return Ok(Answer::new(text, &data)?.into());
    }
    let text = format!(
        "Running · {} · no stop within {} s\nhint: `debug_wait` waits for the next stop, `debug_pause` stops it now",
        session.id,
        waited.as_secs_f64()
    );
    Ok(Answer::new(
        text,
        &json!({ "session_id": session.id, "state": "running", "timed_out": true }),
    )?
    .into())
}

/// Hits go out in batches: what a program had not sent when it was killed went with it.
pub(crate) fn is_cut_short(exit: Option<Exit>) -> bool {
    matches!(exit, Some(Exit::Signal(_) | Exit::Unguarded(_)))
}

pub(crate) fn exit_json(exit: Exit) -> Value {
    match exit {
        Exit::Code(code) => json!({ "code": code }),
        Exit::Signal(signal) => json!({ "signal": signal }),
        Exit::Unknown => json!({}),
        Exit::Unguarded(signal) => json!({ "guard_killed_by": signal }),
        Exit::Left => json!({ "detached": true }),
        Exit::Lost => json!({ "lost": true }),
    }
}

pub(crate) fn stop_json(shown: &Shown) -> Value {
    let stop = &shown.stop;
    let top = shown.stack.frames.first();
    json!({
        "reason": stop.reason.as_str(),
        "epoch": stop.epoch,
        "thread_id": stop.thread,
        "thread": shown.thread,
        "breakpoint_ids": stop.hits,
        "hit_counts": shown.hits.iter().map(|hit| hit.hit_count).collect::<Vec<_>>(),
        "text": stop.text,
        "file": top.and_then(|it| it.file.as_ref()).map(|it| it.display().to_string()),
        "line": top.map(|it| it.line),
        "column": top.and_then(|it| it.column),
        "function": top.map(|it| it.function.clone()),
    })
}
