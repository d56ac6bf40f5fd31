//! Looking at a stopped thread: frames, scopes, values.

use std::collections::BTreeMap;

use holdpoint_cdp::{
    SourcePlace, Sources,
    types::{
        CallFrame, Location, ObjectId, Paused, RemoteObject,
        runtime::{
            CallArgument, CallFunctionOn, GetProperties, Properties, Property, StackFrame,
            StackTrace,
        },
    },
};
use serde_json::json;

use super::{
    Cdp, LIBRARIES, connect,
    tokens::At,
    unassigned::{self, Extent},
    value::{self, Inside},
};
use crate::{
    backend::{
        ExceptionInfo, Frame, FrameId, Handle, Scope, ScopeKind, Slice, Stack, Value, Variable,
    },
    failure::{Code, Failure},
    limits,
};

/// How the ids of frames begin that are no longer there.
pub(super) const ASYNC: &str = "async ";

/// What is shown of a variable before its declaration.
const UNASSIGNED: &str = "<not assigned yet>";

/// What Node gives to the function around a CommonJS module.
pub(super) const WRAPPER: &[&str] = &["exports", "require", "module", "__filename", "__dirname"];

/// Frames as they stand, then those that scheduled them, marked `async`.
pub(super) async fn stack(cdp: &Cdp, slice: Slice) -> Result<Stack, Failure> {
    let paused = cdp.paused()?;
    let frames: Vec<Frame> = cdp
        .sources(move |sources| {
            let live = paused.call_frames.iter().map(|it| live(sources, it)).collect::<Vec<_>>();
            let ended = scheduled(sources, paused.async_stack_trace.as_ref());
            live.into_iter().chain(ended).collect()
        })
        .await?;
    let frames = if cdp.known.just_my_code { without_internals(frames) } else { frames };
    let total = Some(frames.len());
    Ok(Stack { frames: frames.into_iter().skip(slice.start).take(slice.count).collect(), total })
}

/// Node's own frames say nothing to someone who looks for a fault in a program.
fn without_internals(frames: Vec<Frame>) -> Vec<Frame> {
    let is_internal =
        |frame: &Frame| frame.place.as_deref().is_some_and(|place| place.starts_with("node:"));
    if frames.iter().all(is_internal) {
        return frames;
    }
    frames.into_iter().filter(|frame| !is_internal(frame)).collect()
}

fn live(sources: &mut Sources, frame: &CallFrame) -> Frame {
    let id = FrameId::text(frame.call_frame_id.0.clone());
    let name = match frame.function_name.as_str() {
        "" if is_module(frame) => "<module>".to_owned(),
        name => named(name),
    };
    placed(id, name, sources.place(&frame.location))
}

fn scheduled(sources: &mut Sources, mut trace: Option<&StackTrace>) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some(stack) = trace {
        for frame in &stack.call_frames {
            let id = FrameId::text(format!("{ASYNC}{}", frames.len()));
            let name = format!("{ASYNC}{}", named(&frame.function_name));
            frames.push(placed(id, name, sources.place(&location(frame))));
        }
        trace = stack.parent.as_deref();
    }
    frames
}

pub(super) fn location(frame: &StackFrame) -> Location {
    Location {
        script_id: frame.script_id.clone(),
        line_number: frame.line_number,
        column_number: Some(frame.column_number),
    }
}

fn named(name: &str) -> String {
    if name.is_empty() { "(anonymous)".to_owned() } else { name.to_owned() }
}

fn placed(id: FrameId, function: String, place: Option<SourcePlace>) -> Frame {
    let Some(place) = place else {
        let place = Some("unknown source".to_owned());
        return Frame { id, function, file: None, place, line: 0, column: None, is_user: false };
    };
    let is_library = place.name.contains(LIBRARIES) || place.name.contains(connect::BOOT_NAME);
    Frame {
        id,
        function,
        is_user: place.file.is_some() && !is_library,
        place: match &place.file {
            Some(_) => None,
            None if place.name.is_empty() => Some("<eval>".to_owned()),
            None => Some(place.name),
        },
        file: place.file,
        line: place.position.line(),
        column: place.position.column().filter(|column| *column > 1),
    }
}

