//! The answer: a line for each hit, what was missed, what the program wrote where that explains it; the last line
//! says how many of how many, and why it was over.

use std::collections::BTreeMap;

use holdpoint_engine::{
    breakpoints::{Breakpoints, passes::Passes},
    budget::{self, Budget},
    failure::{Code, Failure},
    process::Exit,
    session::Session,
};
use serde_json::{Value, json};

use super::{
    frames,
    hits::{Hit, Seen as Looked},
    missed, order, passes,
    plan::{Plan, Planned, Want},
    rows::{Row, SHORT, cell, column, differ, fold, pair, short, within},
    said,
    watch::{self, End, Seen},
};
use crate::{
    tool::{Answer, Reply},
    tools::debug::report,
};

/// Callers of a hit that are named, of the user's own.
const CALLERS: usize = 10;
/// A value of a hit alone may take this part of the budget.
const FULL_PART: usize = 4;
/// Locals of the first hit that are listed.
const LOCALS: usize = 20;

pub(super) async fn answer(
    session: &Session,
    own: &Breakpoints,
    plan: &Plan,
    seen: Seen,
    budget: Budget,
) -> Result<Reply, Failure> {
    let gathered = own.gathered();
    let of_all = |(at, planned): (usize, &Planned)| match planned.want {
        Want::All => Some((at, gathered.of(planned.id))),
        Want::AllStopping => Some((at, seen.passes.get(&at).cloned().unwrap_or_default())),
        Want::Nth(_) | Want::First(_) => None,
    };
    let all: BTreeMap<usize, Passes> = plan.places.iter().enumerate().filter_map(of_all).collect();
    let is_nothing = seen.hits.is_empty() && all.values().all(|it| it.total == 0);
    if let (End::Late(_), true) = (&seen.end, is_nothing) {
        return Err(late(session, plan));
    }
    if let Some(failure) = condition_failed(plan, &all) {
        return Err(failure);
    }
    let why = |planned: &Planned| missed::why(session, own, plan, planned, &seen);
    let mut rows = hits(plan, &seen.hits, budget);
    let (mut counts, mut missed) = counted(plan, &seen.hits, why);
    let told = match order::told(session, plan, &all, short(budget)) {
        Some(told) => told,
        None => {
            passes::all(session, plan, &all, short(budget), |planned| missed.push(why(planned)))
        }
    };
    rows.extend(told.rows);
    counts.extend(told.counts);
    let mut tail = missed.clone();
    tail.extend(said::note(session));
    tail.extend(output(session, &seen, is_nothing));
    let thrown = seen.thrown.as_ref().map(|it| format!(" · {it}")).unwrap_or_default();
    let last = format!("{}{}{thrown}", counts.join(" · "), over(session, &seen.end));
    let text = within(&rows, tail, &last, budget);
    let data = json!({
        "reached": !is_nothing,
        "hits": hits_json(plan, &seen.hits, budget),
        "hits_total": seen.hits.len(),
        "passes": told.data,
        "missed": missed,
        "exception": seen.thrown,
        "exit": match &seen.end { End::Exit(exit) => Some(report::exit_json(*exit)), _ => None },
        "ended": last,
        "session_id": session.id,
    });
    Ok(Answer::new(text, &data)?.into())
}

/// How many hits of how many; of several places together, unless one of them wants some.
fn counted(
    plan: &Plan,
    hits: &[Hit],
    why: impl Fn(&Planned) -> String,
) -> (Vec<String>, Vec<String>) {
    let (mut each, mut missed) = (Vec::new(), Vec::new());
    for (at, planned) in plan.places.iter().enumerate() {
        let wanted = match planned.want {
            Want::First(wanted) => wanted,
            Want::Nth(_) => 1,
            Want::All | Want::AllStopping => continue,
        };
        let found = hits.iter().filter(|it| it.at == at).count() as u64;
        if found == 0 {
            missed.push(why(planned));
        }
        each.push((planned.label.as_str(), found, wanted));
    }
    if let [(_, found, wanted)] = each.as_slice() {
        let is_first = plan.places.iter().all(|it| it.want == Want::First(1));
        // There may be more; nobody looked.
        let count = if is_first && *found == 1 {
            "first hit".to_owned()
        } else {
            format!("{found} of {wanted}")
        };
        return (vec![count], missed);
    }
    let counts = match each.iter().all(|(_, found, wanted)| found == wanted) {
        true if each.is_empty() => Vec::new(),
        true => {
            let sum: u64 = each.iter().map(|(_, found, _)| found).sum();
            vec![format!("{sum} of {sum}")]
        }
        false => each
            .iter()
            .map(|(label, found, wanted)| format!("{label}: {found} of {wanted}"))
            .collect(),
    };
    (counts, missed)
}

