//! A process that speaks the Debug Adapter Protocol.
//!
//! What an adapter answers says only that it took the request; what happened comes as events, which become
//! [`Signal`]s here. Adapters name breakpoints by numbers of their own: this is the one place that knows both.

mod connect;
pub mod dialect;
mod entry;
mod exceptions;
mod functions;
mod lines;
mod program;
#[cfg(test)]
mod recordings;
mod share;
mod state;
mod steps;
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
    state::KeptStack,
};
use super::{
    ExceptionInfo, Frame, FrameId, Handle, Loaded, RunningText, Scope, Slice, Stack, Step, Thread,
    UntilAsked, UntilEnd, UntilSeen, Value, Variable, Went,
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

    pub(super) async fn until(&self, asked: &UntilAsked) -> Result<UntilSeen, Failure> {
        match self.known.inside() {
            Some(inside) => inside.until(self, asked).await,
            None => Err(super::until::unwatched()),
        }
    }

    pub(super) async fn until_ends(&self, end: UntilEnd) -> Result<Option<UntilSeen>, Failure> {
        match self.known.inside() {
            Some(inside) => inside.until_ends(self, end).await,
            None => Ok(None),
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
        self.known.steps().begin(thread, step);
        match self.let_run(self.take_step(thread, step)).await {
            Err(failure) if self.known.dialect.is_over(&failure.message) => {
                self.resume(thread).await.map(drop)
            }
            answer => answer,
        }
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
        self.known.hidden().clear();
        self.known.raised().clear();
        self.known.lists().clear();
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
            // Some tell their threads only while the program stands.
            None => match self.threads().await {
                Ok(threads) => threads.first().map_or(1, |thread| thread.id),
                Err(failure) if failure.code == Code::AdapterFailed => self.known.last_thread(),
                Err(failure) => return Err(failure),
            },
        };
        self.known.pauses();
        self.ask::<Pause>(t::PauseArguments { thread_id }).await.map(drop)
    }

    pub async fn threads(&self) -> Result<Vec<Thread>, Failure> {
        let body = self.ask::<Threads>(Empty).await?;
        let dialect = &*self.known.dialect;
        let thread = |it: t::Thread| Thread { id: it.id, name: dialect.thread_name(it.name) };
        let mut threads: Vec<Thread> = body.threads.into_iter().map(thread).collect();
        // Thousands may wait somewhere inside the runtime; whoever is asked about comes first.
        threads.sort_by_key(|it| dialect.is_idle(&it.name));
        Ok(threads)
    }

    /// From the user's own frame on, where the runtime's are above it.
    pub async fn stack(&self, thread: i64, slice: Slice) -> Result<Stack, Failure> {
        if !self.known.dialect.hides_machinery() {
            let stack = self.frames(thread, slice).await?;
            if slice.start == 0 {
                self.known.steps().saw(thread, &stack, 0);
            }
            return Ok(stack);
        }
        if slice.start > 0 {
            let above = self.known.steps().above(thread);
            let mut stack =
                self.frames(thread, Slice { start: slice.start + above, ..slice }).await?;
            stack.total = stack.total.map(|it| it.saturating_sub(above));
            return Ok(stack);
        }
        let count = slice.count + limits::MACHINERY;
        let mut stack = self.frames(thread, Slice { start: 0, count }).await?;
        let is_users = |it: &Frame| !self.known.dialect.is_machinery(&it.function);
        let above = stack.frames.iter().position(is_users).unwrap_or(0);
        stack.frames.drain(..above.min(stack.frames.len()));
        stack.frames.truncate(slice.count);
        stack.total = stack.total.map(|it| it.saturating_sub(above));
        self.known.steps().saw(thread, &stack, above);
        Ok(stack)
    }

    async fn frames(&self, thread: i64, slice: Slice) -> Result<Stack, Failure> {
        // Who cannot show a part of a stack may show all of it, or nothing.
        let is_part = allowed(&self.known.capabilities(), Feature::SomeFrames).is_ok();
        let number = |it: usize| i64::try_from(it).ok().filter(|_| is_part);
        let hidden = self.known.hidden().get(&thread).copied().unwrap_or_default();
        let first = slice.start + hidden;
        let body = match is_part && self.known.dialect.keeps_stacks() {
            true => self.kept_stack(thread, first, slice.count).await?,
            false => {
                let (start_frame, levels) = (number(first), number(slice.count));
                let asked = t::StackTraceArguments { thread_id: thread, start_frame, levels };
                self.ask::<StackTrace>(asked).await?
            }
        };
        let dialect = &*self.known.dialect;
        let all = body.stack_frames.len();
        let frames = body.stack_frames.into_iter().map(|it| translate::frame(dialect, it));
        let told = body.total_frames.and_then(|it| usize::try_from(it).ok());
        let (start, total) = match is_part {
            true if !dialect.guesses_depth() => (0, told),
            true => (0, (all < slice.count).then_some(first + all)),
            false => (first, Some(all)),
        };
        let total = total.map(|it| it.saturating_sub(hidden));
        let frames: Vec<Frame> = frames.skip(start).take(slice.count).collect();
        Ok(Stack { frames, total })
    }

    /// Frames of a stack that is told once at a stop.
    async fn kept_stack(
        &self,
        thread: i64,
        first: usize,
        count: usize,
    ) -> Result<t::StackTraceBody, Failure> {
        let epoch = self.epoch(Some(thread));
        let kept = self.known.stacks().get(&thread).filter(|it| it.epoch == epoch).cloned();
        if let Some(part) = kept.and_then(|it| it.part(first, count)) {
            return Ok(part);
        }
        let wanted = first.saturating_add(count).max(limits::STACK_FRAMES);
        let asked = t::StackTraceArguments {
            thread_id: thread,
            start_frame: Some(0),
            levels: i64::try_from(wanted).ok(),
        };
        let body = self.ask::<StackTrace>(asked).await?;
        let kept = KeptStack { epoch, is_whole: body.stack_frames.len() < wanted, body };
        let part = kept.part(first, count).unwrap_or_default();
        if self.epoch(Some(thread)) == epoch {
            let mut stacks = self.known.stacks();
            stacks.retain(|_, it| it.epoch == epoch);
            stacks.insert(thread, kept);
        }
        Ok(part)
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        let frame_id = frame.as_number()?;
        let body = self.ask::<Scopes>(t::ScopesArguments { frame_id }).await?;
        Ok(body.scopes.into_iter().map(|it| translate::scope(&*self.known.dialect, it)).collect())
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        let variables_reference = of.as_number()?;
        let listed = self.known.lists().get(&variables_reference).copied();
        let arguments = asked_for(variables_reference, listed, slice);
        let is_part = arguments.filter.is_some();
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
        let dialect = &*self.known.dialect;
        let all = body.variables.into_iter().map(|it| translate::variable(dialect, it));
        let start = if is_part { 0 } else { slice.start };
        let page: Vec<Variable> = all.skip(start).take(slice.count).collect();
        page.iter().for_each(|it| self.is_list(&it.value));
        Ok(page)
    }

    /// Notes a list whose parts are shown to who asks for them by number.
    fn is_list(&self, value: &Value) {
        if self.known.dialect.pages_lists()
            && let Some(count) = value.indexed.filter(|it| *it > 0)
            && let Some(Ok(number)) = value.children.as_ref().map(Handle::as_number)
        {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.known.lists().insert(number, count);
        }
    }

    pub async fn evaluate(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        patience: Duration,
    ) -> Result<Value, Failure> {
        self.known.dialect.check_text(expression)?;
        let dialect = &*self.known.dialect;
        let question = dialect.question(expression, patience);
        // The program ends it by itself then, and says so.
        let margin = question.as_ref().map_or(Duration::ZERO, |_| limits::TELL);
        let arguments = t::EvaluateArguments {
            expression: question.unwrap_or_else(|| expression.to_owned()),
            frame_id: frame.map(FrameId::as_number).transpose()?,
            context: Some(dialect.evaluates_for()),
            ..Default::default()
        };
        let answer = self.ask_program::<Evaluate>(arguments, patience + margin).await;
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
                let failure = Failure::new(Code::EvaluateFailed, dialect.problem(&message));
                return Err(match dialect.advice(&message) {
                    Some(advice) => failure.hint(advice),
                    None => failure,
                });
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
        if nothing && dialect.fails_with_nothing() {
            let shown = crate::budget::cut(expression, 200);
            let text = format!("`{shown}` came to nothing: it does not parse, or it failed");
            return Err(Failure::new(Code::EvaluateFailed, text)
                .hint(format!("{} says no more of it", dialect.name())));
        }
        let value = translate::evaluated(dialect, body);
        self.is_list(&value);
        dialect.failed(&value).map_or(Ok(value), Err)
    }

    pub async fn assign(
        &self,
        frame: &FrameId,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        let is_asked_for =
            allowed(&self.known.capabilities(), Feature::Request(SetVariable::COMMAND));
        if is_asked_for.is_err()
            && let Some(statement) = self.known.dialect.assignment(name, value)
        {
            return self.evaluate(Some(frame), &statement, limits::VALUES).await;
        }
        if let Some(statement) = self.through(container, name, value).await? {
            return self.evaluate(Some(frame), &statement, limits::VALUES).await;
        }
        let staged = match self.known.inside() {
            Some(inside) => Some(inside.staged(self, frame, value).await?),
            None => None,
        };
        match self.set_to(container, name, staged.unwrap_or(value)).await {
            // Some take literals alone: what it comes to is one.
            Err(failure)
                if is_asked_for.is_ok()
                    && failure.code == Code::AdapterFailed
                    && staged.is_none() =>
            {
                let computed = self.evaluate(Some(frame), value, limits::VALUES).await?;
                self.set_to(container, name, computed.text.trim()).await.map_err(|_| failure)
            }
            set => set,
        }
    }

    /// How what a variable refers to is given a value, where the variable is a reference.
    async fn through(
        &self,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Option<String>, Failure> {
        let dialect = &*self.known.dialect;
        if !dialect.has_references() {
            return Ok(None);
        }
        let all = self.children(container, Slice { start: 0, count: usize::MAX }).await?;
        let found = all.iter().find(|it| it.name == name);
        Ok(found.and_then(|it| dialect.writes_through(it, value)))
    }

    async fn set_to(&self, container: &Handle, name: &str, value: &str) -> Result<Value, Failure> {
        let arguments = t::SetVariableArguments {
            variables_reference: container.as_number()?,
            name: name.to_owned(),
            value: value.to_owned(),
            format: None,
        };
        let body = self.ask::<SetVariable>(arguments).await?;
        Ok(translate::assigned(&*self.known.dialect, body))
    }

    pub async fn exception(&self, thread: i64) -> Result<ExceptionInfo, Failure> {
        if let Some(told) = self.known.raised().get(&thread) {
            let (kind, message) = told.split_once(": ").unwrap_or((told, ""));
            let (kind, message) = (kind.to_owned(), message.to_owned());
            return Ok(ExceptionInfo { kind, message, trace: None });
        }
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

/// All parts of a value, or some of a list's.
fn asked_for(reference: i64, listed: Option<i64>, slice: Slice) -> t::VariablesArguments {
    let all = t::VariablesArguments { variables_reference: reference, ..Default::default() };
    let start = i64::try_from(slice.start).unwrap_or(i64::MAX);
    match listed {
        Some(count) if start < count => {
            let wanted = i64::try_from(slice.count).unwrap_or(i64::MAX);
            t::VariablesArguments {
                filter: Some(t::VariablesFilter::Indexed),
                start: Some(start),
                count: Some(wanted.min(count - start)),
                ..all
            }
        }
        _ => all,
    }
}

/// A process that ends at once does not answer what made it go on.
fn taken<B>(answer: Result<B, Failure>) -> Result<(), Failure> {
    match answer {
        Err(failure) if failure.code != Code::SessionEnded => Err(failure),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What our own debug servers answer when the runtime that they speak to is no more.
const GONE: &[&str] = &[
    "the connection to the virtual machine is closed",
    "the virtual machine has ended",
    "the runtime is gone",
];

/// Whether a refusal says that the program is no more.
fn is_gone(refusal: &str) -> bool {
    GONE.iter().any(|it| refusal.contains(it))
}

fn refused(error: RequestError) -> Failure {
    match error {
        // It ended while it was asked; that it did is told by its process in the next moment.
        RequestError::Refused { message, .. } if is_gone(&message) => {
            Failure::new(Code::SessionEnded, format!("the program is gone: {message}"))
        }
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