/// The top level of a file: an ES module, or the function that Node puts around a CommonJS one.
fn is_module(frame: &CallFrame) -> bool {
    let own = frame.scope_chain.iter().find(|it| it.kind != "block" && it.kind != "catch");
    match own.map(|scope| scope.kind.as_str()) {
        Some("module" | "script" | "global") => true,
        Some("local") => frame
            .function_location
            .as_ref()
            .is_some_and(|it| (it.line_number, it.column_number) == (0, Some(0))),
        _ => false,
    }
}

/// The top level of an ES module.
pub(super) fn is_module_level(frame: &CallFrame) -> bool {
    let own = frame.scope_chain.iter().find(|it| it.kind != "block" && it.kind != "catch");
    own.is_some_and(|scope| scope.kind == "module")
}

/// Whether `this` says something in a frame.
pub(super) fn has_this(frame: &CallFrame) -> bool {
    !(frame.function_name.is_empty() && is_module(frame))
        && frame.this.as_ref().is_some_and(is_telling)
}

pub(super) fn scopes(cdp: &Cdp, frame: &FrameId) -> Result<Vec<Scope>, Failure> {
    let frame = cdp.frame(frame)?;
    if let Some(variables) = cdp.ended(&frame.call_frame_id.0) {
        let children = Inside::Kept(variables?).handle();
        return Ok(vec![Scope { name: "local".to_owned(), kind: ScopeKind::Local, children }]);
    }
    let is_module = frame.function_name.is_empty() && is_module(&frame);
    let mut scopes = Vec::new();
    // Everything up to the function's own scope is what its reader sees; what is around it is closure.
    let mut kind = ScopeKind::Local;
    for scope in &frame.scope_chain {
        let Some(object) = scope.object_id().cloned() else { continue };
        let of = match scope.kind.as_str() {
            "global" | "script" if !(is_module && kind == ScopeKind::Local) => ScopeKind::Global,
            "global" => ScopeKind::Global,
            "closure" => ScopeKind::Closure,
            _ => kind,
        };
        let is_wrapper = is_module && scope.kind == "local";
        let inside = Inside::Scope { frame: frame.call_frame_id.0.clone(), is_wrapper, object };
        let name = scope.name.clone().unwrap_or_else(|| scope.kind.clone());
        scopes.push(Scope { name, kind: of, children: inside.handle() });
        if matches!(scope.kind.as_str(), "local" | "module" | "closure") {
            kind = ScopeKind::Closure;
        }
    }
    if has_this(&frame) {
        let this = Inside::This { frame: frame.call_frame_id.0.clone() };
        let after = scopes.iter().filter(|it| it.kind == ScopeKind::Local).count();
        let scope =
            Scope { name: "this".to_owned(), kind: ScopeKind::Local, children: this.handle() };
        scopes.insert(after, scope);
    }
    Ok(scopes)
}

/// `undefined` and the global object say nothing.
fn is_telling(this: &RemoteObject) -> bool {
    this.kind != "undefined"
        && this.description.as_deref() != Some("global")
        && this.class_name.as_deref() != Some("global")
}

pub(super) async fn children(
    cdp: &Cdp,
    of: &Handle,
    slice: Slice,
) -> Result<Vec<Variable>, Failure> {
    match inside(of)? {
        Inside::Object(id) | Inside::Kept(id) => Ok(page(own(cdp, id).await?, slice)),
        Inside::Array(count, id) => elements(cdp, id, count, slice).await,
        Inside::Set(_, id) => {
            let values = sliced(cdp, id, SET_SLICE, slice).await?;
            Ok(numbered(values, slice.start))
        }
        Inside::Map(_, id) => entries(cdp, id, slice).await,
        Inside::Scope { frame, is_wrapper, object } => {
            let mut variables = own(cdp, object.clone()).await?;
            if !variables.is_empty() {
                let frame = FrameId::text(frame);
                cdp.freshened(&frame, &object, &mut variables).await;
                let declared = declared(cdp, &frame, &object).await;
                for it in &mut variables {
                    if declared.get(&it.name) == Some(&false) {
                        it.value = value::absent(UNASSIGNED);
                    }
                }
            }
            if is_wrapper {
                variables.retain(|it| !WRAPPER.contains(&it.name.as_str()));
            }
            Ok(page(variables, slice))
        }
        Inside::This { frame } => {
            let frame = FrameId::text(frame);
            // The frame's own `this` comes without a preview.
            let asked = cdp.evaluated(Some(&frame), "this", limits::ADAPTER_ANSWER).await?;
            let value = value::value(&asked.result);
            Ok(vec![Variable { name: "this".to_owned(), value, expression: None }])
        }
    }
}

