//! What a breakpoint tool says: where it was bound, whether it moved, why not.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_engine::{
    backend::{Binding, Site, TraceWay},
    breakpoints::{Asked, Breakpoint, Place},
    failure::{Code, Failure},
    ids::BreakpointId,
    inspect,
    session::Session,
};
use serde_json::{Value, json};

use crate::app::App;

/// A breakpoint without conditions.
pub(crate) fn plain(app: &App, file: &Path, line: u32) -> Result<BreakpointId, Failure> {
    let asked = Asked::line(file.to_owned(), line);
    app.engine.sessions.breakpoints.set(asked).map(|breakpoint| breakpoint.id)
}

/// What became of one breakpoint, over all sessions.
pub(crate) enum Fate {
    /// Nobody runs: it waits for a launch.
    Waiting,
    Bound {
        line: u32,
    },
    /// A function's name was found, at these places at least.
    Functions {
        places: Vec<Site>,
        total: usize,
    },
    Not {
        why: String,
    },
}

/// How a tracepoint works in the live sessions, where there are any.
fn way(app: &App, breakpoint: &Breakpoint) -> Option<TraceWay> {
    app.engine.sessions.all().iter().filter_map(|it| it.trace_way(breakpoint)).max()
}

/// Whether a debugger leaves it to us to tell which hits are meant.
fn is_emulated(app: &App, breakpoint: &Breakpoint) -> bool {
    breakpoint.trace.is_none() && app.engine.sessions.all().iter().any(|it| it.emulates(breakpoint))
}

/// What it costs the program.
fn costs(app: &App, breakpoint: &Breakpoint) -> Option<&'static str> {
    if is_emulated(app, breakpoint) {
        return Some(
            "emulated: the program is stopped for a moment at each hit, to look whether it is meant",
        );
    }
    breakpoint.trace.as_ref()?;
    Some(match way(app, breakpoint)? {
        TraceWay::Watched => {
            "in-process, by sys.monitoring: the program reports by itself, in a few microseconds"
        }
        TraceWay::Woven => {
            "in-process, by a call in its text: the program reports by itself, in a few microseconds"
        }
        TraceWay::InProcess => "in-process: the program reports by itself and never stops",
        TraceWay::Tried => {
            "in-process: the program reports by itself; its calls may not end, so the program stands \
             for a moment at the first hit"
        }
        TraceWay::Emulated => "emulated: the program is stopped for a moment at each hit",
    })
}

/// Why it does nothing now, if so.
pub(crate) fn off(breakpoint: &Breakpoint) -> &'static str {
    match (breakpoint.enabled, breakpoint.is_spent) {
        (true, _) => "",
        (false, false) => " (disabled)",
        (false, true) => " (disabled: limit reached)",
    }
}

/// Sends the file's breakpoints to every live session and finds out what became of this one.
pub(crate) async fn sync(app: &App, breakpoint: &Breakpoint) -> Result<Fate, Failure> {
    let sessions = &app.engine.sessions;
    let (mut fate, mut failed) = (Fate::Waiting, None);
    for session in sessions.all() {
        for answer in session.sync_breakpoints(&sessions.breakpoints, &breakpoint.place).await {
            // One that fails keeps no other from it, and one that ended meanwhile has no part in it.
            let bound = answer.unwrap_or_else(|failure| {
                failed = Some(failure).filter(|it| it.code != Code::SessionEnded).or(failed.take());
                Vec::new()
            });
            let mine = bound.into_iter().find(|bound| bound.id == breakpoint.id);
            fate = match (mine.map(|bound| bound.state), fate) {
                (Some(Binding::At { line, .. }), _) => Fate::Bound { line },
                (Some(Binding::Functions { places, total }), _) => {
                    Fate::Functions { places, total }
                }
                (Some(Binding::Not { why }), Fate::Waiting) => Fate::Not { why },
                (_, fate) => fate,
            };
        }
    }
    match failed {
        Some(failure) if !matches!(fate, Fate::Bound { .. } | Fate::Functions { .. }) => {
            Err(failure)
        }
        _ => Ok(fate),
    }
}