/// What the program wrote, where it tells why: it failed, took too long, or nothing was hit.
fn output(session: &Session, seen: &Seen, is_nothing: bool) -> Option<String> {
    if said::verdict(session).is_some() {
        return None;
    }
    let explains = match &seen.end {
        End::Done => false,
        End::Exit(Exit::Code(0)) => is_nothing,
        // The exception is told by itself.
        End::Exit(_) => seen.thrown.is_none() || is_nothing,
        End::Late(_) => true,
    };
    explains.then(|| said::line(session)).flatten()
}

/// ` · ended here`, ` · exit code 1`, ` · 1 failed: …`
pub(super) fn over(session: &Session, end: &End) -> String {
    match end {
        End::Done => " · ended here".to_owned(),
        End::Exit(exit) => match said::verdict(session) {
            Some(verdict) => format!(" · {verdict}"),
            None if report::is_cut_short(Some(*exit)) => {
                format!(" · {exit}: passes of its last moment may be missing")
            }
            None => format!(" · {exit}"),
        },
        End::Late(patience) => format!(
            " · still ran after {} s and was ended; `timeout_s` gives it longer",
            patience.as_secs_f64()
        ),
    }
}

/// All stops, in their order.
fn hits(plan: &Plan, hits: &[Hit], budget: Budget) -> Vec<Row> {
    let one_place = !differ_places(hits);
    let is_table = one_place && hits.len() > 1 && hits.iter().all(|it| !it.is_locals);
    if let (true, Some(first)) = (is_table, hits.first()) {
        return table(plan, first, hits, short(budget));
    }
    let has_who = differ(hits.iter().map(|it| it.who.as_deref()));
    let bytes = if hits.len() > 3 { short(budget) } else { budget.bytes() / FULL_PART };
    let mut rows = Vec::new();
    let mut before: BTreeMap<usize, &Hit> = BTreeMap::new();
    for hit in hits {
        let last = before.insert(hit.at, hit);
        if !hit.is_locals {
            rows.extend(line(plan, hit, last.is_none(), bytes));
            continue;
        }
        match last {
            None => rows.extend(full(plan, hit, budget.bytes() / FULL_PART)),
            Some(last) => {
                let who = has_who.then(|| hit.who.as_deref().unwrap_or("main").to_owned());
                let label = (!one_place).then(|| spot(plan, hit));
                let parts = label.into_iter().chain(who).chain(changed(hit, last, short(budget)));
                rows.push(Row::hit(hit.number, parts.collect::<Vec<_>>().join(" · ")));
            }
        }
    }
    fold(rows)
}

fn differ_places(hits: &[Hit]) -> bool {
    hits.iter().any(|it| hits.first().is_some_and(|first| first.at != it.at))
}

/// The place as short as the one who named its file needs it.
fn spot(plan: &Plan, hit: &Hit) -> String {
    let planned = plan.places.get(hit.at);
    match planned.filter(|it| it.is_file_named) {
        Some(_) => hit.spot.rsplit('/').next().unwrap_or(&hit.spot).to_owned(),
        None => hit.spot.clone(),
    }
}

/// ` (line 6 is the head of run: first line of its body)`
fn note(plan: &Plan, hit: &Hit) -> String {
    plan.places.get(hit.at).map(|it| it.moved_to(hit.line)).unwrap_or_default()
}

