//! Who descends from whom, by the parents that `/proc` names. Elsewhere nobody is known.

use std::collections::BTreeMap;

/// One process as `/proc` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kin {
    pub(super) parent: i32,
    pub(super) session: i32,
    /// It has ended, and nobody has taken it away.
    pub(super) is_dead: bool,
}

/// Every process of this machine.
pub(super) fn all() -> BTreeMap<i32, Kin> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, kin(pid)?))).collect()
}

/// Those of them below a process, without itself.
pub(super) fn below(all: &BTreeMap<i32, Kin>, root: i32) -> Vec<i32> {
    let descends = |mut pid: i32| {
        // Numbers are given out again while we read: what looks like a circle ends.
        for _ in 0..=all.len() {
            match all.get(&pid) {
                Some(kin) if kin.parent == root => return true,
                Some(kin) => pid = kin.parent,
                None => return false,
            }
        }
        false
    };
    all.keys().copied().filter(|pid| descends(*pid)).collect()
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
    let is_dead = fields.next()? == "Z";
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Kin { parent, session, is_dead })
}