/// The same for what is to be set: a program that does not answer now has it, and takes it later.
pub(crate) async fn set(app: &App, breakpoint: &Breakpoint) -> Result<Fate, Failure> {
    match sync(app, breakpoint).await {
        Err(failure) if failure.code == Code::Timeout => {
            let hint = failure.hint.map(|it| format!("; {it}")).unwrap_or_default();
            Ok(Fate::Not { why: format!("{}{hint}", failure.message) })
        }
        fate => fate,
    }
}

/// What is removed or disabled is so, whether or not every program took it out.
pub(crate) fn left_in(failure: Option<Failure>) -> Option<String> {
    let failure = failure?;
    let hint = failure.hint.map(|it| format!("; {it}")).unwrap_or_default();
    Some(format!("it is still in a running program: {}{hint}", failure.message))
}

/// `Breakpoint 1 at orders.py:22 (verified)` with the line's text, or what is wrong.
pub(crate) fn text(app: &App, breakpoint: &Breakpoint, fate: &Fate) -> String {
    let (head, shown) = match &breakpoint.place {
        Place::Line { file, line, column } => at_line(file, *line, *column, fate),
        Place::Function { .. } => at_function(&breakpoint.place, fate),
    };
    let kind = if breakpoint.trace.is_some() { "Tracepoint" } else { "Breakpoint" };
    let costs = costs(app, breakpoint).map(|it| format!(", {it}")).unwrap_or_default();
    let stands = if stands_on(app, breakpoint, fate) {
        "; the program stands on this line already, so it counts from the next time on"
    } else {
        ""
    };
    let older = older(app, breakpoint.id).map(|it| format!("; {it}")).unwrap_or_default();
    let head = format!("{kind} {} {head}{costs}{older}{stands}", breakpoint.id);
    let source = shown
        .and_then(|(file, line, column)| inspect::snippet(&file, line, line, Some((line, column))));
    match source {
        Some(view) if !view.text.is_empty() => format!("{head}\n{}", view.text),
        _ => head,
    }
}

/// Which line it is where a program runs an older text of its file.
pub(crate) fn older(app: &App, id: BreakpointId) -> Option<String> {
    let line = app.engine.sessions.all().iter().find_map(|it| it.runs_as(id))?;
    Some(format!(
        "the file changed since the program loaded it: in the text that runs this is line {line}"
    ))
}

/// Whether a program stands where it was bound: debuggers do not come to a line that they are on.
fn stands_on(app: &App, breakpoint: &Breakpoint, fate: &Fate) -> bool {
    let (Fate::Bound { line }, Place::Line { file, column: None, .. }) = (fate, &breakpoint.place)
    else {
        return false;
    };
    let is_there = |session: &Arc<Session>| {
        let stop = session.view().stop.clone();
        let top = stop.as_ref().and_then(|it| it.stack.frames.first());
        let line = session.runs_as(breakpoint.id).unwrap_or(*line);
        // It may have stopped there by this very breakpoint since it was set.
        let is_by_it = stop.as_ref().is_some_and(|it| it.stop.hits.contains(&breakpoint.id));
        if is_by_it && breakpoint.trace.is_none() {
            return false;
        }
        top.is_some_and(|top| top.file.as_deref() == Some(file) && top.line == line)
    };
    app.engine.sessions.all().iter().any(is_there)
}

const WAITING: &str = "pending: no program runs; set at the next launch";

/// What is said, and the line that is shown.
type Placed = (String, Option<(PathBuf, u32, Option<u32>)>);

fn at_line(file: &Path, asked: u32, column: Option<u32>, fate: &Fate) -> Placed {
    let name = base(file);
    let (head, line) = match fate {
        Fate::Waiting => (format!("at {name}:{asked} ({WAITING})"), asked),
        Fate::Bound { line } if *line == asked => (format!("at {name}:{asked} (verified)"), asked),
        Fate::Bound { line } => {
            (format!("at {name}:{line} (verified, moved: line {asked} has no code)"), *line)
        }
        Fate::Functions { .. } => (format!("at {name}:{asked} (verified)"), asked),
        Fate::Not { why } => (format!("at {name}:{asked} (pending: {why})"), asked),
    };
    (head, Some((file.to_owned(), line, column)))
}

