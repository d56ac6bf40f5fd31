//! The protocol's words into ours and back. Pure.

use std::{collections::BTreeMap, path::PathBuf};

use holdpoint_dap::types as t;

use crate::{
    backend::{
        Binding, Frame, FrameId, Handle, Scope, ScopeKind, StopReason, Stopped, Value, Variable,
        Wanted,
    },
    ids::BreakpointId,
};

pub(super) fn source_breakpoint(wanted: &Wanted) -> t::SourceBreakpoint {
    t::SourceBreakpoint {
        line: i64::from(wanted.line),
        column: wanted.column.map(i64::from),
        condition: wanted.condition.clone(),
        // The hits of a tracepoint are counted by us: counted twice, few would be left.
        hit_condition: wanted.hit_condition.clone().filter(|_| wanted.trace.is_none()),
        ..Default::default()
    }
}

pub(super) fn binding(answer: Option<&t::Breakpoint>) -> Binding {
    let Some(answer) = answer else {
        return Binding::Not { why: "the debugger did not say what became of it".to_owned() };
    };
    let at = answer.line.and_then(|line| u32::try_from(line).ok());
    match at {
        Some(line) if answer.verified => {
            Binding::At { line, column: answer.column.and_then(|it| u32::try_from(it).ok()) }
        }
        _ => Binding::Not { why: why_not(answer.message.as_deref()) },
    }
}

/// What adapters say is made for people with an editor.
fn why_not(message: Option<&str>) -> String {
    match message {
        None => "its file is not loaded yet".to_owned(),
        Some(message) if message.contains("justMyCode") => {
            "it is in a library, which this launch leaves out; `debug_restart` takes it in, as does \
             `just_my_code: false`"
                .to_owned()
        }
        Some(message) => last_line(message),
    }
}

pub(super) fn stopped(
    stopped: t::StoppedEvent,
    known: &BTreeMap<i64, Vec<BreakpointId>>,
) -> Stopped {
    let reason = match &stopped.reason {
        t::StopReason::Step => StopReason::Step,
        t::StopReason::Breakpoint | t::StopReason::FunctionBreakpoint => StopReason::Breakpoint,
        t::StopReason::Exception => StopReason::Exception,
        t::StopReason::Pause => StopReason::Pause,
        t::StopReason::Entry => StopReason::Entry,
        other => StopReason::Other(other.to_string()),
    };
    // pydevd explains to people what it shows in an editor.
    let short =
        |it: String| it.split(" (note: full exc").next().unwrap_or_default().trim().to_owned();
    let text = match (stopped.text.map(short), stopped.description) {
        (Some(text), Some(description)) if !description.is_empty() => {
            Some(format!("{text}: {description}"))
        }
        (text, description) => text.or(description),
    };
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
        text: text.filter(|text| !text.is_empty()),
        all: stopped.all_threads_stopped.unwrap_or(false),
    }
}

pub(super) fn frame(frame: t::StackFrame) -> Frame {
    let source = frame.source.unwrap_or_default();
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
    let subtle =
        matches!(frame.presentation_hint, Some(t::FrameHint::Subtle | t::FrameHint::Label));
    Frame {
        id: FrameId::Number(frame.id),
        // As pydevd marks the frame that an exception leaves.
        function: frame.name.trim_end_matches(" (Current frame)").to_owned(),
        is_user: !subtle && file.as_deref().is_some_and(is_users),
        file,
        place,
        line: u32::try_from(frame.line).unwrap_or(0),
        column: u32::try_from(frame.column).ok().filter(|column| *column > 1),
    }
}

/// Not a library's: nothing that a package manager put there.
fn is_users(file: &std::path::Path) -> bool {
    let library = |name: &std::ffi::OsStr| {
        matches!(name.to_str(), Some("site-packages" | "dist-packages" | "node_modules"))
            || name.to_str().is_some_and(|name| name.starts_with("python3."))
    };
    !file.iter().any(library)
}

pub(super) fn scope(scope: t::Scope) -> Scope {
    let kind = match scope.name.to_ascii_lowercase().as_str() {
        "globals" | "global" => ScopeKind::Global,
        "closure" | "nonlocals" => ScopeKind::Closure,
        _ => ScopeKind::Local,
    };
    Scope { kind, name: scope.name, children: Handle::Number(scope.variables_reference) }
}

pub(super) fn variable(variable: t::Variable) -> Variable {
    Variable {
        name: variable.name,
        value: Value {
            text: variable.value,
            kind: variable.type_name.filter(|kind| !kind.is_empty()),
            children: handle(variable.variables_reference),
            indexed: count(variable.indexed_variables),
            named: count(variable.named_variables),
        },
        expression: variable.evaluate_name,
    }
}

pub(super) fn evaluated(body: t::EvaluateBody) -> Value {
    Value {
        text: body.result,
        kind: body.type_name.filter(|kind| !kind.is_empty()),
        children: handle(body.variables_reference),
        indexed: count(body.indexed_variables),
        named: count(body.named_variables),
    }
}

/// Python's `None`, which its debugger does not show.
pub(super) fn none() -> Value {
    Value {
        text: "None".to_owned(),
        kind: Some("NoneType".to_owned()),
        children: None,
        indexed: None,
        named: None,
    }
}

pub(super) fn assigned(body: t::SetValueBody) -> Value {
    Value {
        text: body.value,
        kind: body.type_name.filter(|kind| !kind.is_empty()),
        children: body.variables_reference.and_then(handle),
        indexed: count(body.indexed_variables),
        named: count(body.named_variables),
    }
}

/// Of a traceback, the line that says what is wrong.
pub(super) fn last_line(message: &str) -> String {
    let line = message.trim().lines().next_back().unwrap_or("no reason was given");
    crate::budget::cut(line.trim(), 1_000)
}

fn handle(reference: i64) -> Option<Handle> {
    (reference > 0).then_some(Handle::Number(reference))
}

fn count(number: Option<i64>) -> Option<usize> {
    number.and_then(|number| usize::try_from(number).ok())
}
