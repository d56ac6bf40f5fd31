//! `debug_wait`: wait for the next stop or the end, also one that came just before the call.

use std::time::Duration;

use holdpoint_engine::{failure::Failure, ids::Epoch, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::report;
use crate::{
    tool::{Call, Effect, Reply, Tool},
    tools::session::Known,
};

pub(crate) struct Wait;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Only stops after this epoch (`stop.epoch` of an earlier answer). Without it: a stop that stands counts.
    since: Option<u64>,
    /// Seconds to wait (default 30).
    timeout_s: Option<f64>,
}

impl Tool for Wait {
    const NAME: &'static str = "debug_wait";
    const ABOUT: &'static str = "Wait for the program's next stop or end. Returns at once when it \
        is stopped already, unless `since` names that stop.";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Known;
    type Params = Params;

    async fn run(Known(session): Known, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let newest = session.view().newest;
        let after = match params.since {
            Some(since) => Epoch(since),
            None => Epoch(newest.0.saturating_sub(1)),
        };
        let cursor = session.output.cursor();
        call.doing(format!("waiting for {} to stop", session.id));
        let found = session.wait(after, patience).await;
        report::outcome(&session, found, cursor, patience).await
    }
}

/// The boundary has checked the number; this gives it a type.
pub(crate) fn patience(seconds: Option<f64>, usual: Duration) -> Duration {
    let asked = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    asked.unwrap_or(usual).min(limits::TOOL_TIMEOUT_MAX)
}
