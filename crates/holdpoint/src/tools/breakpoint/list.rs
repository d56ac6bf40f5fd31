//! `breakpoint_list`: every breakpoint there is.

use holdpoint_engine::{
    breakpoints::{Breakpoint, Trace},
    budget::{self, Lines},
    failure::Failure,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::bind;
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool},
};

pub(crate) struct List;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for List {
    const NAME: &'static str = "breakpoint_list";
    const ABOUT: &'static str = "Every breakpoint, tracepoint and intercepted function, with its `type`, \
        its condition and whether it is enabled.";
    const EFFECT: Effect = Effect::Reads;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, call: Call) -> Result<Reply, Failure> {
        let all = app.engine.sessions.breakpoints.all();
        let mut lines = Lines::within(call.budget);
        let mut rows = Vec::new();
        for breakpoint in &all {
            if !lines.push(&line(breakpoint)) {
                lines.always(&format!("… {} more", all.len() - rows.len()));
                break;
            }
            rows.push(bind::asked(breakpoint));
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
        Ok(Answer::new(lines.into_text(), &json!({ "breakpoints": rows, "total": total }))?.into())
    }
}

fn line(breakpoint: &Breakpoint) -> String {
    let Breakpoint { id, place, condition, hit_condition, trace, .. } = breakpoint;
    let kind = breakpoint.kind();
    let condition = condition.as_deref().map(|it| format!(" if {it}")).unwrap_or_default();
    let hits = hit_condition.as_deref().map(|it| format!(" at hit {it}")).unwrap_or_default();
    let trace = trace.as_ref().map(reports).unwrap_or_default();
    format!("{id} {kind} {place}{condition}{hits}{trace}{}", bind::off(breakpoint))
}

/// ` "x is {x}" every 100th, at most 10`
fn reports(trace: &Trace) -> String {
    let mut text = String::new();
    if let Some(message) = &trace.message {
        text += &format!(" \"{}\"", budget::cut(message, 80));
    }
    if trace.multiple > 0 {
        text += &format!(" every {}th", trace.multiple);
    }
    if trace.max > 0 {
        text += &format!(" at most {}", trace.max);
    }
    text
}
