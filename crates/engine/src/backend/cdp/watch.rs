//! What V8 tells of one thread, as signals. Stops that nobody asked for are dealt with here and resumed:
//! the entry where it is not wanted, holds before scripts with source maps, breakpoints just removed.

use std::{
    path::PathBuf,
    sync::{PoisonError, atomic::Ordering},
};

use holdpoint_cdp::{
    Event, ScriptOrigin,
    types::{
        Paused, RemoteObject, ScriptId, ScriptParsed,
        debugger::{Resume, SetAsyncCallStackDepth, StepInto, StepOut},
    },
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    Asked, Cdp, IDLE, LIBRARIES, THREAD, attached, breakpoints,
    connect::{self, Began, FirstLine},
    exceptions, functions, inspect,
    onward::Onward,
    points::CONDITION_ERROR,
    traces, value, weave,
};
use crate::{
    backend::{Bound, FrameId, Passed, Signal, StopReason, Stopped},
    ids::BreakpointId,
    limits,
    nouns::Stream,
};

const BREAK_ON_START: &str = "Break on start";
const INSTRUMENTATION: &str = "instrumentation";
const NO_FIRST_LINE: &str = "nothing outside of node_modules has run, so there was no first line to \
    stop at (`just_my_code: false` stops in libraries too)\n";

pub(super) struct Watch {
    pub(super) cdp: Cdp,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) signals: mpsc::Sender<Signal>,
    /// Whether the stop before the first line is to be told.
    pub(super) tells_entry: bool,
    /// The stop at the first line of the user's own code, which all threads share.
    pub(super) first_line: FirstLine,
    /// V8 stopped in Node itself, a step before the first line.
    pub(super) is_entering: bool,
    /// The program's own file, where it is known.
    pub(super) script: Option<PathBuf>,
    /// Steps that were taken through Node's own code since the last stop.
    pub(super) steps_onward: u32,
    /// Who waits for the program to begin.
    pub(super) began: Option<oneshot::Sender<Began>>,
    /// Breakpoints that were bound before that. Nobody takes signals until then, and their queue is short.
    pub(super) early: Vec<Bound>,
}

/// Nobody takes the signals any more.
pub(super) struct Unheard;

