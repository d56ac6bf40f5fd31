//! How much is asked of a bridge at once, and how often it may fail us: one pace for each bridge folder of this process,
//! whoever calls, and with it the job's folder that is made before it is needed. The public one closes for everybody after ten failures in a minute; we stay below.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::{
    job::{self, Premade},
    limits,
};

static ALL: Mutex<BTreeMap<PathBuf, Arc<Pace>>> = Mutex::new(BTreeMap::new());

pub(crate) struct Pace {
    pub(crate) premade: Premade,
    room: Arc<Semaphore>,
    strain: Mutex<Strain>,
}

/// What the bridge has had to bear of late. Pure.
#[derive(Default)]
struct Strain {
    failures: VecDeque<Instant>,
    /// When it takes jobs again, as it said itself.
    closed_until: Option<Instant>,
}

impl Pace {
    /// That of a bridge folder.
    pub(crate) fn of(folder: &Path) -> Arc<Pace> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(folder) {
            return Arc::clone(known);
        }
        // One that nobody uses is forgotten where there are many.
        if all.len() >= limits::FOLDERS {
            all.retain(|_, it| Arc::strong_count(it) > 1);
        }
        job::sweep(folder);
        let room = Arc::new(Semaphore::new(limits::JOBS_IN_FLIGHT));
        let premade = Premade::default();
        let pace = Arc::new(Pace { premade, room, strain: Mutex::default() });
        all.insert(folder.to_owned(), Arc::clone(&pace));
        pace
    }

    /// A place for one job, as soon as there is one.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    pub(crate) fn in_flight(&self) -> usize {
        limits::JOBS_IN_FLIGHT.saturating_sub(self.room.available_permits())
    }

    /// How long it is to be left alone.
    pub(crate) fn wait(&self) -> Duration {
        self.strain().wait(Instant::now())
    }

    pub(crate) fn failed(&self) {
        self.strain().failed(Instant::now());
    }

    pub(crate) fn closed(&self, retry_after: Duration) {
        self.strain().closed_until = Some(Instant::now() + retry_after);
    }

    fn strain(&self) -> MutexGuard<'_, Strain> {
        self.strain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.premade.remove();
    }
}

impl Strain {
    fn failed(&mut self, now: Instant) {
        self.forget(now);
        self.failures.push_back(now);
    }

    fn wait(&mut self, now: Instant) -> Duration {
        self.forget(now);
        let closed = self.closed_until.map(|it| it.saturating_duration_since(now));
        let oldest = self.failures.front().filter(|_| self.failures.len() >= limits::FAILURES);
        let full = oldest.map(|it| (*it + limits::FAILURES_IN).saturating_duration_since(now));
        closed.max(full).unwrap_or_default()
    }

    fn forget(&mut self, now: Instant) {
        let is_old = |it: &Instant| now.saturating_duration_since(*it) >= limits::FAILURES_IN;
        while self.failures.front().is_some_and(is_old) {
            self.failures.pop_front();
        }
        self.closed_until = self.closed_until.filter(|it| *it > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_are_counted_for_a_minute() {
        let (mut strain, start) = (Strain::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for second in 0..6 {
            strain.failed(at(second));
        }
        assert_eq!(strain.wait(at(6)), Duration::ZERO);
        strain.failed(at(6));
        assert_eq!(strain.wait(at(10)), Duration::from_secs(50));
        assert_eq!(strain.wait(at(60)), Duration::ZERO, "the first is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_bridge_says_itself_holds() {
        let (mut strain, start) = (Strain::default(), Instant::now());
        strain.closed_until = Some(start + Duration::from_secs(30));
        assert_eq!(strain.wait(start), Duration::from_secs(30));
        assert_eq!(strain.wait(start + Duration::from_secs(30)), Duration::ZERO);
    }
}
