//! What is asked of a Mono program's debug server, answered.

use std::sync::Arc;

use futures::future::BoxFuture;
use holdpoint_dap::types as t;
use holdpoint_sdb::{ObjectRef, command::StepDepth};
use serde_json::{Value, json};

use super::{
    server::{Done, FrameAt, MonoServer, refused},
    values::Parts,
};
use crate::adapter::served::{Asked, Served, body};

impl Served for MonoServer {
    fn capabilities(&self) -> t::Capabilities {
        let filter = |name: &str, label: &str| t::ExceptionBreakpointsFilter {
            filter: name.to_owned(),
            label: label.to_owned(),
            ..Default::default()
        };
        t::Capabilities {
            supports_configuration_done_request: true,
            supports_function_breakpoints: true,
            supports_set_variable: true,
            supports_exception_info_request: true,
            supports_delayed_stack_trace_loading: true,
            supports_terminate_debuggee: true,
            exception_breakpoint_filters: vec![
                filter("uncaught", "exceptions that nothing catches"),
                filter("all", "all exceptions that the program's own code or nobody catches"),
            ],
            ..Default::default()
        }
    }

    fn answer(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Result<Value, String>> {
        Box::pin(async move { self.answered(asked).await })
    }
}

impl MonoServer {
    async fn answered(&self, asked: Asked) -> Done<Value> {
        match asked {
            Asked::Begin => self.begin().await.map(|()| json!({})),
            Asked::ConfigurationDone => self.configured().await.map(|()| json!({})),
            Asked::SetBreakpoints(it) => body(self.set_lines(it).await?),
            Asked::SetFunctionBreakpoints(it) => body(self.set_functions(it).await?),
            Asked::SetExceptionBreakpoints(it) => self.set_exceptions(it).await.map(|()| json!({})),
            Asked::Continue(_) => {
                let mut hold = self.standing().await?;
                self.release(&mut hold).await?;
                body(t::ContinueBody { all_threads_continued: Some(true) })
            }
            Asked::Next(it) => self.step(it.thread_id, StepDepth::Over).await.map(|()| json!({})),
            Asked::StepIn(it) => self.step(it.thread_id, StepDepth::Into).await.map(|()| json!({})),
            Asked::StepOut(it) => self.step(it.thread_id, StepDepth::Out).await.map(|()| json!({})),
            Asked::Pause(_) => self.pause().await.map(|()| json!({})),
            Asked::Threads => body(self.threads().await?),
            Asked::Interrupt => self.interrupt().await.map(|()| json!({})),
            Asked::Disconnect(it) => self.part(it).await.map(|()| json!({})),
            asked => self.read(asked).await,
        }
    }

    /// What is asked of a program that stands.
    async fn read(&self, asked: Asked) -> Done<Value> {
        let hold = self.standing().await?;
        match asked {
            Asked::StackTrace(it) => body(self.stack_trace(it).await?),
            Asked::Scopes(it) => body(self.scopes(it.frame_id).await?),
            Asked::Variables(it) => {
                let held = self.state().parts.get(it.variables_reference);
                let held = held.ok_or("NotFound: that value is of an earlier stop")?;
                body(t::VariablesBody { variables: self.parts(held).await? })
            }
            Asked::Evaluate(it) => {
                let at = match it.frame_id {
                    Some(frame) => self.frame_numbered(frame)?,
                    None => self.top(told_in(hold.stop.as_ref())?).await?,
                };
                let value = self.evaluate(at, &it.expression).await?;
                let shown = self.show(&value, Some(it.expression)).await?;
                body(t::EvaluateBody {
                    result: shown.text,
                    type_name: shown.kind,
                    variables_reference: shown.reference,
                    indexed_variables: shown.indexed,
                    ..Default::default()
                })
            }
            Asked::SetVariable(it) => {
                let top = self.top(told_in(hold.stop.as_ref())?).await?;
                self.assign(it, top).await
            }
            Asked::ExceptionInfo(_) => {
                let thrown = hold.stop.as_ref().and_then(|it| it.exception.clone());
                let (exception, break_mode) =
                    thrown.ok_or("NotFound: there is no exception here")?;
                let (kind, message) = self.exception_parts(exception).await?;
                let details = t::ExceptionDetails {
                    message: Some(message.clone()),
                    type_name: Some(kind.clone()),
                    ..Default::default()
                };
                body(t::ExceptionInfoBody {
                    exception_id: kind,
                    description: Some(message),
                    break_mode,
                    details: Some(details),
                })
            }
            _ => Err("that is not known here".to_owned()),
        }
    }

    async fn assign(&self, asked: t::SetVariableArguments, top: FrameAt) -> Done<Value> {
        let held = self.state().parts.get(asked.variables_reference);
        let held = held.ok_or("NotFound: that value is of an earlier stop")?;
        let t::SetVariableArguments { name, value, .. } = asked;
        let (at, place) = match (held.what, held.expression) {
            (Parts::Locals(at), _) => (at, name),
            (Parts::Statics(kind), _) => {
                let owner = self.types.facts(kind).await.map_err(refused)?;
                (top, format!("{}.{name}", owner.full.replace('+', ".")))
            }
            (Parts::Of(_), Some(whole)) if name.starts_with('[') => (top, format!("{whole}{name}")),
            (Parts::Of(_), Some(whole)) => (top, format!("{whole}.{name}")),
            (Parts::Of(_), None) => {
                return Err("NotSettable: it has no name by which it could be set".to_owned());
            }
        };
        let now = self.evaluate(at, &format!("{place} = {value}")).await?;
        let shown = self.show(&now, Some(place)).await?;
        body(t::SetValueBody {
            value: shown.text,
            type_name: shown.kind,
            variables_reference: Some(shown.reference),
            indexed_variables: shown.indexed,
            ..Default::default()
        })
    }

    async fn part(&self, asked: t::DisconnectArguments) -> Done<()> {
        if asked.terminate_debuggee == Some(true) {
            return self.mono.exit(1).await.map_err(refused);
        }
        self.let_go().await
    }
}

fn told_in(stop: Option<&super::server::Stop>) -> Done<ObjectRef> {
    stop.map(|it| it.thread).ok_or_else(|| "NotStopped: no thread stands".to_owned())
}
