//! `holdpoint://timeline` and `holdpoint://timeline/{kind}`: the newest events, as JSON.

use holdpoint_engine::{
    event::{Event, EventKind, Topic},
    failure::Failure,
    limits,
    timeline::{Ask, Fact},
};
use rmcp::model::ResourceContents;
use serde_json::{Value, json};

use super::{Resource, always, no_parts};
use crate::{app::App, tools::timeline::query::label};

pub(super) const TIMELINE: Resource = Resource {
    uri: "holdpoint://timeline",
    name: "timeline",
    about: "The newest events of every session, in one order; `timeline_query` reads further back",
    mime: "application/json",
    topic: Topic::Timeline,
    concerns: always,
    read: |app, uri, _| Box::pin(std::future::ready(Ok(newest(app, uri, Vec::new())))),
    parts: no_parts,
};

pub(super) const OF_KIND: Resource = Resource {
    uri: "holdpoint://timeline/{kind}",
    name: "timeline-of-kind",
    about: "The newest events of one kind",
    mime: "application/json",
    topic: Topic::Timeline,
    concerns: is_of_kind,
    read: |app, uri, part| Box::pin(std::future::ready(read_kind(app, uri, part))),
    parts: |_| EventKind::labels().map(str::to_owned).collect(),
};

fn is_of_kind(event: &Event, part: &str) -> bool {
    event.label() == part || event.kind().as_str() == part
}

fn read_kind(app: &App, uri: &str, part: &str) -> Result<ResourceContents, Failure> {
    Ok(newest(app, uri, vec![label(part)?]))
}

fn newest(app: &App, uri: &str, labels: Vec<&'static str>) -> ResourceContents {
    let ask = Ask { labels, limit: limits::PAGE_EVENTS, ..Ask::default() };
    let told = ask.of_ring(&app.engine.log);
    let events: Vec<Value> = told.facts.iter().map(Fact::to_json).collect();
    let json = json!({ "events": events, "seq": told.head });
    ResourceContents::text(json.to_string(), uri)
}
