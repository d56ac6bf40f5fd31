//! What a breakpoint tool says: where it was bound, whether it moved, why not.

use std::path::Path;

use holdpoint_engine::{
    backend::Binding,
    breakpoints::{Breakpoint, Place},
    failure::Failure,
    ids::BreakpointId,
    inspect,
};
use serde_json::{Value, json};

use crate::app::App;

/// A breakpoint without conditions.
pub(crate) fn plain(app: &App, file: &Path, line: u32) -> Result<BreakpointId, Failure> {
    let place =
        Place { file: file.to_owned(), line, column: None, condition: None, hit_condition: None };
    app.engine.sessions.breakpoints.set(place).map(|breakpoint| breakpoint.id)
}

/// What became of one breakpoint, over all sessions.
pub(crate) enum Fate {
    /// Nobody runs: it waits for a launch.
    Waiting,
    Bound {
        line: u32,
    },
    Not {
        why: String,
    },
}

/// Sends the file's breakpoints to every live session and finds out what became of this one.
pub(crate) async fn sync(app: &App, breakpoint: &Breakpoint) -> Result<Fate, Failure> {
    let sessions = &app.engine.sessions;
    let mut fate = Fate::Waiting;
    for session in sessions.all() {
        for answer in session.sync_breakpoints(&sessions.breakpoints, &breakpoint.file).await {
            let mine = answer?.into_iter().find(|bound| bound.id == breakpoint.id);
            fate = match (mine.map(|bound| bound.state), fate) {
                (Some(Binding::At { line, .. }), _) => Fate::Bound { line },
                (Some(Binding::Not { why }), Fate::Waiting) => Fate::Not { why },
                (_, fate) => fate,
            };
        }
    }
    Ok(fate)
}

/// `Breakpoint 1 at orders.py:22 (verified)` with the line's text, or what is wrong.
pub(crate) fn text(breakpoint: &Breakpoint, fate: &Fate) -> String {
    let name = breakpoint.file.file_name().map(|it| it.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| breakpoint.file.display().to_string());
    let (id, asked) = (breakpoint.id, breakpoint.line);
    let head = match fate {
        Fate::Waiting => {
            format!(
                "Breakpoint {id} at {name}:{asked} (pending: no program runs; set at the next launch)"
            )
        }
        Fate::Bound { line } if *line == asked => {
            format!("Breakpoint {id} at {name}:{asked} (verified)")
        }
        Fate::Bound { line } => {
            format!("Breakpoint {id} at {name}:{line} (verified, moved: line {asked} has no code)")
        }
        Fate::Not { why } => format!("Breakpoint {id} at {name}:{asked} (pending: {why})"),
    };
    let at = match fate {
        Fate::Bound { line } => *line,
        Fate::Waiting | Fate::Not { .. } => asked,
    };
    match inspect::snippet(&breakpoint.file, at, at, Some((at, breakpoint.column))) {
        Some(view) if !view.text.is_empty() => format!("{head}\n{}", view.text),
        _ => head,
    }
}

pub(crate) fn data(breakpoint: &Breakpoint, fate: &Fate) -> Value {
    let (state, line, why) = match fate {
        Fate::Waiting => ("pending", None, Some("no program runs".to_owned())),
        Fate::Bound { line } => ("bound", Some(*line), None),
        Fate::Not { why } => ("pending", None, Some(why.clone())),
    };
    json!({
        "breakpoint_id": breakpoint.id,
        "file": breakpoint.file.display().to_string(),
        "line": breakpoint.line,
        "condition": breakpoint.condition,
        "hit_condition": breakpoint.hit_condition,
        "enabled": breakpoint.enabled,
        "state": state,
        "bound_line": line,
        "moved": line.is_some_and(|line| line != breakpoint.line),
        "why": why,
    })
}
