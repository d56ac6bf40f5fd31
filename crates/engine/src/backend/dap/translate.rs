//! The protocol's words into ours and back. Pure.

use std::{collections::BTreeMap, path::PathBuf};

use holdpoint_dap::types as t;

use super::dialect::Dialect;
use crate::{
    backend::{Binding, Frame, FrameId, Handle, Scope, StopReason, Stopped, Value, Variable},
    ids::BreakpointId,
};

/// `asked` is the line that was asked for: some debuggers answer only that it lies there.
pub(super) fn binding(
    dialect: &dyn Dialect,
    answer: Option<&t::Breakpoint>,
    asked: Option<u32>,
) -> Binding {
    let Some(answer) = answer else {
        return Binding::Not { why: "the debugger did not say what became of it".to_owned() };
    };
    let at = answer.line.map_or(asked, |line| u32::try_from(line).ok());
    match at {
        Some(line) if dialect.is_bound(answer) => {
            Binding::At { line, column: answer.column.and_then(|it| u32::try_from(it).ok()) }
        }
        _ => Binding::Not { why: why_not(dialect, answer.message.as_deref()) },
    }
}

/// What adapters say is made for people with an editor.
fn why_not(dialect: &dyn Dialect, message: Option<&str>) -> String {
    let own = message.and_then(|it| dialect.why_unbound(it));
    own.or_else(|| message.map(last_line))
        .unwrap_or_else(|| "its file is not loaded yet".to_owned())
}

pub(super) fn stopped(
    dialect: &dyn Dialect,
    stopped: &t::StoppedEvent,
    known: &BTreeMap<i64, Vec<BreakpointId>>,
) -> Stopped {
    let own = dialect.reason(stopped);
    let reason = own.unwrap_or_else(|| match &stopped.reason {
        t::StopReason::Step => StopReason::Step,
        t::StopReason::Breakpoint | t::StopReason::FunctionBreakpoint => StopReason::Breakpoint,
        t::StopReason::Exception => StopReason::Exception,
        t::StopReason::Pause => StopReason::Pause,
        t::StopReason::Entry => StopReason::Entry,
        other => StopReason::Other(other.to_string()),
    });
    Stopped {
        thread: stopped.thread_id.unwrap_or(1),
        reason,
        hits: stopped
            .hit_breakpoint_ids
            .iter()
            .filter_map(|it| known.get(it))
            .flatten()
            .copied()
            .collect(),
        text: dialect.stop_text(stopped),
        all: stopped.all_threads_stopped.unwrap_or(false),
    }
}

pub(super) fn frame(dialect: &dyn Dialect, mut frame: t::StackFrame) -> Frame {
    let source = frame.source.take().unwrap_or_default();
    // What has a number instead of a file is still called something: a module in an archive. A file that
    // was removed has its folder.
    let has_folder = |path: &PathBuf| path.parent().is_some_and(|it| it.is_dir());
    let is_there = |path: &PathBuf| source.source_reference.unwrap_or(0) == 0 || has_folder(path);
    let path = source.path.as_deref().map(PathBuf::from).filter(is_there);
    let file = path.filter(|path| path.is_absolute());
    let place = match &file {
        Some(_) => None,
        None => source.path.or(source.name),
    };
    let is_subtle = frame.presentation_hint.as_ref().is_some_and(|it| *it != t::FrameHint::Normal);
    let is_users = |file: &PathBuf| dialect.is_users(&frame, file);
    Frame {
        id: FrameId::number(frame.id),
        function: dialect.function(&frame.name).to_owned(),
        is_user: !is_subtle && file.as_ref().is_some_and(is_users),
        file,
        place,
        line: u32::try_from(frame.line).unwrap_or(0),
        column: u32::try_from(frame.column).ok().filter(|column| *column > 1),
    }
}

pub(super) fn scope(dialect: &dyn Dialect, scope: t::Scope) -> Scope {
    let kind = dialect.scope_kind(&scope);
    Scope { kind, name: scope.name, children: Handle::number(scope.variables_reference) }
}

pub(super) fn variable(dialect: &dyn Dialect, variable: t::Variable) -> Variable {
    Variable {
        name: variable.name,
        value: dialect.shown(Value {
            text: variable.value,
            kind: variable.type_name.filter(|kind| !kind.is_empty()),
            children: handle(variable.variables_reference),
            indexed: count(variable.indexed_variables),
            named: count(variable.named_variables),
        }),
        expression: variable.evaluate_name,
    }
}

pub(super) fn evaluated(dialect: &dyn Dialect, body: t::EvaluateBody) -> Value {
    dialect.shown(Value {
        text: body.result,
        kind: body.type_name.filter(|kind| !kind.is_empty()),
        children: handle(body.variables_reference),
        indexed: count(body.indexed_variables),
        named: count(body.named_variables),
    })
}

pub(super) fn assigned(dialect: &dyn Dialect, body: t::SetValueBody) -> Value {
    dialect.shown(Value {
        text: body.value,
        kind: body.type_name.filter(|kind| !kind.is_empty()),
        children: body.variables_reference.and_then(handle),
        indexed: count(body.indexed_variables),
        named: count(body.named_variables),
    })
}

/// Of a traceback, the line that says what is wrong.
pub(super) fn last_line(message: &str) -> String {
    let line = message.trim().lines().next_back().unwrap_or("no reason was given");
    crate::budget::cut(line.trim(), 1_000)
}

fn handle(reference: i64) -> Option<Handle> {
    (reference > 0).then_some(Handle::number(reference))
}

fn count(number: Option<i64>) -> Option<usize> {
    number.and_then(|number| usize::try_from(number).ok())
}
