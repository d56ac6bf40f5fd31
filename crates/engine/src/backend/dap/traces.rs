//! Stops that are looked into before anybody is told: tracepoints of debuggers that know none, conditions and
//! hit counts that are left to us, and stops that do not say which breakpoint was hit. Also what a helper
//! inside the program reports of its tracepoints.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;

use super::Dap;
use crate::{
    backend::{
        Binding, Bound, Frame, Passed, Signal, Slice, StopReason, Stopped, TraceWay, Tracing,
        Wanted, WantedFunction,
    },
    breakpoints::hits::HitTest,
    budget,
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
    template::Template,
};

/// The tracepoints of one process, each of the counts that it may still report.
#[derive(Default)]
pub(super) struct Traces {
    known: BTreeMap<(BreakpointId, u64), Traced>,
}

struct Traced {
    tracing: Arc<Tracing>,
    file: Arc<str>,
    line: u32,
    /// Where nobody else looks at it.
    hit_condition: Option<HitTest>,
    /// Only where stops are emulated: there nobody else counts.
    hits: u64,
    reported: u64,
}

impl Traces {
    /// Tracepoints of a group lie on this line.
    pub(super) fn at_lines(
        &mut self,
        file: &Path,
        group: &[&Wanted],
        line: u32,
        hits: impl Fn(BreakpointId) -> Option<HitTest>,
    ) {
        let file: Arc<str> = file.display().to_string().into();
        for one in group {
            match &one.trace {
                Some(it) => self.put(one.id, it, &file, line, hits(one.id)),
                None => self.forget(one.id),
            }
        }
    }

    pub(super) fn at_functions(
        &mut self,
        wanted: &[WantedFunction],
        bound: &[Bound],
        hits: impl Fn(&WantedFunction) -> Option<HitTest>,
    ) {
        for one in wanted {
            let Some(tracing) = &one.trace else {
                self.forget(one.id);
                continue;
            };
            let found = bound.iter().find(|it| it.id == one.id).map(|it| &it.state);
            let (file, line) = match found {
                Some(Binding::Functions { places, .. }) => {
                    let first = places.first();
                    first.map_or_else(Default::default, |it| {
                        (it.file.display().to_string(), it.line)
                    })
                }
                _ => Default::default(),
            };
            self.put(one.id, tracing, &file.into(), line, hits(one));
        }
    }

    fn put(
        &mut self,
        id: BreakpointId,
        tracing: &Arc<Tracing>,
        file: &Arc<str>,
        line: u32,
        hit_condition: Option<HitTest>,
    ) {
        let generation = tracing.generation;
        if let Some(known) = self.known.get_mut(&(id, generation)) {
            (known.file, known.line) = (Arc::clone(file), line);
            return;
        }
        // Of the counts before it, hits may still be on their way; older ones are over.
        let before = self.known.range((id, 0)..(id, generation)).next_back().map(|(key, _)| *key);
        self.known.retain(|key, _| key.0 != id || Some(*key) == before);
        let (tracing, file) = (Arc::clone(tracing), Arc::clone(file));
        let traced = Traced { tracing, file, line, hit_condition, hits: 0, reported: 0 };
        self.known.insert((id, generation), traced);
    }

    pub(super) fn has(&self, id: BreakpointId) -> bool {
        self.known.range((id, 0)..=(id, u64::MAX)).next_back().is_some()
    }

    /// Those that became breakpoints again are none any more.
    pub(super) fn forget(&mut self, id: BreakpointId) {
        self.known.retain(|(of, _), _| *of != id);
    }

    /// The count that a breakpoint of the debugger stands for now.
    fn newest(&mut self, id: BreakpointId) -> Option<&mut Traced> {
        self.known.range_mut((id, 0)..=(id, u64::MAX)).next_back().map(|(_, traced)| traced)
    }

    /// A hit as the helper writes it: `[[id, generation], number, time, thread, where, values, thread's
    /// name]`; the time in microseconds.
    pub(super) fn read(&self, hit: &Value) -> Option<Passed> {
        let id = BreakpointId(hit.pointer("/0/0")?.as_i64()?);
        let traced = self.known.get(&(id, hit.pointer("/0/1")?.as_u64()?))?;
        let place = hit.get(4)?;
        let text = |at: usize| place.get(at).and_then(Value::as_str);
        let line = place.get(2).and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
        let value = |it: &Value| match it {
            Value::String(value) => Ok(value.clone()),
            other => Err(other.get(0).and_then(Value::as_str).unwrap_or("Error").to_owned()),
        };
        Some(Passed {
            id,
            tracing: Arc::clone(&traced.tracing),
            hit_count: hit.get(1)?.as_u64()?,
            at: moment(hit.get(2)?.as_i64()?),
            thread: hit.get(3)?.as_i64()?,
            thread_name: hit.get(6).and_then(Value::as_str).map(Into::into),
            file: text(1).map_or_else(|| Arc::clone(&traced.file), Into::into),
            line: line.unwrap_or(traced.line),
            column: None,
            function: text(0).map(Into::into),
            values: hit.get(5)?.as_array()?.iter().map(value).collect(),
        })
    }
}

