//! Who descends from whom, by the parents that `/proc` names. Elsewhere nobody is known.

use std::collections::BTreeMap;

use rustix::process::Pid;

/// One process as `/proc` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kin {
    pub parent: i32,
    pub session: i32,
    /// A zombie has children as long as one of its threads lives: they lead to us through it.
    pub is_living: bool,
}

/// Every process of this machine.
pub fn all() -> BTreeMap<i32, Kin> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, kin(pid)?))).collect()
}

/// Those of them below a process, without itself.
pub fn below(all: &BTreeMap<i32, Kin>, root: i32) -> Vec<i32> {
    let descends = |mut pid: i32| {
        while let Some(kin) = all.get(&pid) {
            if kin.parent == root {
                return true;
            }
            pid = kin.parent;
        }
        false
    };
    all.keys().copied().filter(|pid| descends(*pid)).collect()
}

/// Every living process below us.
pub fn descendants() -> Vec<Pid> {
    let all = all();
    let mut below = below(&all, me());
    below.retain(|pid| all.get(pid).is_some_and(|kin| kin.is_living));
    below.into_iter().filter_map(Pid::from_raw).collect()
}

pub(super) fn me() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// From `pid (name) state parent group session …`.
pub(super) fn kin(pid: i32) -> Option<Kin> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, also brackets.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Kin { parent, session, is_living: state != "Z" && state != "X" })
}