fn texts(hit: &Hit) -> impl Iterator<Item = (&str, Result<&str, &str>)> {
    hit.values.iter().map(|(name, value)| {
        let value = value.as_ref().map(|it| it.text.as_str()).map_err(String::as_str);
        (name.as_str(), value)
    })
}

/// A hit with expressions: `hit 50 · cache.py:324 in popitem · key = 'a'`, and who brought it there where that
/// was asked by a condition.
fn line(plan: &Plan, hit: &Hit, is_first: bool, bytes: usize) -> Vec<Row> {
    let function = if is_first { format!(" in {}", hit.function) } else { String::new() };
    let place = format!("{}{function}{}", spot(plan, hit), note(plan, hit));
    let values = texts(hit).map(|(name, value)| pair(name, value, bytes));
    let parts = [place].into_iter().chain(hit.who.clone()).chain(values);
    let text = parts.collect::<Vec<_>>().join(" · ");
    let planned = plan.places.get(hit.at);
    let is_first = planned.is_some_and(|it| it.want == Want::First(1));
    // The first of one is the one.
    let mut rows = vec![match is_first && plan.places.len() == 1 {
        true => Row::head(text),
        false => Row::hit(hit.number, text),
    }];
    let asks = is_first && planned.is_some_and(|it| it.condition.is_some());
    if asks && !hit.callers.is_empty() {
        let own = hit.callers.iter().filter(|it| it.is_user);
        rows.push(Row::head(budget::cut(&frames::names(own), bytes)));
    }
    rows
}

/// Several hits of one place: the names once, then the values.
fn table(plan: &Plan, first: &Hit, hits: &[Hit], bytes: usize) -> Vec<Row> {
    let has_who = differ(hits.iter().map(|it| it.who.as_deref()));
    let who = first.who.clone().filter(|_| !has_who);
    let head = format!("{} in {}{}", spot(plan, first), first.function, note(plan, first));
    let names = first.values.iter().map(|(name, _)| column(name));
    let head = [head].into_iter().chain(who).chain(names).collect::<Vec<_>>().join(" · ");
    let one = |hit: &Hit| {
        let who = has_who.then(|| hit.who.clone().unwrap_or_else(|| "main".to_owned()));
        let cells = texts(hit).map(|(_, value)| cell(value, bytes));
        Row::cells(hit.number, who.into_iter().chain(cells).collect::<Vec<_>>().join(" · "))
    };
    let rows = fold(hits.iter().map(one).collect());
    [Row::head(head)].into_iter().chain(rows).collect()
}

/// Which locals changed since the last hit.
fn changed(hit: &Hit, last: &Hit, bytes: usize) -> Vec<String> {
    let before: BTreeMap<&str, Result<&str, &str>> = texts(last).collect();
    let changed = texts(hit).filter(|(name, value)| before.get(name) != Some(value));
    let changed: Vec<String> = changed.map(|(name, value)| pair(name, value, bytes)).collect();
    if changed.is_empty() { vec!["no local changed".to_owned()] } else { changed }
}

/// The first hit of a place without expressions, its locals in so many bytes each.
fn full(plan: &Plan, hit: &Hit, bytes: usize) -> Vec<Row> {
    let who = hit.who.as_deref().map(|it| format!(" · {it}")).unwrap_or_default();
    let source = hit.source.as_deref().map(|it| format!(": {}", budget::cut(it, 120)));
    let source = source.unwrap_or_default();
    let place = spot(plan, hit);
    let head = format!("{place} in {}{who}{}{source}", hit.function, note(plan, hit));
    let mut rows = vec![Row::hit(hit.number, head)];
    rows.extend(callers(hit).into_iter().map(Row::head));
    let values = hit.values.iter().map(|(name, value)| match value {
        Ok(value) => format!("  {}", holdpoint_engine::inspect::one_line(name, value, bytes)),
        Err(error) => format!("  {name} → {}", budget::cut(error, bytes)),
    });
    rows.extend(values.take(LOCALS).map(Row::head));
    match hit.values.len().saturating_sub(LOCALS) {
        0 if hit.values.is_empty() => rows.push(Row::head("  (no locals)".to_owned())),
        0 => {}
        more => {
            let rest: Vec<&str> =
                hit.values.iter().skip(LOCALS).map(|(name, _)| name.as_str()).collect();
            let names = budget::cut(&rest.join(", "), bytes);
            rows.push(Row::head(format!("  … {more} more locals, by `expressions`: {names}")));
        }
    }
    rows
}