/// What is to be looked at before a stop is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Where it is, for it does not say which breakpoint it is at.
    Place,
    /// Whether it is one: something about its breakpoints is left to us.
    Points,
    /// Whether a step has ended.
    Step,
    /// Not at all: nobody asked for it.
    Halt,
}

impl Dap {
    pub fn trace_way(&self, id: BreakpointId) -> TraceWay {
        self.known.inside().map_or(TraceWay::Emulated, |it| it.trace_way(id))
    }

    /// Whether its condition or its hits are left to us.
    pub fn emulates(&self, id: BreakpointId) -> bool {
        self.known.lefts().are_alone_with(id)
    }

    /// Of these expressions, the first that is none, and why.
    pub async fn first_problem<'a>(
        &self,
        file: Option<&Path>,
        expressions: &[&'a str],
    ) -> Result<Option<(&'a str, String)>, Failure> {
        let Some(inside) = self.known.inside() else { return Ok(None) };
        let wrong = inside.problems(self, file, expressions).await?;
        let mut each = expressions.iter().zip(wrong);
        Ok(each.find_map(|(expression, why)| Some((*expression, why?))))
    }

    /// What a stop of the protocol needs before it can be told.
    pub(super) fn to_look_at(&self, stopped: &Stopped) -> Option<Look> {
        let known = &self.known;
        let is_ours = known.was_paused();
        if stopped.reason == StopReason::Pause && !is_ours && known.dialect.halts_to_set() {
            return Some(Look::Halt);
        }
        let is_nameless = stopped.reason == StopReason::Breakpoint && stopped.hits.is_empty();
        let may_be_either = !known.sites().is_empty() || !known.steps().is_empty();
        if is_nameless && !known.dialect.names_hits() && may_be_either {
            return Some(Look::Place);
        }
        if self.may_go_on(stopped) {
            return Some(Look::Step);
        }
        let is_left = |id: &BreakpointId| known.lefts().has(*id) || self.is_emulated(*id);
        stopped.hits.iter().any(is_left).then_some(Look::Points)
    }

    fn is_emulated(&self, id: BreakpointId) -> bool {
        self.trace_way(id) == TraceWay::Emulated && self.known.traces().has(id)
    }

