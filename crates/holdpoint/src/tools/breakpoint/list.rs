//! `breakpoint_list`: every breakpoint there is.

use holdpoint_engine::{budget::Lines, failure::Failure};
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
            let condition =
                breakpoint.condition.as_deref().map(|it| format!(" if {it}")).unwrap_or_default();
            let off = if breakpoint.enabled { "" } else { " (disabled)" };
            let place = format!("{}:{}", breakpoint.file.display(), breakpoint.line);
            if !lines.push(&format!("{} breakpoint {place}{condition}{off}", breakpoint.id)) {
                lines.always(&format!("… {} more", all.len() - rows.len()));
                break;
            }
            let mut row = bind::data(breakpoint, &bind::Fate::Waiting);
            if let Some(row) = row.as_object_mut() {
                row.insert("type".to_owned(), json!("breakpoint"));
                for unknown in ["state", "bound_line", "moved", "why"] {
                    row.remove(unknown);
                }
            }
            rows.push(row);
        }
        if all.is_empty() {
            lines.always("no breakpoints");
        }
        Ok(Answer::new(lines.into_text(), &json!({ "breakpoints": rows, "total": all.len() }))?
            .into())
    }
}
