//! The processes of a session: how to talk to each, and what each runs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use super::texts::Texts;
use crate::{
    backend::{Backend, Bound},
    breakpoints::{Breakpoints, Place},
    failure::Failure,
    ids::TargetId,
    running,
};

/// The connections, shared by the actor (which changes them) and the readers.
#[derive(Clone, Default)]
pub(super) struct Targets(Arc<Mutex<BTreeMap<TargetId, Target>>>);

/// One process, or worker, under control.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) backend: Backend,
    pub(super) pid: Option<u32>,
    /// Shared with the processes that were forked from it, which run the same.
    pub(super) texts: Arc<Texts>,
    pub(super) changes: Arc<Changes>,
}

/// Changes of breakpoints come one after the other. Several that wait for their turn are one: what belongs
/// together is sent as a whole, as it is wanted by then.
#[derive(Default)]
pub(super) struct Changes {
    asked: AtomicU64,
    last: tokio::sync::Mutex<Option<Sent>>,
}

struct Sent {
    place: Place,
    /// All that were asked for by then are in it.
    asked: u64,
    bound: Vec<Bound>,
}

impl Changes {
    /// Waits until those that were asked for are made.
    pub(super) async fn settle(&self) {
        drop(self.last.lock().await);
    }

    /// Nobody else changes any as long as this is held.
    pub(super) async fn turn(&self) -> impl Drop + '_ {
        self.last.lock().await
    }
}

impl Sent {
    fn is_of(&self, place: &Place) -> bool {
        match (&self.place, place) {
            (Place::Line { file, .. }, Place::Line { file: other, .. }) => file == other,
            (Place::Function { .. }, Place::Function { .. }) => true,
            _ => false,
        }
    }
}

/// What is said of breakpoints that were sent to a program that does not answer.
pub(super) const UNANSWERED: &str = "the program does not answer now: it may be inside of a call that does \
    not return to its interpreter. This takes effect as soon as it answers";

/// The process that loaded files are to be asked for, and when.
pub(super) type Look = (Target, tokio::time::Instant);

impl Targets {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<TargetId, Target>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn backend(&self, target: TargetId) -> Option<Backend> {
        self.lock().get(&target).map(|it| it.backend.clone())
    }

    pub(super) fn of(&self, target: Option<TargetId>) -> Option<Target> {
        let all = self.lock();
        let named = target.and_then(|it| all.get(&it));
        named.or_else(|| all.get(&TargetId::MAIN)).cloned()
    }

    /// What a process runs, for the case that it is edited. One that was forked runs what its parent does.
    pub(super) fn texts_of(
        &self,
        target: TargetId,
        pid: Option<u32>,
        began: Option<SystemTime>,
    ) -> Arc<Texts> {
        let main = self.lock().get(&TargetId::MAIN).cloned();
        let forked = main.filter(|main| {
            let words = |pid: Option<u32>| pid.map(running::words).filter(|it| !it.is_empty());
            target != TargetId::MAIN && words(pid).is_some_and(|it| Some(it) == words(main.pid))
        });
        let began = began.filter(|_| target == TargetId::MAIN);
        let new = || Arc::new(Texts::since(began.unwrap_or_else(SystemTime::now)));
        forked.map_or_else(new, |main| main.texts)
    }
}

impl Target {
    /// Notes which files are loaded by now.
    pub(super) async fn look(&self) {
        if let Err(failure) = self.texts.look(&self.backend).await {
            tracing::debug!(%failure, "which files are loaded is not known");
        }
    }

    /// Waits until it is time to look.
    pub(super) async fn due(look: Option<Look>) -> Option<Target> {
        let (target, when) = look?;
        tokio::time::sleep_until(when).await;
        Some(target)
    }

    /// Makes the breakpoints that go together with a place what is wanted.
    pub(super) async fn sync(
        &self,
        breakpoints: &Breakpoints,
        place: &Place,
    ) -> Result<Vec<Bound>, Failure> {
        let number = self.changes.asked.fetch_add(1, Ordering::SeqCst);
        let mut last = self.changes.last.lock().await;
        if let Some(sent) = last.as_ref().filter(|it| it.is_of(place) && number < it.asked) {
            return Ok(sent.bound.clone());
        }
        let asked = self.changes.asked.load(Ordering::SeqCst);
        let bound = match place {
            Place::Line { file, .. } => self.texts.set(&self.backend, breakpoints, file).await?,
            Place::Function { .. } => self.backend.set_functions(&breakpoints.functions()).await?,
        };
        *last = Some(Sent { place: place.clone(), asked, bound: bound.clone() });
        Ok(bound)
    }
}
