//! A question to the timeline: the ring answers what it has, the store what was before it.

use std::{borrow::Cow, sync::Arc};

use holdpoint_store::{EventRow, EventsWanted, RunId};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Timeline;
use crate::{
    failure::{Code, Failure},
    ids::Seq,
    log::{Log, Record},
};

/// Which events.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Another server's; none is this one's.
    pub run: Option<i64>,
    /// Only those after it; without it the newest.
    pub since: Option<Seq>,
    /// Only those up to it.
    pub until: Option<Seq>,
    /// Of any of these [labels](crate::event::Event::label); empty is any.
    pub labels: Vec<&'static str>,
    pub session: Option<String>,
    /// Whose line holds this, in whichever case.
    pub text: Option<String>,
    pub limit: usize,
}

/// An event, from the ring or from the store.
#[derive(Debug, Clone)]
pub enum Fact {
    Live(Record),
    Kept(EventRow),
}

/// The answer, in order.
#[derive(Debug)]
pub struct Facts {
    pub facts: Vec<Fact>,
    /// Numbers asked for that are no longer kept.
    pub gap: Option<(Seq, Seq)>,
    /// How many more match behind these. Behind the newest there are none.
    pub more: usize,
    /// The newest number of the run.
    pub head: Seq,
    /// From where this was read on.
    pub since: Seq,
}

impl Fact {
    pub fn seq(&self) -> Seq {
        match self {
            Fact::Live(record) => record.seq,
            Fact::Kept(row) => Seq(row.seq),
        }
    }

    pub fn at(&self) -> Timestamp {
        match self {
            Fact::Live(record) => record.at,
            Fact::Kept(row) => row.at,
        }
    }

    pub fn kind(&self) -> &str {
        match self {
            Fact::Live(record) => record.event.kind().as_str(),
            // An exception is a kind of stop.
            Fact::Kept(row) if row.kind == "exception" => "stopped",
            Fact::Kept(row) => &row.kind,
        }
    }

    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Fact::Live(record) => record.event.line().into(),
            Fact::Kept(row) => row.text.as_str().into(),
        }
    }

    /// `{seq, at, kind, data}`, as on every wire.
    pub fn to_json(&self) -> Value {
        match self {
            Fact::Live(record) => record.to_json(),
            Fact::Kept(row) => json!({
                "seq": row.seq, "at": row.at.to_string(), "kind": self.kind(), "data": row.data,
            }),
        }
    }
}

impl Ask {
    pub fn accepts(&self, record: &Record) -> bool {
        let event = &record.event;
        let is_kind = self.labels.is_empty() || {
            let label = event.label();
            self.labels.contains(&label)
                || (label == "exception" && self.labels.contains(&"stopped"))
        };
        let is_sessions = self.session.as_ref().is_none_or(|wanted| {
            event.session().is_some_and(|session| session.to_string() == *wanted)
        });
        is_kind
            && is_sessions
            && self.until.is_none_or(|until| record.seq <= until)
            && self.text.as_ref().is_none_or(|text| contains(&event.line(), text))
    }

    /// What the ring has of it.
    pub fn of_ring(&self, log: &Log) -> Facts {
        let since = match self.since {
            Some(since) => since,
            None => log.before_newest(self.limit, |record| self.accepts(record)),
        };
        let page = log.page(since, self.limit, |record| self.accepts(record));
        let facts = page.records.into_iter().map(Fact::Live).collect();
        Facts { facts, gap: page.gap, more: page.more, head: page.head, since }
    }

    /// The whole answer; `timeline` is where there is more than the ring has.
    pub async fn of(&self, log: &Arc<Log>, timeline: Option<&Timeline>) -> Result<Facts, Failure> {
        match (self.run, timeline) {
            (Some(run), Some(timeline)) if run != timeline.run.0 => {
                self.of_run(timeline, RunId(run)).await
            }
            (Some(run), None) => Err(no_run(run)),
            (_, None) => Ok(self.of_ring(log)),
            (_, Some(timeline)) => self.of_both(log, timeline).await,
        }
    }

