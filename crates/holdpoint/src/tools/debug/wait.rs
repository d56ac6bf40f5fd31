//! `debug_wait`: wait for the next stop or the end, also one that came just before the call.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use holdpoint_engine::{
    failure::Failure,
    ids::{Epoch, Seq},
    limits,
    session::{Holder, Session, Shown, Status, View},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::report;
use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::Chosen,
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
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Wait until the running program stops or ends.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Wait";
    const RARE: &'static [&'static str] = &["after_epoch"];
    type Scope = Chosen;
    type Params = Params;

    async fn run(Chosen(session): Chosen, params: Params, call: Call) -> Result<Reply, Failure> {
        let until = Until::new(patience(params.timeout_s, Self::TIMEOUT));
        let view = session.view();
        let stands = view.stop.as_ref().filter(|_| view.status == Status::Stopped);
        let is_known = |shown: &&Arc<Shown>| {
            params.since.is_some_and(|since| shown.seq <= Seq(since))
                || params.after_epoch.is_some_and(|epoch| shown.stop.epoch == Epoch(epoch))
        };
        if session.holder() == Holder::Person {
            return while_held(&session, &view, &until, &call).await;
        }
        if let Some(shown) = stands.filter(is_known) {
            return unmoved(&session, shown).await;
        }
        let cursor = session.output.cursor();
        call.doing(format!("waiting for {} to stop", session.id));
        // A stop that is yet to come is waited for, whatever stands now.
        let newest = Epoch(view.newest.0.saturating_sub(1));
        let after = params.after_epoch.map(Epoch).filter(|it| newest < *it).unwrap_or(newest);
        until.tell(&session, after, cursor).await
    }
}

/// A person steers: what is waited for is the next stop, or that the program is handed back.
async fn while_held(
    session: &Session,
    view: &View,
    until: &Until,
    call: &Call,
) -> Result<Reply, Failure> {
    let cursor = session.output.cursor();
    call.doing(format!("waiting for a person, who is in control of {}", session.id));
    tokio::select! {
        told = until.tell(session, view.newest, cursor) => told,
        () = session.handed_back() => {
            let text = format!("{} is handed back to you: it {}", session.id, match session.view().status {
                Status::Stopped => "stands; `debug_status` says where",
                Status::Running | Status::Starting => "runs; `debug_wait` waits for its next stop",
                Status::Ended => "has ended",
            });
            let status = session.view().status;
            let data = json!({ "session_id": session.id, "state": status, "handed_back": true });
            Ok(Answer::new(text, &data)?.into())
        }
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

/// Nothing comes of a program that stands: to wait would end in saying that it runs.
async fn unmoved(session: &Session, shown: &Shown) -> Result<Reply, Failure> {
    let text = format!(
        "Not resumed since seq {}: {}\nhint: `debug_continue` and `debug_step` move it",
        shown.seq.0,
        report::head(session, shown).await
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
