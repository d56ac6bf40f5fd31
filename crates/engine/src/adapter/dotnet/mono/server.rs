//! The debug server of one Mono runtime: its state, and how it stands still and runs.
//!
//! A stop suspends every thread, and each stop counts: those of other threads that come at the same moment wait until
//! the one that is told is over. The runtime answers nothing about frames while the program runs, and nothing else
//! either until it has: so whoever reads holds [`Hold`], and nobody resumes meanwhile.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use holdpoint_dap::types as t;
use holdpoint_sdb::{
    EventRequest, MonoError, MonoRequester, ObjectRef, TypeRef,
    command::{MonoFrame, StepDepth},
    event::EventKind,
};
use tokio::sync::watch;

use super::{points::Points, types::Types, values::Held};
use crate::{
    adapter::served::{Numbers, Outlet},
    attach::Mappings,
};

pub(super) struct MonoServer {
    pub(super) mono: MonoRequester,
    pub(super) outlet: Outlet,
    pub(super) about: About,
    pub(super) types: Types,
    pub(super) points: tokio::sync::Mutex<Points>,
    pub(super) hold: tokio::sync::Mutex<Hold>,
    /// By what exceptions are asked for.
    pub(super) exceptions: tokio::sync::Mutex<Option<EventRequest>>,
    /// By what the program stops at its first line.
    pub(super) entry: tokio::sync::Mutex<Option<EventRequest>>,
    state: Mutex<State>,
    pub(super) begun: watch::Sender<Begun>,
}

/// How far a program has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Begun {
    /// The runtime takes commands already, and one to go on would move nothing.
    No,
    /// The runtime stands at its start.
    Started,
    /// The program's own assembly is loaded, and it stands there.
    Stands,
}

#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) stop_on_entry: bool,
    pub(super) just_my_code: bool,
    /// It ran before us, and runs on after us.
    pub(super) is_attached: bool,
    /// Where its files are here.
    pub(super) mappings: Mappings,
}

/// Whether the program stands, and why.
#[derive(Debug, Default)]
pub(super) struct Hold {
    /// How often it is suspended by what was taken so far.
    pub(super) count: usize,
    /// What was told.
    pub(super) stop: Option<Stop>,
    /// Stops that wait until the told one is over.
    pub(super) waiting: VecDeque<Stop>,
    pub(super) step: Option<Stepping>,
}

#[derive(Debug, Clone)]
pub(super) struct Stop {
    pub(super) thread: ObjectRef,
    pub(super) reason: t::StopReason,
    pub(super) hits: Vec<i64>,
    pub(super) exception: Option<(ObjectRef, t::BreakMode)>,
    pub(super) text: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stepping {
    pub(super) thread: ObjectRef,
    pub(super) request: EventRequest,
    pub(super) depth: StepDepth,
    /// How often it was taken again, for it ended where nobody has written anything.
    pub(super) rounds: usize,
}

/// What is good for one stop.
#[derive(Default)]
pub(super) struct State {
    pub(super) frames: Numbers<FrameAt>,
    pub(super) parts: Numbers<Held>,
    /// Until something is called in the thread.
    pub(super) stacks: BTreeMap<ObjectRef, Arc<Vec<MonoFrame>>>,
    /// What objects are.
    pub(super) kinds: BTreeMap<ObjectRef, TypeRef>,
    /// The method that is called for us.
    pub(super) calling: Option<(ObjectRef, u32)>,
}

/// A frame by its place on the stack: ids of frames do not outlive a method that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameAt {
    pub(super) thread: ObjectRef,
    pub(super) depth: usize,
}

pub(super) type Done<T> = Result<T, String>;

/// A failure of the wire, as the protocol tells it: one line that begins with a word for its kind.
pub(super) fn refused(error: MonoError) -> String {
    match error {
        MonoError::Closed(_) => format!("ProgramEnded: {error}"),
        MonoError::Refused { .. } | MonoError::Malformed(_) => format!("RuntimeRefused: {error}"),
    }
}

impl MonoServer {
    pub(super) fn new(mono: MonoRequester, outlet: Outlet, about: About) -> MonoServer {
        let count = usize::from(!about.is_attached);
        MonoServer {
            types: Types::new(mono.clone()),
            mono,
            outlet,
            about,
            points: tokio::sync::Mutex::default(),
            hold: tokio::sync::Mutex::new(Hold { count, ..Hold::default() }),
            exceptions: tokio::sync::Mutex::default(),
            entry: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            begun: watch::channel(Begun::No).0,
        }
    }