/// One line for each frame of the user's; what repeats is told once; those of libraries between are counted.
fn callers(hit: &Hit) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut libraries = 0;
    let told =
        |count: usize| format!("… {count} frame{} of libraries", if count == 1 { "" } else { "s" });
    for caller in &hit.callers {
        if !caller.is_user {
            libraries += 1;
            continue;
        }
        if libraries > 0 {
            lines.push(told(std::mem::take(&mut libraries)));
        }
        lines.push(format!("{} ({})", caller.function, caller.spot));
    }
    if libraries > 0 {
        lines.push(told(libraries));
    }
    if hit.more_callers > 0 {
        lines.push(format!("… {} more frames", hit.more_callers));
    }
    let folded = frames::fold(&lines);
    let mut shown = Vec::new();
    for (at, one) in folded.iter().enumerate() {
        if at >= CALLERS {
            let more: usize = folded.iter().skip(at).map(|it| it.lines.len() * it.times).sum();
            shown.push(format!("  ← … {more} more frames; `NAME: expression` looks into one"));
            break;
        }
        match (one.lines, one.times) {
            (lines, 1) => shown.extend(lines.iter().map(|it| format!("  ← {it}"))),
            ([line], times) => shown.push(format!("  ← {line} ×{times}")),
            (lines, times) => {
                shown.extend(lines.iter().map(|it| format!("  ← {it}")));
                shown.push(format!("  ← … these {} ×{times} in all", lines.len()));
            }
        }
    }
    shown
}

fn late(session: &Session, plan: &Plan) -> Failure {
    let places: Vec<&str> = plan.places.iter().map(|it| it.label.as_str()).collect();
    let output = said::line(session).map(|it| format!("\n{it}")).unwrap_or_default();
    let text = format!(
        "{} was not reached in time; the program was still running and was ended{output}",
        places.join(", ")
    );
    Failure::new(Code::Timeout, text).hint("pass a larger `timeout_s`, or probe another line")
}

/// In passing, a condition that fails is told in the place of values; at each pass it is no condition.
fn condition_failed(plan: &Plan, all: &BTreeMap<usize, Passes>) -> Option<Failure> {
    all.iter().find_map(|(at, passes)| {
        let planned = plan.places.get(*at)?;
        let column = passes.columns.first().filter(|it| it.errors == it.count)?;
        let error = column.last_error.as_ref()?.0.strip_suffix(" in the condition")?;
        Some(watch::failed_condition(&planned.label, planned.condition.as_deref(), error))
    })
}

/// As many as the budget allows.
fn hits_json(plan: &Plan, hits: &[Hit], budget: Budget) -> Vec<Value> {
    let mut room = budget.bytes();
    let mut all = Vec::new();
    for hit in hits {
        let one = hit_json(plan, hit);
        let bytes = one.to_string().len();
        if !all.is_empty() && bytes > room {
            break;
        }
        room = room.saturating_sub(bytes);
        all.push(one);
    }
    all
}

fn hit_json(plan: &Plan, hit: &Hit) -> Value {
    json!({
        "place": plan.places.get(hit.at).map(|it| it.label.as_str()),
        "hit": hit.number,
        "thread": hit.who,
        "line": hit.line,
        "function": hit.function,
        "values": values_json(&hit.values),
    })
}

pub(super) fn values_json(values: &[Looked]) -> Value {
    let one = |(name, value): &Looked| match value {
        Ok(value) => (name.clone(), json!(budget::cut(&value.text, SHORT))),
        Err(error) => (name.clone(), json!({ "error": budget::cut(error, SHORT) })),
    };
    Value::Object(values.iter().map(one).collect())
}
