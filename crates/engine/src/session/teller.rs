//! A session's voice on the log: what of its doings becomes an event, and in which order.
//!
//! Told is what others can see: a stop that nobody was shown is no stop, and its resume no resume.
//! What the program wrote before a stop is told before the stop.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    Output,
    state::{Status, Stop},
};
use crate::{
    backend::{Binding, Bound, Stack, StopReason},
    breakpoints::{Breakpoints, Place},
    budget,
    event::{BoundAt, Event, Hit, StoppedAt},
    ids::{BreakpointId, Seq, SessionId, TargetId, ThreadKey},
    limits,
    log::Log,
};

pub(super) struct Teller {
    session: SessionId,
    log: Arc<Log>,
    output: Arc<Output>,
    breakpoints: Arc<Breakpoints>,
    told: Mutex<Told>,
}

struct Told {
    status: Status,
    /// How often each was hit; `None` is what no breakpoint of ours asked for.
    hits: BTreeMap<Option<BreakpointId>, u64>,
    /// Where each lies in each process.
    bound: BTreeMap<(TargetId, BreakpointId), Binding>,
}

impl Teller {
    pub(super) fn new(
        session: SessionId,
        log: Arc<Log>,
        output: Arc<Output>,
        breakpoints: Arc<Breakpoints>,
    ) -> Teller {
        let (hits, bound) = (BTreeMap::new(), BTreeMap::new());
        let told = Mutex::new(Told { status: Status::Starting, hits, bound });
        Teller { session, log, output, breakpoints, told }
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
        let mut told = self.told();
        let was = std::mem::replace(&mut told.status, Status::Stopped);
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

    pub(super) fn running(&self) {
        let mut told = self.told();
        if told.status != Status::Running {
            let was = std::mem::replace(&mut told.status, Status::Running);
            self.log.append(Event::Resumed { session: self.session, was });
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

    /// What became of breakpoints in one process. A file's are always sent together, so most say nothing
    /// new.
    pub(super) fn bound(&self, target: TargetId, all: &[Bound]) {
        for Bound { id, state } in all {
            let before = self.told().bound.insert((target, *id), state.clone());
            if before.as_ref() != Some(state) {
                for event in self.binding(*id, state) {
                    self.log.append(event);
                }
            }
        }
    }

    fn binding(&self, id: BreakpointId, state: &Binding) -> Vec<Event> {
        let session = self.session;
        let bound = |file: &Path, line: u32, column: Option<u32>, moved: bool| {
            let file = file.display().to_string();
            Event::BreakpointBound(BoundAt { session, breakpoint: id, file, line, column, moved })
        };
        match state {
            Binding::At { line, column } => match self.breakpoints.get(id).map(|it| it.place) {
                Some(Place::Line { file, line: asked, .. }) => {
                    vec![bound(&file, *line, *column, asked != *line)]
                }
                // A function is bound by its name.
                Some(Place::Function { .. }) | None => Vec::new(),
            },
            Binding::Functions { places, .. } => {
                places.iter().map(|it| bound(&it.file, it.line, None, false)).collect()
            }
            Binding::Not { why } => {
                let why = budget::cut(why, limits::STOP_TEXT);
                vec![Event::BreakpointUnbound { session, breakpoint: id, why }]
            }
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn count(&mut self, stop: &Stop) -> Vec<Hit> {
        let unasked = stop.hits.is_empty()
            && matches!(stop.reason, StopReason::Breakpoint | StopReason::Exception);
        let named = stop.hits.iter().copied().map(Some);
        let mut count = |breakpoint: Option<BreakpointId>| {
            let count = self.hits.entry(breakpoint).or_default();
            *count += 1;
            Hit { breakpoint, hit_count: *count }
        };
        named.chain(unasked.then_some(None)).map(&mut count).collect()
    }
}
