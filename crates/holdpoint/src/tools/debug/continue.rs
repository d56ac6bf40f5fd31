//! `debug_continue`: run on to the next stop or the end.

use std::sync::Arc;

use holdpoint_engine::{
    breakpoints::{Breakpoint, Place},
    failure::{Code, Failure},
    ids::BreakpointId,
    session::Session,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::wait::{UNANSWERED, Until, patience};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    tools::{
        breakpoint::{bind, place::check_line},
        session::{Steered, StoppedSession},
    },
};

pub(crate) struct Continue;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Of the current file.
    to_line: Option<u32>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Continue {
    const NAME: &'static str = "debug_continue";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Run on to the next breakpoint, exception or the end. \
        `debug_wait` waits longer.";
    const EFFECT: Effect = Effect::Writes;
    const TITLE: &'static str = "Continue";
    type Scope = Steered<StoppedSession>;
    type Params = Params;

    async fn run(
        Steered(at): Steered<StoppedSession>,
        params: Params,
        call: Call,
    ) -> Result<Reply, Failure> {
        let until = Until::new(patience(params.timeout_s, Self::TIMEOUT));
        let once = match params.to_line {
            Some(line) => Some(Once::set(&at, &call, line).await?),
            None => None,
        };
        let result = run_on(&at, &call, &until).await;
        if let Some(once) = once {
            once.remove().await;
        }
        result
    }
}

async fn run_on(at: &StoppedSession, call: &Call, until: &Until) -> Result<Reply, Failure> {
    let session = &at.session;
    let cursor = session.output.cursor();
    let is_answered = until.give(session.by(call.actor()).resume()).await?;
    call.doing(format!("waiting for {} to stop", session.id));
    let told = until.tell(session, at.shown.stop.epoch, cursor).await?;
    Ok(told.with_note((!is_answered).then(|| UNANSWERED.to_owned())))
}

/// A breakpoint for one run; the one that stood there before comes back, also when the call is cancelled.
struct Once {
    app: App,
    session: Arc<Session>,
    id: BreakpointId,
    place: Place,
    before: Option<Breakpoint>,
    is_set: bool,
}

impl Once {
    async fn set(at: &StoppedSession, call: &Call, line: u32) -> Result<Once, Failure> {
        let file = at.shown.stack.frames.first().and_then(|top| top.file.clone());
        let file =
            file.ok_or_else(|| Failure::new(Code::NotFound, "the program stands in no file"))?;
        check_line(&file, line)?;
        let target = at.shown.stop.thread.target;
        let edited = at.session.edited(Some(target), &file).await;
        if edited.is_some_and(|it| it.running.is_some() && it.running(line).is_none()) {
            let text =
                format!("line {line} of `{}` is new since the program loaded it", file.display());
            return Err(Failure::new(Code::InvalidParams, text)
                .hint("`debug_restart` runs the new text, `debug_source` shows what runs now"));
        }
        let breakpoints = &call.app.engine.sessions.breakpoints;
        let place = Place::Line { file: file.clone(), line, column: None };
        let before = breakpoints.at(&place);
        let id = bind::plain(&call.app, &file, line)?;
        let (app, session) = (call.app.clone(), Arc::clone(&at.session));
        let once = Once { app, session, id, place, before, is_set: true };
        at.session.sync_breakpoints(breakpoints, &once.place).await;
        Ok(once)
    }

    async fn remove(mut self) {
        self.restore();
        self.session.sync_breakpoints(&self.app.engine.sessions.breakpoints, &self.place).await;
    }

    fn restore(&mut self) {
        self.is_set = false;
        let breakpoints = &self.app.engine.sessions.breakpoints;
        let restored = match self.before.take() {
            Some(before) => breakpoints.restore(before),
            None => breakpoints.remove(self.id),
        };
        if let Err(failure) = restored {
            tracing::debug!(%failure, "the breakpoint for one run is gone already");
        }
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        if self.is_set {
            self.restore();
            let (app, session) = (self.app.clone(), Arc::clone(&self.session));
            let place = self.place.clone();
            // Ends by itself, within the debugger's deadline.
            tokio::spawn(async move {
                session.sync_breakpoints(&app.engine.sessions.breakpoints, &place).await;
            });
        }
    }
}
