//! The debug server of one virtual machine: what is asked of it, answered over JDWP.
//!
//! A stop suspends every thread. Stops of other threads that come at the same moment wait until the one that is told
//! is over: each has suspended the machine once more, so that going on from one leaves the next standing.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use holdpoint_dap::types as t;
use holdpoint_jdwp::{
    JdwpError,
    types::{ClassId, EventKind, FrameInfo, Modifier, ObjectId, StepDepth, SuspendPolicy, Value},
};
use serde_json::Value as Json;

use super::{
    calls::Called,
    points::Points,
    sources::Sources,
    values::Shown,
    vm::{Vm, lock},
};
use crate::adapter::served::{Asked, Numbers, Outlet, Served, body};

/// Classes that nobody steps into: the runtime's, and those of runners of tests.
pub(super) const FOREIGN: &[&str] = &[
    "java.*",
    "javax.*",
    "jdk.*",
    "sun.*",
    "com.sun.*",
    "org.junit.*",
    "junit.*",
    "org.opentest4j.*",
    "org.apache.maven.*",
    "org.testng.*",
    "org.hamcrest.*",
];

/// How a program ends that is ended by its debugger: as one that got SIGTERM does.
const ENDED: u32 = 143;

pub(super) fn is_foreign(class: &str) -> bool {
    FOREIGN.iter().any(|it| class.starts_with(it.trim_end_matches('*')))
}

/// Where the program is to stop first.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) class: String,
    /// Any of the class where none is named.
    pub(super) method: Option<String>,
}

impl Entry {
    /// Also by the end of its name: `*.CartTest`.
    pub(super) fn is_of(&self, class: &str) -> bool {
        match self.class.strip_prefix('*') {
            Some(end) => class.ends_with(end) || Some(class) == end.strip_prefix('.'),
            None => class == self.class,
        }
    }
}

pub(super) struct Serving {
    pub(super) vm: Vm,
    pub(super) outlet: Outlet,
    pub(super) sources: Sources,
    pub(super) just_my_code: bool,
    pub(super) entry: Option<Entry>,
    pub(super) state: Mutex<State>,
    /// One method is called at a time.
    pub(super) calling: tokio::sync::Mutex<()>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) threads: Threads,
    pub(super) frames: Numbers<FrameAt>,
    pub(super) parts: Numbers<PartsOf>,
    pub(super) points: Points,
    pub(super) exceptions: Vec<(u32, Catching)>,
    pub(super) entries: Vec<u32>,
    pub(super) steps: BTreeMap<ObjectId, Stepping>,
    pub(super) stop: Option<Stop>,
    pub(super) waiting: VecDeque<Stop>,
    pub(super) called: Option<Called>,
    /// Nothing of the user's is loaded yet.
    pub(super) at_start: bool,
    /// The virtual machine has told that it stands at its start.
    pub(super) is_held: bool,
    /// Everything is set: it may run from its start.
    pub(super) is_configured: bool,
}

/// Which exceptions one request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Catching {
    Uncaught,
    Caught,
    UserUnhandled,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stepping {
    pub(super) request: u32,
    pub(super) depth: StepDepth,
    pub(super) rounds: u32,
}

/// A frame by its place on the stack: ids of frames do not outlive a method that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameAt {
    pub(super) thread: ObjectId,
    pub(super) depth: usize,
}

#[derive(Debug, Clone)]
pub(super) enum PartsOf {
    Locals(FrameAt),
    Statics(ClassId),
    /// With the expression that gives it, where there is one.
    Object(ObjectId, Option<String>),
}

/// Why the program stands.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    pub(super) thread: ObjectId,
    pub(super) reason: t::StopReason,
    pub(super) hits: Vec<i64>,
    pub(super) exception: Option<ObjectId>,
    pub(super) text: Option<String>,
}

/// Threads by small numbers, which stay theirs.
#[derive(Default)]
pub(super) struct Threads(Vec<ObjectId>);

impl Threads {
    pub(super) fn number(&mut self, thread: ObjectId) -> i64 {
        let known = self.0.iter().position(|it| *it == thread);
        let at = known.unwrap_or_else(|| {
            self.0.push(thread);
            self.0.len() - 1
        });
        i64::try_from(at).unwrap_or_default() + 1
    }

    pub(super) fn thread(&self, number: i64) -> Option<ObjectId> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.0.get(at).copied()
    }
}

pub(super) fn said(error: JdwpError) -> String {
    error.to_string()
}