/// The names that a scope of a frame declares, and whether each is assigned where the frame stands. Nothing
/// of scopes around the function: where those stand is not where this frame is.
async fn declared(cdp: &Cdp, frame: &FrameId, object: &ObjectId) -> BTreeMap<String, bool> {
    let Ok(frame) = cdp.frame(frame) else { return BTreeMap::new() };
    let mut chain = frame.scope_chain.iter();
    let is_outer = |it: &holdpoint_cdp::types::debugger::Scope| {
        matches!(it.kind.as_str(), "local" | "module" | "closure")
    };
    let mut is_around = false;
    let scope = chain.find(|it| {
        let is_it = it.object_id() == Some(object);
        is_around |= !is_it && is_outer(it);
        is_it
    });
    let Some(scope) = scope.filter(|_| !is_around) else { return BTreeMap::new() };
    let start = scope.start_location.as_ref().map(tokens_at);
    let is_whole = frame.function_name.is_empty() && is_module(&frame);
    let extent = match (scope.kind.as_str(), start) {
        ("module", _) => Extent::Whole,
        ("local", _) if is_whole => Extent::Whole,
        ("local", Some(start)) => Extent::Function(start),
        ("block", Some(start)) => Extent::Block(start),
        _ => return BTreeMap::new(),
    };
    match cdp.words(&frame.location.script_id).await {
        Some(words) => unassigned::declared(&words, extent, tokens_at(&frame.location)),
        None => BTreeMap::new(),
    }
}

/// Whether an expression is only a name that has no value yet: V8 may still have that of the round before.
pub(super) async fn is_unassigned(cdp: &Cdp, frame: &FrameId, name: &str) -> bool {
    let is_name = !name.is_empty()
        && name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$'))
        && !name.starts_with(|it: char| it.is_ascii_digit());
    let Ok(live) = cdp.frame(frame) else { return false };
    if !is_name || cdp.ended(&live.call_frame_id.0).is_some() {
        return false;
    }
    for object in live.scope_chain.iter().filter_map(|it| it.object_id()) {
        if let Some(is_assigned) = declared(cdp, frame, object).await.get(name) {
            return !is_assigned;
        }
    }
    false
}

fn tokens_at(location: &Location) -> At {
    let column = location.column_number.unwrap_or(0);
    At { line: location.line_number.saturating_add(1), column: column.saturating_add(1) }
}

fn inside(of: &Handle) -> Result<Inside, Failure> {
    Inside::of(of).ok_or_else(|| Failure::internal("a handle of another protocol"))
}

fn page(variables: Vec<Variable>, slice: Slice) -> Vec<Variable> {
    variables.into_iter().skip(slice.start).take(slice.count).collect()
}

/// An object's own properties, getters not called, and what V8 knows beyond them.
pub(super) async fn own(cdp: &Cdp, object: ObjectId) -> Result<Vec<Variable>, Failure> {
    let command = GetProperties { generate_preview: true, ..GetProperties::own(object) };
    Ok(listed(cdp.ask(command).await?))
}

pub(super) fn listed(properties: Properties) -> Vec<Variable> {
    let skipped = |name: &str| {
        matches!(name, "[[Prototype]]" | "[[Scopes]]" | "[[FunctionLocation]]" | "[[Entries]]")
    };
    let own = properties.result.into_iter().filter(|it| it.name != "__proto__").map(variable);
    let private = properties.private_properties.into_iter().map(|it| Variable {
        value: it.value.as_ref().map_or_else(|| value::absent("[getter]"), value::value),
        name: it.name,
        expression: None,
    });
    let internal = properties.internal_properties.into_iter().filter(|it| !skipped(&it.name));
    let internal = internal.map(|it| Variable {
        value: it.value.as_ref().map_or_else(|| value::absent("undefined"), value::value),
        name: it.name,
        expression: None,
    });
    own.chain(private).chain(internal).collect()
}

