//! Which parts of a group are shown where not all fit, and how much each gets.

use super::{Full, LEAST, Page, collapsed};
use crate::{
    pickle::Ref,
    value::{Group, Part},
};

/// Characters of `, … 123 more …, `.
const MARKER: usize = 18;
/// Looking at parts may cost this many times what is printed of them.
const LOOKS: usize = 4;

/// A part that is shown, and how many characters it would take.
struct Shown<'p> {
    part: Part<'p>,
    chars: usize,
}

impl<'p> Page<'p, '_> {
    pub(super) fn cut_group(&mut self, at: Ref, group: &Group<'p>, chars: usize) {
        let count = group.shown();
        if let Some(cycle) = self.cycle(at) {
            self.out.push_str(&cycle);
            return;
        }
        let brackets = group.open.chars().count() + group.close.chars().count();
        let room = chars.saturating_sub(brackets);
        if room < LEAST || count == 0 || self.above.len() >= self.depth_max {
            let text = if count == 0 {
                super::middle(&format!("{}{}", group.open, group.close), chars)
            } else {
                collapsed(group, count)
            };
            self.out.push_str(&text);
            return;
        }
        let (head, _) = self.choose(at, group, count, room, 0);
        if head.len() == count {
            self.put_group(at, group, count, (&head, &[]), room);
            return;
        }
        // Not all have a share that says something: room for `, … 123 more …, `.
        let room = room.saturating_sub(MARKER).max(LEAST);
        let tail_room = if group.kind.has_tail() { room / 4 } else { 0 };
        let (head, tail) = self.choose(at, group, count, room, tail_room);
        self.put_group(at, group, count, (&head, &tail), room);
    }

    fn put_group(
        &mut self,
        at: Ref,
        group: &Group<'p>,
        count: usize,
        (head, tail): (&[Shown<'p>], &[Shown<'p>]),
        room: usize,
    ) {
        let left_out = count - head.len() - tail.len();
        let sizes: Vec<usize> = head.iter().chain(tail).map(|shown| shown.chars).collect();
        let level = level(&sizes, room.saturating_sub(2 * sizes.len().saturating_sub(1)));
        self.out.push_str(&group.open);
        self.put_parts(at, head, level);
        if left_out > 0 {
            let comma = if head.is_empty() { "" } else { ", " };
            let after = if tail.is_empty() { "" } else { " …, " };
            self.out.push_str(&format!("{comma}… {left_out} more{after}"));
        }
        self.put_parts(at, tail, level);
        self.out.push_str(&group.close);
    }

    fn put_parts(&mut self, at: Ref, parts: &[Shown<'p>], level: usize) {
        for (index, shown) in parts.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.cut_part(at, &shown.part, shown.chars.min(level));
        }
    }

    /// One part within its share: its label first, and the value with what is left.
    fn cut_part(&mut self, at: Ref, part: &Part<'p>, chars: usize) {
        let start = self.out.len();
        self.left = chars;
        if self.whole_part(at, part).is_ok() {
            return;
        }
        self.out.truncate(start);
        self.left = chars;
        self.above.push((at, part.label.clone()));
        if self.whole_label(part).is_ok() {
            let left = self.left;
            part.value.into_iter().for_each(|value| self.fit(value, left));
        } else {
            self.out.truncate(start);
            self.out.push('…');
        }
        self.above.pop();
    }

    /// As many parts as can have a share that says something, from the start and, of a list, the end.
    fn choose(
        &mut self,
        at: Ref,
        group: &Group<'p>,
        count: usize,
        room: usize,
        tail_room: usize,
    ) -> (Vec<Shown<'p>>, Vec<Shown<'p>>) {
        let mut looks = room * LOOKS;
        // A few whole ones say more than many pieces.
        let least = (room / 4).max(2 * LEAST);
        let mut head = Vec::new();
        let mut used = 0;
        for index in 0..count {
            let Some(shown) = self.look(at, group, index, room, &mut looks) else { break };
            used += shown.chars.min(least) + 2;
            if used > room - tail_room && !head.is_empty() {
                break;
            }
            head.push(shown);
        }
        let mut tail = Vec::new();
        let mut used = 0;
        for index in (head.len()..count).rev() {
            let Some(shown) = self.look(at, group, index, room, &mut looks) else { break };
            used += shown.chars.min(least) + 2;
            if used > tail_room {
                break;
            }
            tail.push(shown);
        }
        tail.reverse();
        (head, tail)
    }

    /// How long a part would be, as far as it matters.
    fn look(
        &mut self,
        at: Ref,
        group: &Group<'p>,
        index: usize,
        room: usize,
        looks: &mut usize,
    ) -> Option<Shown<'p>> {
        let part = group.shown_part(index, self.pickle)?;
        let start = self.out.len();
        let may = room.min(*looks);
        self.left = may;
        let chars = match self.whole_part(at, &part) {
            Ok(()) => may - self.left,
            Err(Full) => room,
        };
        *looks = looks.saturating_sub(chars.min(may));
        self.out.truncate(start);
        Some(Shown { part, chars })
    }
}

/// The size up to which parts stay whole, so that all together take no more than `room`.
fn level(sizes: &[usize], room: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (index, size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_stay_whole_and_large_ones_share_the_rest() {
        assert_eq!(level(&[5, 5, 1_000], 100), 90);
        assert_eq!(level(&[1_000, 5, 1_000], 105), 50);
        assert_eq!(level(&[5, 5], 100), usize::MAX);
        assert_eq!(level(&[], 100), usize::MAX);
    }
}
