//! A process that speaks the Debug Adapter Protocol.
//!
//! What an adapter answers says only that it took the request; what happened comes as events, which become
//! [`Signal`]s here. Adapters name breakpoints by numbers of their own: this is the one place that knows both.

mod connect;
mod exceptions;
mod functions;
mod lines;
mod pydevd;
mod texts;
mod traces;
mod translate;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use holdpoint_dap::{
    Client, Request, RequestError,
    request::{
        Continue, Disconnect, Evaluate, ExceptionInfo as AskException, Next, Pause, Scopes,
        SetVariable, StackTrace, StepIn, StepOut, Threads, Variables,
    },
    types::{self as t, Capabilities, Empty},
};

use tokio::sync::mpsc;

pub use self::connect::Setup;
use self::{pydevd::Answer, traces::Traces};
use super::{
    ExceptionInfo, Frame, FrameId, Handle, Scope, Slice, Stack, Step, Thread, TraceWay, Value,
    Variable,
};
use crate::{
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
};

/// Cheap to clone.
#[derive(Clone)]
pub struct Dap {
    client: Client,
    known: Arc<Known>,
}

/// What we know of the adapter and it of us.
struct Known {
    capabilities: Capabilities,
    /// The adapter's number of a breakpoint → those of ours that share it.
    breakpoints: Mutex<BTreeMap<i64, Vec<BreakpointId>>>,
    traces: Mutex<Traces>,
    /// How tracepoints work here.
    way: TraceWay,
    /// What a condition raised just now; the stop that it causes tells it.
    condition_error: Mutex<Option<String>>,
    /// Python's own debugger is on the other end, which can do more than the protocol says.
    is_pydevd: bool,
    /// Set once our helper is in the program.
    helper: tokio::sync::OnceCell<()>,
    /// What runs of files that were edited since they were loaded.
    texts: Mutex<BTreeMap<PathBuf, String>>,
    /// Where the program's own sources are, to look for functions that are not loaded yet.
    folders: Vec<PathBuf>,
    /// Threads on their way from a function's head to its body, with what they stopped for.
    entering: Mutex<BTreeMap<i64, Vec<BreakpointId>>>,
    /// The program's output comes by the protocol, for it has no pipes of ours.
    tells_output: bool,
    /// Where child processes that wait to be debugged are announced.
    children: Option<mpsc::Sender<serde_json::Value>>,
    /// We said that we go. Said twice, debugpy's adapter would break, and the program with it.
    parted: AtomicBool,
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
        match tokio::time::timeout(patience, self.client.request::<R>(arguments)).await {
            Ok(answer) => answer.map_err(refused),
            Err(_) => Err(Failure::new(
                Code::AdapterFailed,
                format!("the debugger did not answer `{}` in {patience:?}", R::COMMAND),
            )),
        }
    }

    /// The process on the other end, where its debugger tells.
    pub async fn pid(&self) -> Option<u32> {
        let asked = self.client.raw("pydevdSystemInfo", serde_json::json!({}));
        let info = tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await.ok()?.ok()?;
        u32::try_from(info.get("process")?.get("pid")?.as_u64()?).ok()
    }

    /// What the process is called by those who wrote the program.
    pub async fn title(&self) -> Result<String, Failure> {
        if !self.known.is_pydevd {
            return Err(Failure::new(Code::NotFound, "its debugger does not tell"));
        }
        let title = self.helper("title()").await?;
        serde_json::from_str(&title)
            .map_err(|error| Failure::internal(format!("what a process is called: {error}")))
    }

    pub async fn resume(&self, thread: i64) -> Result<(), Failure> {
        let arguments = t::ContinueArguments { thread_id: thread, ..Default::default() };
        taken(self.ask::<Continue>(arguments).await)
    }

    pub async fn step(&self, thread: i64, step: Step) -> Result<(), Failure> {
        let plain = t::StepArguments { thread_id: thread, ..Default::default() };
        match step {
            Step::Over => taken(self.ask::<Next>(plain).await),
            Step::Out => taken(self.ask::<StepOut>(plain).await),
            Step::In => {
                let into = t::StepInArguments { thread_id: thread, ..Default::default() };
                taken(self.ask::<StepIn>(into).await)
            }
        }
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
        let arguments = t::StackTraceArguments {
            thread_id: thread,
            start_frame: i64::try_from(slice.start).ok(),
            levels: i64::try_from(slice.count).ok(),
        };
        let body = self.ask::<StackTrace>(arguments).await?;
        let frames: Vec<Frame> = body.stack_frames.into_iter().map(translate::frame).collect();
        Ok(Stack { frames, total: body.total_frames.and_then(|it| usize::try_from(it).ok()) })
    }

    pub async fn scopes(&self, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
        let frame_id = number(frame)?;
        let body = self.ask::<Scopes>(t::ScopesArguments { frame_id }).await?;
        Ok(body.scopes.into_iter().map(translate::scope).collect())
    }

    pub async fn children(&self, of: &Handle, slice: Slice) -> Result<Vec<Variable>, Failure> {
        let Handle::Number(variables_reference) = of else {
            return Err(Failure::internal("a handle of another protocol"));
        };
        let arguments = t::VariablesArguments {
            variables_reference: *variables_reference,
            ..Default::default()
        };
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
            frame_id: frame.map(number).transpose()?,
            context: Some(t::EvaluateContext::Repl),
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
        if nothing && self.is_expression(expression).await {
            return Ok(translate::none());
        }
        Ok(translate::evaluated(body))
    }

    pub async fn assign(
        &self,
        container: &Handle,
        name: &str,
        value: &str,
    ) -> Result<Value, Failure> {
        let Handle::Number(variables_reference) = container else {
            return Err(Failure::internal("a handle of another protocol"));
        };
        let arguments = t::SetVariableArguments {
            variables_reference: *variables_reference,
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
        if self.known.parted.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let arguments =
            t::DisconnectArguments { terminate_debuggee: Some(false), ..Default::default() };
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

fn number(frame: &FrameId) -> Result<i64, Failure> {
    match frame {
        FrameId::Number(number) => Ok(*number),
        FrameId::Text(_) => Err(Failure::internal("a frame of another protocol")),
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
