//! `debug_until`: run on until a value turns, and see the line that did it.

mod tell;

use std::time::{Duration, Instant};

use holdpoint_engine::{
    backend::{Backend, Step, UntilAsked, UntilEnd, UntilSeen},
    budget,
    failure::{Code, Failure},
    ids::Epoch,
    limits,
    session::{Outcome, Session},
};
use schemars::JsonSchema;
use serde::Deserialize;

use self::tell::UntilTelling;
use super::{
    evaluate,
    wait::{UNANSWERED, Until as Deadline, patience},
};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    tools::session::{Steered, StoppedSession},
};

pub(crate) struct Until;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// In the program's language; looked at after each line of your code, deeper calls too, in this frame.
    expression: String,
    /// An expression that it is to equal (`None`, `3`, `limit`). `True` and `False` mean its truth: `False` waits
    /// for an invariant to break.
    becomes: Option<String>,
    /// Any change of what is written of it (the default).
    changes: Option<bool>,
    /// 0 is the innermost.
    #[serde(default)]
    frame: usize,
    /// Seconds to watch; then it is stopped.
    timeout_s: Option<f64>,
}

impl Tool for Until {
    const NAME: &'static str = "debug_until";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Find the line that changes a value or breaks an invariant: run on from a stop until an \
        expression changes or becomes something. Answers old and new value and the line that did it.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Run until a value changes";
    const RARE: &'static [&'static str] = &["changes", "frame"];
    type Scope = Steered<StoppedSession>;
    type Params = Params;

    async fn run(
        Steered(at): Steered<StoppedSession>,
        params: Params,
        call: Call,
    ) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let asked = asked(&at, params, patience).await?;
        call.doing(format!("watching {}", budget::cut(&asked.expression, 80)));
        let begun = at.backend.until(&asked).await;
        let begun = at.of_this_stop(begun)?;
        let watching = Watching { backend: at.backend.clone(), is_on: true };
        let telling = UntilTelling {
            session: &at.session,
            target: at.shown.stop.thread.target,
            asked: &asked,
            way: at.backend.until_way(),
            secrets: call.app.engine.secrets(),
            begun: Instant::now(),
        };
        if begun.already {
            watching.end(UntilEnd::Over).await;
            return telling.already(&at.shown, &begun).await;
        }
        let deadline = Deadline::new(patience + limits::UNTIL_GRACE);
        let cursor = at.session.output.cursor();
        let step = at.session.by(call.actor()).step(None, Step::In);
        let is_answered = deadline.give(step).await?;
        let found = at.session.wait(at.shown.stop.epoch, deadline.left()).await;
        let (found, seen) = watching.found(&at.session, at.shown.stop.epoch, found).await;
        let told = telling.tell(found, seen.unwrap_or(begun), cursor, patience).await?;
        Ok(told.with_note((!is_answered).then(|| UNANSWERED.to_owned())))
    }
}

async fn asked(
    at: &StoppedSession,
    params: Params,
    patience: Duration,
) -> Result<UntilAsked, Failure> {
    let expression = params.expression.trim().to_owned();
    let becomes = params.becomes.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    if expression.is_empty() {
        return Err(Failure::new(Code::InvalidParams, "parameter `expression` is empty"));
    }
    match (&becomes, params.changes) {
        (Some(_), Some(true)) => {
            return Err(Failure::new(
                Code::InvalidParams,
                "`becomes` and `changes` are both given",
            )
            .hint("`changes` is any change, `becomes` one value alone"));
        }
        (None, Some(false)) => {
            return Err(Failure::new(
                Code::InvalidParams,
                "`changes` is false and `becomes` is not given",
            )
            .hint("`becomes: \"False\"` waits until the expression is false"));
        }
        _ => {}
    }
    let frame = evaluate::frame(at, params.frame).await?;
    let top = evaluate::frame(at, 0).await?;
    Ok(UntilAsked { frame, top, expression, becomes, patience })
}

/// A value that is watched. Whoever goes away leaves a program that runs on as if nobody had asked.
struct Watching {
    backend: Backend,
    is_on: bool,
}

impl Watching {
    async fn end(mut self, end: UntilEnd) -> Option<UntilSeen> {
        self.is_on = false;
        match self.backend.until_ends(end).await {
            Ok(seen) => seen,
            Err(failure) => {
                tracing::debug!(%failure, "what was seen of a value is not known");
                None
            }
        }
    }

    /// What was seen, and where the program is by then: one that came to no line in time may come to one just now.
    async fn found(
        self,
        session: &Session,
        after: Epoch,
        found: Outcome,
    ) -> (Outcome, Option<UntilSeen>) {
        if !matches!(found, Outcome::Running) {
            return (found, self.end(UntilEnd::Over).await);
        }
        let seen = self.end(UntilEnd::Run).await;
        let is_over = seen.as_ref().is_some_and(|it| it.over);
        let patience = if is_over { limits::STOP_SHOWN } else { Duration::ZERO };
        (session.wait(after, patience).await, seen)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if self.is_on {
            let backend = self.backend.clone();
            // Ends by itself, within the debugger's deadline.
            tokio::spawn(async move {
                if let Err(failure) = backend.until_ends(UntilEnd::Run).await {
                    tracing::debug!(%failure, "a value is watched though nobody asks any more");
                }
            });
        }
    }
}
