//! `debug_restart`: the same program again, with the same breakpoints.

use std::time::Duration;

use holdpoint_engine::{failure::Failure, ids::Epoch};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{report, wait::patience};
use crate::{
    tool::{Call, Effect, Reply, Tool},
    tools::session::Named,
};

pub(crate) struct Restart;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Seconds to wait for the first stop (default 30).
    timeout_s: Option<f64>,
}

impl Tool for Restart {
    const NAME: &'static str = "debug_restart";
    const ABOUT: &'static str = "End the program if it still runs, and start it again as it was \
        launched, with the breakpoints of now.";
    const EFFECT: Effect = Effect::Destroys;
    const TIMEOUT: Duration = Duration::from_secs(30);
    type Scope = Named;
    type Params = Params;

    async fn run(Named { app, id }: Named, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let sessions = &app.engine.sessions;
        let launch = match sessions.find(id.as_deref()) {
            Ok(old) => {
                old.stop().await;
                old.launch.clone()
            }
            // None in this server: the one before it may have had one.
            Err(failure) => match sessions.last_launch() {
                Some(launch) if id.is_none() && sessions.all().is_empty() => launch,
                _ => return Err(failure),
            },
        };
        call.doing(format!("starting {} again", launch.title()));
        let session = sessions.launch(launch, call.follow()).await?;
        if let Some(text) = &session.launch.stdin {
            session.input(text, true).await?;
        }
        let found = session.wait(Epoch::default(), patience).await;
        report::outcome(&session, found, 0, patience).await
    }
}
