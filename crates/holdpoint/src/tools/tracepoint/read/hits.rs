//! Hits one by one: what several of them share is said once, above them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use holdpoint_engine::{
    breakpoints::{Breakpoint, Place},
    budget::{self, Budget, Lines},
    event::TraceHit,
    failure::Failure,
    ids::{BreakpointId, SessionId},
    log::{LogPage, Record},
    session::Session,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    closing,
    meant::{Meant, Totals},
    of, words,
};
use crate::{
    tool::{Answer, Reply},
    tools::debug::report::who,
};

/// Tracepoints that are named above the hits.
const HEADS: usize = 20;
/// Tracepoints without a hit that are named.
const SILENT: usize = 5;

/// What was asked for, and everything it is chosen from.
pub(super) struct Selected<'a> {
    pub(super) sessions: Vec<Arc<Session>>,
    pub(super) points: &'a [Breakpoint],
    /// Every hit that is kept.
    pub(super) kept: &'a [Record],
    pub(super) page: &'a LogPage,
    /// How many hits of each were told, also those that are no longer kept.
    pub(super) totals: Totals,
    pub(super) meant: &'a Meant,
    pub(super) id: Option<i64>,
    pub(super) since: Option<u64>,
    pub(super) has_times: bool,
}

impl Selected<'_> {
    /// Whether a hit has to say whose it is.
    pub(super) fn has_several(&self) -> bool {
        self.meant.sessions.len() > 1
    }
}

pub(super) fn reply(selected: &Selected<'_>, budget: Budget) -> Result<Reply, Failure> {
    let hits: Vec<&TraceHit> = selected.page.records.iter().filter_map(of).collect();
    let mut above = heads(selected, &hits);
    if let Some((first, last)) = selected.page.gap.filter(|_| selected.since.is_some()) {
        above.push(format!(
            "seq {first} to {last} are no longer here: `timeline_query {{\"kinds\": \
             [\"tracepoint_hit\"], \"since\": {}}}` has them",
            first.0 - 1
        ));
    }
    let shape = Shape::of(selected, &hits);
    let records = &selected.page.records;
    let lines: Vec<String> = records.iter().map(|it| shape.line(it, budget)).collect();
    // Of the newest the last ones are shown, of those after a place the first.
    let mut room = Lines::within(budget);
    above.iter().for_each(|it| room.always(it));
    let data =
        |record: &Record| of(record).map_or(0, |hit| hit_json(record, hit).to_string().len() + 1);
    let mut fits = |(line, record): &(&String, &Record)| room.push_beside(line, data(record));
    let pairs = lines.iter().zip(records);
    let fitting = match selected.since {
        Some(_) => pairs.take_while(&mut fits).count(),
        None => pairs.rev().take_while(&mut fits).count(),
    };
    let skipped = if selected.since.is_some() { 0 } else { lines.len() - fitting };
    let shown = records.get(skipped..skipped + fitting).unwrap_or_default();
    let mut text = Lines::within(budget);
    above.iter().chain(lines.iter().skip(skipped).take(fitting)).for_each(|it| text.always(it));
    let closing = closing::Closing::of(selected, shown);
    text.always(&closing.to_string());
    let data = json!({
        "hits": shown.iter().filter_map(|it| Some(hit_json(it, of(it)?))).collect::<Vec<_>>(),
        "total": closing.total,
        "earlier": closing.earlier,
        "more": closing.later,
        "next": shown.last().map(|it| it.seq),
        "ended": closing.is_over,
    });
    Ok(Answer::new(text.into_text(), &data)?.into())
}

/// A line for each tracepoint that was hit, one for those that were not.
fn heads(selected: &Selected<'_>, hits: &[&TraceHit]) -> Vec<String> {
    let Selected { sessions, points, totals, .. } = selected;
    let of_point = |point: &Breakpoint| -> BTreeMap<SessionId, u64> {
        let own = totals.iter().filter(|((id, _), _)| *id == point.id);
        own.map(|((_, session), hits)| (*session, *hits)).collect()
    };
    let (hit, silent): (Vec<&Breakpoint>, Vec<&Breakpoint>) =
        points.iter().partition(|it| points.len() == 1 || !of_point(it).is_empty());
    let head = |point: &&Breakpoint| {
        let own: Vec<&TraceHit> =
            hits.iter().filter(|it| it.breakpoint == point.id).copied().collect();
        let head = words::head(sessions, point, &own);
        format!("{head} · {}", words::by_session(&of_point(point), selected.has_several()))
    };
    let mut lines: Vec<String> = hit.iter().take(HEADS).map(head).collect();
    if let [only] = points {
        lines.extend(words::whole(only));
    }
    if let Some(more) = hit.len().checked_sub(HEADS).filter(|it| *it > 0) {
        lines.push(format!("… {more} more tracepoints: `breakpoint_list`"));
    }
    if !silent.is_empty() {
        let named = silent.iter().take(SILENT).map(|it| match &it.place {
            Place::Line { file, line, .. } => {
                format!("{} ({}:{line})", it.id, words::short(sessions, file))
            }
            place @ Place::Function { .. } => format!("{} ({place})", it.id),
        });
        let more = silent.len().saturating_sub(SILENT);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        let named = named.collect::<Vec<_>>().join(", ");
        lines.push(format!("no hit: tracepoint {named}{more}"));
    }
    lines
}

