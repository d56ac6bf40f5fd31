//! `debug_step`: one line further, into a call, or out of the function.

use holdpoint_engine::{
    backend::Step as How,
    failure::{Code, Failure},
    session::Outcome,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::wait::{UNANSWERED, Until, patience};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    tools::session::{Steered, StoppedSession},
};

pub(crate) struct Step;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    #[serde(default)]
    action: Action,
    #[schemars(range(min = 1, max = 1000))]
    count: Option<u32>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Next,
    StepIn,
    StepOut,
}

impl Tool for Step {
    const NAME: &'static str = "debug_step";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Go line by line and see what changed: over calls (`next`), into \
        one, or out.";
    const EFFECT: Effect = Effect::Writes;
    const TITLE: &'static str = "Step";
    const RARE: &'static [&'static str] = &["count"];
    type Scope = Steered<StoppedSession>;
    type Params = Params;

    async fn run(
        Steered(at): Steered<StoppedSession>,
        params: Params,
        call: Call,
    ) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let session = &at.session;
        let cursor = session.output.cursor();
        let mut from = at.shown.stop.epoch;
        let mut left = params.count.unwrap_or(1);
        if !(1..=1_000).contains(&left) {
            let text = format!("parameter `count` is {left}, not from 1 to 1000");
            return Err(Failure::new(Code::InvalidParams, text));
        }
        call.doing("stepping");
        loop {
            let until = Until::new(patience);
            let step = session.by(call.actor()).step(None, params.action.how());
            let is_answered = until.give(step).await?;
            left -= 1;
            let next =
                if left > 0 { session.wait(from, until.left()).await } else { Outcome::Running };
            match &next {
                Outcome::Stopped(shown) if shown.stop.reason.as_str() == "step" => {
                    from = shown.stop.epoch;
                }
                _ => {
                    let told = until.tell(session, from, cursor).await?;
                    return Ok(told.with_note((!is_answered).then(|| UNANSWERED.to_owned())));
                }
            }
        }
    }
}

impl Action {
    fn how(self) -> How {
        match self {
            Action::Next => How::Over,
            Action::StepIn => How::In,
            Action::StepOut => How::Out,
        }
    }
}
