//! A session's voice on the log: what of its doings becomes an event, and in which order.
//!
//! Told is what others can see: a stop that nobody was shown is no stop, and its resume no resume.
//! What the program wrote before a stop is told before the stop.

mod bindings;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    Holder, Output,
    state::Stop,
    view::{PassCount, Process},
};
use crate::{
    actor::Actor,
    backend::{Binding, Passed, Reached, Stack, StopReason},
    breakpoints::{Breakpoint, Breakpoints},
    budget,
    event::{Evaluation, Event, Hit, StoppedAt, TraceHit, Traced},
    ids::{BreakpointId, Seq, SessionId, TargetId, ThreadKey},
    limits,
    log::Log,
    nouns::Status,
    template::Template,
};

pub(super) struct Teller {
    session: SessionId,
    language: &'static str,
    log: Arc<Log>,
    output: Arc<Output>,
    breakpoints: Arc<Breakpoints>,
    told: Mutex<Told>,
}

struct Told {
    status: Status,
    /// Who asked that it runs on, until it does.
    mover: Option<Actor>,
    /// How often each was hit; `None` is what no breakpoint of ours asked for.
    hits: BTreeMap<Option<BreakpointId>, u64>,
    /// Where each lies in each process.
    bound: BTreeMap<(TargetId, BreakpointId), Binding>,
    /// Those that lay somewhere at some time.
    ever_bound: BTreeSet<BreakpointId>,
    /// How often each process passed each tracepoint, of one count.
    passed: BTreeMap<(BreakpointId, u64), BTreeMap<TargetId, u64>>,
    /// How many hits of each tracepoint were told here.
    reported: BTreeMap<BreakpointId, u64>,
    /// Every process there was, also those that have ended.
    processes: BTreeMap<TargetId, Process>,
    /// Why those that lie nowhere did not, when it was last told.
    unbound: BTreeMap<BreakpointId, String>,
    /// The lines that ran, of files that were surveyed.
    reached: BTreeMap<PathBuf, BTreeSet<u32>>,
}

impl Teller {
    pub(super) fn new(
        session: SessionId,
        language: &'static str,
        log: Arc<Log>,
        output: Arc<Output>,
        breakpoints: Arc<Breakpoints>,
    ) -> Teller {
        let told = Mutex::new(Told {
            status: Status::Starting,
            mover: None,
            hits: BTreeMap::new(),
            bound: BTreeMap::new(),
            ever_bound: BTreeSet::new(),
            passed: BTreeMap::new(),
            reported: BTreeMap::new(),
            processes: BTreeMap::new(),
            unbound: BTreeMap::new(),
            reached: BTreeMap::new(),
        });
        Teller { session, language, log, output, breakpoints, told }
    }

    /// Tells what the program writes, for as long as somebody polls this.
    pub(super) async fn follow_output(&self) {
        loop {
            self.output.has_news().await;
            // Not to wait for anything: to make one event of what comes at once. Python writes the
            // words of one `print` one by one.
            tokio::time::sleep(limits::OUTPUT_EVERY).await;
            self.output();
        }
    }

    fn output(&self) {
        for news in self.output.news() {
            let super::output::News { stream, text, bytes } = news;
            self.log.append(Event::Output { session: self.session, stream, text, bytes });
        }
    }

    /// A stop with its stack; its place on the log, and what it hit.
    pub(super) fn stopped(&self, stop: &Stop, stack: &Stack) -> (Seq, Vec<Hit>) {
        self.output();
        if let Some(top) = stack.frames.first() {
            let named = top.place.as_deref().map(Path::new);
            let file = top.file.as_deref().or(named);
            self.were_hit(stop.thread.target, &stop.hits, file, top.line);
        }
        let mut told = self.told();
        let was = std::mem::replace(&mut told.status, Status::Stopped);
        // What was asked for is over; who asks next is another matter.
        told.mover = None;
        let hits = told.count(stop);
        let top = stack.frames.first();
        let event = Event::Stopped(StoppedAt {
            session: self.session,
            epoch: stop.epoch,
            thread: stop.thread,
            reason: stop.reason.as_str().to_owned(),
            file: top.and_then(|frame| frame.file.as_ref()).map(|file| file.display().to_string()),
            line: top.map(|frame| frame.line),
            column: top.and_then(|frame| frame.column),
            function: top.map(|frame| frame.function.clone()),
            hits: hits.clone(),
            text: stop.text.as_deref().map(|text| budget::cut(text, limits::STOP_TEXT)),
            was,
        });
        (self.log.append(event), hits)
    }