impl Served for Serving {
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
            support_terminate_debuggee: true,
            supports_delayed_stack_trace_loading: true,
            exception_breakpoint_filters: vec![
                filter("uncaught", "Uncaught exceptions"),
                filter("caught", "Caught exceptions"),
                filter("userUnhandled", "Exceptions that leave the user's code"),
            ],
            ..Default::default()
        }
    }

    fn answer(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Result<Json, String>> {
        Box::pin(async move {
            match asked {
                Asked::Begin => Ok(Json::Null),
                Asked::ConfigurationDone => self.begin().await,
                Asked::SetBreakpoints(it) => body(self.set_lines(it).await?),
                Asked::SetFunctionBreakpoints(it) => body(self.set_functions(it).await?),
                Asked::SetExceptionBreakpoints(it) => self.set_exceptions(it).await,
                Asked::Continue(it) if it.single_thread == Some(true) => {
                    Err("all threads go on together".to_owned())
                }
                Asked::Continue(_) => {
                    self.go_on().await?;
                    body(t::ContinueBody { all_threads_continued: Some(true) })
                }
                Asked::Next(it) => self.step(it.thread_id, StepDepth::Over).await,
                Asked::StepIn(it) => self.step(it.thread_id, StepDepth::Into).await,
                Asked::StepOut(it) => self.step(it.thread_id, StepDepth::Out).await,
                Asked::Pause(it) => self.pause(it.thread_id).await,
                Asked::Threads => body(self.threads().await?),
                Asked::StackTrace(it) => body(self.stack(it).await?),
                Asked::Scopes(it) => body(self.scopes(it.frame_id).await?),
                Asked::Variables(it) => body(self.variables(it.variables_reference).await?),
                Asked::SetVariable(it) => body(self.set_variable(it).await?),
                Asked::Evaluate(it) => body(self.evaluate(it).await?),
                Asked::ExceptionInfo(it) => body(self.exception_info(it.thread_id).await?),
                Asked::Interrupt => self.interrupt().await.map(|()| Json::Null),
                Asked::Disconnect(it) => {
                    let done = match it.terminate_debuggee {
                        Some(true) => self.vm.wire.exit(ENDED).await,
                        _ => self.vm.wire.dispose().await,
                    };
                    done.map_err(said)?;
                    Ok(Json::Null)
                }
            }
        })
    }
}

impl Serving {
    /// Everything is set: the program may run.
    pub(super) async fn begin(&self) -> Result<Json, String> {
        if let Some(entry) = &self.entry {
            // A class without a package does not end as one in a package does.
            let bare = entry.class.strip_prefix("*.").map(str::to_owned);
            for pattern in std::iter::once(entry.class.clone()).chain(bare) {
                let mut asked = vec![Modifier::ClassMatch(pattern)];
                if entry.class.starts_with('*') {
                    asked.extend(FOREIGN.iter().map(|it| Modifier::ClassExclude((*it).to_owned())));
                }
                let policy = SuspendPolicy::EventThread;
                let set = self.vm.wire.set_event(EventKind::ClassPrepare, policy, &asked);
                set.await.map_err(said)?;
            }
        }
        let is_held = {
            let mut state = lock(&self.state);
            state.at_start = false;
            state.is_configured = true;
            std::mem::take(&mut state.is_held)
        };
        if is_held {
            self.vm.wire.resume().await.map_err(said)?;
        }
        Ok(Json::Null)
    }

    /// Goes on from the stop that was told; the next one that waits is told then.
    async fn go_on(&self) -> Result<(), String> {
        let next = {
            let mut state = lock(&self.state);
            state.frames.clear();
            state.parts.clear();
            let next = state.waiting.pop_front();
            state.stop.take().ok_or("it runs")?;
            state.stop.clone_from(&next);
            next
        };
        self.vm.forget_objects();
        self.vm.wire.resume().await.map_err(said)?;
        if let Some(next) = next {
            self.tell(next).await;
        }
        Ok(())
    }

    async fn step(&self, number: i64, depth: StepDepth) -> Result<Json, String> {
        let thread = self.thread(number)?;
        self.ask_step(thread, depth, 0).await.map_err(said)?;
        self.go_on().await?;
        Ok(Json::Null)
    }

    pub(super) async fn ask_step(
        &self,
        thread: ObjectId,
        depth: StepDepth,
        rounds: u32,
    ) -> Result<(), JdwpError> {
        self.forget_step(thread).await;
        let mut asked = vec![Modifier::Step { thread, depth }];
        if self.just_my_code {
            asked.extend(FOREIGN.iter().map(|it| Modifier::ClassExclude((*it).to_owned())));
        }
        asked.push(Modifier::Count(1));
        let request =
            self.vm.wire.set_event(EventKind::SingleStep, SuspendPolicy::All, &asked).await?;
        lock(&self.state).steps.insert(thread, Stepping { request, depth, rounds });
        Ok(())
    }

    /// A thread takes one step at a time, and none beyond a stop.
    pub(super) async fn forget_step(&self, thread: ObjectId) {
        let step = lock(&self.state).steps.remove(&thread);
        if let Some(step) = step
            && let Err(error) = self.vm.wire.clear_event(EventKind::SingleStep, step.request).await
        {
            tracing::debug!(%error, "a step was not taken back");
        }
    }

