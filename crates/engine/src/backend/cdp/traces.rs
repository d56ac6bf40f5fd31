//! Tracepoints in Node: a breakpoint whose condition evaluates, reports through a binding, and never holds.
//! V8 does not stop for it, but once where it calls something: see [`trial`]. Hits come in batches; what is left of one is fetched before a stop is told, and a
//! moment after the last batch, for a program that computes on without passing any tracepoint.

mod trial;

pub(super) use self::trial::{risks, trace_way};

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use holdpoint_cdp::{
    Inserted,
    types::{ContextId, ScriptId, runtime::Evaluate},
};
use jiff::Timestamp;
use serde_json::Value;

use super::{Cdp, THREAD, breakpoints};
use crate::{
    backend::{Binding, Passed, Tracing, Wanted},
    failure::Failure,
    ids::BreakpointId,
    limits,
    template::Template,
};

/// The name under which V8 gives the program a way to us, until the helper has taken it.
const BINDING: &str = "__holdpoint_passed";
/// What of us works inside the program.
const HELPER: &str = include_str!("traces/helper.js");
const FLUSH: &str = "globalThis[Symbol.for('holdpoint')]?.flush?.()";
const TAKE: &str = "globalThis[Symbol.for('holdpoint')]?.take?.() ?? ''";

/// The tracepoints of one thread, each of the counts that it may still report.
#[derive(Default)]
pub(super) struct Traces {
    known: BTreeMap<(BreakpointId, u64), Arc<Tracing>>,
    /// Expressions that do not parse: a condition with one of them would never report anything.
    pub(super) bad: HashSet<String>,
    has_binding: bool,
    pub(super) has_helper: bool,
    /// Batches that came from the program.
    pub(super) taken: u64,
    /// Scripts with tracepoints in them of which V8 does not know what steps pass.
    pub(super) unpassed: Vec<(ScriptId, Arc<Inserted>)>,
}

