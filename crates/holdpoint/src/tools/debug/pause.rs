//! `debug_pause`: stop a running program where it is.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

use super::wait::{Until, patience};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    tools::session::{Chosen, Steered},
};

pub(crate) struct Pause;

/// Said of a program that is where its debugger cannot interrupt it.
const SILENT: &str = "it was told to stop, and does so as soon as it answers: it may be inside of a call that does \
    not return to its interpreter, such as a system call; `debug_stop` ends it";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Pause {
    const NAME: &'static str = "debug_pause";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "It hangs: stop a running program where it is, and say where.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Pause";
    type Scope = Steered<Chosen>;
    type Params = Params;

    async fn run(
        Steered(Chosen(session)): Steered<Chosen>,
        params: Params,
        call: Call,
    ) -> Result<Reply, Failure> {
        let until = Until::new(patience(params.timeout_s, Self::TIMEOUT));
        let before = session.view().newest;
        let cursor = session.output.cursor();
        let is_answered = until.give(session.pause()).await?;
        call.doing(format!("waiting for {} to stop", session.id));
        let told = until.tell(&session, before, cursor).await?;
        Ok(told.with_note((!is_answered).then(|| SILENT.to_owned())))
    }
}
