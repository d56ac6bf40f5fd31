//! `debug_launch`: start a program under the debugger, stopped at its entry.

use std::{path::Path, time::Duration};

use holdpoint_engine::{
    breakpoints::Asked, failure::Failure, ids::Epoch, launch::Launch as Spec, limits,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::{
    report,
    what::{absolute, not_there},
};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool, bare},
    tools::{breakpoint::set, shared::params},
};

pub(crate) struct Launch;

params! {
    #[derive(Deserialize, JsonSchema)]
    pub(crate) struct Params: launch {
        /// Default true; else it runs to the first breakpoint.
        stop_on_entry: Option<bool>,
        /// As `breakpoint_set` takes them.
        #[serde(default)]
        #[schemars(schema_with = "points")]
        breakpoints: Vec<set::Params>,
        /// Default true.
        just_my_code: Option<bool>,
        /// Seconds to wait.
        timeout_s: Option<f64>,
    }
}

/// What each parameter is, `breakpoint_set` says.
fn points(generator: &mut SchemaGenerator) -> Schema {
    bare::<Vec<set::Params>>(generator, &["id"])
}

impl Tool for Launch {
    const NAME: &'static str = "debug_launch";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Debug a program, script or test ({languages}): start it, \
        stopped at its first line.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, however short the wait for its first stop.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Launch";
    const RARE: &'static [&'static str] = &["language", "stdin", "just_my_code", "breakpoints"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = super::wait::patience(params.timeout_s, Self::TIMEOUT);
        let stop_on_entry = params.stop_on_entry.unwrap_or(true);
        let just_my_code = params.just_my_code.unwrap_or(true);
        let spec = Spec { stop_on_entry, just_my_code, ..params.what().resolve()? };
        let sessions = &app.engine.sessions;
        let points = params.breakpoints.into_iter().map(|point| asked(point, &spec.cwd));
        // All are right before one is set.
        for asked in points.collect::<Result<Vec<_>, Failure>>()? {
            let breakpoint = sessions.breakpoints.set(asked)?;
            app.engine.breakpoint_changed(&breakpoint, "set", call.actor());
            app.engine.memory().await.keep(&breakpoint).await;
        }
        call.doing(format!("starting {}", spec.title()));
        let session = sessions.launch(spec, call.follow()).await?;
        session.moves(&call.actor(), Self::NAME)?;
        if let Some(text) = session.launch().and_then(|it| it.stdin.as_ref()) {
            session.input(text, true).await?;
        }
        call.doing("waiting for the first stop");
        let found = session.wait(Epoch::default(), patience).await;
        report::begun(&session, found, patience).await
    }
}

fn asked(point: set::Params, cwd: &Path) -> Result<Asked, Failure> {
    point.asked(None, |file| {
        let whole = absolute(cwd, file);
        if whole.is_file() { Ok(whole) } else { Err(not_there(&whole, "a file", cwd)) }
    })
}
