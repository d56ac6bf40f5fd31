//! `breakpoint_list`: every breakpoint there is.

use holdpoint_engine::{
    backend::{Binding, Exceptions},
    breakpoints::{Breakpoint, Place, Trace},
    budget::{self, Lines},
    failure::Failure,
    ids::BreakpointId,
    session::Status,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{bind, set_exception};
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct List;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for List {
    const NAME: &'static str = "breakpoint_list";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Every breakpoint, tracepoint and intercepted function, bound or \
        not.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "List breakpoints";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, call: Call) -> Result<Reply, Failure> {
        let all = app.engine.sessions.breakpoints.all();
        let mut lines = Lines::within(call.budget);
        let mut rows = Vec::new();
        for breakpoint in &all {
            let binding = binding(&app, breakpoint);
            let state = binding.as_ref().map(|it| state(breakpoint, it)).unwrap_or_default();
            let older = bind::older(&app, breakpoint.id).map(|it| format!("; {it}"));
            let state = format!("{state}{}", older.unwrap_or_default());
            let row = row(breakpoint, binding.as_ref());
            let told = format!("{}{state}", line(breakpoint));
            if !lines.push_beside(&told, row.to_string().len() + 1) {
                let left = all.len() - rows.len();
                lines.always(&format!("… {left} more: pass a larger `budget_tokens`"));
                break;
            }
            rows.push(row);
        }
        let points = app.engine.callpoints().await.callpoints();
        for (name, point) in &points {
            let (before, after) = (point.before.as_str(), point.after.as_str());
            if !lines.push(&format!("callpoint {name}: before {before}, after {after}")) {
                lines.always("… more with `breakpoint_list_breakpoints`");
                break;
            }
            rows.push(json!({
                "type": "callpoint", "function_name": name, "behavior": before,
                "after_behavior": after, "replacement": point.replacement,
            }));
        }
        let total = all.len() + points.len();
        if total == 0 {
            lines.always("no breakpoints");
        }
        let exceptions = app.engine.sessions.breakpoints.exceptions();
        if exceptions != Exceptions::default() {
            lines.always(&format!("exceptions: {}", set_exception::describe(&exceptions)));
        }
        let data = json!({ "breakpoints": rows, "total": total, "exceptions": exceptions });
        Ok(Answer::new(lines.into_text(), &data)?.into())
    }
}

/// Where it lies in the sessions that live; `None` where nothing is to be bound.
fn binding(app: &App, breakpoint: &Breakpoint) -> Option<Binding> {
    let sessions = app.engine.sessions.all();
    let live = sessions.iter().filter(|it| it.view().status != Status::Ended);
    let states = live.filter_map(|it| it.binding_of(breakpoint.id));
    let states = states.filter(|_| breakpoint.enabled);
    // Bound in one session is bound.
    states.min_by_key(|it| matches!(it, Binding::Not { .. }))
}

/// ` · verified`, or why not.
fn state(breakpoint: &Breakpoint, binding: &Binding) -> String {
    match (binding, &breakpoint.place) {
        (Binding::At { line, .. }, Place::Line { line: asked, .. }) if asked != line => {
            format!(" · verified, moved to line {line}")
        }
        (Binding::At { .. }, _) => " · verified".to_owned(),
        (Binding::Functions { total: 1, .. }, _) => " · verified".to_owned(),
        (Binding::Functions { total, .. }, _) => format!(" · verified in {total} places"),
        (Binding::Not { why }, _) => format!(" · pending: {}", budget::cut(why, 100)),
    }
}

/// As it was asked for, and where it lies.
fn row(breakpoint: &Breakpoint, binding: Option<&Binding>) -> Value {
    let mut row = bind::asked(breakpoint);
    let state = match binding {
        None => json!({ "state": null }),
        Some(Binding::At { line, .. }) => json!({ "state": "bound", "bound_line": line }),
        Some(Binding::Functions { total, .. }) => {
            json!({ "state": "bound", "places_total": total })
        }
        Some(Binding::Not { why }) => json!({ "state": "pending", "why": why }),
    };
    if let (Value::Object(row), Value::Object(state)) = (&mut row, state) {
        row.extend(state);
    }
    row
}

fn line(breakpoint: &Breakpoint) -> String {
    let Breakpoint { id, place, condition, hit_condition, trace, .. } = breakpoint;
    let kind = breakpoint.kind();
    let condition = condition.as_deref().map(|it| format!(" if {it}")).unwrap_or_default();
    let hits = hit_condition.as_deref().map(|it| format!(" at hit {it}")).unwrap_or_default();
    let trace = trace.as_ref().map(|it| reports(*id, it)).unwrap_or_default();
    format!("{id} {kind} {place}{condition}{hits}{trace}{}", bind::off(breakpoint))
}

/// ` "x is {x}" every 100 hits at most 10`
fn reports(id: BreakpointId, trace: &Trace) -> String {
    let mut text = String::new();
    if let Some(message) = &trace.message {
        // A template that is cut in its middle reads like another one.
        let (start, rest) = message.split_at(message.floor_char_boundary(80));
        text += &match rest.len() {
            0 => format!(" \"{start}\""),
            more => {
                format!(" \"{start}…\" and {more} bytes more: `tracepoint_read {{\"id\": {id}}}`")
            }
        };
    }
    if trace.multiple > 1 {
        text += &format!(" every {} hits", trace.multiple);
    }
    if trace.max > 0 {
        text += &format!(" at most {}", trace.max);
    }
    text
}