fn at_function(place: &Place, fate: &Fate) -> Placed {
    match fate {
        Fate::Waiting => (format!("at {place} ({WAITING})"), None),
        Fate::Functions { places, total } => {
            let each: Vec<String> =
                places.iter().take(3).map(|it| format!("{}:{}", base(&it.file), it.line)).collect();
            let more = total.saturating_sub(each.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let head = format!("at {place} (verified: {}{more})", each.join(", "));
            let first = places.first().map(|it| (it.file.clone(), it.line, None));
            (head, first)
        }
        Fate::Bound { line } => (format!("at {place} (verified: line {line})"), None),
        Fate::Not { why } => (format!("at {place} (pending: {why})"), None),
    }
}

fn base(file: &Path) -> String {
    match file.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => file.display().to_string(),
    }
}

pub(crate) fn data(app: &App, breakpoint: &Breakpoint, fate: &Fate) -> Value {
    let (state, line, why) = match fate {
        Fate::Waiting => ("pending", None, Some("no program runs".to_owned())),
        Fate::Bound { line } => ("bound", Some(*line), None),
        Fate::Functions { places, .. } => ("bound", places.first().map(|it| it.line), None),
        Fate::Not { why } => ("pending", None, Some(why.clone())),
    };
    let mut data = asked(breakpoint);
    let bound = json!({
        "state": state,
        "bound_line": line,
        "moved": line.zip(line_of(&breakpoint.place)).is_some_and(|(at, asked)| at != asked),
        "why": why,
    });
    if let (Some(data), Value::Object(bound)) = (data.as_object_mut(), bound) {
        data.extend(bound);
        if breakpoint.trace.is_some() {
            let way = way(app, breakpoint).map(|it| match it {
                TraceWay::Watched | TraceWay::Woven => "watched",
                TraceWay::InProcess | TraceWay::Tried => "in_process",
                TraceWay::Emulated => "emulated",
            });
            data.insert("way".to_owned(), json!(way));
        } else if is_emulated(app, breakpoint) {
            data.insert("emulated".to_owned(), json!(true));
        }
        if let Fate::Functions { places, total } = fate {
            let each = places.iter();
            let each =
                each.map(|it| json!({ "file": it.file.display().to_string(), "line": it.line }));
            data.insert("places".to_owned(), each.collect());
            data.insert("places_total".to_owned(), json!(total));
        }
    }
    data
}

/// A breakpoint as it was asked for.
pub(crate) fn asked(breakpoint: &Breakpoint) -> Value {
    let function = match &breakpoint.place {
        Place::Function { name, .. } => Some(name),
        Place::Line { .. } => None,
    };
    let mut data = json!({
        "breakpoint_id": breakpoint.id,
        "type": breakpoint.kind(),
        "file": breakpoint.place.file().map(|it| it.display().to_string()),
        "line": line_of(&breakpoint.place),
        "function": function,
        "condition": breakpoint.condition,
        "hit_condition": breakpoint.hit_condition,
        "enabled": breakpoint.enabled,
    });
    if let (Some(trace), Some(data)) = (&breakpoint.trace, data.as_object_mut()) {
        data.insert("log_message".to_owned(), json!(trace.message));
        data.insert("hit_count_multiple".to_owned(), json!(trace.multiple));
        data.insert("max_notifications".to_owned(), json!(trace.max));
        if breakpoint.is_spent {
            data.insert("disabled".to_owned(), json!("limit reached"));
        }
    }
    data
}

fn line_of(place: &Place) -> Option<u32> {
    match place {
        Place::Line { line, .. } => Some(*line),
        Place::Function { .. } => None,
    }
}
