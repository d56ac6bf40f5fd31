//! `breakpoint_enable`: switch a breakpoint off and on without losing it.

use holdpoint_engine::{failure::Failure, ids::BreakpointId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::bind;
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Enable;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    id: i64,
    enabled: Option<bool>,
}

impl Tool for Enable {
    const NAME: &'static str = "breakpoint_enable";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Switch a breakpoint or tracepoint on or off.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Enable breakpoint";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let enabled = params.enabled.unwrap_or(true);
        let changed = app.engine.sessions.breakpoints.enable(BreakpointId(params.id), enabled)?;
        let change = if enabled { "enabled" } else { "disabled" };
        app.engine.breakpoint_changed(&changed, change, call.actor());
        app.engine.memory().await.keep(&changed).await;
        if enabled {
            let fate = bind::set(&app, &changed).await?;
            let text = bind::text(&app, &changed, &fate);
            return Ok(Answer::new(text, &bind::data(&app, &changed, &fate))?.into());
        }
        let kind = if changed.trace.is_some() { "Tracepoint" } else { "Breakpoint" };
        let text = format!("{kind} {} at {} disabled", changed.id, changed.place);
        let left = bind::left_in(bind::sync(&app, &changed).await.err());
        Ok(Reply::from(Answer::new(text, &bind::asked(&changed))?).with_note(left))
    }
}
