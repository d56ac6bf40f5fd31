//! `debug_evaluate`: an expression or statement in a frame of the stopped program.

use holdpoint_engine::{
    backend::{FrameId, Slice},
    budget,
    failure::{Code, Failure},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::wait::patience;
use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::StoppedSession,
};

pub(crate) struct Evaluate;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    expression: String,
    /// 0 is the innermost.
    #[serde(default)]
    frame: usize,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Evaluate {
    const NAME: &'static str = "debug_evaluate";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "See what a value really is: evaluate an expression or statement \
        where it stands.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Evaluate";
    type Scope = StoppedSession;
    type Params = Params;

    async fn run(at: StoppedSession, params: Params, call: Call) -> Result<Reply, Failure> {
        let expression = params.expression.trim();
        if expression.is_empty() {
            return Err(Failure::new(Code::InvalidParams, "parameter `expression` is empty"));
        }
        let frame = frame(&at, params.frame).await?;
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        call.doing(format!("evaluating {}", budget::cut(expression, 80)));
        let value = at.backend.evaluate(Some(&frame), expression, patience).await;
        let value = at.of_this_stop(value);
        at.session.evaluated(expression, &value, call.actor());
        let value = value?;
        let shown = call.app.engine.secrets().named(expression, &value.text);
        let cut = budget::cut(&shown, call.budget.bytes());
        let text = match &value.kind {
            Some(kind) => format!("({kind}) {cut}"),
            None if cut.is_empty() => "done".to_owned(),
            None => cut.clone(),
        };
        let data = json!({
            "value": cut,
            "type": value.kind,
            "bytes": value.text.len(),
            "has_children": value.children.is_some(),
        });
        Ok(Answer::new(text, &data)?.into())
    }
}

/// The handle of a frame by its number.
pub(crate) async fn frame(at: &StoppedSession, number: usize) -> Result<FrameId, Failure> {
    if let Some(frame) = at.shown.stack.frames.get(number) {
        return Ok(frame.id.clone());
    }
    let thread = at.shown.stop.thread.thread;
    let stack = at.backend.stack(thread, Slice { start: 0, count: number + 1 }).await?;
    stack.frames.get(number).map(|frame| frame.id.clone()).ok_or_else(|| {
        Failure::new(Code::NotFound, format!("no frame {number}"))
            .hint("`debug_stack` numbers the frames")
    })
}