impl Traces {
    pub(super) fn put(&mut self, id: BreakpointId, tracing: &Arc<Tracing>) {
        let generation = tracing.generation;
        // Of the count before it, hits may still be on their way; older ones are over.
        let before = self.known.range((id, 0)..(id, generation)).next_back().map(|(key, _)| *key);
        self.known.retain(|key, _| key.0 != id || key.1 >= generation || Some(*key) == before);
        self.known.insert((id, generation), Arc::clone(tracing));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The newest expression that calls something, which may not end although it did at first.
    pub(super) fn risk(&self) -> Option<(BreakpointId, String)> {
        let all = self.known.iter().rev().flat_map(|((id, _), tracing)| {
            tracing.template.iter().flat_map(Template::expressions).map(move |it| (*id, it))
        });
        all.filter(|(_, it)| trial::may_call(it)).map(|(id, it)| (id, it.to_owned())).next()
    }
}

/// The condition of a tracepoint, as V8 is to have it.
pub(super) fn condition(
    wanted: &Wanted,
    tracing: &Tracing,
    test: Option<&str>,
    bad: &HashSet<String>,
) -> String {
    let Wanted { id, line, condition, .. } = wanted;
    let Tracing { generation, template, multiple, max, is_literal, .. } = tracing;
    let thunk = |text: &str| match bad.contains(text) {
        true => "() => { throw new SyntaxError() }".to_owned(),
        false => format!("() => ({text}\n)"),
    };
    let expressions = template.iter().flat_map(Template::expressions);
    let thunks: Vec<String> = expressions.map(thunk).collect();
    let risks = trial::risks(condition.as_deref(), tracing);
    let condition = condition.as_deref().map_or_else(|| "null".to_owned(), thunk);
    let test = test.map_or_else(|| "null".to_owned(), |test| format!("n => {test}"));
    format!(
        "globalThis[Symbol.for('holdpoint')]?.pass(\
             {id}, {generation}, {line}, {multiple}, {max}, {test}, {condition}, [{}], {risks}, \
             {is_literal})",
        thunks.join(", ")
    )
}

/// Sees to it that the program can report. Before its first line it cannot be asked to; then the entry does.
pub(super) async fn prepare(cdp: &Cdp) -> Result<(), Failure> {
    if !std::mem::replace(&mut cdp.traces().has_binding, true) {
        let params = serde_json::json!({ "name": BINDING });
        cdp.call("Runtime.addBinding", params).await?;
    }
    if !cdp.traces().has_helper && install(cdp, None).await {
        cdp.traces().has_helper = true;
    }
    Ok(())
}

/// A context of its own, such as a test runner makes for each file, needs its own helper.
pub(super) async fn in_context(cdp: &Cdp, context: ContextId) {
    if cdp.traces().has_binding {
        install(cdp, Some(context)).await;
    }
}

async fn install(cdp: &Cdp, context_id: Option<ContextId>) -> bool {
    let milliseconds = |it: Duration| it.as_secs_f64() * 1_000.0;
    let limits = serde_json::json!({
        "VALUE": limits::TRACE_VALUE,
        "BATCH": limits::TRACE_BATCH,
        "EVERY": milliseconds(limits::TRACE_EVERY),
        "BUDGET": milliseconds(limits::TRACE_EVALUATE),
        "HANGS": limits::TRACE_HANGS,
        "SWEEP": limits::TRACE_SWEEP,
        "SWEEP_SHARE": limits::TRACE_SWEEP_SHARE,
        "ROOM": limits::TRACE_WOVEN_ROOM,
        "LAST": milliseconds(limits::TRACE_LAST),
    });
    let expression = format!("{}({}, {limits})", HELPER.trim_end(), Value::from(BINDING));
    let command = Evaluate { expression, context_id, silent: true, ..Evaluate::default() };
    match cdp.ask(command).await {
        Ok(answer) => answer.result.value.as_ref().and_then(Value::as_str) == Some("function"),
        Err(failure) => {
            tracing::debug!(%failure, "the program cannot report its tracepoints yet");
            false
        }
    }
}

/// Notes which of its expressions do not parse.
pub(super) async fn check(cdp: &Cdp, tracing: &Tracing) {
    for expression in tracing.template.iter().flat_map(Template::expressions) {
        if breakpoints::parses(cdp, expression).await.is_err() {
            cdp.traces().bad.insert(expression.to_owned());
        }
    }
}

impl Cdp {
    /// Of these expressions, the first that is none, and why.
    pub async fn first_problem<'a>(
        &self,
        file: Option<&std::path::Path>,
        expressions: &[&'a str],
    ) -> Option<(&'a str, String)> {
        if file.is_some_and(|file| !super::functions::is_source(file)) {
            return None;
        }
        for expression in expressions {
            if let Err(why) = breakpoints::parses(self, expression).await {
                return Some((expression, why));
            }
        }
        None
    }
}

/// What the program told through the binding, or left for us to take.
pub(super) fn read(cdp: &Cdp, payload: &str) -> Vec<Passed> {
    let hits: Vec<Value> = match holdpoint_cdp::parse_payload("hits", payload) {
        Ok(hits) => hits,
        Err(error) => {
            tracing::warn!(%error, "hits of tracepoints cannot be read");
            Vec::new()
        }
    };
    let (places, astray) = {
        let points = cdp.points();
        (points.places(), points.astray.clone())
    };
    let traces = cdp.traces();
    let is_true = |it: &Passed| astray.is_empty() || !astray.contains(&(it.id, it.line));
    hits.iter().filter_map(|hit| one(&traces, &places, hit)).filter(is_true).collect()
}

/// `[[id, generation, line], number, time, function, values]`
fn one(traces: &Traces, places: &TraceSites, hit: &Value) -> Option<Passed> {
    let id = BreakpointId(hit.pointer("/0/0")?.as_i64()?);
    let tracing = traces.known.get(&(id, hit.pointer("/0/1")?.as_u64()?))?;
    let line = hit.pointer("/0/2")?.as_u64().and_then(|it| u32::try_from(it).ok())?;
    let at = places.get(&(id, line)).cloned().unwrap_or_default();
    let value = |it: &Value| match it {
        Value::String(value) => Ok(value.clone()),
        other => Err(other.get(0).and_then(Value::as_str).unwrap_or("Error").to_owned()),
    };
    #[expect(clippy::cast_possible_truncation, reason = "microseconds of this age fit")]
    let micros = (hit.get(2)?.as_f64()? * 1e6) as i64;
    Some(Passed {
        id,
        tracing: Arc::clone(tracing),
        hit_count: hit.get(1)?.as_u64()?,
        at: Timestamp::from_microsecond(micros).unwrap_or_else(|_| Timestamp::now()),
        thread: THREAD,
        thread_name: None,
        file: at.file,
        line: at.line,
        column: at.column,
        function: hit.get(3)?.as_str().map(Into::into),
        values: hit.get(4)?.as_array()?.iter().map(value).collect(),
    })
}

/// Where tracepoints lie, by the line that was asked for: one by function has several.
pub(super) type TraceSites = BTreeMap<(BreakpointId, u32), TraceSite>;

/// Where a tracepoint lies.
#[derive(Debug, Clone)]
pub(super) struct TraceSite {
    pub(super) file: Arc<str>,
    pub(super) line: u32,
    pub(super) column: Option<u32>,
}

impl Default for TraceSite {
    fn default() -> Self {
        TraceSite { file: "".into(), line: 0, column: None }
    }
}

impl TraceSite {
    pub(super) fn new(file: &std::path::Path, asked: u32, binding: &Binding) -> TraceSite {
        let file = file.display().to_string().into();
        match binding {
            Binding::At { line, column } => TraceSite { file, line: *line, column: *column },
            Binding::Functions { .. } | Binding::Not { .. } => {
                TraceSite { file, line: asked, column: None }
            }
        }
    }
}

/// What is left of a batch, before a stop is told: nothing else can come any more.
pub(super) async fn take(cdp: &Cdp) -> Vec<Passed> {
    if cdp.traces().is_empty() {
        return Vec::new();
    }
    let command = Evaluate {
        expression: TAKE.to_owned(),
        silent: true,
        return_by_value: true,
        ..Evaluate::default()
    };
    let answer = cdp.ask(command).await.ok().and_then(|it| it.result.value);
    let text = answer.as_ref().and_then(Value::as_str).unwrap_or_default();
    if text.is_empty() { Vec::new() } else { read(cdp, text) }
}

/// Asks for what is left of a batch; it comes as the batch did. Ends with the answer.
pub(super) fn flush(cdp: &Cdp) {
    let command = Evaluate { expression: FLUSH.to_owned(), silent: true, ..Evaluate::default() };
    let requester = cdp.requester.clone();
    cdp.known.tasks.spawn(async move {
        let sent = tokio::time::timeout(limits::ADAPTER_ANSWER, requester.send(command)).await;
        if let Ok(Err(error)) = sent {
            tracing::debug!(%error, "the rest of a batch is not fetched");
        }
    });
}
