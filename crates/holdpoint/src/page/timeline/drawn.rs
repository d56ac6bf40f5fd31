//! The timeline as it is drawn: what the log and the store hold, each event a mark of its lane. An event is read once,
//! whoever looks and however often; what pages then ask for is counted over these marks alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use holdpoint_engine::{
    engine::Engine,
    event::EventKind,
    failure::Failure,
    ids::Seq,
    limits,
    timeline::{Ask, Fact},
};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    groups::EventGroup,
    lanes::{LaneGroup, TimeLane},
    tell::Telling,
};

/// One server's timeline, as far as it is drawn.
pub(crate) struct DrawnTimeline {
    /// Another server's run; none is this one.
    pub(super) run: Option<i64>,
    place: Option<Seq>,
    /// In the order they were told.
    pub(super) marks: VecDeque<TimeMark>,
    pub(super) lanes: Vec<TimeLane>,
    pub(super) plots: Vec<PlottedValues>,
    /// The words of notes, by their numbers.
    pub(super) notes: BTreeMap<u64, String>,
    /// Numbers that nobody kept.
    pub(super) gaps: Vec<(Seq, Seq)>,
    /// What is on disk alone, and not drawn: everything before this number.
    pub(super) begins: Seq,
    /// What somebody searched for, the newest last.
    found: VecDeque<FoundEvents>,
}

/// The numbers of the events that hold some words, as far as they were looked through.
struct FoundEvents {
    text: String,
    place: Seq,
    seqs: BTreeSet<u64>,
}

/// An event, as little of it as is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeMark {
    pub(super) seq: u64,
    /// When it was told, in milliseconds.
    pub(super) told: i64,
    /// When it happened; a program's own clock for what a program saw.
    pub(super) at: i64,
    pub(super) lane: usize,
    pub(super) group: EventGroup,
    pub(super) shape: MarkShape,
    /// How many calls it stands for.
    pub(super) count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkShape {
    Tick,
    Call,
    Hit,
    Failed,
    Ended,
    Note,
    /// What lasts is drawn from its beginning to its end.
    Span,
}

/// A number that a tracepoint saw, hit by hit.
pub(super) struct PlottedValues {
    pub(super) session: String,
    pub(super) point: u64,
    pub(super) expression: String,
    /// `stock.py:6`
    pub(super) place: String,
    pub(super) values: VecDeque<(i64, f64)>,
}

/// Those that pages have looked at, the newest last.
#[derive(Default)]
pub(crate) struct DrawnTimelines(VecDeque<DrawnTimeline>);

impl DrawnTimelines {
    /// One of them, as it is now.
    pub(super) async fn of(
        &mut self,
        engine: &Engine,
        run: Option<i64>,
        text: &str,
    ) -> Result<&DrawnTimeline, Failure> {
        let own = engine.kept().map(|it| it.run.0);
        let run = run.filter(|run| Some(*run) != own);
        let at = match self.0.iter().position(|it| it.run == run) {
            Some(at) => at,
            None => {
                if self.0.len() >= limits::PAGE_TIMELINES {
                    self.0.pop_front();
                }
                self.0.push_back(DrawnTimeline::new(run));
                self.0.len() - 1
            }
        };
        match self.0.get_mut(at) {
            Some(found) => {
                found.read_on(engine).await?;
                found.search_on(engine, text).await?;
                Ok(found)
            }
            None => Err(Failure::internal("a timeline that was made is not there")),
        }
    }
}

impl DrawnTimeline {
    fn new(run: Option<i64>) -> DrawnTimeline {
        DrawnTimeline {
            run,
            place: None,
            marks: VecDeque::new(),
            lanes: Vec::new(),
            plots: Vec::new(),
            notes: BTreeMap::new(),
            gaps: Vec::new(),
            begins: Seq::START,
            found: VecDeque::new(),
        }
    }

