//! Which call a frame is that a debugger holds: it has not ended, and its last line is where it stands.

use crate::{
    columns::{Field, OPEN},
    damage::Damage,
    limits,
    recording::{CallId, Process, Recording},
};

/// A frame as a debugger names it.
#[derive(Debug, Clone, Default)]
pub struct StandingFrame {
    pub pid: Option<u32>,
    pub file: String,
    pub function: String,
    pub line: u32,
    pub thread: Option<String>,
}

impl Recording {
    /// The call of that frame, if it is recorded; of several the one that says most, and the innermost.
    pub fn standing(&self, frame: &StandingFrame) -> Result<Option<CallId>, Damage> {
        let mut best: Option<((bool, bool, u32), CallId)> = None;
        let is_meant = |it: &&Process| frame.pid.is_none_or(|pid| it.facts().pid == u64::from(pid));
        for process in self.processes().iter().filter(is_meant) {
            for number in self.open_calls(process)? {
                let call = CallId { process: process.number, number };
                let function = self.small(call, Field::Function)?;
                let about = process.function(function)?;
                let is_there = (about.first_line..=about.last_line).contains(&frame.line);
                if !is_there || process.path(function) != frame.file {
                    continue;
                }
                let is_named = process.string(about.name) == frame.function
                    || process.qualified(function) == frame.function;
                let lane = self.small(call, Field::Lane)?;
                let lane = process.head.lanes.get(lane as usize).map(|it| it.name.as_str());
                let rank = (is_named, lane == frame.thread.as_deref(), number);
                if best.as_ref().is_none_or(|(before, _)| *before < rank) {
                    best = Some((rank, call));
                }
            }
        }
        Ok(best.map(|(_, call)| call))
    }

    fn open_calls(&self, of: &Process) -> Result<Vec<u32>, Damage> {
        let mut open = Vec::new();
        let blocks = (of.head.calls as usize).div_ceil(limits::BLOCK);
        for block in 0..blocks as u32 {
            let column = self.column(of.number, block, Field::Ending)?;
            let first = block * limits::BLOCK as u32;
            let is_open = |(_, ending): &(u32, &u64)| **ending & 3 == u64::from(OPEN);
            open.extend((first..).zip(column.iter()).filter(is_open).map(|(number, _)| number));
        }
        Ok(open)
    }
}
