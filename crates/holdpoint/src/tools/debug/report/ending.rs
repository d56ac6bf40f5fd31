//! How a program ended, and what it never came to.

use holdpoint_engine::{
    attach::At,
    breakpoints::Breakpoint,
    budget,
    failure::Failure,
    process::Exit,
    session::{PassCount, Session},
};
use serde_json::{Value, json};

use super::{exit_json, is_cut_short, new_output, notes, short};
use crate::tool::{Answer, Reply};

/// Breakpoints that were never hit and are named at the end.
const NEVER_HIT: usize = 5;
/// Tracepoints of which is said how often they were passed.
const TRACED: usize = 5;

pub(super) fn ended(session: &Session, exit: Exit, since: u64) -> Result<Reply, Failure> {
    let how = match (exit, session.attach()) {
        (Exit::Left, _) => "Detached: the program runs on".to_owned(),
        (Exit::Lost, _) => "Its debugger is gone; the program runs on".to_owned(),
        (Exit::Unguarded(_), _) => {
            format!("The guard was killed; the program was ended with it (ended with {exit})")
        }
        (Exit::Unknown, Some(attach)) => {
            let what = match attach.at {
                At::Process(_) | At::Core { .. } | At::Editor { .. } => "Program ended",
                At::Address { .. } => "Program ended, or closed its debugger",
            };
            format!("{what}; it was not started here, so its exit code is unknown")
        }
        _ if session.was_stopped() && is_cut_short(Some(exit)) => {
            "Program was stopped on request".to_owned()
        }
        _ => format!("Program terminated with {exit}"),
    };
    let (never, passes) = (session.never_hit(), session.passes());
    let has_hits = passes.iter().any(|it| it.reported > 0);
    let hint = if has_hits { "\nhint: `tracepoint_read` shows the hits" } else { "" };
    let text = format!(
        "{how} · {}{}{}{}{}{hint}",
        session.id,
        never_hit(session, &never),
        passed(session, &passes, exit),
        new_output(&session.output.since(since, None)),
        notes(session, since),
    );
    Ok(Answer::new(
        text,
        &json!({
            "session_id": session.id,
            "state": "ended",
            "exit": exit_json(exit),
            "never_hit": never.iter().map(|(it, _)| it.id).take(NEVER_HIT).collect::<Vec<_>>(),
            "tracepoints": passes.iter().take(TRACED).map(passes_json).collect::<Vec<_>>(),
        }),
    )?
    .into())
}

/// A breakpoint that waits for nothing looks like one that works; so it is named.
fn never_hit(session: &Session, never: &[(Breakpoint, bool)]) -> String {
    let one = |(it, is_bound): &(Breakpoint, bool)| {
        let place = short(session, it);
        let condition = it.condition.as_ref().map(|it| format!(" if {}", budget::cut(it, 40)));
        let bound = if *is_bound { ", bound" } else { "" };
        format!("{} ({place}{}{bound})", it.id, condition.unwrap_or_default())
    };
    let named: Vec<String> = never.iter().take(NEVER_HIT).map(one).collect();
    match never.len().saturating_sub(NEVER_HIT) {
        _ if named.is_empty() => String::new(),
        0 => format!("\nnever hit: breakpoint {}", named.join(", ")),
        more => {
            format!("\nnever hit: breakpoint {}, {more} more: `breakpoint_list`", named.join(", "))
        }
    }
}

/// `tracepoint 2 (shop.py:12): 21 hits`: whoever traces wants to know without another call.
fn passed(session: &Session, passes: &[PassCount], exit: Exit) -> String {
    let one = |it: &PassCount| {
        let times = match (it.reported, it.is_bound) {
            (0, _) if chooses(&it.point) => "no hit reported".to_owned(),
            (0, true) => "never passed".to_owned(),
            (0, false) => "never passed, never bound".to_owned(),
            (1, _) if it.counted <= 1 => "1 hit".to_owned(),
            (reported, _) if it.counted <= reported => format!("{reported} hits"),
            (reported, _) => format!("{reported} reported, the last is hit {}", it.counted),
        };
        format!("\ntracepoint {} ({}): {times}", it.point.id, short(session, &it.point))
    };
    let mut text: String = passes.iter().take(TRACED).map(one).collect();
    if let Some(more) = passes.len().checked_sub(TRACED).filter(|it| *it > 0) {
        text += &format!("\n… {more} more tracepoints: `tracepoint_read {{\"aggregate\": true}}`");
    }
    if !passes.is_empty() && is_cut_short(Some(exit)) {
        let how = if session.was_stopped() { "stopped" } else { "killed" };
        text += &format!("\n(it was {how}: hits of its last moment may be missing)");
    }
    text
}

/// Whether it reports only some of its hits.
fn chooses(point: &Breakpoint) -> bool {
    let is_multiple = point.trace.as_ref().is_some_and(|it| it.multiple > 1);
    is_multiple || point.condition.is_some() || point.hit_condition.is_some()
}

fn passes_json(passes: &PassCount) -> Value {
    json!({ "breakpoint_id": passes.point.id, "hits": passes.reported })
}
