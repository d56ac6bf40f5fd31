//! The events of a range as a list, newest first, a page at a time; from the log and from the store alike.

use holdpoint_engine::{
    event::EventKind,
    failure::Failure,
    ids::Seq,
    limits,
    timeline::{Ask, Fact},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{
    asked::AskedTimeline,
    chart::TimeChart,
    groups::EventGroup,
    tell::{YOU, doer},
};
use crate::{
    app::App,
    page::{
        address::{PageAddress, word},
        happened,
        pieces::{self, line},
    },
};

pub(super) struct ListedEvents {
    /// Newest first.
    facts: Vec<Fact>,
    /// There may be more before the last of them.
    has_older: bool,
}

impl ListedEvents {
    pub(super) async fn read(
        app: &App,
        asked: &AskedTimeline,
        chart: &TimeChart,
    ) -> Result<ListedEvents, Failure> {
        let end = chart.seqs.map(|(_, last)| last).filter(|_| asked.to.is_some());
        let until = match (asked.before, end) {
            (Some(before), _) => Some(Seq(before.saturating_sub(1))),
            (None, end) => end.map(Seq),
        };
        let ask = Ask {
            run: asked.run,
            until,
            labels: EventGroup::labels(&asked.groups),
            text: Some(asked.text.clone()).filter(|it| !it.is_empty()),
            limit: limits::PAGE_LISTED,
            ..Ask::default()
        };
        let is_empty = asked.groups.is_empty() || (asked.to.is_some() && chart.seqs.is_none());
        let mut facts = match is_empty {
            true => Vec::new(),
            false => app.engine.timeline(&ask).await?.facts,
        };
        let has_older = facts.len() >= limits::PAGE_LISTED;
        facts.reverse();
        Ok(ListedEvents { facts, has_older })
    }

    /// Each by the id of its element.
    pub(super) fn rows(&self) -> Vec<(String, Markup)> {
        if self.facts.is_empty() {
            let none = html! { tr #ev-none .none { td colspan="6" { "No event of these kinds is here." } } };
            return vec![("ev-none".to_owned(), none)];
        }
        self.facts.iter().map(|it| (id(it), row(it))).collect()
    }

    /// How many of how many, and the way on.
    pub(super) fn pager(
        &self,
        at: &PageAddress,
        asked: &AskedTimeline,
        chart: &TimeChart,
    ) -> Markup {
        let shown = self.facts.len();
        let counted = asked.groups.iter().filter_map(|it| chart.counts.get(it.place()));
        let all: usize = counted.sum();
        let last = self.facts.last().filter(|_| self.has_older).map(|it| it.seq().to_string());
        html! {
            span.quiet {
                (pieces::number(shown)) @if shown == 1 { " event" } @else { " events" }
                @if !asked.text.is_empty() { " that hold “" (line(&asked.text)) "”" }
                @else { "; this range has " (pieces::number(all)) }
            }
            span.end {
                @if asked.before.is_some() { a.btn.small href=(at.with(&[("before", "")])) { "Newest" } }
                @if let Some(last) = last { a.btn.small href=(at.with(&[("before", &last)])) { "Older events" } }
            }
        }
    }
}

fn id(fact: &Fact) -> String {
    format!("ev-{}", fact.seq())
}

fn row(fact: &Fact) -> Markup {
    let json = fact.to_json();
    let data = json.get("data").unwrap_or(&Value::Null);
    let (time, rest) = pieces::clock(fact.at().as_millisecond());
    let (kind, hue) = kind(fact);
    html! {
        tr id=(id(fact)) {
            td.num.quiet { (pieces::number(usize::try_from(fact.seq().0).unwrap_or_default())) }
            td.mono.quiet { time.tab data-at=(fact.at().as_millisecond()) { (time) span { (rest) } } }
            td { span class={ "kind " (hue) } { (line(kind)) } }
            td.soft { (of(data)) }
            td.soft.what { (line(&happened::short(&fact.text()))) }
            td.soft { (by(data)) }
        }
    }
}

fn kind(fact: &Fact) -> (&str, &'static str) {
    match fact {
        Fact::Live(record) => happened::kind(&record.event),
        Fact::Kept(row) => match row.kind.as_str() {
            EventKind::EXCEPTION => ("exception", "fail"),
            "gap" => ("gap", "hold"),
            // Of another version of ours.
            kind => match EventKind::parse(kind) {
                Some(known) => happened::word(known),
                None => (kind, ""),
            },
        },
    }
}

/// What it is about, with the way there.
fn of(data: &Value) -> Markup {
    let field = |name: &str| data.get(name).and_then(Value::as_str);
    html! {
        @if let Some(session) = field("session") { a href={ "/sessions/" (word(session)) } { (line(session)) } }
        @else if let Some(server) = field("server") { a.cut href={ "/external/" (word(server)) } { (line(server)) } }
        @else if let Some(process) = field("process") { span.cut { (line(process.rsplit('+').next().unwrap_or(process))) } }
    }
}

fn by(data: &Value) -> Markup {
    html! {
        @match doer(data) {
            Some(YOU) => span.by { (pieces::you()) "you" },
            Some(name) => span.by.cut { (pieces::who(name)) (line(name)) },
            None => {},
        }
    }
}
