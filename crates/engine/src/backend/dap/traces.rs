//! Tracepoints: hits that our helper reports from inside of the program, in batches; and for debuggers that
//! can do no such thing, stops that are looked at and resumed before anybody is told.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, MutexGuard, PoisonError},
    time::Instant,
};

use holdpoint_dap::Event;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;

use super::Dap;
use crate::{
    backend::{
        Binding, Bound, FrameId, Passed, Signal, Slice, StopReason, Stopped, TraceWay, Tracing,
        Wanted, WantedFunction,
    },
    breakpoints::{hits::HitTest, template::Template},
    budget,
    failure::{Code, Failure},
    ids::BreakpointId,
    limits,
};

/// The event by which the helper tells.
const EVENT: &str = "holdpoint";

/// The tracepoints of one process, each of the counts that it may still report.
#[derive(Default)]
pub(super) struct Traces {
    known: BTreeMap<(BreakpointId, u64), Traced>,
}

struct Traced {
    tracing: Arc<Tracing>,
    file: Arc<str>,
    line: u32,
    hit_condition: Option<HitTest>,
    /// Only where stops are emulated: there nobody else counts.
    hits: u64,
    reported: u64,
}

impl Traces {
    /// Tracepoints of a group lie on this line.
    pub(super) fn at_lines(&mut self, file: &Path, group: &[&Wanted], line: u32) {
        let file: Arc<str> = file.display().to_string().into();
        for one in group {
            match &one.trace {
                Some(it) => self.put(one.id, it, &file, line, one.hit_condition.as_deref()),
                None => self.forget(one.id),
            }
        }
    }

