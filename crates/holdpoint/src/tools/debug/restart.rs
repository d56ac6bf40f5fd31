//! `debug_restart`: the same program again, with the same breakpoints.

use std::{collections::BTreeMap, time::Duration};

use holdpoint_engine::{
    failure::{Code, Failure},
    ids::Epoch,
    limits,
    session::Session,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{report, wait::patience};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    tools::session::Named,
};

pub(crate) struct Restart;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Restart {
    const NAME: &'static str = "debug_restart";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Run the program again as it was launched, with the breakpoints \
        of now.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, however short the wait for its first stop.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Restart";
    type Scope = Named;
    type Params = Params;

    async fn run(Named { app, id }: Named, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let sessions = &app.engine.sessions;
        let mut moved = None;
        let launch = match sessions.find(id.as_deref()) {
            Ok(old) => {
                old.moves(&call.actor(), &call.said)?;
                let launch = old.launch().cloned().ok_or_else(|| not_ours(&old))?;
                moved = follow_edits(&app, &old).await;
                old.stop().await;
                launch
            }
            // None in this server: the one before it may have had one.
            Err(failure) => match sessions.last_launch() {
                Some(launch) if id.is_none() && sessions.all().is_empty() => launch,
                _ => return Err(failure),
            },
        };
        let launch = launch.again(params.env).map_err(|names| withheld(&names))?;
        call.doing(format!("starting {} again", launch.title()));
        let session = sessions.launch(launch, call.follow()).await?;
        session.moves(&call.actor(), Self::NAME)?;
        if let Some(text) = session.launch().and_then(|it| it.stdin.as_ref()) {
            session.input(text, true).await?;
        }
        let found = session.wait(Epoch::default(), patience).await;
        Ok(report::begun(&session, found, patience).await?.with_note(moved))
    }
}

/// A breakpoint is where its code is, also when the file was edited meanwhile.
async fn follow_edits(app: &App, old: &Session) -> Option<String> {
    let moved = old.follow_edits().await;
    for (_, breakpoint) in &moved {
        app.engine.memory().await.keep(breakpoint).await;
    }
    let each = moved
        .iter()
        .map(|(from, it)| format!("{} {} from line {from}: {}", it.kind(), it.id, it.place));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("moved with the code that was edited: {}", each.join(", ")))
}

/// Secrets are not kept; whoever started it has them.
fn withheld(names: &[String]) -> Failure {
    let text = format!("its environment had secrets, which are not kept: {}", names.join(", "));
    let given: Vec<String> = names.iter().map(|name| format!("\"{name}\": \"…\"")).collect();
    Failure::new(Code::InvalidParams, text)
        .hint(format!("give them again: `debug_restart` with `env: {{{}}}`", given.join(", ")))
}

/// How it was started is not known here, and it is not ours to end.
fn not_ours(session: &Session) -> Failure {
    let text = format!("{} was attached to, so it cannot be started again from here", session.id);
    Failure::new(Code::InvalidParams, text)
        .hint("restart it where it was started and `debug_attach`, or start it with `debug_launch`")
}