    async fn read_on(&mut self, engine: &Engine) -> Result<(), Failure> {
        loop {
            let since = match self.place {
                Some(place) => place,
                None => self.beginning(engine).await?,
            };
            let limit = limits::PAGE_DRAWN_AT_ONCE;
            let ask = Ask { run: self.run, since: Some(since), limit, ..Ask::default() };
            let told = engine.timeline(&ask).await?;
            if let Some((first, last)) = told.gap {
                self.gaps.push((first, last));
                self.place = Some(last);
            }
            for fact in &told.facts {
                self.take(fact);
                self.place = Some(fact.seq());
            }
            if told.more == 0 || told.facts.is_empty() {
                self.place = self.place.or(Some(since));
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }

    /// Looks for words in what came since they were last looked for.
    async fn search_on(&mut self, engine: &Engine, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        let known = self.found.iter().position(|it| it.text == text);
        let mut found = known.and_then(|at| self.found.remove(at)).unwrap_or_else(|| FoundEvents {
            text: text.to_owned(),
            place: self.begins,
            seqs: BTreeSet::new(),
        });
        let (run, limit) = (self.run, limits::PAGE_DRAWN_AT_ONCE);
        loop {
            let (since, text) = (Some(found.place), Some(text.to_owned()));
            let told = engine.timeline(&Ask { run, since, text, limit, ..Ask::default() }).await?;
            found.seqs.extend(told.facts.iter().map(|it| it.seq().0));
            found.place = match told.facts.last() {
                Some(last) if told.more > 0 => last.seq(),
                _ => told.head.max(found.place),
            };
            if told.more == 0 || told.facts.is_empty() {
                break;
            }
            tokio::task::yield_now().await;
        }
        while found.seqs.first().is_some_and(|it| *it < self.begins.0) {
            found.seqs.pop_first();
        }
        self.found.push_back(found);
        if self.found.len() > limits::PAGE_SEARCHES {
            self.found.pop_front();
        }
        Ok(())
    }

    /// Whether an event holds the words that are asked for.
    pub(super) fn holds(&self, text: &str, seq: u64) -> bool {
        text.is_empty() || self.found.iter().any(|it| it.text == text && it.seqs.contains(&seq))
    }

    /// From where it is drawn: as much as is drawn at the most.
    async fn beginning(&mut self, engine: &Engine) -> Result<Seq, Failure> {
        let newest = Ask { run: self.run, limit: 1, ..Ask::default() };
        let head = engine.timeline(&newest).await?.head;
        let drawn = u64::try_from(limits::PAGE_DRAWN).unwrap_or(u64::MAX);
        self.begins = Seq(head.0.saturating_sub(drawn));
        Ok(self.begins)
    }

    fn take(&mut self, fact: &Fact) {
        let of_live;
        let (label, data) = match fact {
            Fact::Live(record) => {
                of_live = serde_json::to_value(&*record.event).unwrap_or_default();
                (record.event.label(), of_live.get("data").unwrap_or(&Value::Null))
            }
            Fact::Kept(row) => (row.kind.as_str(), &row.data),
        };
        if label == "gap" {
            let number = |name| data.get(name).and_then(Value::as_u64).map(Seq);
            self.gaps.extend(number("first").zip(number("last")));
            return;
        }
        let kind = match label {
            EventKind::EXCEPTION => EventKind::Stopped,
            label => match EventKind::parse(label) {
                Some(kind) => kind,
                // Of another version of ours: it is in the list.
                None => return,
            },
        };
        let (seq, told) = (fact.seq().0, fact.at().as_millisecond());
        let at = happened_at(kind, data).unwrap_or(told);
        self.tell(&Telling { kind, seq, told, at, data, fact });
        self.trim();
    }

    pub(super) fn push(&mut self, of: &Telling<'_>, lane: usize, shape: MarkShape, count: u64) {
        let Telling { kind, seq, told, at, .. } = *of;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let group = EventGroup::of(kind);
        self.marks.push_back(TimeMark { seq, told, at, lane, group, shape, count });
    }

    /// The lane of that name, made if there is none yet.
    pub(super) fn lane(&mut self, group: LaneGroup, key: &str) -> usize {
        let found = self.lanes.iter().position(|it| it.group == group && it.key == key);
        found.unwrap_or_else(|| {
            self.lanes.push(TimeLane::new(group, key));
            self.lanes.len() - 1
        })
    }

    pub(super) fn at_lane(&mut self, lane: usize) -> Option<&mut TimeLane> {
        self.lanes.get_mut(lane)
    }

    fn trim(&mut self) {
        while self.marks.len() > limits::PAGE_DRAWN {
            let Some(gone) = self.marks.pop_front() else { break };
            self.begins = Seq(gone.seq);
            for plot in &mut self.plots {
                while plot.values.front().is_some_and(|(at, _)| *at < gone.at) {
                    plot.values.pop_front();
                }
            }
        }
        while self.notes.len() > limits::PAGE_SPANS {
            self.notes.pop_first();
        }
        for lane in &mut self.lanes {
            lane.trim();
        }
    }

    /// When the first and the newest of what is drawn was told; now, where nothing is.
    pub(super) fn ends(&self) -> (i64, i64) {
        let now = crate::page::pieces::now_ms();
        let at = |it: Option<&TimeMark>| it.map_or(now, |it| it.told);
        (at(self.marks.front()), at(self.marks.back()))
    }
}

/// A program's own clock, for what it told later.
fn happened_at(kind: EventKind, data: &Value) -> Option<i64> {
    if kind != EventKind::TracepointHit {
        return None;
    }
    data.get("at")?.as_str()?.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}