fn variable(property: Property) -> Variable {
    let value = match &property.value {
        Some(value) => value::value(value),
        None if property.get.is_some() || property.set.is_some() => value::absent("[getter]"),
        None => value::absent(UNASSIGNED),
    };
    Variable { name: property.name, value, expression: None }
}

const ARRAY_SLICE: &str =
    "function(start, count) { return Array.prototype.slice.call(this, start, start + count); }";
const SET_SLICE: &str = "function(start, count) { const out = []; let at = 0; \
    for (const value of Set.prototype.values.call(this)) { if (at >= start + count) break; \
    if (at++ >= start) out.push(value); } return out; }";
const MAP_SLICE: &str = "function(start, count) { const out = []; let at = 0; \
    for (const [key, value] of Map.prototype.entries.call(this)) { if (at >= start + count) break; \
    if (at++ >= start) out.push(key, value); } return out; }";

async fn elements(
    cdp: &Cdp,
    id: ObjectId,
    count: usize,
    slice: Slice,
) -> Result<Vec<Variable>, Failure> {
    let mut variables = numbered(sliced(cdp, id.clone(), ARRAY_SLICE, slice).await?, slice.start);
    // What an array has besides its elements comes after them.
    if slice.start.saturating_add(slice.count) > count {
        let command = GetProperties {
            non_indexed_properties_only: true,
            generate_preview: true,
            ..GetProperties::own(id)
        };
        let named = listed(cdp.ask(command).await?);
        let left = slice.count.saturating_sub(variables.len());
        let skip = slice.start.saturating_sub(count);
        variables.extend(named.into_iter().filter(|it| it.name != "length").skip(skip).take(left));
    }
    Ok(variables)
}

async fn entries(cdp: &Cdp, id: ObjectId, slice: Slice) -> Result<Vec<Variable>, Failure> {
    let flat = sliced(cdp, id, MAP_SLICE, slice).await?;
    let mut variables = Vec::new();
    let mut flat = flat.into_iter();
    while let (Some((_, key)), Some((_, value))) = (flat.next(), flat.next()) {
        variables.push(Variable { name: key.text, value, expression: None });
    }
    Ok(variables)
}

/// Some elements, copied out by the program itself: a hundred thousand are not sent to show ten.
async fn sliced(
    cdp: &Cdp,
    id: ObjectId,
    function: &str,
    slice: Slice,
) -> Result<Vec<(usize, Value)>, Failure> {
    let argument =
        |number: usize| CallArgument { value: Some(json!(number)), ..Default::default() };
    let command = CallFunctionOn {
        function_declaration: function.to_owned(),
        object_id: Some(id),
        arguments: vec![argument(slice.start), argument(slice.count)],
        silent: true,
        ..CallFunctionOn::default()
    };
    let part = cdp.ask(command).await?;
    if let Some(details) = &part.exception_details {
        return Err(Failure::new(Code::EvaluateFailed, value::thrown(details)));
    }
    let Some(part) = part.result.object_id else { return Ok(Vec::new()) };
    let command = GetProperties { generate_preview: true, ..GetProperties::own(part) };
    let found = cdp.ask(command).await?.result;
    let element = |it: Property| Some((it.name.parse().ok()?, variable(it).value));
    Ok(found.into_iter().filter_map(element).collect())
}

fn numbered(values: Vec<(usize, Value)>, start: usize) -> Vec<Variable> {
    let one = |(at, value): (usize, Value)| Variable {
        name: at.saturating_add(start).to_string(),
        value,
        expression: None,
    };
    values.into_iter().map(one).collect()
}