/// File, line and function.
type Site<'a> = (&'a str, u32, Option<&'a str>);

/// What has to be said of each hit, because they differ in it.
struct Shape<'a> {
    sessions: &'a [Arc<Session>],
    has_numbers: bool,
    has_sessions: bool,
    has_threads: bool,
    has_times: bool,
    /// Of tracepoints whose hits are not all in one place.
    scattered: BTreeSet<BreakpointId>,
    /// When each session's first hit was.
    first: BTreeMap<SessionId, Timestamp>,
}

impl<'a> Shape<'a> {
    fn of(selected: &'a Selected<'_>, hits: &[&TraceHit]) -> Shape<'a> {
        let mut sites: BTreeMap<BreakpointId, BTreeSet<Site<'_>>> = BTreeMap::new();
        for hit in hits {
            let site = (hit.file.as_str(), hit.line, hit.function.as_deref());
            sites.entry(hit.breakpoint).or_default().insert(site);
        }
        let ids: BTreeSet<BreakpointId> =
            selected.points.iter().map(|it| it.id).chain(sites.keys().copied()).collect();
        let mut first = BTreeMap::new();
        for hit in selected.kept.iter().filter_map(of) {
            first.entry(hit.session).or_insert(hit.at);
        }
        Shape {
            sessions: &selected.sessions,
            has_numbers: ids.len() > 1,
            has_sessions: selected.has_several(),
            has_threads: words::common(hits, |it| it.thread).is_none(),
            has_times: selected.has_times,
            scattered: sites.iter().filter(|(_, it)| it.len() > 1).map(|(id, _)| *id).collect(),
            first,
        }
    }

    /// `hit 7: x is 3`
    fn line(&self, record: &Record, budget: Budget) -> String {
        let Some(hit) = of(record) else { return String::new() };
        let number = if self.has_numbers { format!("#{} ", hit.breakpoint) } else { String::new() };
        let session = if self.has_sessions { format!("{} ", hit.session) } else { String::new() };
        let site = if self.scattered.contains(&hit.breakpoint) {
            let function = hit.function.as_deref().map(|it| format!(" in {it}"));
            let place = words::short(self.sessions, Path::new(&hit.file));
            format!("{} at {place}:{}", function.unwrap_or_default(), hit.line)
        } else {
            String::new()
        };
        let who = if self.has_threads { format!(" · {}", self.who(hit)) } else { String::new() };
        let after = self.first.get(&hit.session).map(|first| hit.at.duration_since(*first));
        // Where there is nothing else to say.
        let after = after.filter(|_| self.has_times || hit.message.is_none());
        let after = after.map(|it| format!(" +{:.3} s", it.as_secs_f64())).unwrap_or_default();
        // One hit takes no more than half of an answer.
        let message = hit.message.as_deref().map(|it| budget::cut(it, budget.bytes() / 2));
        let message = message.map(|it| format!(": {}", it.replace('\n', "⏎"))).unwrap_or_default();
        format!("{number}{session}hit {}{site}{who}{after}{message}", hit.hit_count)
    }

    fn who(&self, hit: &TraceHit) -> String {
        match self.sessions.iter().find(|it| it.id == hit.session) {
            Some(session) => who::of(session, hit.thread, None),
            None => format!("thread {}", hit.thread),
        }
    }
}

fn hit_json(record: &Record, hit: &TraceHit) -> Value {
    json!({
        "seq": record.seq,
        "breakpoint_id": hit.breakpoint,
        "session_id": hit.session,
        "thread_id": hit.thread,
        "hit_count": hit.hit_count,
        "timestamp": hit.at.to_string(),
        "log_message": hit.message,
    })
}
