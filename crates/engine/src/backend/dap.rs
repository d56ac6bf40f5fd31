//! A process that speaks the Debug Adapter Protocol.
//!
//! What an adapter answers says only that it took the request; what happened comes as events, which become
//! [`Signal`]s here. Adapters name breakpoints by numbers of their own: this is the one place that knows both.

mod connect;
pub mod dialect;
mod exceptions;
mod functions;
mod lines;
mod program;
#[cfg(test)]
mod recordings;
mod share;
mod state;
#[cfg(test)]
mod tests;
mod traces;
mod translate;

use std::{path::Path, sync::Arc, time::Duration};

use holdpoint_dap::{
    Request, RequestError, Requester,
    request::{
        Continue, Disconnect, Evaluate, ExceptionInfo as AskException, Next, Pause, Scopes,
        SetVariable, StackTrace, StepIn, StepOut, Threads, Variables,
    },
    types::{self as t, Empty},
};

pub use self::{connect::Setup, state::DebuggerState};
use self::{
    program::Answer,
    share::{Feature, allowed},
};
use super::{
    ExceptionInfo, Frame, FrameId, Handle, Loaded, RunningText, Scope, Slice, Stack, Step, Thread,
    Value, Variable, Went,
};
use crate::{
    failure::{Code, Failure},
    limits,
};

/// Cheap to clone.
#[derive(Clone)]
pub struct Dap {
    requester: Requester,
    known: Arc<DebuggerState>,
}

impl Dap {
    /// Sends a request and waits for its answer, within a deadline for adapters that do not answer.
    async fn ask<R: Request>(&self, arguments: R::Arguments) -> Result<R::Body, Failure> {
        self.ask_within::<R>(arguments, super::patience()).await
    }

    async fn ask_within<R: Request>(
        &self,
        arguments: R::Arguments,
        patience: Duration,
    ) -> Result<R::Body, Failure> {
        allowed(&self.known.capabilities(), Feature::Request(R::COMMAND))
            .map_err(|missing| missing.failure(&*self.known.dialect))?;
        match tokio::time::timeout(patience, self.requester.request::<R>(arguments)).await {
            Ok(answer) => answer.map_err(refused),
            Err(_) => Err(Failure::new(
                Code::AdapterFailed,
                format!("the debugger did not answer `{}` in {patience:?}", R::COMMAND),
            )),
        }
    }

    /// The process on the other end, where its debugger tells.
    pub fn pid(&self) -> Option<u32> {
        self.known.pid()
    }

    /// What the process is called by those who wrote the program.
    pub async fn title(&self) -> Result<String, Failure> {
        match self.known.inside() {
            Some(inside) => inside.title(self).await,
            None => Err(Failure::new(Code::NotFound, "its debugger does not tell")),
        }
    }

    /// Whether a condition is one, as far as can be told before it is hit.
    pub async fn check_condition(
        &self,
        file: Option<&Path>,
        condition: &str,
    ) -> Result<(), Failure> {
        match self.known.inside() {
            Some(inside) => inside.check_condition(self, file, condition).await,
            None => Ok(()),
        }
    }

    pub async fn running(&self, _: &Path) -> Result<RunningText, Failure> {
        Ok(RunningText::Unknown)
    }

    pub async fn loaded(&self) -> Result<Vec<Loaded>, Failure> {
        match self.known.inside() {
            Some(inside) => inside.loaded(self).await,
            None => Ok(Vec::new()),
        }
    }

    /// Whether what is loaded of a file is what it says now; `None` where nothing tells.
    pub async fn is_same(&self, file: &Path) -> Result<Option<bool>, Failure> {
        match self.known.inside() {
            Some(inside) => inside.is_same(self, file).await,
            None => Ok(None),
        }
    }

    /// Tells which text the program runs for a file; `None` for what the file says.
    pub async fn runs(&self, file: &Path, text: Option<&str>) -> Result<(), Failure> {
        match self.known.inside() {
            Some(inside) => inside.runs(self, file, text).await,
            None => Ok(()),
        }
    }

