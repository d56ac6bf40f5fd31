//! `debug_continue`: run on to the next stop or the end.

use std::{path::PathBuf, time::Duration};

use holdpoint_engine::{failure::Failure, ids::BreakpointId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{report, wait::patience};
use crate::{
    tool::{Call, Effect, Reply, Tool},
    tools::{breakpoint::bind, session::Stopped},
};

pub(crate) struct Continue;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Run to this line of the current file (a breakpoint for this once).
    to_line: Option<u32>,
    /// Seconds to wait for the next stop (default 30).
    timeout_s: Option<f64>,
}

impl Tool for Continue {
    const NAME: &'static str = "debug_continue";
    const ABOUT: &'static str = "Resume and wait for the next stop or the end; says which. At the \
        deadline it says `running`, and `debug_wait` gets the later stop.";
    const EFFECT: Effect = Effect::Writes;
    type Scope = Stopped;
    type Params = Params;

    async fn run(at: Stopped, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let once = match params.to_line {
            Some(line) => Some(Once::set(&at, &call, line).await?),
            None => None,
        };
        let result = run_on(&at, &call, patience).await;
        if let Some(once) = once {
            once.remove(&at, &call).await;
        }
        result
    }
}

async fn run_on(at: &Stopped, call: &Call, patience: Duration) -> Result<Reply, Failure> {
    let session = &at.session;
    let cursor = session.output.cursor();
    session.resume().await?;
    call.doing(format!("waiting for {} to stop", session.id));
    let found = session.wait(at.shown.stop.epoch, patience).await;
    report::outcome(session, found, cursor, patience).await
}

/// A breakpoint for one run.
struct Once {
    id: BreakpointId,
    file: PathBuf,
}

impl Once {
    async fn set(at: &Stopped, call: &Call, line: u32) -> Result<Once, Failure> {
        let file = at.shown.stack.frames.first().and_then(|top| top.file.clone());
        let file = file.ok_or_else(|| {
            Failure::new(holdpoint_engine::failure::Code::NotFound, "the program stands in no file")
        })?;
        let breakpoint = bind::plain(&call.app, &file, line)?;
        at.session.sync_breakpoints(&call.app.engine.sessions.breakpoints, &file).await;
        Ok(Once { id: breakpoint, file })
    }

    async fn remove(self, at: &Stopped, call: &Call) {
        let breakpoints = &call.app.engine.sessions.breakpoints;
        if let Err(failure) = breakpoints.remove(self.id) {
            tracing::debug!(%failure, "the breakpoint for one run is gone already");
        }
        at.session.sync_breakpoints(breakpoints, &self.file).await;
    }
}