    /// Consistent between statements; a panic elsewhere does not spoil it.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever reads the program waits here, and keeps it from going on.
    pub(super) async fn standing(&self) -> Done<tokio::sync::MutexGuard<'_, Hold>> {
        let hold = self.hold.lock().await;
        if hold.count == 0 { Err("NotStopped: the program runs".to_owned()) } else { Ok(hold) }
    }

    /// Takes back one suspension. Of the stop before nothing means anything any more.
    pub(super) async fn release(&self, hold: &mut Hold) -> Done<()> {
        {
            let mut state = self.state();
            state.frames.clear();
            state.parts.clear();
            state.stacks.clear();
            state.kinds.clear();
        }
        hold.stop = None;
        if hold.count == 0 {
            return Err("NotStopped: the program runs already".to_owned());
        }
        hold.count -= 1;
        self.mono.resume().await.map_err(refused)?;
        if let Some(next) = hold.waiting.pop_front() {
            self.tell_stop(hold, next).await;
        }
        Ok(())
    }

    /// Tells a stop, or keeps it until the one before is over.
    pub(super) async fn stop(&self, hold: &mut Hold, stop: Stop) {
        if hold.stop.is_some() {
            hold.waiting.push_back(stop);
            return;
        }
        self.tell_stop(hold, stop).await;
    }

    async fn tell_stop(&self, hold: &mut Hold, stop: Stop) {
        self.end_step(hold).await;
        let event = t::StoppedEvent {
            reason: stop.reason.clone(),
            thread_id: Some(stop.thread.0.into()),
            text: stop.text.clone(),
            all_threads_stopped: Some(true),
            hit_breakpoint_ids: stop.hits.clone(),
            ..Default::default()
        };
        hold.stop = Some(stop);
        self.outlet.event("stopped", event).await;
    }

    /// A step that is over, or that something else has ended.
    pub(super) async fn end_step(&self, hold: &mut Hold) {
        if let Some(step) = hold.step.take()
            && let Err(error) = self.mono.forget(EventKind::Step, step.request).await
        {
            tracing::debug!(%error, "a step is over already");
        }
    }

    pub(super) async fn pause(&self) -> Done<()> {
        let mut hold = self.hold.lock().await;
        if hold.count > 0 {
            return Ok(());
        }
        self.mono.suspend().await.map_err(refused)?;
        hold.count += 1;
        let thread = self.someone().await?;
        let reason = t::StopReason::Pause;
        let stop = Stop { thread, reason, hits: Vec::new(), exception: None, text: None };
        self.stop(&mut hold, stop).await;
        Ok(())
    }

    /// The first thread that is in the user's own code, else the first one.
    async fn someone(&self) -> Done<ObjectRef> {
        let mut threads = self.mono.threads().await.map_err(refused)?;
        threads.sort_unstable();
        for thread in threads.iter().take(crate::limits::MONO_PAUSE_THREADS) {
            let stack = self.stack(*thread).await.unwrap_or_default();
            for frame in stack.iter() {
                if self.types.is_users(frame.method).await {
                    return Ok(*thread);
                }
            }
        }
        threads.first().copied().ok_or_else(|| "NotFound: the program has no threads".to_owned())
    }

    /// The frames of a thread that stands.
    pub(super) async fn stack(&self, thread: ObjectRef) -> Done<Arc<Vec<MonoFrame>>> {
        if let Some(known) = self.state().stacks.get(&thread) {
            return Ok(Arc::clone(known));
        }
        let stack = Arc::new(self.mono.frames(thread).await.map_err(refused)?);
        self.state().stacks.insert(thread, Arc::clone(&stack));
        Ok(stack)
    }

    pub(super) async fn kind_of(&self, object: ObjectRef) -> Done<TypeRef> {
        if let Some(known) = self.state().kinds.get(&object) {
            return Ok(*known);
        }
        let kind = self.mono.type_of(object).await.map_err(refused)?;
        self.state().kinds.insert(object, kind);
        Ok(kind)
    }

    pub(super) async fn frame(&self, at: FrameAt) -> Done<MonoFrame> {
        let stack = self.stack(at.thread).await?;
        stack.get(at.depth).copied().ok_or_else(|| "NotFound: there is no such frame".to_owned())
    }

    /// Breaks off what the program computes for us.
    pub(super) async fn interrupt(&self) -> Done<()> {
        let calling = self.state().calling;
        match calling {
            Some((thread, call)) => self.mono.abort(thread, call).await.map_err(refused),
            None => Ok(()),
        }
    }

    pub(super) async fn let_go(&self) -> Done<()> {
        let mut hold = self.hold.lock().await;
        hold.count = 0;
        hold.waiting.clear();
        self.mono.dispose().await.map_err(refused)
    }
}
