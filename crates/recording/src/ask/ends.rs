//! Both ends of a long life: of many writes an answer shows the first and the last, and their number is known
//! without reading them all.

use std::collections::HashSet;

use super::history::{Target, Written};
use crate::{
    columns::Field,
    damage::Damage,
    head::PieceAt,
    recording::{CallId, Recording},
};

/// A write, and the value before it in its call.
pub(super) type WrittenAfter = (Written, Option<u32>);

/// A frame of fewer steps is in one part: a step has at most eleven bytes, mostly one or two.
const SURELY_WHOLE: u64 = 5_000;

impl Recording {
    /// How many writes there are, the first and the last; nothing where all have to be read to tell it.
    pub(super) fn ends(
        &self,
        targets: &[Target],
        limit: usize,
    ) -> Result<Option<(u64, Vec<WrittenAfter>)>, Damage> {
        let Some(first) = targets.first() else { return Ok(None) };
        let is_read = |it: &Target| it.base.is_some() || it.key.is_some();
        if targets.iter().any(|it| it.process != first.process || is_read(it)) {
            return Ok(None);
        }
        let of = self.process(first.process)?;
        let functions: HashSet<u32> = targets.iter().map(|it| it.function).collect();
        let pieces = functions.iter().flat_map(|it| of.pieces_of(*it));
        let mut pieces: Vec<PieceAt> =
            pieces.filter_map(|it| of.head.pieces.get(*it as usize)).copied().collect();
        let mut total = 0;
        for target in targets {
            let tally = of.head.tallies.get(target.function as usize);
            total += tally.and_then(|it| it.writes.get(target.slot as usize)).copied().unwrap_or(0);
            if target.slot < of.function(target.function)?.parameters {
                let own = pieces.iter().filter(|it| it.function == target.function);
                total += own.map(|it| u64::from(it.frames)).sum::<u64>();
            }
        }
        if total <= limit as u64 * 4 || pieces.iter().any(|it| it.end == 0) {
            return Ok(None);
        }
        let half = limit / 2;
        pieces.sort_by_key(|it| (it.begin, it.pack, it.at));
        let Some(mut begin) = self.gathered(targets, &pieces, half, |found, piece| {
            found.select_nth_unstable_by_key(half - 1, |it| it.event).1.event
                < piece.begin.saturating_sub(1)
        })?
        else {
            return Ok(None);
        };
        begin.sort_by_key(|it| (it.event, it.call));
        pieces.sort_by_key(|it| std::cmp::Reverse((it.end, it.pack, it.at)));
        let last = limit - half;
        let Some(mut end) = self.gathered(targets, &pieces, last, |found, piece| {
            let at = found.len() - last;
            found.select_nth_unstable_by_key(at, |it| it.event).1.event >= piece.end
        })?
        else {
            return Ok(None);
        };
        end.sort_by_key(|it| (it.event, it.call));
        let mut rows = Vec::with_capacity(limit);
        for at in 0..half.min(begin.len()) {
            rows.extend(after(&begin, at));
        }
        for at in end.len().saturating_sub(last)..end.len() {
            let Some((written, before)) = after(&end, at) else { continue };
            let before = match before {
                None => self.before(targets, &written)?,
                known => known,
            };
            rows.push((written, before));
        }
        Ok(Some((total, rows)))
    }

    /// Writes of one piece after the other, until there are enough and no further piece can have one between.
    fn gathered(
        &self,
        targets: &[Target],
        pieces: &[PieceAt],
        enough: usize,
        is_done: impl Fn(&mut Vec<Written>, &PieceAt) -> bool,
    ) -> Result<Option<Vec<Written>>, Damage> {
        let mut found: Vec<Written> = Vec::new();
        for piece in pieces {
            if found.len() >= enough.max(1) && is_done(&mut found, piece) {
                break;
            }
            for target in targets.iter().filter(|it| it.function == piece.function) {
                let from = found.len();
                self.collect(target, None, |it| it == piece, &mut found)?;
                // Where a frame is in several parts, this may be one behind the first.
                let given = found.get(from..).unwrap_or_default().iter().filter(|it| it.line == 0);
                for written in given {
                    let call = CallId { process: written.process, number: written.call };
                    if self.get(call, Field::Kept)? >= SURELY_WHOLE {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(found))
    }

    /// The value before a write in its own call, wherever that stands.
    fn before(&self, targets: &[Target], written: &Written) -> Result<Option<u32>, Damage> {
        let call = CallId { process: written.process, number: written.call };
        let mut all = Vec::new();
        for target in targets.iter().filter(|it| it.function == written.function) {
            self.collect(target, Some(call), |_| true, &mut all)?;
        }
        all.retain(|it| it.event < written.event && it.item == written.item);
        Ok(all.iter().max_by_key(|it| it.event).map(|it| it.value))
    }
}

/// A write among others in their order, with the one before it in the same call.
fn after(all: &[Written], at: usize) -> Option<WrittenAfter> {
    let written = all.get(at)?;
    let before =
        all.get(..at)?.iter().rfind(|it| it.call == written.call && it.item == written.item);
    Some((*written, before.map(|it| it.value)))
}
