//! What of the timeline is asked for: the range, the kinds and the words, all of it in the address.

use holdpoint_engine::limits;

use super::groups::EventGroup;
use crate::page::address::PageAddress;

/// Ranges that are offered, in milliseconds.
pub(super) const SPANS: [(&str, i64); 4] =
    [("10 s", 10_000), ("1 min", 60_000), ("10 min", 600_000), ("1 h", 3_600_000)];

const USUAL_SPAN: i64 = 60_000;

/// From a tenth of a second, below which marks fall apart, to a year.
const LEAST_SPAN: i64 = 100;
const MOST_SPAN: i64 = 365 * 86_400_000;

pub(super) struct AskedTimeline {
    /// Another server's.
    pub(super) run: Option<i64>,
    /// None is everything.
    span: Option<i64>,
    /// The end, where it stands still; none follows the newest event.
    pub(super) to: Option<i64>,
    pub(super) groups: Vec<EventGroup>,
    pub(super) text: String,
    /// The list before this number.
    pub(super) before: Option<u64>,
}

/// A stretch of time, cut into as many parts as a lane has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeWindow {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl AskedTimeline {
    pub(super) fn read(at: &PageAddress) -> AskedTimeline {
        let number = |name: &str| at.chosen(name).parse::<i64>().ok();
        let span = match at.chosen("span") {
            "all" => None,
            text => Some(text.parse().unwrap_or(USUAL_SPAN).clamp(LEAST_SPAN, MOST_SPAN)),
        };
        let has_chosen = !at.chosen("only").is_empty();
        let is_on = |it: &EventGroup| match has_chosen {
            true => !at.chosen(it.word()).is_empty(),
            false => it.is_usual(),
        };
        AskedTimeline {
            run: number("run"),
            span,
            to: number("to"),
            groups: EventGroup::ALL.into_iter().filter(is_on).collect(),
            text: at.chosen("q").trim().to_owned(),
            before: at.chosen("before").parse().ok(),
        }
    }

    /// The range where the first and the newest event are these. One that follows moves by whole parts, so that it
    /// is the same for a while.
    pub(super) fn window(&self, first: i64, newest: i64) -> TimeWindow {
        // A little more than all of it: the end is moved to a whole part.
        let all = || (newest - first).clamp(1_000, MOST_SPAN) / 100 * 101;
        let span = self.span.unwrap_or_else(all);
        let part = part_of(span);
        let to = match self.to {
            Some(to) => to.clamp(0, MOST_SPAN.saturating_mul(1_000)),
            None => newest.div_euclid(part).saturating_add(1).saturating_mul(part),
        };
        let parts = i64::try_from(limits::PAGE_BINS).unwrap_or(i64::MAX);
        TimeWindow { from: to.saturating_sub(part.saturating_mul(parts)), to }
    }

    pub(super) fn is_span(&self, span: i64) -> bool {
        self.span == Some(span)
    }

    pub(super) fn is_all(&self) -> bool {
        self.span.is_none()
    }

    pub(super) fn follows(&self) -> bool {
        self.to.is_none() && self.before.is_none()
    }

    /// Whether a text holds the words that are asked for, in whichever case.
    pub(super) fn says(&self, text: &str) -> bool {
        self.text.is_empty() || text.to_lowercase().contains(&self.text.to_lowercase())
    }

    pub(super) fn shows(&self, group: EventGroup) -> bool {
        self.groups.contains(&group)
    }
}

/// How long one part of a lane is.
fn part_of(span: i64) -> i64 {
    let parts = i64::try_from(limits::PAGE_BINS).unwrap_or(i64::MAX);
    (span.saturating_add(parts - 1) / parts).max(1)
}

impl TimeWindow {
    pub(super) fn span(self) -> i64 {
        (self.to - self.from).max(1)
    }

    /// The part that a moment falls into; none outside.
    pub(super) fn part(self, at: i64) -> Option<usize> {
        if at < self.from || at >= self.to {
            return None;
        }
        let parts = i64::try_from(limits::PAGE_BINS).unwrap_or(i64::MAX);
        let part = (at - self.from).saturating_mul(parts) / self.span();
        usize::try_from(part).ok().filter(|it| *it < limits::PAGE_BINS)
    }

    /// The same for the ends of what lasts: outside is at the edge.
    pub(super) fn edge(self, at: i64) -> usize {
        self.part(at.clamp(self.from, self.to - 1)).unwrap_or_default()
    }

    /// Half as long, or twice as long, around the same middle.
    pub(super) fn zoomed(self, is_in: bool) -> (i64, i64) {
        let span = if is_in { self.span() / 2 } else { self.span().saturating_mul(2) };
        let span = span.clamp(LEAST_SPAN, MOST_SPAN);
        let middle = self.from + self.span() / 2;
        (span, middle.saturating_add(span / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: &str) -> AskedTimeline {
        AskedTimeline::read(&PageAddress::read(address).unwrap())
    }

    #[test]
    fn a_range_that_follows_stands_still_for_a_part_of_it() {
        let window = asked("/timeline").window(0, 1_000_050);
        assert_eq!((window.from, window.to), (940_200, 1_000_200));
        assert_eq!(asked("/timeline").window(0, 1_000_199), window);
        assert_ne!(asked("/timeline").window(0, 1_000_200), window);
        assert_eq!(window.part(940_200), Some(0));
        assert_eq!(window.part(1_000_199), Some(299));
        assert_eq!((window.part(1_000_200), window.part(940_199)), (None, None));
    }

    #[test]
    fn whatever_an_address_says_gives_a_range() {
        for odd in
            ["span=-5", "span=x&to=y", "to=-9223372036854775808", "to=9223372036854775807&span=1"]
        {
            let window = asked(&format!("/timeline?{odd}")).window(5, 9);
            assert!(window.from < window.to, "{odd}: {window:?}");
            assert!(window.edge(i64::MIN) == 0 && window.edge(i64::MAX) == 299, "{odd}");
        }
        let all = asked("/timeline?span=all").window(1_000, 301_000);
        assert!(all.from <= 1_000 && all.to > 301_000, "{all:?}");
    }

    #[test]
    fn what_is_chosen_is_asked_for() {
        assert!(!asked("/timeline").shows(EventGroup::Threads));
        let only = asked("/timeline?only=1&threads=1");
        assert_eq!(only.groups, [EventGroup::Threads]);
        assert!(EventGroup::labels(&only.groups).contains(&"thread_started"));
    }
}
