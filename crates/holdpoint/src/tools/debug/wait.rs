//! `debug_wait`: wait for the next stop or the end, also one that came just before the call.

use std::time::{Duration, Instant};

use holdpoint_engine::{failure::Failure, ids::Epoch, limits, session::Session};
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
        let until = Until::new(patience(params.timeout_s, Self::TIMEOUT));
        let newest = session.view().newest;
        let after = match params.since {
            Some(since) => Epoch(since),
            None => Epoch(newest.0.saturating_sub(1)),
        };
        let cursor = session.output.cursor();
        call.doing(format!("waiting for {} to stop", session.id));
        until.tell(&session, after, cursor).await
    }
}

/// Said of a program that has a command and does not answer it.
pub(crate) const UNANSWERED: &str = "it was told to, and does not answer now: it may be inside of a call that \
    does not return to its interpreter";

/// The time that a caller has: for a command, the wait after it, and what is told of it.
pub(crate) struct Until {
    begun: Instant,
    whole: Duration,
}

impl Until {
    pub(crate) fn new(whole: Duration) -> Until {
        Until { begun: Instant::now(), whole }
    }

    pub(crate) fn left(&self) -> Duration {
        self.whole.saturating_sub(self.begun.elapsed())
    }

    /// Gives a command. A program that does not answer has it all the same, so what it does is waited for;
    /// `false` for one that has not answered by then.
    pub(crate) async fn give(
        &self,
        command: impl Future<Output = Result<(), Failure>>,
    ) -> Result<bool, Failure> {
        match tokio::time::timeout(self.left(), command).await {
            Ok(answer) => answer.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// What the wait finds, told in time: values that do not come are left to another call.
    pub(crate) async fn tell(
        &self,
        session: &Session,
        after: Epoch,
        cursor: u64,
    ) -> Result<Reply, Failure> {
        let found = session.wait(after, self.left()).await;
        let told = report::outcome(session, found.clone(), cursor, self.whole);
        match tokio::time::timeout(self.left() + limits::TELL, told).await {
            Ok(reply) => reply,
            Err(_) => report::without_values(session, found, cursor, self.whole).await,
        }
    }
}

/// The boundary has checked the number; this gives it a type.
pub(crate) fn patience(seconds: Option<f64>, usual: Duration) -> Duration {
    let asked = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    asked.unwrap_or(usual).min(limits::TOOL_TIMEOUT_MAX)
}