    /// Looks at a stop, tells the tracepoints' hits, and goes on unless somebody else wanted it.
    pub(super) async fn look_at(
        &self,
        look: Look,
        mut stopped: Stopped,
        signals: mpsc::Sender<Signal>,
    ) {
        let begun = (Instant::now(), Timestamp::now());
        if look == Look::Step {
            return self.end_step(stopped, &signals).await;
        }
        if look == Look::Halt {
            return self.end_halt(stopped, &signals).await;
        }
        // The session may have ended first, wherever a signal goes unsent.
        let top = match self.top(stopped.thread).await {
            Ok(top) => top,
            // The program is gone, and so is the stop.
            Err(failure) if failure.code == Code::SessionEnded => return,
            Err(failure) => {
                tracing::debug!(%failure, "a stop is told as it came");
                return self.tell_stop(stopped, &signals).await;
            }
        };
        if look == Look::Place {
            stopped.hits = self.known.at(&top);
            // A stop that is nobody's is the program's own, or a step's end: some debuggers call both a breakpoint,
            // and give each stop a thread of its own.
            if stopped.hits.is_empty() {
                if self.known.steps().are_over() {
                    stopped.reason = StopReason::Step;
                }
                return self.tell_stop(stopped, &signals).await;
            }
        }
        let mut passed = Vec::new();
        let (mut stops, mut why) = (Vec::new(), None);
        for id in std::mem::take(&mut stopped.hits) {
            match self.holds(id, &top).await {
                Ok(false) => continue,
                Err(text) => {
                    why = Some(text);
                    stops.push(id);
                }
                Ok(true) if self.is_emulated(id) => {
                    passed.extend(self.pass(id, stopped.thread, &top, begun).await);
                }
                Ok(true) if self.known.lefts().count(id) => stops.push(id),
                Ok(true) => {}
            }
        }
        if !passed.is_empty() {
            signals.send(Signal::Passed(passed)).await.unwrap_or_default();
        }
        stopped.hits = stops;
        stopped.text = stopped.text.or(why);
        if stopped.hits.is_empty() {
            match self.pass_by(&mut stopped).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(failure) => {
                    // It stands there, whatever it was to do.
                    stopped.reason = StopReason::Other("tracepoint".to_owned());
                    stopped.text =
                        Some(format!("the program was to pass here: {}", failure.message));
                }
            }
        }
        self.tell_stop(stopped, &signals).await;
    }

    /// A breakpoint that it stands at is before it still, and is hit when it goes on.
    async fn end_halt(&self, mut stopped: Stopped, signals: &mpsc::Sender<Signal>) {
        match self.pass_by(&mut stopped).await {
            Ok(true) => {}
            Ok(false) | Err(_) => self.tell_stop(stopped, signals).await,
        }
    }

    async fn end_step(&self, stopped: Stopped, signals: &mpsc::Sender<Signal>) {
        match self.goes_on(stopped.thread).await {
            Ok(true) => return,
            // The program is gone, and so is the stop.
            Err(failure) if failure.code == Code::SessionEnded => return,
            Err(failure) => tracing::debug!(%failure, "a step is told where it ended"),
            Ok(false) => {}
        }
        self.tell_stop(stopped, signals).await;
    }

    pub(super) async fn tell_stop(&self, stopped: Stopped, signals: &mpsc::Sender<Signal>) {
        self.known.stands(stopped.thread);
        // The session may have ended first.
        signals.send(Signal::Stopped(stopped)).await.unwrap_or_default();
    }

    /// Goes on from a stop that nobody wanted, with the step that was under way; unless that ends here.
    async fn pass_by(&self, stopped: &mut Stopped) -> Result<bool, Failure> {
        if self.known.steps().contains(&stopped.thread) {
            let is_alone = self.known.standing().is_empty();
            if is_alone && self.steps_on(stopped.thread).await? {
                return Ok(true);
            }
            stopped.reason = StopReason::Step;
            return Ok(false);
        }
        // What is sent lets every thread run, and the stop of another would be over unseen: this one goes on
        // with that one.
        if !self.known.standing().is_empty() {
            return Ok(true);
        }
        self.resume(stopped.thread).await.map(|_| true)
    }

    pub(super) async fn top(&self, thread: i64) -> Result<Frame, Failure> {
        let top = self.stack(thread, Slice { start: 0, count: 1 }).await?;
        let top = top.frames.into_iter().next();
        top.ok_or_else(|| Failure::new(Code::NotFound, "a stop without a frame"))
    }

    /// Whether a condition that is left to us holds; the text of what went wrong, where it cannot be told.
    async fn holds(&self, id: BreakpointId, top: &Frame) -> Result<bool, String> {
        let Some(condition) = self.known.lefts().condition(id) else { return Ok(true) };
        match self.evaluate(Some(&top.id), &condition, limits::TRACE_EVALUATE).await {
            Ok(value) => Ok(self.known.dialect.is_true(&value)),
            Err(failure) => Err(format!("the breakpoint's condition failed: {}", failure.message)),
        }
    }

    async fn pass(
        &self,
        id: BreakpointId,
        thread: i64,
        top: &Frame,
        (begun, at): (Instant, Timestamp),
    ) -> Option<Passed> {
        let (tracing, hit_count) = self.count(id)?;
        let values = self.values(&tracing, top, begun).await;
        let file = top.file.as_ref().map(|it| it.display().to_string()).unwrap_or_default();
        Some(Passed {
            id,
            tracing,
            hit_count,
            at,
            thread,
            thread_name: None,
            file: file.into(),
            line: top.line,
            column: top.column,
            function: Some(top.function.as_str().into()),
            values,
        })
    }

    /// The number of a hit that is to be reported.
    fn count(&self, id: BreakpointId) -> Option<(Arc<Tracing>, u64)> {
        let mut traces = self.known.traces();
        let traced = traces.newest(id)?;
        traced.hits += 1;
        let (number, Tracing { multiple, max, .. }) = (traced.hits, &*traced.tracing);
        let is_wanted = traced.hit_condition.is_none_or(|it| it.holds(number))
            && (*multiple == 0 || number.is_multiple_of(*multiple))
            && (*max == 0 || traced.reported < *max);
        if !is_wanted {
            return None;
        }
        traced.reported += 1;
        Some((Arc::clone(&traced.tracing), number))
    }

    /// All within the budget of one hit.
    async fn values(
        &self,
        tracing: &Tracing,
        top: &Frame,
        begun: Instant,
    ) -> Vec<Result<String, String>> {
        let mut values = Vec::new();
        for expression in tracing.template.iter().flat_map(Template::expressions) {
            let left = limits::TRACE_EVALUATE.saturating_sub(begun.elapsed());
            if left.is_zero() {
                values.push(Err("Timeout".to_owned()));
                continue;
            }
            values.push(match self.evaluate(Some(&top.id), expression, left).await {
                Ok(value) => Ok(budget::cut(&value.text, limits::TRACE_VALUE)),
                Err(failure) if failure.code == Code::Timeout => Err("Timeout".to_owned()),
                Err(failure) => Err(error_type(&failure.message)),
            });
        }
        values
    }
}

/// `KeyError: 'a'` is a `KeyError`; what is said in a sentence is that sentence.
fn error_type(message: &str) -> String {
    let said = match message.split_once(':') {
        Some((word, _)) if !word.contains(' ') => word,
        _ => message.lines().next().unwrap_or_default(),
    };
    if said.is_empty() { "Error".to_owned() } else { budget::cut(said, limits::NAME_BYTES) }
}

fn moment(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or_else(|_| Timestamp::now())
}
