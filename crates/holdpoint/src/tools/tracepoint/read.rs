//! `tracepoint_read`: the hits of tracepoints, one by one or all at once.

mod closing;
mod hits;
mod meant;
mod sums;
mod words;

use holdpoint_engine::{
    breakpoints::Breakpoint,
    budget::Lines,
    event::{Event, TraceHit},
    failure::{Code, Failure},
    ids::{BreakpointId, Seq},
    limits,
    log::Record,
};
use schemars::JsonSchema;
use serde::Deserialize;

use self::{hits::Selected, meant::Meant};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Read;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    id: Option<i64>,
    /// A `seq`; 0 is the beginning.
    since: Option<u64>,
    limit: Option<usize>,
    #[serde(default)]
    times: bool,
    #[serde(default)]
    aggregate: bool,
}

impl Tool for Read {
    const NAME: &'static str = "tracepoint_read";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What tracepoints saw: the hits, or with `aggregate` each \
        expression over all of them.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Read tracepoints";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let points = tracepoints(&app, params.id)?;
        if params.aggregate {
            return sums::reply(&app, &points, Lines::within(call.budget));
        }
        // Whoever pages through them wants them all.
        let usual = if params.since.is_some() { limits::PAGE_EVENTS } else { limits::PAGE_HITS };
        let limit = params.limit.unwrap_or(usual);
        if !(1..=limits::PAGE_EVENTS_MAX).contains(&limit) {
            return Err(Failure::new(Code::InvalidParams, format!("parameter `limit` is {limit}"))
                .hint(format!("`limit` is from 1 to {}", limits::PAGE_EVENTS_MAX)));
        }
        let log = &app.engine.log;
        // All that are kept: how many there are is told with those that are shown.
        let all = log.page(Seq::START, usize::MAX, |it| of(it).is_some()).records;
        let sessions = app.engine.sessions.all();
        let meant = Meant::of(&all, &points, &sessions, params.since.map(Seq));
        let wanted = |record: &Record| of(record).is_some_and(|it| meant.has(it));
        let kept: Vec<Record> = all.into_iter().filter(|it| wanted(it)).collect();
        let since = params.since.map_or_else(|| log.before_newest(limit, wanted), Seq);
        let page = log.page(since, limit, wanted);
        let selected = Selected {
            totals: meant.totals(&kept, &sessions),
            meant: &meant,
            sessions,
            points: &points,
            kept: &kept,
            page: &page,
            id: params.id,
            since: params.since,
            has_times: params.times,
        };
        hits::reply(&selected, call.budget)
    }
}

fn of(record: &Record) -> Option<&TraceHit> {
    match &*record.event {
        Event::TracepointHit(hit) => Some(hit),
        _ => None,
    }
}

fn tracepoints(app: &App, id: Option<i64>) -> Result<Vec<Breakpoint>, Failure> {
    let all = app.engine.sessions.breakpoints.all();
    let traces: Vec<Breakpoint> = all.into_iter().filter(|it| it.trace.is_some()).collect();
    let Some(id) = id.map(BreakpointId) else { return Ok(traces) };
    let found: Vec<Breakpoint> = traces.into_iter().filter(|it| it.id == id).collect();
    if found.is_empty() {
        let is_breakpoint = app.engine.sessions.breakpoints.get(id).is_some();
        let what = if is_breakpoint { "is a breakpoint, which reports nothing" } else { "is none" };
        return Err(Failure::new(Code::NotFound, format!("no tracepoint {id}: it {what}"))
            .hint("`breakpoint_list` lists them, `tracepoint_set` makes one"));
    }
    Ok(found)
}