    async fn of_run(&self, timeline: &Timeline, run: RunId) -> Result<Facts, Failure> {
        let page = timeline.read(run, self.wanted(self.limit)).await?;
        let Some((first, last)) = page.kept else { return Err(no_run(run.0)) };
        let since = self.since.unwrap_or(Seq::START);
        let is_cut = self.since.is_some() && since.next() < Seq(first);
        let gap = is_cut.then(|| (since.next(), Seq(first - 1)));
        let facts = page.events.into_iter().map(Fact::Kept).collect();
        let more = self.behind(page.more);
        Ok(Facts { facts, gap, more, head: Seq(last), since })
    }

    /// The store for what the ring no longer has, the ring for the rest.
    async fn of_both(&self, log: &Arc<Log>, timeline: &Timeline) -> Result<Facts, Failure> {
        let ring = self.of_ring(log);
        let first = log.first();
        let is_lacking = match self.since {
            Some(since) => since.next() < first,
            None => ring.facts.len() < self.limit && Seq(1) < first,
        };
        if !is_lacking {
            return Ok(ring);
        }
        let room = match self.since {
            Some(_) => self.limit,
            None => self.limit - ring.facts.len(),
        };
        let older = EventsWanted { before: Some(self.end(first)), ..self.wanted(room) };
        let page = timeline.read(timeline.run, older).await?;
        Ok(self.joined(ring, page, first))
    }

    fn joined(&self, ring: Facts, page: holdpoint_store::EventsPage, first: Seq) -> Facts {
        let asked = self.since.unwrap_or_default().next();
        let gap = match page.kept {
            None => ring.gap,
            Some((kept, _)) if self.since.is_some() && asked < Seq(kept) => {
                Some((asked, Seq(kept - 1)))
            }
            // The writer is behind the ring; it will note this gap itself.
            Some((_, last)) if Seq(last).next() < first => {
                Some((Seq(last).next(), Seq(first.0 - 1)))
            }
            Some(_) => None,
        };
        let mut facts: Vec<Fact> = page.events.into_iter().map(Fact::Kept).collect();
        let older = facts.len();
        let live = ring.facts.len();
        facts.extend(ring.facts);
        facts.truncate(self.limit);
        let unshown = older + live - facts.len();
        let more = self.behind(page.more) + ring.more + unshown;
        Facts { facts, gap, more, head: ring.head, since: ring.since }
    }

    /// What the store has beyond its page is before the newest, and not behind them.
    fn behind(&self, more: usize) -> usize {
        if self.since.is_some() { more } else { 0 }
    }

    /// The number before which the store is asked.
    fn end(&self, first: Seq) -> u64 {
        self.until.map_or(first, |until| until.next().min(first)).0
    }

    fn wanted(&self, limit: usize) -> EventsWanted {
        let mut kinds: Vec<String> = self.labels.iter().map(|it| (*it).to_owned()).collect();
        if self.labels.contains(&"stopped") {
            kinds.push("exception".to_owned());
        }
        if !kinds.is_empty() {
            // What was lost may have been of any kind.
            kinds.push("gap".to_owned());
        }
        EventsWanted {
            after: self.since.unwrap_or_default().0,
            before: self.until.map(|until| until.next().0),
            kinds,
            session: self.session.clone(),
            text: self.text.clone(),
            limit,
            newest: self.since.is_none(),
        }
    }
}

impl Timeline {
    async fn read(
        &self,
        run: RunId,
        wanted: EventsWanted,
    ) -> Result<holdpoint_store::EventsPage, Failure> {
        let store = self.memory.store().ok_or_else(|| no_run(run.0))?;
        store.events(run, wanted).await.map_err(|error| {
            Failure::new(Code::StoreFailed, format!("the timeline cannot be read: {error}"))
                .hint("`server_status` says how the store is")
        })
    }
}

fn no_run(run: i64) -> Failure {
    Failure::new(Code::NotFound, format!("nothing is kept of run {run}"))
        .hint("`timeline_query {\"since\": 0}` names the runs before this one")
}

fn contains(line: &str, wanted: &str) -> bool {
    line.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase())
}