    pub async fn resume(&self, thread: i64) -> Result<Went, Failure> {
        let arguments = t::ContinueArguments { thread_id: thread, ..Default::default() };
        self.known.steps().remove(&thread);
        let others: Vec<i64> =
            self.known.standing().iter().filter(|it| **it != thread).copied().collect();
        let body = self.let_run(self.go::<Continue>(arguments)).await?;
        // Those that say nothing let all of them go.
        if body.is_none_or(|it| it.all_threads_continued != Some(false)) {
            return Ok(Went::All);
        }
        self.known.standing().extend(others);
        Ok(Went::Alone)
    }

    pub async fn step(&self, thread: i64, step: Step) -> Result<(), Failure> {
        self.known.steps().insert(thread);
        self.let_run(self.take_step(thread, step)).await
    }

    /// No thread stands from the moment when this is asked, unless it is refused.
    async fn let_run<T>(
        &self,
        asked: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let stood = std::mem::take(&mut *self.known.standing());
        let answer = asked.await;
        if answer.is_err() {
            self.known.standing().extend(stood);
        }
        answer
    }

    /// A step that nobody asked for.
    async fn take_step(&self, thread: i64, step: Step) -> Result<(), Failure> {
        let plain = t::StepArguments { thread_id: thread, ..Default::default() };
        match step {
            Step::Over => self.go::<Next>(plain).await.map(drop),
            Step::Out => self.go::<StepOut>(plain).await.map(drop),
            Step::In => {
                let into = t::StepInArguments { thread_id: thread, ..Default::default() };
                self.go::<StepIn>(into).await.map(drop)
            }
        }
    }

    /// Lets the program go on: from then on nothing of this stop means anything. The next stop may be told
    /// before the answer; one that is gone gives none.
    async fn go<R: Request>(&self, arguments: R::Arguments) -> Result<Option<R::Body>, Failure> {
        self.known.epochs().go();
        match self.ask::<R>(arguments).await {
            Ok(body) => Ok(Some(body)),
            Err(failure) if failure.code == Code::SessionEnded => Ok(None),
            Err(failure) => {
                self.known.epochs().stay();
                Err(failure)
            }
        }
    }

    /// Which stop of a thread this is; of them all, where none is meant.
    pub(super) fn epoch(&self, thread: Option<i64>) -> u64 {
        self.known.epochs().of(thread)
    }

    pub async fn pause(&self, thread: Option<i64>) -> Result<(), Failure> {
        let thread_id = match thread {
            Some(thread) => thread,
            None => self.threads().await?.first().map_or(1, |thread| thread.id),
        };
        self.ask::<Pause>(t::PauseArguments { thread_id }).await.map(drop)
    }

    pub async fn threads(&self) -> Result<Vec<Thread>, Failure> {
        let body = self.ask::<Threads>(Empty).await?;
        let thread = |thread: t::Thread| Thread { id: thread.id, name: thread.name };
        Ok(body.threads.into_iter().map(thread).collect())
    }

    pub async fn stack(&self, thread: i64, slice: Slice) -> Result<Stack, Failure> {
        // Who cannot show a part of a stack may show all of it, or nothing.
        let is_part = allowed(&self.known.capabilities(), Feature::SomeFrames).is_ok();
        let number = |it: usize| i64::try_from(it).ok().filter(|_| is_part);
        let arguments = t::StackTraceArguments {
            thread_id: thread,
            start_frame: number(slice.start),
            levels: number(slice.count),
        };
        let body = self.ask::<StackTrace>(arguments).await?;
        let dialect = &*self.known.dialect;
        let all = body.stack_frames.len();
        let frames = body.stack_frames.into_iter().map(|it| translate::frame(dialect, it));
        let (start, total) = match is_part {
            true => (0, body.total_frames.and_then(|it| usize::try_from(it).ok())),
            false => (slice.start, Some(all)),
        };
        let frames: Vec<Frame> = frames.skip(start).take(slice.count).collect();
        Ok(Stack { frames, total })
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        let frame_id = frame.as_number()?;
        let body = self.ask::<Scopes>(t::ScopesArguments { frame_id }).await?;
        Ok(body.scopes.into_iter().map(|it| translate::scope(&*self.known.dialect, it)).collect())
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        let variables_reference = of.as_number()?;
        let arguments = t::VariablesArguments { variables_reference, ..Default::default() };
        let answer = self.ask_program::<Variables>(arguments, limits::VALUES).await;
        let busy = || {
            let text = format!("the program did not show its values in {:?}", limits::VALUES);
            Failure::new(Code::Timeout, text)
                .hint("one of them does not end; `debug_evaluate` shows them one by one")
        };
        let answer = answer.ok_or_else(busy)?;
        let body = match answer.result {
            Err(RequestError::Refused { .. }) if answer.interrupted => return Err(busy()),
            result => result.map_err(refused)?,
        };
        // Most adapters ignore paging of named children and send them all; we take our page.
        let all = body.variables.into_iter().map(translate::variable);
        Ok(all.skip(slice.start).take(slice.count).collect())
    }