    pub(super) fn hits_of(&self, id: BreakpointId) -> u64 {
        self.told().hits.get(&Some(id)).copied().unwrap_or_default()
    }

    /// Somebody else steers.
    pub(super) fn control(&self, holder: Holder) {
        let to = match holder {
            Holder::Agents => "agents",
            Holder::Person => "person",
        };
        let (session, by) = (self.session, Actor::Person);
        self.log.append(Event::ControlChanged { session, to, by });
    }

    /// An expression was evaluated where it stands.
    pub(super) fn evaluated(&self, evaluation: Evaluation) {
        self.log.append(Event::Evaluated(Box::new(evaluation)));
    }

    /// Somebody asks that it runs on.
    pub(super) fn asked_by(&self, mover: Actor) {
        self.told().mover = Some(mover);
    }

    pub(super) fn running(&self) {
        let mut told = self.told();
        if told.status != Status::Running {
            let was = std::mem::replace(&mut told.status, Status::Running);
            let by = told.mover.take();
            self.log.append(Event::Resumed { session: self.session, was, by });
        }
    }

    pub(super) fn ended(&self, exit: String) {
        self.output();
        let mut told = self.told();
        let was = std::mem::replace(&mut told.status, Status::Ended);
        self.log.append(Event::SessionEnded { session: self.session, exit, was });
    }

    pub(super) fn process_started(&self, target: TargetId, pid: Option<u32>) {
        let session = self.session;
        {
            let processes = &mut self.told().processes;
            processes.insert(target, Process { pid, title: None });
            if processes.len() > limits::PROCESSES {
                let oldest = processes.keys().copied().find(|it| *it != TargetId::MAIN);
                oldest.map(|it| processes.remove(&it));
            }
        }
        self.log.append(Event::ProcessStarted { session, process: target.0, pid });
    }

    pub(super) fn process_ended(&self, target: TargetId, reason: &str) {
        let session = self.session;
        self.told().bound.retain(|(it, _), _| *it != target);
        let reason = budget::cut(reason, limits::STOP_TEXT);
        self.log.append(Event::ProcessEnded { session, process: target.0, reason });
    }

    pub(super) fn thread_started(&self, thread: ThreadKey, name: Option<&str>) {
        let name = name.map(|name| budget::cut(name, limits::NAME_BYTES));
        self.log.append(Event::ThreadStarted { session: self.session, thread, name });
    }

    pub(super) fn thread_ended(&self, thread: ThreadKey) {
        self.log.append(Event::ThreadEnded { session: self.session, thread });
    }

    /// Tracepoints were passed; what is not to be reported is only counted.
    pub(super) fn passed(&self, target: TargetId, hits: Vec<Passed>) {
        let reported = self.breakpoints.count(target, &hits);
        // A batch is mostly of one tracepoint, at one line.
        let mut known: Option<(BreakpointId, u32)> = None;
        for hit in &hits {
            if known.replace((hit.id, hit.line)) != Some((hit.id, hit.line)) {
                self.were_hit(target, &[hit.id], Some(Path::new(&*hit.file)), hit.line);
            }
        }
        let mut told = self.told();
        let events = hits.into_iter().zip(reported).filter_map(|(hit, is_reported)| {
            let hit_count = told.passed(target, &hit);
            is_reported.then(|| {
                *told.reported.entry(hit.id).or_default() += 1;
                self.trace_hit(target, hit, hit_count)
            })
        });
        self.log.append_all(events);
    }

    /// What ran of surveyed files, over all processes.
    pub(super) fn reached(&self, all: Vec<Reached>) {
        let mut told = self.told();
        for Reached { file, lines } in all {
            told.reached.entry(file).or_default().extend(lines);
        }
    }

