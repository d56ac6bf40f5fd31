//! Lanes: who there is on the timeline, and what lasted there.

use std::collections::VecDeque;

use holdpoint_engine::limits;

/// Headings of the chart, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneGroup {
    People,
    Sessions,
    Apps,
    Servers,
}

impl LaneGroup {
    pub(super) const fn heading(self) -> &'static str {
        match self {
            LaneGroup::People => "Agents and people",
            LaneGroup::Sessions => "Sessions",
            LaneGroup::Apps => "Apps",
            LaneGroup::Servers => "External",
        }
    }

    /// In the ids of elements.
    pub(super) const fn word(self) -> &'static str {
        match self {
            LaneGroup::People => "who",
            LaneGroup::Sessions => "session",
            LaneGroup::Apps => "app",
            LaneGroup::Servers => "server",
        }
    }
}

pub(super) struct TimeLane {
    pub(super) group: LaneGroup,
    /// By which events find it: a name, `s1`, an app's process.
    pub(super) key: String,
    pub(super) name: String,
    /// Beside the name.
    pub(super) small: String,
    pub(super) spans: VecDeque<LaneSpan>,
}

/// What lasted.
#[derive(Debug, Clone)]
pub(super) struct LaneSpan {
    pub(super) kind: SpanKind,
    /// A pause, by its name; empty for a program's.
    id: String,
    pub(super) from: i64,
    /// None while it lasts.
    pub(super) until: Option<i64>,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    Runs,
    Stopped,
    Paused,
}

impl TimeLane {
    pub(super) fn new(group: LaneGroup, key: &str) -> TimeLane {
        let (name, small) = (key.to_owned(), String::new());
        TimeLane { group, key: key.to_owned(), name, small, spans: VecDeque::new() }
    }

    pub(super) fn begin(&mut self, kind: SpanKind, id: &str, from: i64, text: String) {
        self.end(kind, id, from);
        self.spans.push_back(LaneSpan { kind, id: id.to_owned(), from, until: None, text });
    }

    /// Ends what lasts of that kind and name, if anything does.
    pub(super) fn end(&mut self, kind: SpanKind, id: &str, at: i64) {
        let mut open = self.spans.iter_mut().filter(|it| it.until.is_none());
        if let Some(span) = open.find(|it| it.kind == kind && it.id == id) {
            span.until = Some(at.max(span.from));
        }
    }

    /// The oldest that are over go first; what lasts stays.
    pub(super) fn trim(&mut self) {
        while self.spans.len() > limits::PAGE_SPANS {
            let over = self.spans.iter().position(|it| it.until.is_some());
            self.spans.remove(over.unwrap_or_default());
        }
    }
}
