//! `debug_pause`: stop a running program where it is.

use holdpoint_engine::failure::{Code, Failure};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{report, wait::patience};
use crate::{
    tool::{Call, Effect, Reply, Tool},
    tools::session::Known,
};

pub(crate) struct Pause;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Pause {
    const NAME: &'static str = "debug_pause";
    const ABOUT: &'static str = "It hangs: stop a running program where it is, and say where.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Pause";
    type Scope = Known;
    type Params = Params;

    async fn run(Known(session): Known, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let before = session.view().newest;
        let cursor = session.output.cursor();
        let taken = tokio::time::timeout(patience, session.pause()).await;
        taken.map_err(|_| {
            let text = format!("the program did not answer within {} s", patience.as_secs_f64());
            Failure::new(Code::Timeout, text).hint(
                "it is where its debugger cannot interrupt it, such as in a system call; with a larger \
                 `timeout_s` the debugger may say more, and `debug_stop` ends it",
            )
        })??;
        call.doing(format!("waiting for {} to stop", session.id));
        let found = session.wait(before, patience).await;
        report::outcome(&session, found, cursor, patience).await
    }
}