/// Assigns as the language does: a `const` refuses, a setter runs.
pub(super) async fn assign(
    cdp: &Cdp,
    container: &Handle,
    name: &str,
    value: &str,
) -> Result<Value, Failure> {
    let patience = limits::ADAPTER_ANSWER;
    let top = || {
        let paused = cdp.paused()?;
        let first = paused.call_frames.first().map(|it| it.call_frame_id.0.clone());
        first.ok_or_else(|| Failure::new(Code::NotStopped, "the program stands in no frame"))
    };
    let object = match inside(container)? {
        Inside::Scope { frame, .. } => {
            let frame = FrameId::text(frame);
            return cdp.evaluate(Some(&frame), &format!("{name} = ({value}\n)"), patience).await;
        }
        Inside::This { .. } => {
            return Err(Failure::new(Code::InvalidParams, "`this` cannot be assigned"));
        }
        Inside::Kept(_) => {
            return Err(Failure::new(
                Code::InvalidParams,
                "that frame has ended: a new value would change nothing",
            )
            .hint("set a breakpoint before the line that throws, and `debug_restart`"));
        }
        Inside::Map(..) | Inside::Set(..) => {
            return Err(Failure::new(
                Code::InvalidParams,
                "a collection's entries are not variables",
            )
            .hint("`debug_evaluate` calls its methods: `map.set(key, value)`"));
        }
        Inside::Object(id) | Inside::Array(_, id) => id,
    };
    let new =
        cdp.evaluated(Some(&FrameId::text(top()?)), &format!("({value}\n)"), patience).await?;
    if let Some(details) = &new.exception_details {
        return Err(Failure::new(Code::EvaluateFailed, value::thrown(details)));
    }
    let command = CallFunctionOn {
        function_declaration:
            "function(name, value) { 'use strict'; this[name] = value; return this[name]; }"
                .to_owned(),
        object_id: Some(object),
        arguments: vec![
            CallArgument { value: Some(json!(name)), ..Default::default() },
            argument(&new.result),
        ],
        silent: true,
        generate_preview: true,
        ..CallFunctionOn::default()
    };
    let answer = cdp.ask(command).await?;
    match &answer.exception_details {
        Some(details) => Err(Failure::new(Code::EvaluateFailed, value::thrown(details))),
        None => Ok(value::value(&answer.result)),
    }
}

fn argument(object: &RemoteObject) -> CallArgument {
    let is_null = object.subtype.as_deref() == Some("null");
    CallArgument {
        value: object.value.clone().or(is_null.then_some(serde_json::Value::Null)),
        unserializable_value: object.unserializable_value.clone(),
        object_id: object.object_id.clone(),
    }
}

/// Each error with its stack, then what caused it.
const CHAIN: &str = "function() { const out = []; let error = this; \
    for (let at = 0; at < 8 && error != null; at++) { \
    out.push(String(error.stack ?? error)); error = error.cause; } \
    return out.join('\\nCaused by: '); }";

pub(super) fn is_exception(paused: &Paused) -> bool {
    matches!(paused.reason.as_str(), "exception" | "promiseRejection")
}

pub(super) async fn exception(cdp: &Cdp) -> Result<ExceptionInfo, Failure> {
    let paused = cdp.paused()?;
    let data = paused.data.clone().filter(|_| is_exception(&paused)).ok_or_else(|| {
        Failure::new(Code::NotFound, "the program did not stop for an exception")
            .hint("`debug_status` says why it stopped")
    })?;
    let thrown: RemoteObject = serde_json::from_value(data)
        .map_err(|error| Failure::internal(format!("an exception of an unknown form: {error}")))?;
    let description = thrown.description.clone().unwrap_or_default();
    if thrown.subtype.as_deref() != Some("error") {
        let message = value::text(&thrown);
        return Ok(ExceptionInfo { kind: thrown.kind, message, trace: None });
    }
    let kind = thrown.class_name.clone().unwrap_or_else(|| "Error".to_owned());
    let message = value::text(&thrown);
    let message = message.strip_prefix(&format!("{kind}: ")).unwrap_or(&message).to_owned();
    Ok(ExceptionInfo {
        kind,
        message,
        trace: Some(chain(cdp, &thrown).await.unwrap_or(description)),
    })
}

async fn chain(cdp: &Cdp, thrown: &RemoteObject) -> Option<String> {
    let command = CallFunctionOn {
        function_declaration: CHAIN.to_owned(),
        object_id: thrown.object_id.clone(),
        silent: true,
        return_by_value: true,
        ..CallFunctionOn::default()
    };
    let answer = cdp.ask(command).await.ok().filter(|it| it.exception_details.is_none())?;
    answer.result.value?.as_str().map(str::to_owned)
}
