//! What a guard leaves behind that somebody killed: the program's own children, and theirs.
//!
//! The system gives orphans to the nearest process that asked for them. We ask, so those of a dead guard become
//! our children. They are known by their sessions: a guard begins one of its own, and nothing below it can come
//! back to ours. What we start for ourselves stays in ours.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, Once, PoisonError},
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
