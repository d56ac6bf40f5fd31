//! `breakpoint_list`: every breakpoint there is.

use holdpoint_engine::{breakpoints::Breakpoint, budget::Lines, failure::Failure};
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
    const ABOUT: &'static str = "Every breakpoint, with its `type`, its condition and whether it is \
        enabled.";
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
        if all.is_empty() {
            lines.always("no breakpoints");
        }
        Ok(Answer::new(lines.into_text(), &json!({ "breakpoints": rows, "total": all.len() }))?
            .into())
    }
}

fn line(breakpoint: &Breakpoint) -> String {
    let Breakpoint { id, place, condition, hit_condition, enabled } = breakpoint;
    let condition = condition.as_deref().map(|it| format!(" if {it}")).unwrap_or_default();
    let hits = hit_condition.as_deref().map(|it| format!(" at hit {it}")).unwrap_or_default();
    let off = if *enabled { "" } else { " (disabled)" };
    format!("{id} breakpoint {place}{condition}{hits}{off}")
}
