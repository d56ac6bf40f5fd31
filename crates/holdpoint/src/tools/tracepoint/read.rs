//! `tracepoint_read`: the hits of tracepoints, one by one or all at once.

use holdpoint_engine::{
    breakpoints::{
        Breakpoint,
        aggregate::{Aggregate, Column},
    },
    budget::{self, Lines},
    event::{Event, TraceHit},
    failure::{Code, Failure},
    ids::{BreakpointId, Seq},
    limits,
    log::{Page, Record},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool},
    tools::breakpoint::bind,
};

pub(crate) struct Read;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    id: Option<i64>,
    /// A `seq`; 0 is the beginning.
    since: Option<u64>,
    limit: Option<usize>,
    #[serde(default)]
    aggregate: bool,
}

impl Tool for Read {
    const NAME: &'static str = "tracepoint_read";
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
            return aggregate(&app, &points, Lines::within(call.budget));
        }
        let limit = params.limit.unwrap_or(limits::PAGE_EVENTS);
        if !(1..=limits::PAGE_EVENTS_MAX).contains(&limit) {
            return Err(Failure::new(Code::InvalidParams, format!("parameter `limit` is {limit}"))
                .hint(format!("`limit` is from 1 to {}", limits::PAGE_EVENTS_MAX)));
        }
        let wanted = |record: &Record| {
            let hit = of(record);
            hit.is_some_and(|it| params.id.is_none_or(|id| it.breakpoint == BreakpointId(id)))
        };
        let log = &app.engine.log;
        let since = params.since.map_or_else(|| log.before_newest(limit, wanted), Seq);
        let page = log.page(since, limit, wanted);
        render(&points, &page, params.since.is_some(), Lines::within(call.budget))
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

fn render(
    points: &[Breakpoint],
    page: &Page,
    is_onward: bool,
    mut lines: Lines,
) -> Result<Reply, Failure> {
    for point in points {
        lines.always(&head(point));
    }
    if let Some((first, last)) = page.gap.filter(|_| is_onward) {
        lines.always(&format!(
            "seq {first} to {last} are no longer here: `timeline_query` has them"
        ));
    }
    let shown: Vec<&Record> = page.records.iter().take_while(|it| lines.push(&line(it))).collect();
    let more = page.more + page.records.len() - shown.len();
    let next = shown.last().map(|it| it.seq);
    if page.records.is_empty() {
        lines.always("no hit");
    }
    if let Some(next) = next.filter(|_| more > 0) {
        lines.always(&format!("… {more} more: pass `since: {next}`, or `aggregate: true`"));
    }
    let data = json!({
        "hits": shown.iter().filter_map(|it| Some(hit_json(it, of(it)?))).collect::<Vec<_>>(),
        "more": more,
        "next": next,
    });
    Ok(Answer::new(lines.into_text(), &data)?.into())
}

/// `Tracepoint 2 at /app/shop.py:12 "x is {x}", disabled: limit reached`
fn head(point: &Breakpoint) -> String {
    let message = point.trace.as_ref().and_then(|it| it.message.as_deref());
    let message = message.map(|it| format!(" \"{}\"", budget::cut(it, 80))).unwrap_or_default();
    let off = bind::off(point);
    format!("Tracepoint {} at {}{message}{off}", point.id, point.place)
}

/// `#2 hit 7 12:00:01.123456 in total: x is 3`
fn line(record: &Record) -> String {
    let Some(hit) = of(record) else { return String::new() };
    let function = hit.function.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
    let message = hit.message.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
    let at = hit.at.strftime("%H:%M:%S%.6f");
    format!("{} #{} hit {} {at}{function}{message}", record.seq, hit.breakpoint, hit.hit_count)
}

fn hit_json(record: &Record, hit: &TraceHit) -> Value {
    json!({
        "seq": record.seq,
        "breakpoint_id": hit.breakpoint,
        "session_id": hit.session,
        "hit_count": hit.hit_count,
        "timestamp": hit.at.to_string(),
        "log_message": hit.message,
    })
}

fn aggregate(app: &App, points: &[Breakpoint], mut lines: Lines) -> Result<Reply, Failure> {
    let mut rows = Vec::new();
    for point in points {
        let seen = app.engine.sessions.breakpoints.aggregate(point.id).unwrap_or_default();
        let Aggregate { hits, expressions } = &seen;
        if !lines.push(&format!("{}: {hits} hits", head(point))) {
            break;
        }
        let shown = expressions.iter().take_while(|it| lines.push(&column(it))).count();
        let left = expressions.len() - shown;
        if left > 0 {
            lines.always(&format!("  … {left} expressions more: pass `budget_tokens`"));
        }
        let columns: Vec<Value> = expressions.iter().take(shown).map(column_json).collect();
        rows.push(json!({ "breakpoint_id": point.id, "hits": hits, "expressions": columns }));
    }
    if points.is_empty() {
        lines.always("no tracepoints");
    }
    Ok(Answer::new(lines.into_text(), &json!({ "tracepoints": rows }))?.into())
}

/// `  x: 1000 values, 10 distinct, min 0, max 9, last 9, first 0 until hit 101 (1)`
fn column(column: &Column) -> String {
    let Column { expression, count, errors, .. } = column;
    let (distinct, is_exact) = column.distinct();
    let least = if is_exact { "" } else { "at least " };
    let mut text = format!("  {expression}: {} values, {least}{distinct} distinct", count - errors);
    if column.others == 0
        && let (Some(min), Some(max)) = (&column.min, &column.max)
    {
        text += &format!(", min {}, max {}", min.text, max.text);
    }
    if let (Some(first), Some(last)) = (&column.first, &column.last) {
        text += &format!(", first {}, last {}", budget::cut(first, 60), budget::cut(last, 60));
    }
    text += &match &column.changed_at {
        Some(change) => {
            format!(", changed at hit {} to {}", change.hit, budget::cut(&change.value, 60))
        }
        None => ", never changed".to_owned(),
    };
    if let Some(error) = column.last_error.as_deref().filter(|_| *errors > 0) {
        text += &format!(", {errors} errors (last {error})");
    }
    text
}

fn column_json(column: &Column) -> Value {
    let (distinct, is_exact) = column.distinct();
    json!({
        "expression": column.expression,
        "count": column.count,
        "errors": column.errors,
        "last_error": column.last_error,
        "distinct": distinct,
        "distinct_is_exact": is_exact,
        "min": column.min.as_ref().map(|it| &it.text),
        "max": column.max.as_ref().map(|it| &it.text),
        "first": column.first,
        "last": column.last,
        "changed_at_hit": column.changed_at.as_ref().map(|it| it.hit),
    })
}
