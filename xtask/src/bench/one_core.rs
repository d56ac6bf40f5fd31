//! One core for client and servers: else the scheduler decides about their microseconds.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// This thread, and what it starts meanwhile, on one core.
pub(super) struct OneCore(CpuSet);

impl OneCore {
    pub(super) fn take() -> Result<OneCore> {
        let all = sched_getaffinity(None).context("asking for our cores")?;
        let mut one = CpuSet::new();
        let first = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core));
        one.set(first.context("no core is ours")?);
        sched_setaffinity(None, &one).context("keeping to one core")?;
        Ok(OneCore(all))
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        if let Err(error) = sched_setaffinity(None, &self.0) {
            eprintln!("the other cores are not had back: {error}");
        }
    }
}