    pub(super) fn lines_reached(&self, file: &Path) -> Option<BTreeSet<u32>> {
        self.told().reached.get(file).cloned()
    }

    fn trace_hit(&self, target: TargetId, hit: Passed, hit_count: u64) -> Event {
        let Passed { id, tracing, at, thread, file, line, column, function, values, .. } = hit;
        let message = tracing.template.as_ref().map(|template| {
            let shown = values.iter().map(|it| match it {
                Ok(value) => Cow::Borrowed(value.as_str()),
                Err(error) => Cow::Owned(format!("<error: {error}>")),
            });
            let shown: Vec<Cow<'_, str>> = shown.collect();
            template.fill(shown.iter().map(|it| &**it))
        });
        let expressions = tracing.template.iter().flat_map(Template::expressions);
        let traced = expressions.zip(values).map(|(expression, value)| {
            let (value, error) = match value {
                Ok(value) => (Some(value), None),
                Err(error) => (None, Some(error)),
            };
            Traced { expression: expression.to_owned(), value, error }
        });
        Event::TracepointHit(Box::new(TraceHit {
            session: self.session,
            breakpoint: id,
            file: file.to_string(),
            line,
            column,
            function: function.map(|it| it.to_string()),
            thread: ThreadKey { target, thread },
            hit_count,
            message,
            values: traced.collect(),
            at,
        }))
    }

    /// A tracepoint was taken out of the program, for it has reported all that it was to.
    pub(super) fn spent(&self, breakpoint: BreakpointId, max: u64) {
        let why = format!("limit reached: disabled after {max} notifications");
        self.log.append(Event::BreakpointUnbound { session: self.session, breakpoint, why });
    }

    /// The tracepoints that are to report, and how often each did.
    pub(super) fn passes(&self) -> Vec<PassCount> {
        let told = self.told();
        let all = self.breakpoints.all().into_iter().filter(|it| it.trace.is_some());
        let here = all.filter(|it| (it.enabled || it.is_spent) && !self.is_foreign(it));
        let one = |point: Breakpoint| {
            let counts = told.passed.iter().filter(|((id, _), _)| *id == point.id);
            PassCount {
                reported: told.reported.get(&point.id).copied().unwrap_or(0),
                counted: counts.flat_map(|(_, counts)| counts.values()).sum(),
                is_bound: told.ever_bound.contains(&point.id),
                point,
            }
        };
        here.map(one).collect()
    }

    /// A process of the session, also one that has ended.
    pub(super) fn process(&self, target: TargetId) -> Option<Process> {
        self.told().processes.get(&target).cloned()
    }

    /// How many processes there were so far.
    pub(super) fn processes(&self) -> usize {
        self.told().processes.len()
    }

    /// What a process is called, once it is known. The program itself is called as the session is.
    pub(super) fn titled(&self, target: TargetId, title: &str) {
        if target == TargetId::MAIN {
            return;
        }
        if let Some(process) = self.told().processes.get_mut(&target) {
            process.title = Some(budget::cut(title, limits::NAME_BYTES));
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    /// How often the session passed a tracepoint, with this hit: processes count for themselves.
    fn passed(&mut self, target: TargetId, hit: &Passed) -> u64 {
        let generation = hit.tracing.generation;
        let counts = self.passed.entry((hit.id, generation)).or_default();
        counts.insert(target, hit.hit_count);
        let total = counts.values().sum();
        // Counts that began anew are not needed any more.
        if self.passed.len() > limits::BREAKPOINTS {
            self.passed.retain(|(id, of), _| *id != hit.id || *of == generation);
        }
        total
    }

    fn count(&mut self, stop: &Stop) -> Vec<Hit> {
        let unasked = stop.hits.is_empty()
            && matches!(stop.reason, StopReason::Breakpoint | StopReason::Exception);
        let named = stop.hits.iter().copied().map(Some);
        let mut count = |breakpoint: Option<BreakpointId>| {
            let count = self.hits.entry(breakpoint).or_default();
            *count += u64::from(!stop.is_again);
            Hit { breakpoint, hit_count: *count }
        };
        named.chain(unasked.then_some(None)).map(&mut count).collect()
    }
}
