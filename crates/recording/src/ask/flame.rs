//! Calls over time, to be drawn: the longest of them, each below the one that made it.

use std::collections::{BTreeMap, BinaryHeap};

use crate::{
    columns::{Field, OPEN, UNWOUND},
    damage::Damage,
    recording::{AskError, CallId, Recording},
    show::SHORT,
};

/// What is to be drawn, and how much of it.
#[derive(Debug, Clone, Copy)]
pub struct FlameAsk {
    pub process: u32,
    /// This call and what it called; else the whole process.
    pub under: Option<CallId>,
    pub bars: usize,
    pub rows: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FlameFound {
    pub began_ms: f64,
    pub took_ms: f64,
    pub bars: Vec<FlameBar>,
    /// Threads and tasks with their first row.
    pub lanes: Vec<(String, usize)>,
    pub rows: usize,
    /// Calls that were found and are not drawn: they are shorter, or deeper.
    pub left_out: u64,
    /// There are more than were looked at.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FlameBar {
    pub call: CallId,
    pub function: String,
    pub file: String,
    /// With what it was given and what came of it.
    pub told: String,
    pub began_ms: f64,
    pub took_ms: f64,
    pub row: usize,
    pub is_raised: bool,
}

/// Calls that are looked at for one picture.
const LOOKED_AT: usize = 100_000;

/// A call that may be drawn, the longest first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    took: u64,
    /// Of equal ones the earlier.
    call: std::cmp::Reverse<CallId>,
    lane: u32,
    depth: usize,
}

impl Recording {
    pub fn flame(&self, ask: &FlameAsk) -> Result<FlameFound, AskError> {
        let (drawn, left, is_cut) = self.longest(ask)?;
        let mut first_rows: BTreeMap<u32, usize> = BTreeMap::new();
        for it in &drawn {
            let deepest = first_rows.entry(it.lane).or_default();
            *deepest = (*deepest).max(it.depth + 1);
        }
        let of = self.process(ask.process)?;
        let (mut rows, mut lanes) = (0, Vec::new());
        for (lane, deep) in &mut first_rows {
            let name = of.head.lanes.get(*lane as usize).map_or("", |it| it.name.as_str());
            lanes.push((name.to_owned(), rows));
            rows += std::mem::replace(deep, rows);
        }
        let mut bars = Vec::new();
        for it in &drawn {
            let row = first_rows.get(&it.lane).map_or(0, |first| first + it.depth);
            if row < ask.rows {
                bars.push(self.bar(it, row)?);
            }
        }
        bars.sort_by_key(|it| (it.row, it.call));
        let began = bars.iter().map(|it| it.began_ms).reduce(f64::min);
        let ended = bars.iter().map(|it| it.began_ms + it.took_ms).fold(0.0, f64::max);
        let began_ms = began.unwrap_or_default();
        let left_out = left + (drawn.len() - bars.len()) as u64;
        let (rows, took_ms) = (rows.min(ask.rows), ended - began_ms);
        lanes.retain(|(_, first)| *first < rows);
        Ok(FlameFound { began_ms, took_ms, bars, lanes, rows, left_out, is_cut })
    }

    /// The longest calls, none before the one that made it; how many others were found, and whether all were.
    fn longest(&self, ask: &FlameAsk) -> Result<(Vec<Candidate>, u64, bool), Damage> {
        let (mut open, mut drawn) = (BinaryHeap::new(), Vec::new());
        let mut looked = 0;
        match ask.under {
            Some(call) => open.push(self.candidate(call, None)?),
            None => {
                for call in self.roots(ask.process).take(LOOKED_AT) {
                    open.push(self.candidate(call?, None)?);
                    looked += 1;
                }
            }
        }
        let mut is_cut = looked >= LOOKED_AT;
        while drawn.len() < ask.bars
            && let Some(next) = open.pop()
        {
            let mut left = LOOKED_AT - looked;
            for child in self.children(next.call.0) {
                if left == 0 {
                    is_cut = true;
                    break;
                }
                open.push(self.candidate(child?, Some(&next))?);
                left -= 1;
            }
            looked = LOOKED_AT - left;
            drawn.push(next);
        }
        Ok((drawn, open.len() as u64, is_cut))
    }

    fn candidate(&self, call: CallId, by: Option<&Candidate>) -> Result<Candidate, Damage> {
        let lane = self.small(call, Field::Lane)?;
        // What another thread does stands in its own rows.
        let depth = by.filter(|it| it.lane == lane).map_or(0, |it| it.depth + 1);
        let took = self.ticks_of(call)?;
        Ok(Candidate { took, call: std::cmp::Reverse(call), lane, depth })
    }

    /// How long a call took; one that had not ended, until the end of what was kept.
    fn ticks_of(&self, call: CallId) -> Result<u64, Damage> {
        let took = self.get(call, Field::Took)?;
        if self.small(call, Field::Ending)? & 3 != OPEN {
            return Ok(took);
        }
        let begin = self.get(call, Field::Begin)?;
        Ok(took.max(self.process(call.process)?.head.ticks.saturating_sub(begin)))
    }

    fn bar(&self, it: &Candidate, row: usize) -> Result<FlameBar, Damage> {
        let call = it.call.0;
        let of = self.process(call.process)?;
        let shown = self.call_shown(call, SHORT)?;
        Ok(FlameBar {
            call,
            told: format!("{} {}", shown.signature(60), shown.end.shown()),
            function: shown.function,
            file: shown.file,
            began_ms: of.milliseconds(self.get(call, Field::Begin)?),
            took_ms: of.milliseconds(it.took),
            row,
            is_raised: self.small(call, Field::Ending)? & 3 == UNWOUND,
        })
    }
}
