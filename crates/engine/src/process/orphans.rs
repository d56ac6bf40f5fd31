//! What a guard leaves behind that somebody killed: the program's own children, and theirs.
//!
//! The system gives orphans to the nearest process that asked for them. We ask, so those of a dead guard become
//! our children. They are known by their sessions: a guard begins one of its own, and nothing below it can come
//! back to ours. What we start for ourselves stays in ours.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, Once, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions};

use super::tree;
use crate::limits;

/// The guards of this process, each with its own programs below it.
static GUARDS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn guards() -> MutexGuard<'static, BTreeSet<i32>> {
    GUARDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before the first guard: orphans come to us.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            if let Err(error) = rustix::process::set_child_subreaper(Pid::from_raw(1)) {
                tracing::warn!(%error, "what a killed guard leaves behind will not be found");
            }
        });
    }
}

/// A guard that lives; what is below it is its own affair.
pub(super) struct Standing(Option<i32>);

impl Standing {
    pub(super) fn new(guard: Option<u32>) -> Standing {
        let guard = guard.and_then(|pid| i32::try_from(pid).ok());
        guards().extend(guard);
        Standing(guard)
    }

    /// It is gone.
    pub(super) fn fell(&mut self) {
        if let Some(pid) = self.0.take() {
            guards().remove(&pid);
        }
    }
}

/// The dead that came to us, and since when each is known to be dead.
static DEAD: Mutex<BTreeMap<i32, Instant>> = Mutex::new(BTreeMap::new());

/// Takes the dead away that nobody waits for: what a debugger started and left comes to us when both have ended.
/// Who waits for a child of ours does so at once, so what is dead for long is nobody's.
pub(super) fn bury() {
    bury_those(|_| true, limits::DEAD_FOR);
}

fn bury_those(is_meant: impl Fn(i32) -> bool, after: Duration) {
    let me = tree::me();
    let all = tree::all();
    let is_ours =
        |(pid, kin): &(&i32, &tree::Kin)| kin.parent == me && kin.is_dead && is_meant(**pid);
    let dead: BTreeSet<i32> = all.iter().filter(is_ours).map(|(pid, _)| *pid).collect();
    let mut known = DEAD.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|pid, _| dead.contains(pid));
    for pid in dead {
        if known.entry(pid).or_insert_with(Instant::now).elapsed() < after {
            continue;
        }
        known.remove(&pid);
        // An error means that somebody has waited for it in this moment.
        let waited = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
        waited.map(drop).unwrap_or_default();
    }
}

/// Ends everything that a dead guard left, and says whether nothing of it lives.
pub(super) async fn end() -> bool {
    let gone = async {
        while kill() {
            // The system tells nobody that a process is gone that was not started here.
            tokio::time::sleep(limits::LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(limits::ORPHANS_END, gone).await.is_ok()
}

/// Kills what there is, takes the dead away, and says whether there was anything.
pub(super) fn kill() -> bool {
    let all = tree::all();
    let me = tree::me();
    let Some(ours) = tree::kin(me) else { return false };
    let guards = guards().clone();
    let is_orphan = |(pid, kin): &(&i32, &tree::Kin)| {
        kin.parent == me && kin.session != ours.session && !guards.contains(pid)
    };
    let orphans: Vec<i32> = all.iter().filter(is_orphan).map(|(pid, _)| *pid).collect();
    for orphan in &orphans {
        for pid in tree::below(&all, *orphan).into_iter().chain([*orphan]) {
            let Some(pid) = Pid::from_raw(pid) else { continue };
            // An error means that it is gone.
            rustix::process::kill_process(pid, Signal::KILL).unwrap_or_default();
        }
        let waited = rustix::process::waitpid(Pid::from_raw(*orphan), WaitOptions::NOHANG);
        waited.map(drop).unwrap_or_default();
    }
    !orphans.is_empty()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_dead_that_nobody_waits_for_are_taken_away() {
        adopt();
        // The shell ends first; what it has started comes to us, and ends here.
        let said = Command::new("sh").args(["-c", "sleep 0.2 >&- & echo $!"]).output().unwrap();
        let pid: i32 = String::from_utf8(said.stdout).unwrap().trim().parse().unwrap();
        let is_dead = || tree::kin(pid).is_some_and(|it| it.is_dead && it.parent == tree::me());
        let begun = Instant::now();
        while !is_dead() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(is_dead());
        bury_those(|it| it == pid, Duration::from_secs(60));
        assert!(is_dead(), "somebody might wait for it still");
        bury_those(|it| it == pid, Duration::ZERO);
        assert!(tree::kin(pid).is_none());
    }
}
