//! A frame's steps as visits of lines, and the loops among them.

use crate::{
    damage::Damage,
    head::NONE,
    recording::{CallId, Recording},
    steps::{FrameStep, StepAt},
};

/// One time at one line.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Visit {
    pub(crate) line: u32,
    /// The how manieth time, from 1.
    pub(crate) nth: u32,
    pub(crate) event: u64,
    /// Slot, value, and what it was before.
    pub(crate) writes: Vec<(u32, u32, u32)>,
    pub(crate) children: Vec<u32>,
    /// Name, arguments, result of calls into other code.
    pub(crate) leaves: Vec<(u32, Vec<u32>, u32)>,
    pub(crate) raised: Option<u32>,
    pub(crate) handled: Option<u32>,
    pub(crate) yielded: Option<u32>,
    pub(crate) is_partial: bool,
    /// Events between it and the next one that were not kept.
    pub(crate) gap: u64,
}

/// The visits of a call, with what its arguments were.
pub(crate) struct Visits {
    pub(crate) all: Vec<Visit>,
}

impl Recording {
    pub(crate) fn visits(&self, call: CallId, function: u32) -> Result<Visits, Damage> {
        let of = self.process(call.process)?.function(function)?;
        let mut state = vec![NONE; of.slots.len()];
        for (place, value) in state.iter_mut().zip(self.arguments(call)?) {
            *place = value;
        }
        let mut all: Vec<Visit> = Vec::new();
        let mut times = std::collections::HashMap::new();
        for StepAt { event, step } in self.steps(call)? {
            if let FrameStep::Line(line) = step {
                let nth = times.entry(line).and_modify(|it| *it += 1).or_insert(1_u32);
                all.push(Visit { line, nth: *nth, event, ..Visit::default() });
                continue;
            }
            if all.is_empty() {
                all.push(Visit { line: of.first_line, event, ..Visit::default() });
            }
            let Some(visit) = all.last_mut() else { continue };
            match step {
                FrameStep::Write { slot, value } => {
                    let place = state.get_mut(slot as usize).ok_or(Damage::Unknown("slot"))?;
                    visit.writes.push((slot, value, std::mem::replace(place, value)));
                }
                FrameStep::Child(call) => visit.children.push(call),
                FrameStep::Leaf { name, arguments, result } => {
                    visit.leaves.push((name, arguments, result));
                }
                FrameStep::Raise(value) => visit.raised = Some(value),
                FrameStep::Handled(value) => visit.handled = Some(value),
                FrameStep::Yield(value) => visit.yielded = Some(value),
                FrameStep::Gap(events) => visit.gap += events,
                FrameStep::Partial => visit.is_partial = true,
                FrameStep::Resume | FrameStep::Line(_) => {}
            }
        }
        Ok(Visits { all })
    }
}

/// Visits one after the other, or a loop's.
#[derive(Debug, PartialEq)]
pub(crate) enum Stretch<'a> {
    Straight(&'a [Visit]),
    /// From the first time at its first line to its last pass.
    Loop(&'a [Visit]),
}

/// Cuts visits into straight stretches and outermost loops.
pub(crate) fn stretches(all: &[Visit]) -> Vec<Stretch<'_>> {
    let (mut out, mut rest) = (Vec::new(), all);
    while let Some((begin, end)) = first_loop(rest) {
        let (before, after) = rest.split_at(begin.min(rest.len()));
        let (body, after) = after.split_at(end.saturating_sub(begin).min(after.len()));
        if !before.is_empty() {
            out.push(Stretch::Straight(before));
        }
        out.push(Stretch::Loop(body));
        rest = after;
    }
    if !rest.is_empty() {
        out.push(Stretch::Straight(rest));
    }
    out
}

/// Where a line is reached again for the first time, and where the loop from there ends.
fn first_loop(all: &[Visit]) -> Option<(usize, usize)> {
    let mut first_at = std::collections::HashMap::new();
    let mut begin = None;
    let mut head = 0;
    for (at, visit) in all.iter().enumerate() {
        // A line may be reached twice in a row by one statement over several lines.
        let is_back = at > 0 && all.get(at - 1).is_some_and(|it| it.line >= visit.line);
        match first_at.get(&visit.line) {
            Some(first) if is_back => {
                (begin, head) = (Some(*first), visit.line);
                break;
            }
            Some(_) => {}
            None => drop(first_at.insert(visit.line, at)),
        }
    }
    let begin = begin?;
    // An outer loop comes back to an earlier line.
    let mut last = begin;
    let mut low = head;
    for (at, visit) in all.iter().enumerate().skip(begin) {
        let was_before = first_at.get(&visit.line).is_some_and(|it| *it < begin);
        if visit.line == head {
            last = at;
        } else if was_before && visit.line < low {
            // It encloses this one.
            low = visit.line;
        }
    }
    if low != head {
        let outer = *first_at.get(&low)?;
        last = all.iter().rposition(|it| it.line == low)?;
        return Some((outer, end_of(all, outer, last)));
    }
    Some((begin, end_of(all, begin, last)))
}

/// The last pass ends where a line is reached that no earlier pass had.
fn end_of(all: &[Visit], begin: usize, last: usize) -> usize {
    let lines: std::collections::HashSet<u32> =
        all.get(begin..last).unwrap_or_default().iter().map(|it| it.line).collect();
    let after = all.get(last + 1..).unwrap_or_default();
    last + 1 + after.iter().take_while(|it| lines.contains(&it.line)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(lines: &[u32]) -> Vec<(char, Vec<u32>)> {
        let visits: Vec<Visit> =
            lines.iter().map(|line| Visit { line: *line, ..Visit::default() }).collect();
        let lines = |all: &[Visit]| all.iter().map(|it| it.line).collect::<Vec<_>>();
        let told = stretches(&visits).into_iter().map(|it| match it {
            Stretch::Straight(all) => ('-', lines(all)),
            Stretch::Loop(all) => ('o', lines(all)),
        });
        told.collect()
    }

    #[test]
    fn loops_are_found() {
        assert_eq!(cut(&[1, 2, 3]), [('-', vec![1, 2, 3])]);
        assert_eq!(
            cut(&[1, 2, 3, 2, 3, 2, 4]),
            [('-', vec![1]), ('o', vec![2, 3, 2, 3, 2]), ('-', vec![4])]
        );
        // Nested: the outer one is told.
        assert_eq!(
            cut(&[1, 2, 3, 4, 3, 4, 3, 2, 3, 4, 3, 2, 5]),
            [('-', vec![1]), ('o', vec![2, 3, 4, 3, 4, 3, 2, 3, 4, 3, 2]), ('-', vec![5])]
        );
        // Two, one behind the other.
        let two = cut(&[1, 2, 1, 2, 1, 5, 6, 5, 6, 5, 7]);
        assert_eq!(two.iter().map(|it| it.0).collect::<String>(), "oo-");
    }
}