impl Watch {
    /// Ends with the connection or the worker, or when nobody takes the signals.
    pub(super) async fn run(mut self) {
        // When the rest of a batch of tracepoint hits is to be fetched.
        let mut rest: Option<Instant> = None;
        loop {
            let due = async {
                match rest {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                event = self.events.recv() => event,
                () = due => {
                    rest = self.cdp.has_woven().then(|| Instant::now() + limits::TRACE_IDLE);
                    traces::flush(&self.cdp);
                    continue;
                }
            };
            let Some(event) = event else { break };
            if matches!(event, Event::BindingCalled(_)) {
                rest = Some(Instant::now() + limits::TRACE_REST);
            }
            if self.event(event).await.is_err() {
                return;
            }
            // The first hit of a point in the program's text waits to be fetched; most come when it begins.
            if rest.is_none() && self.cdp.has_woven() {
                rest = Some(Instant::now() + limits::TRACE_REST);
            }
        }
        self.tell_began(Began::Over);
        self.cdp.known.tasks.take().shutdown().await;
        let reason = "its connection is closed".to_owned();
        // The session may have ended first.
        self.signals.send(Signal::Gone { reason }).await.unwrap_or_default();
    }

    async fn event(&mut self, event: Event) -> Result<(), Unheard> {
        match event {
            Event::Paused(paused) => self.paused(*paused).await,
            Event::Resumed => {
                {
                    let mut moment = self.cdp.moment();
                    (moment.paused, moment.aftermath) = (None, None);
                }
                self.tell(Signal::Continued { thread: None }).await
            }
            Event::ScriptParsed(parsed) => self.script(&parsed).await,
            Event::BreakpointResolved(resolved) => {
                let id = &resolved.breakpoint_id;
                match breakpoints::resolved(&self.cdp, id, &resolved.location).await {
                    Some(bound) => self.bound(bound).await,
                    None => Ok(()),
                }
            }
            Event::WaitingForDisconnect => {
                // Only we keep the process alive; its exit code comes with its end.
                self.tell_began(Began::Over);
                if self.tells_entry && self.first_line.is_awaited() {
                    self.tell(Signal::Output {
                        stream: Stream::Debugger,
                        text: NO_FIRST_LINE.to_owned(),
                    })
                    .await?;
                }
                let reached = self.cdp.survey().await;
                if !reached.is_empty() {
                    self.tell(Signal::Reached(reached)).await?;
                }
                self.cdp.requester.close().await;
                Ok(())
            }
            Event::BindingCalled(called) => {
                self.passed(traces::read(&self.cdp, &called.payload)).await?;
                weave::took(&self.cdp);
                Ok(())
            }
            Event::ContextCreated(created) => {
                traces::in_context(&self.cdp, created.context.id).await;
                Ok(())
            }
            Event::ConsoleApiCalled(called) if self.cdp.known.attached.is_some() => {
                let (stream, text) = attached::console(&called);
                self.tell(Signal::Output { stream, text }).await
            }
            // The output of a program of ours comes by its pipes, its end by its process.
            Event::ConsoleApiCalled(_)
            | Event::ExceptionThrown(_)
            | Event::ScriptFailedToParse(_)
            | Event::ContextDestroyed(_)
            | Event::ContextsCleared
            | Event::WorkerAttached(_)
            | Event::WorkerDetached(_)
            | Event::Other { .. } => Ok(()),
        }
    }

    async fn script(&mut self, parsed: &ScriptParsed) -> Result<(), Unheard> {
        let local = self.cdp.localised(parsed);
        let parsed = local.as_ref().unwrap_or(parsed);
        self.cdp.known.sources.lock().unwrap_or_else(PoisonError::into_inner).add(parsed);
        if parsed.url.ends_with(connect::BOOT_NAME) {
            self.cdp.known.has_boot.store(true, Ordering::Relaxed);
        }
        let is_file = matches!(self.origin(&parsed.script_id), Some(ScriptOrigin::File { .. }));
        if parsed.is_module && is_file && !parsed.url.contains(LIBRARIES) {
            exceptions::saw_module(&self.cdp).await;
        }
        self.woven(&parsed.script_id).await?;
        for bound in functions::in_loaded(&self.cdp, &parsed.script_id).await {
            self.tell(Signal::Breakpoint(bound)).await?;
        }
        let is_awaited = {
            let points = self.cdp.points();
            points.has_loader && !points.files.is_empty() && !parsed.source_map_url.is_empty()
        };
        if !is_awaited {
            return Ok(());
        }
        match breakpoints::set_in_loaded(&self.cdp, &parsed.script_id).await {
            Ok(bound) => {
                for bound in bound {
                    self.bound(bound).await?;
                }
            }
            Err(failure) => tracing::debug!(%failure, "a script's breakpoints are not set"),
        }
        Ok(())
    }

    async fn paused(&mut self, mut paused: Paused) -> Result<(), Unheard> {
        self.pass_by().await;
        if self.is_trial(&mut paused).await? {
            return self.go_past(&paused).await;
        }
        if self.is_held(&paused).await && !self.is_first_line(&paused) {
            return self.go_past(&paused).await;
        }
        // What fails before the first line is told by the program itself, as it ends.
        if self.began.is_some() && inspect::is_exception(&paused) {
            return self.go_on().await;
        }
        if let Some(given_up) = self.given_up(&paused).await {
            return match given_up {
                Some(told) => self.stop(told, StopReason::Exception, Vec::new()).await,
                None => self.go_on().await,
            };
        }
        if exceptions::is_nobodys(&self.cdp, &paused).await || self.is_undecided(&paused).await {
            return self.go_past(&paused).await;
        }
        if self.is_deeper(&paused) {
            return self.go_on().await;
        }
        let is_start = is_start(&paused) || (self.is_entering && self.is_at_entry(&paused));
        if is_start && self.is_before_program(&paused) {
            return self.walk_on().await;
        }
        if is_start && self.tells_entry && self.is_library(&paused) {
            return self.wait_for_first_line(&paused).await;
        }
        let onward = self.onward(&paused);
        if self.is_watched_on(&paused, onward).await? {
            return Ok(());
        }
        if let Some(onward) = onward.filter(|_| !self.cdp.is_watch_over()) {
            return self.go_onward(onward).await;
        }
        let is_beginning = self.is_beginning(&paused).await;
        if is_beginning && !is_start && self.is_nothing_else(&paused) {
            return self.go_past(&paused).await;
        }
        self.steps_onward = 0;
        self.step_is_over().await;
        if self.is_late_pause(&paused).await {
            return self.go_on().await;
        }
        let asked = std::mem::take(&mut self.cdp.moment().asked);
        self.answers_a_pause(&paused, asked);
        if asked == Asked::Pause
            && let Err(failure) = self.cdp.blackbox(true).await
        {
            tracing::debug!(%failure, "libraries are stepped into from here on");
        }
        if is_start {
            self.entered(&paused).await;
        }
        let is_entry = self.is_entry(&paused, is_start).await;
        let mut hits = self.cdp.points().hits(&paused.hit_breakpoints);
        if (is_start || is_beginning) && hits.is_empty() {
            hits = self.standing_on(&paused);
        }
        let reason = reason(&paused, &hits, asked, is_entry);
        let Some(reason) = reason.filter(|_| !is_start || is_entry || !hits.is_empty()) else {
            return self.go_on().await;
        };
        self.stop(paused, reason, hits).await
    }

    async fn stop(
        &mut self,
        paused: Paused,
        reason: StopReason,
        hits: Vec<BreakpointId>,
    ) -> Result<(), Unheard> {
        self.steps_onward = 0;
        self.step_is_over().await;
        self.cdp.moment().asked = Asked::Nothing;
        let text = self.text(&paused, &hits).await;
        // What was passed before the stop is told before it.
        let passed = traces::take(&self.cdp).await;
        self.passed(passed).await?;
        {
            let mut moment = self.cdp.moment();
            moment.paused = Some(paused.into());
            moment.epoch += 1;
        }
        self.cdp.known.stopped.notify_waiters();
        let stopped = Stopped { thread: THREAD, reason, hits, text, all: true };
        self.tell(Signal::Stopped(stopped)).await
    }

    /// A stop of ours before a script with a source map: its breakpoints are set now.
    async fn is_held(&self, paused: &Paused) -> bool {
        let hold = self.cdp.points().hold.clone();
        let Some(hold) = hold.filter(|hold| hold.is_at(paused)) else {
            // Only the first line is looked for.
            return paused.reason == INSTRUMENTATION;
        };
        let set = match (hold.held(&self.cdp.requester, paused).await, paused.call_frames.first()) {
            (Ok(Some(held)), _) => breakpoints::set_in_held(&self.cdp, held).await,
            // No file, so it is known only by itself.
            (Ok(None), Some(top)) if paused.reason == INSTRUMENTATION => {
                let script = &top.location.script_id;
                breakpoints::set_in_loaded(&self.cdp, script).await.map(drop)
            }
            (Ok(None), _) => Ok(()),
            (Err(error), _) => Err(super::refused(error)),
        };
        if let Err(failure) = set {
            tracing::debug!(%failure, "a held script has no breakpoints");
        }
        // A breakpoint of the user's on the very same place still counts.
        self.cdp.points().hits(&paused.hit_breakpoints).is_empty()
    }

    /// Whether it stands where the user's own code begins, and that is where to stop.
    fn is_first_line(&self, paused: &Paused) -> bool {
        paused.reason == INSTRUMENTATION
            && self.cdp.points().entry_modules.is_some()
            && self.top_script(paused).is_some_and(|(url, origin)| {
                matches!(origin, ScriptOrigin::File { .. })
                    && !(self.cdp.known.just_my_code && url.contains(LIBRARIES))
            })
    }

    /// The program stands before its first line: its own source map can be read, and it has a loader.
    async fn entered(&mut self, paused: &Paused) {
        self.is_entering = false;
        self.cdp.points().has_loader = true;
        // Not before: with it, V8 would stop in Node's own bookkeeping of promises.
        let depth = SetAsyncCallStackDepth { max_depth: limits::ASYNC_DEPTH };
        if let Err(failure) = self.cdp.ask(depth).await {
            tracing::debug!(%failure, "stacks end at their task");
        }
        if let Err(failure) = self.cdp.blackbox(true).await {
            tracing::debug!(%failure, "libraries are stepped into");
        }
        if let Some(top) = paused.call_frames.first()
            && let Err(failure) =
                breakpoints::set_in_loaded(&self.cdp, &top.location.script_id).await
        {
            tracing::debug!(%failure, "the program's own breakpoints are not set");
        }
        breakpoints::hold(&self.cdp).await;
        self.trace().await;
        self.tell_began(Began::Entered);
        for bound in std::mem::take(&mut self.early) {
            // The session may have ended first.
            self.bound(bound).await.unwrap_or_default();
        }
    }

    async fn bound(&mut self, bound: Bound) -> Result<(), Unheard> {
        if self.began.is_none() {
            return self.tell(Signal::Breakpoint(bound)).await;
        }
        self.early.push(bound);
        Ok(())
    }

    /// Now the program can be asked to report its tracepoints.
    async fn trace(&self) {
        if self.cdp.traces().is_empty() {
            return;
        }
        let ready = async {
            traces::prepare(&self.cdp).await?;
            breakpoints::recheck_traces(&self.cdp).await?;
            weave::release(&self.cdp).await
        };
        if let Err(failure) = ready.await {
            tracing::debug!(%failure, "tracepoints may report nothing");
        }
    }

    async fn is_entry(&mut self, paused: &Paused, is_start: bool) -> bool {
        let is_hit = {
            let points = self.cdp.points();
            points.entry.iter().any(|id| paused.hit_breakpoints.contains(id))
        };
        if !is_hit && !self.is_first_line(paused) {
            return is_start && self.tells_entry;
        }
        connect::remove_entry(&self.cdp).await;
        // Another thread may have come to a first line of its own before this one.
        if is_start { self.tells_entry } else { self.first_line.take() }
    }

    /// Whether nobody but us wants the stop at which a file begins.
    fn is_nothing_else(&self, paused: &Paused) -> bool {
        let entry = self.cdp.points().entry.clone();
        let is_hit = |id: &_| paused.hit_breakpoints.contains(id);
        self.cdp.moment().asked != Asked::Pause
            && !entry.iter().any(is_hit)
            && self.cdp.points().hits(&paused.hit_breakpoints).is_empty()
            && self.standing_on(paused).is_empty()
    }

    /// A breakpoint that was set when the program stood on its line already, which V8 cannot hit.
    fn standing_on(&self, paused: &Paused) -> Vec<BreakpointId> {
        let Some(top) = paused.call_frames.first() else { return Vec::new() };
        let place = {
            let mut sources = self.cdp.known.sources.lock().unwrap_or_else(PoisonError::into_inner);
            sources.place(&top.location)
        };
        let Some((file, line)) = place.and_then(|it| Some((it.file?, it.position.line()))) else {
            return Vec::new();
        };
        self.cdp.points().plain_on(&file, line)
    }

    async fn text(&self, paused: &Paused, hits: &[BreakpointId]) -> Option<String> {
        if inspect::is_exception(paused) {
            let thrown: RemoteObject = serde_json::from_value(paused.data.clone()?).ok()?;
            let text = value::text(&thrown);
            let aftermath = self.cdp.moment().aftermath.clone();
            let Some(aftermath) = aftermath else { return Some(text) };
            let what = if paused.reason == "exception" { "" } else { "unhandled rejection: " };
            return Some(format!("{what}{text} ({})", aftermath.note()));
        }
        if self.top_script(paused).is_some_and(|(url, _)| url == IDLE) {
            return Some("the program is idle: it waits for events".to_owned());
        }
        let has_condition = self.cdp.points().has_condition(hits);
        let top = paused.call_frames.first().filter(|_| has_condition)?;
        let frame = FrameId::text(top.call_frame_id.0.clone());
        let asked = self.cdp.evaluated(Some(&frame), CONDITION_ERROR, limits::ADAPTER_ANSWER);
        let error = asked.await.ok()?.result.value?;
        Some(format!("the breakpoint's condition failed: {}", error.as_str()?))
    }

    /// V8 stopped in Node itself: the program comes later.
    fn is_before_program(&self, paused: &Paused) -> bool {
        let top = self.top_script(paused);
        top.is_some_and(|(url, origin)| {
            origin == ScriptOrigin::Internal || url.starts_with("wasm:")
        })
    }

    /// Whether it stands in a library that nobody launched by its path: a test runner, for instance.
    fn is_library(&self, paused: &Paused) -> bool {
        let wanted = self.script.as_ref().and_then(|it| it.to_str());
        let top = self.top_script(paused).filter(|_| self.cdp.known.just_my_code);
        top.is_some_and(|(url, _)| url.contains(LIBRARIES))
            && !wanted.is_some_and(|script| script.contains(LIBRARIES))
    }

    /// The program is a library's, so its first line says nothing: the stop is at the user's own.
    async fn wait_for_first_line(&mut self, paused: &Paused) -> Result<(), Unheard> {
        self.first_line.expect();
        self.entered(paused).await;
        if let Err(failure) = connect::set_first_line(&self.cdp).await {
            tracing::debug!(%failure, "the first line has no breakpoint");
        }
        self.go_on().await
    }

    fn is_at_entry(&self, paused: &Paused) -> bool {
        let points = self.cdp.points();
        points.entry.is_empty()
            || points.entry.iter().any(|entry| paused.hit_breakpoints.contains(entry))
    }

    pub(super) fn origin(&self, script: &ScriptId) -> Option<ScriptOrigin> {
        let sources = self.cdp.known.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.scripts().get(script).map(|script| script.origin.clone())
    }

    /// The script in which it stands: its URL and where that comes from.
    fn top_script(&self, paused: &Paused) -> Option<(String, ScriptOrigin)> {
        let sources = self.cdp.known.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let script = sources.scripts().get(&paused.call_frames.first()?.location.script_id)?;
        Some((script.url.clone(), script.origin.clone()))
    }

    async fn passed(&self, hits: Vec<Passed>) -> Result<(), Unheard> {
        if hits.is_empty() { Ok(()) } else { self.tell(Signal::Passed(hits)).await }
    }

    /// To the first line of the program: by its name where it is known, else by a step.
    async fn walk_on(&mut self) -> Result<(), Unheard> {
        let is_first = !std::mem::replace(&mut self.is_entering, true);
        if let Some(script) = self.script.clone().filter(|_| is_first) {
            match connect::set_entry(&self.cdp, &script).await {
                Ok(()) => return self.go_on().await,
                Err(failure) => tracing::debug!(%failure, "the first line has no breakpoint"),
            }
        }
        if let Err(failure) = self.cdp.ask(StepInto::default()).await {
            tracing::debug!(%failure, "the first line is not reached by a step");
        }
        Ok(())
    }

    async fn go_onward(&mut self, onward: Onward) -> Result<(), Unheard> {
        self.steps_onward += 1;
        let sent = match onward {
            Onward::Out => self.cdp.ask(StepOut {}).await,
            Onward::Resume => {
                self.cdp.moment().asked = Asked::Nothing;
                self.steps_onward = 0;
                return self.go_on().await;
            }
        };
        if let Err(failure) = sent {
            tracing::debug!(%failure, "a step ended on its way");
        }
        Ok(())
    }

    pub(super) async fn go_on(&self) -> Result<(), Unheard> {
        if let Err(failure) = self.cdp.ask(Resume::default()).await {
            tracing::debug!(%failure, "a stop of ours could not be resumed");
        }
        Ok(())
    }

    fn tell_began(&mut self, began: Began) {
        if let Some(waiting) = self.began.take() {
            // Whoever waited may have given up.
            waiting.send(began).unwrap_or_default();
        }
    }

    pub(super) async fn tell(&self, signal: Signal) -> Result<(), Unheard> {
        self.signals.send(signal).await.map_err(|_| Unheard)
    }
}

/// V8 gives several reasons at once as `ambiguous`.
fn is_start(paused: &Paused) -> bool {
    let among = |data: &serde_json::Value| {
        let reasons = data.get("reasons").and_then(|it| it.as_array());
        reasons.is_some_and(|all| all.iter().any(|it| it["reason"] == BREAK_ON_START))
    };
    paused.reason == BREAK_ON_START || paused.data.as_ref().is_some_and(among)
}

/// `None` for a stop that nobody wants any more.
fn reason(
    paused: &Paused,
    hits: &[BreakpointId],
    asked: Asked,
    is_entry: bool,
) -> Option<StopReason> {
    if is_entry {
        return Some(StopReason::Entry);
    }
    if inspect::is_exception(paused) {
        return Some(StopReason::Exception);
    }
    if !hits.is_empty() {
        return Some(StopReason::Breakpoint);
    }
    match (asked, paused.reason.as_str()) {
        (Asked::Step(_), _) => Some(StopReason::Step),
        (Asked::Pause, _) => Some(StopReason::Pause),
        // Removed while V8 was about to stop there.
        (Asked::Nothing, "other") if !paused.hit_breakpoints.is_empty() => None,
        (Asked::Nothing, "other" | "ambiguous") => {
            Some(StopReason::Other("debugger statement".to_owned()))
        }
        (Asked::Nothing, other) => Some(StopReason::Other(other.to_owned())),
    }
}
