//! `debug_wait`: wait for the next stop or the end, also one that came just before the call.

use std::{sync::Arc, time::Duration};

use holdpoint_engine::{
    failure::Failure,
    ids::{Epoch, Seq},
    limits,
    session::{Session, Shown, Status},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::report;
use crate::{
    tool::{Answer, Call, Effect, Reply, Tool},
    tools::session::Known,
};

pub(crate) struct Wait;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The `seq` of an earlier answer.
    since: Option<u64>,
    /// `stop.epoch`
    after_epoch: Option<u64>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Wait {
    const NAME: &'static str = "debug_wait";
    const ABOUT: &'static str = "Wait until the running program stops or ends.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Wait";
    const RARE: &'static [&'static str] = &["after_epoch"];
    type Scope = Known;
    type Params = Params;

    async fn run(Known(session): Known, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let view = session.view();
        let stands = view.stop.as_ref().filter(|_| view.status == Status::Stopped);
        let is_known = |shown: &&Arc<Shown>| {
            params.since.is_some_and(|since| shown.seq <= Seq(since))
                || params.after_epoch.is_some_and(|epoch| shown.stop.epoch <= Epoch(epoch))
        };
        if let Some(shown) = stands.filter(is_known) {
            return unmoved(&session, shown);
        }
        let cursor = session.output.cursor();
        call.doing(format!("waiting for {} to stop", session.id));
        let found = session.wait(Epoch(view.newest.0.saturating_sub(1)), patience).await;
        report::outcome(&session, found, cursor, patience).await
    }
}

/// Nothing comes of a program that stands: to wait would end in saying that it runs.
fn unmoved(session: &Session, shown: &Shown) -> Result<Reply, Failure> {
    let text = format!(
        "Not resumed since seq {}: {}\nhint: `debug_continue` and `debug_step` move it",
        shown.seq.0,
        report::head(session, shown)
    );
    let data = json!({
        "session_id": session.id,
        "state": "stopped",
        "stop": report::stop_json(shown),
        "seq": shown.seq,
        "moved": false,
    });
    Ok(Answer::new(text, &data)?.into())
}

/// The boundary has checked the number; this gives it a type.
pub(crate) fn patience(seconds: Option<f64>, usual: Duration) -> Duration {
    let asked = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    asked.unwrap_or(usual).min(limits::TOOL_TIMEOUT_MAX)
}