    pub(super) fn at_functions(&mut self, wanted: &[WantedFunction], bound: &[Bound]) {
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
            self.put(one.id, tracing, &file.into(), line, one.hit_condition.as_deref());
        }
    }

    fn put(
        &mut self,
        id: BreakpointId,
        tracing: &Arc<Tracing>,
        file: &Arc<str>,
        line: u32,
        hit_condition: Option<&str>,
    ) {
        let generation = tracing.generation;
        if let Some(known) = self.known.get_mut(&(id, generation)) {
            (known.file, known.line) = (Arc::clone(file), line);
            return;
        }
        // Of the counts before it, hits may still be on their way; older ones are over.
        let before = self.known.range((id, 0)..(id, generation)).next_back().map(|(key, _)| *key);
        self.known.retain(|key, _| key.0 != id || Some(*key) == before);
        let hit_condition = hit_condition.and_then(|it| HitTest::parse(it).ok());
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

    /// A hit as the helper writes it: `[[id, generation], number, time, thread, where, values, thread's name]`.
    fn read(&self, hit: &Value) -> Option<Passed> {
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
            at: moment(hit.get(2)?.as_f64()?),
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

impl Dap {
    pub fn trace_way(&self) -> TraceWay {
        self.known.way
    }

    /// Of these expressions, the first that is none, and why.
    pub async fn first_problem<'a>(
        &self,
        file: Option<&Path>,
        expressions: &[&'a str],
    ) -> Result<Option<(&'a str, String)>, Failure> {
        if expressions.is_empty() || !self.known.is_pydevd || !super::pydevd::is_python(file) {
            return Ok(None);
        }
        let text = serde_json::json!(expressions).to_string();
        let answer = self.helper(&format!("check({})", super::pydevd::literal(&text))).await?;
        let wrong: Vec<Option<String>> = serde_json::from_str(&answer).unwrap_or_default();
        let mut each = expressions.iter().zip(wrong);
        Ok(each.find_map(|(expression, why)| Some((*expression, why?))))
    }

    pub(super) fn traces(&self) -> MutexGuard<'_, Traces> {
        self.known.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the helper tells, if it is that.
    pub(super) fn passed(&self, event: &Event) -> Option<Vec<Passed>> {
        let Event::Other { event, body } = event else { return None };
        let hits = body.get("hits").filter(|_| event == EVENT)?.as_array()?;
        let traces = self.traces();
        Some(hits.iter().filter_map(|hit| traces.read(hit)).collect())
    }

    /// What the process says that it is called.
    pub(super) fn titled(&self, event: &Event) -> Option<String> {
        let Event::Other { event, body } = event else { return None };
        body.get("title").filter(|_| event == EVENT)?.as_str().map(str::to_owned)
    }

    /// Whether a stop is, for one thing, at a tracepoint that is emulated.
    pub(super) fn is_traced(&self, stopped: &Stopped) -> bool {
        self.known.way == TraceWay::Emulated && stopped.hits.iter().any(|id| self.traces().has(*id))
    }

    /// Looks at a stop, tells the tracepoints' hits, and goes on unless somebody else wanted it.
    pub(super) async fn emulate(&self, mut stopped: Stopped, signals: mpsc::Sender<Signal>) {
        let thread = stopped.thread;
        match self.look(&stopped).await {
            Ok(passed) if passed.is_empty() => {}
            Ok(passed) => signals.send(Signal::Passed(passed)).await.unwrap_or_default(),
            // The program is gone, and so is the stop.
            Err(failure) if failure.code == Code::SessionEnded => return,
            Err(failure) => tracing::debug!(%failure, "a tracepoint's hit is not told"),
        }
        stopped.hits.retain(|id| !self.traces().has(*id));
        if !stopped.hits.is_empty() {
            // The session may have ended first.
            return signals.send(Signal::Stopped(stopped)).await.unwrap_or_default();
        }
        if let Err(failure) = self.resume(thread).await {
            // It stands there, whatever it was to do.
            stopped.reason = StopReason::Other("tracepoint".to_owned());
            stopped.text = Some(format!("the program was to pass here: {}", failure.message));
            signals.send(Signal::Stopped(stopped)).await.unwrap_or_default();
        }
    }

    async fn look(&self, stopped: &Stopped) -> Result<Vec<Passed>, Failure> {
        let begun = (Instant::now(), Timestamp::now());
        let top = self.stack(stopped.thread, Slice { start: 0, count: 1 }).await?;
        let top = top.frames.into_iter().next();
        let top = top.ok_or_else(|| Failure::new(Code::NotFound, "a stop without a frame"))?;
        let mut passed = Vec::new();
        for id in &stopped.hits {
            let Some((tracing, hit_count)) = self.count(*id) else { continue };
            let values = self.values(&tracing, &top.id, begun.0).await;
            passed.push(Passed {
                id: *id,
                tracing,
                hit_count,
                at: begun.1,
                thread: stopped.thread,
                thread_name: None,
                file: top
                    .file
                    .as_ref()
                    .map(|it| it.display().to_string())
                    .unwrap_or_default()
                    .into(),
                line: top.line,
                column: top.column,
                function: Some(top.function.as_str().into()),
                values,
            });
        }
        Ok(passed)
    }

    /// The number of a hit that is to be reported.
    fn count(&self, id: BreakpointId) -> Option<(Arc<Tracing>, u64)> {
        let mut traces = self.traces();
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
        frame: &FrameId,
        begun: Instant,
    ) -> Vec<Result<String, String>> {
        let mut values = Vec::new();
        for expression in tracing.template.iter().flat_map(Template::expressions) {
            let left = limits::TRACE_EVALUATE.saturating_sub(begun.elapsed());
            if left.is_zero() {
                values.push(Err("Timeout".to_owned()));
                continue;
            }
            values.push(match self.evaluate(Some(frame), expression, left).await {
                Ok(value) => Ok(budget::cut(&value.text, limits::TRACE_VALUE)),
                Err(failure) if failure.code == Code::Timeout => Err("Timeout".to_owned()),
                Err(failure) => Err(error_type(&failure.message)),
            });
        }
        values
    }
}

/// `KeyError: 'a'` is a `KeyError`.
fn error_type(message: &str) -> String {
    let word = message.split([':', ' ']).next().unwrap_or_default();
    if word.is_empty() { "Error".to_owned() } else { budget::cut(word, limits::NAME_BYTES) }
}

fn moment(seconds: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "microseconds of this age fit")]
    let micros = (seconds * 1e6) as i64;
    Timestamp::from_microsecond(micros).unwrap_or_else(|_| Timestamp::now())
}
