//! Expressions in a thread of JavaScript: V8 ends what takes too long, and what nobody waits for any more is waited for
//! before the next.

use std::time::{Duration, Instant};

use holdpoint_cdp::{
    Error,
    types::{
        CallFrameId,
        debugger::EvaluateOnCallFrame,
        runtime::{Evaluate, Evaluated, TerminateExecution},
    },
};

use super::{Cdp, inspect, is_live, refused, text, value};
use crate::{
    backend::{FrameId, Value},
    failure::{Code, Failure},
    limits,
};

impl Cdp {
    pub async fn evaluate(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        patience: Duration,
    ) -> Result<Value, Failure> {
        if let Some(frame) = frame
            && inspect::is_unassigned(self, frame, expression).await
        {
            let text =
                format!("ReferenceError: Cannot access '{expression}' before initialization");
            return Err(Failure::new(Code::EvaluateFailed, text)
                .hint("it is declared further on; step past its declaration"));
        }
        // `{a: 1}` is a block to JavaScript and an object to everyone who types it.
        if expression.starts_with('{') && expression.ends_with('}') {
            let object = self.evaluated(frame, &format!("({expression})"), patience).await?;
            if !is_syntax_error(&object) {
                return finished(object, expression, patience);
            }
        }
        self.touch();
        let answer = self.evaluated(frame, expression, patience).await?;
        finished(answer, expression, patience)
    }

    /// V8 ends what takes too long; what V8 cannot end is left behind with a word about it.
    pub(super) async fn evaluated(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        patience: Duration,
    ) -> Result<Evaluated, Failure> {
        let timeout = Some(patience.as_secs_f64() * 1_000.0);
        if let Some(frame) = frame {
            is_live(frame)?;
        }
        let sent = async {
            match frame {
                Some(frame) if self.ended(text(frame)?).is_some() => {
                    self.evaluate_after(text(frame)?, expression, timeout, patience).await
                }
                Some(frame) => {
                    let frame = CallFrameId(text(frame)?.to_owned());
                    let mut command = EvaluateOnCallFrame::new(frame, expression);
                    command.generate_preview = true;
                    command.timeout = timeout;
                    self.requester.send(command).await.map_err(|error| evaluation(error, patience))
                }
                None => {
                    let command = Evaluate {
                        expression: expression.to_owned(),
                        silent: true,
                        generate_preview: true,
                        repl_mode: true,
                        timeout,
                        ..Evaluate::default()
                    };
                    self.requester.send(command).await.map_err(|error| evaluation(error, patience))
                }
            }
        };
        self.is_free()?;
        let patient = patience + limits::INTERRUPT;
        let until = Instant::now() + patient;
        let mut unfinished = Unfinished { cdp: self.clone(), until, is_done: false };
        let answer = tokio::time::timeout(patient, sent).await;
        unfinished.is_done = true;
        match answer {
            Ok(answer) => answer,
            Err(_) => {
                self.ask(TerminateExecution {}).await?;
                Err(too_long(patience))
            }
        }
    }

    /// Fails while an evaluation runs that nobody waits for.
    fn is_free(&self) -> Result<(), Failure> {
        let Some(until) = self.moment().busy_until else { return Ok(()) };
        let left = until.saturating_duration_since(Instant::now()).as_secs_f64().ceil();
        let text = format!("an evaluation that was cancelled still runs, for {left} s at the most");
        Err(Failure::new(Code::Busy, text)
            .hint("try again then; `debug_stop` ends the program now"))
    }
}

/// An evaluation under way. Whoever waits for it may be gone before it is done, and V8 hears nothing while
/// it evaluates: the thread stays busy until the time is up that V8 was given.
struct Unfinished {
    cdp: Cdp,
    until: Instant,
    is_done: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        self.cdp.moment().busy_until = Some(self.until);
        let cdp = self.cdp.clone();
        // Ends with the evaluation, or with the connection.
        self.cdp.known.tasks.spawn(async move {
            let next = Evaluate { expression: "0".to_owned(), silent: true, ..Evaluate::default() };
            if let Err(error) = cdp.requester.send(next).await {
                tracing::debug!(%error, "nothing follows an evaluation");
            }
            cdp.moment().busy_until = None;
        });
    }
}

fn is_syntax_error(answer: &Evaluated) -> bool {
    let thrown = answer.exception_details.as_ref().and_then(|it| it.exception.as_ref());
    thrown.is_some_and(|it| it.class_name.as_deref() == Some("SyntaxError"))
}

/// A value, or what was thrown instead.
pub(super) fn finished(
    answer: Evaluated,
    expression: &str,
    patience: Duration,
) -> Result<Value, Failure> {
    match answer.exception_details {
        // An evaluation that V8 ended threw nothing that could be caught.
        Some(details) if details.exception.is_none() && details.text.contains("terminated") => {
            Err(too_long(patience))
        }
        Some(details) => {
            let thrown = crate::budget::cut(&value::thrown(&details), 1_000);
            let failure = Failure::new(Code::EvaluateFailed, thrown);
            Err(if expression.contains("await") {
                failure.hint("`await` works only inside of an async function; look at the promise")
            } else {
                failure
            })
        }
        None => Ok(value::value(&answer.result)),
    }
}

fn too_long(patience: Duration) -> Failure {
    Failure::new(
        Code::Timeout,
        format!("the expression was not done after {patience:?} and was interrupted"),
    )
    .hint("pass a larger `timeout_s`, or a cheaper expression")
}

/// What V8 refused of an evaluation.
pub(super) fn evaluation(error: Error, patience: Duration) -> Failure {
    match error {
        Error::Refused { message, .. } if message.contains("terminated") => too_long(patience),
        Error::Refused { message, .. } if message.contains("call frame") => {
            Failure::new(Code::NotStopped, "that frame is of an earlier stop")
                .hint("`debug_stack` numbers the frames of this one")
        }
        error => refused(error),
    }
}