    async fn pause(&self, number: i64) -> Result<Json, String> {
        self.vm.wire.suspend().await.map_err(said)?;
        let thread = self.interesting().await.or_else(|| lock(&self.state).threads.thread(number));
        let thread = thread.ok_or("no thread is there")?;
        let reason = t::StopReason::Pause;
        self.stopped(Stop { thread, reason, hits: Vec::new(), exception: None, text: None }).await;
        Ok(Json::Null)
    }

    /// A thread that is in the user's code.
    async fn interesting(&self) -> Option<ObjectId> {
        for thread in self.vm.wire.all_threads().await.ok()? {
            let frames = self.vm.wire.frames(thread, 0, None).await.unwrap_or_default();
            for frame in frames {
                let class = self.vm.class(frame.location.class).await.ok()?;
                if !is_foreign(&class.name) && self.source_of(&class).is_some() {
                    return Some(thread);
                }
            }
        }
        None
    }

    /// Tells a stop, or keeps it until the one before it is over.
    pub(super) async fn stopped(&self, stop: Stop) {
        {
            let mut state = lock(&self.state);
            if state.stop.is_some() {
                state.waiting.push_back(stop);
                return;
            }
            state.stop = Some(stop.clone());
        }
        self.tell(stop).await;
    }

    async fn tell(&self, stop: Stop) {
        self.forget_step(stop.thread).await;
        let number = lock(&self.state).threads.number(stop.thread);
        let event = t::StoppedEvent {
            reason: stop.reason,
            thread_id: Some(number),
            text: stop.text,
            all_threads_stopped: Some(true),
            hit_breakpoint_ids: stop.hits,
            ..Default::default()
        };
        self.outlet.event("stopped", event).await;
    }

    pub(super) fn thread(&self, number: i64) -> Result<ObjectId, String> {
        lock(&self.state).threads.thread(number).ok_or_else(|| format!("no thread {number}"))
    }

    async fn threads(&self) -> Result<t::ThreadsBody, String> {
        let mut all = Vec::new();
        for thread in self.vm.wire.all_threads().await.map_err(said)? {
            // One that has just ended has no name any more.
            let Ok(name) = self.vm.wire.thread_name(thread).await else { continue };
            let id = lock(&self.state).threads.number(thread);
            all.push(t::Thread { id, name });
        }
        all.sort_by_key(|it| (rank(&it.name), it.id));
        Ok(t::ThreadsBody { threads: all })
    }

    async fn exception_info(&self, number: i64) -> Result<t::ExceptionInfoBody, String> {
        let thread = self.thread(number)?;
        let stop = lock(&self.state).stop.clone().filter(|it| it.thread == thread);
        let exception = stop.and_then(|it| it.exception);
        let exception = exception.ok_or("it did not stop at an exception")?;
        let (kind, message) = self.vm.exception(exception).await.map_err(said)?;
        let mut trace = Vec::new();
        let mut cause = self.vm.object_field(exception, "cause").await.map_err(said)?;
        let mut before = exception;
        // One without a cause is its own.
        while let Some(id) = cause.filter(|it| *it != before && trace.len() < 8) {
            trace.push(format!("caused by {}", self.vm.thrown(id).await));
            before = id;
            cause = self.vm.object_field(id, "cause").await.map_err(said)?;
        }
        Ok(t::ExceptionInfoBody {
            exception_id: kind.clone(),
            description: Some(message.clone()),
            break_mode: t::BreakMode::Always,
            details: Some(t::ExceptionDetails {
                message: Some(message),
                type_name: Some(kind),
                stack_trace: Some(trace.join("\n")).filter(|it| !it.is_empty()),
                ..Default::default()
            }),
        })
    }

    pub(super) async fn frame(&self, at: FrameAt) -> Result<FrameInfo, String> {
        let frames = self.vm.wire.frames(at.thread, at.depth, Some(1)).await.map_err(said)?;
        frames.first().copied().ok_or_else(|| "no such frame".to_owned())
    }

    /// A value as the protocol has it.
    pub(super) async fn shown(
        &self,
        value: Value,
        way: Option<String>,
    ) -> Result<(Shown, i64), String> {
        let shown = self.vm.show(value).await.map_err(said)?;
        let reference = match shown.parts {
            Some(id) => lock(&self.state).parts.put(PartsOf::Object(id, way)),
            None => 0,
        };
        Ok((shown, reference))
    }
}

/// The program's own threads before the machine's.
fn rank(name: &str) -> u8 {
    let machines = [
        "Reference Handler",
        "Finalizer",
        "Signal Dispatcher",
        "Common-Cleaner",
        "Attach Listener",
        "Notification Thread",
        "Service Thread",
        "Monitor Deflation Thread",
        "C1 ",
        "C2 ",
        "Sweeper thread",
        "process reaper",
        "Cleaner-",
    ];
    match name {
        "main" => 0,
        _ if machines.iter().any(|it| name.starts_with(it)) => 2,
        _ => 1,
    }
}
