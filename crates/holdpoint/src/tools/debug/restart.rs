//! `debug_restart`: the same program again, with the same breakpoints.

use std::time::Duration;

use holdpoint_engine::{failure::Failure, ids::Epoch};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{report, wait::patience};
use crate::{
    tool::{Call, Effect, Reply, Tool},
    tools::session::Known,
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
    type Scope = Known;
    type Params = Params;

    async fn run(Known(old): Known, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        old.stop().await;
        call.doing(format!("starting {} again", old.name));
        let sessions = &call.app.engine.sessions;
        let session = sessions.launch(old.launch.clone(), call.follow()).await?;
        if let Some(text) = &session.launch.stdin {
            session.input(text, true).await?;
        }
        let found = session.wait(Epoch::default(), patience).await;
        report::outcome(&session, found, 0, patience).await
    }
}