    pub async fn evaluate(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let arguments = t::EvaluateArguments {
            expression: expression.to_owned(),
            frame_id: frame.map(FrameId::as_number).transpose()?,
            context: Some(self.known.dialect.evaluates_for()),
            ..Default::default()
        };
        let answer = self.ask_program::<Evaluate>(arguments, patience).await;
        let body = match answer {
            Some(Answer { interrupted: true, .. }) => {
                let shown = crate::budget::cut(expression, 200);
                let text = format!("`{shown}` was not done after {patience:?} and was interrupted");
                return Err(Failure::new(Code::Timeout, text)
                    .hint("pass a larger `timeout_s`, or a cheaper expression"));
            }
            None => {
                let shown = crate::budget::cut(expression, 200);
                let text = format!("`{shown}` was not done after {patience:?} and goes on");
                return Err(Failure::new(Code::Timeout, text)
                    .hint("it cannot be interrupted where it is; `debug_stop` ends the program"));
            }
            Some(Answer { result: Ok(body), .. }) => body,
            Some(Answer { result: Err(RequestError::Refused { message, .. }), .. }) => {
                return Err(Failure::new(Code::EvaluateFailed, translate::last_line(&message)));
            }
            Some(Answer { result: Err(error), .. }) => return Err(refused(error)),
        };
        let nothing = body.result.is_empty() && body.type_name.is_none();
        if nothing
            && let Some(inside) = self.known.inside()
            && let Some(value) = inside.nothing(self, expression).await
        {
            return Ok(value);
        }
        Ok(translate::evaluated(body))
    }

    pub async fn assign(
        &self,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        let arguments = t::SetVariableArguments {
            variables_reference: container.as_number()?,
            name: name.to_owned(),
            value: value.to_owned(),
            format: None,
        };
        let body = self.ask::<SetVariable>(arguments).await?;
        Ok(translate::assigned(body))
    }

    pub async fn exception(&self, thread: i64) -> Result<ExceptionInfo, Failure> {
        let body =
            self.ask::<AskException>(t::ExceptionInfoArguments { thread_id: thread }).await?;
        let details = body.details.unwrap_or_default();
        Ok(ExceptionInfo {
            kind: details.type_name.unwrap_or(body.exception_id),
            message: details.message.or(body.description).unwrap_or_default(),
            trace: details.stack_trace,
        })
    }

    /// Leaves the process running.
    pub async fn detach(&self) -> Result<(), Failure> {
        if !self.known.parts() {
            return Ok(());
        }
        let can_choose = allowed(&self.known.capabilities(), Feature::ChosenEnd).is_ok();
        let terminate_debuggee = can_choose.then_some(false);
        let arguments = t::DisconnectArguments { terminate_debuggee, ..Default::default() };
        taken(self.ask_within::<Disconnect>(arguments, limits::DETACH).await)
    }
}

/// A process that ends at once does not answer what made it go on.
fn taken<B>(answer: Result<B, Failure>) -> Result<(), Failure> {
    match answer {
        Err(failure) if failure.code != Code::SessionEnded => Err(failure),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn refused(error: RequestError) -> Failure {
    match error {
        RequestError::Refused { command, message, .. } => Failure::new(
            Code::AdapterFailed,
            format!("the debugger refused `{command}`: {}", translate::last_line(&message)),
        ),
        RequestError::Closed { reason } => {
            Failure::new(Code::SessionEnded, format!("the program is gone: {reason}"))
        }
        RequestError::Malformed { command, problem } => Failure::new(
            Code::AdapterFailed,
            format!("the debugger's answer to `{command}` makes no sense: {problem}"),
        ),
    }
}
