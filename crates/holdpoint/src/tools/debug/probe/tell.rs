//! The answer: the first hit of a place in full, later ones a line each, what was missed, what the program wrote; the
//! last line says how many of how many, and why it was over.

use std::collections::BTreeMap;

use holdpoint_engine::{
    backend::Value as Shown,
    breakpoints::{Breakpoints, passes::Passes},
    budget::{self, Budget},
    failure::{Code, Failure},
    session::Session,
};
use serde_json::{Value, json};

use super::{
    hits::Hit,
    missed, passes,
    plan::{Plan, Planned, Want},
    said,
    watch::{self, End, Seen},
};
use crate::{
    tool::{Answer, Reply},
    tools::debug::report,
};

/// Callers of a hit that are named, of the user's own.
const CALLERS: usize = 10;
/// A value of a first hit may take this part of the budget; one in a line of many so many bytes.
const FULL_PART: usize = 4;
const SHORT: usize = 100;
/// What a cut leaves in a text.
const CUT: &str = " bytes …";
/// Locals of the first hit that are listed.
const LOCALS: usize = 20;

/// One line of the answer.
pub(super) struct Row {
    pub(super) text: String,
    /// The hits that it tells: from which to which.
    pub(super) hits: Option<(u64, u64)>,
    counts: bool,
}

impl Row {
    pub(super) fn head(text: String) -> Row {
        Row { text, hits: None, counts: false }
    }

    pub(super) fn hit(number: u64, text: String) -> Row {
        Row { text, hits: Some((number, number)), counts: true }
    }

    pub(super) fn group(text: String) -> Row {
        Row { text, hits: None, counts: true }
    }

    fn line(&self) -> String {
        let rest = if self.text.is_empty() { String::new() } else { format!(" · {}", self.text) };
        match self.hits {
            None => self.text.clone(),
            Some((first, last)) if first == last => format!("hit {first}{rest}"),
            Some((first, last)) => {
                format!("hits {first}–{last}{rest} ({} identical)", last - first + 1)
            }
        }
    }
}

/// Hits in a row that say the same are one line.
pub(super) fn fold(rows: Vec<Row>) -> Vec<Row> {
    let mut folded: Vec<Row> = Vec::new();
    for row in rows {
        if let (Some(before), Some((first, last))) = (folded.last_mut(), row.hits)
            && let Some((begin, end)) = before.hits
            && before.text == row.text
            && end + 1 == first
        {
            before.hits = Some((begin, last));
            continue;
        }
        folded.push(row);
    }
    folded
}

/// Whether several threads or processes are among them: of one alone, nobody needs to be told each time.
pub(super) fn differ<'a>(mut all: impl Iterator<Item = Option<&'a str>>) -> bool {
    let first = all.next();
    all.any(|it| Some(it) != first)
}

/// `x = 3`, `nope → NameError: …`
pub(super) fn pair(name: &str, value: Result<&str, &str>) -> String {
    let line = |it: &str| budget::cut(&it.replace('\n', "⏎").replace('\r', ""), SHORT);
    match value {
        Ok(value) => format!("{name} = {}", line(value)),
        Err(error) => format!("{name} → {}", line(error)),
    }
}

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
    let mut rows = hits(plan, &seen.hits, budget);
    let mut counts = Vec::new();
    let mut passes_json = Vec::new();
    let mut missed = Vec::new();
    for (at, planned) in plan.places.iter().enumerate() {
        let found = seen.hits.iter().filter(|it| it.at == at).count() as u64;
        let count = match (all.get(&at), planned.want) {
            (Some(passes), _) => {
                let (more, count, data) = passes::told(session, plan, planned, passes);
                if passes.total > 0 {
                    rows.extend(more);
                } else {
                    missed.push(missed::why(session, own, plan, planned, &seen));
                }
                passes_json.push(data);
                count
            }
            (None, want) => {
                let wanted = if let Want::First(wanted) = want { wanted } else { 1 };
                if found == 0 {
                    missed.push(missed::why(session, own, plan, planned, &seen));
                }
                let word = if wanted == 1 { "hit" } else { "hits" };
                format!("{found} of {wanted} {word} asked for")
            }
        };
        let label =
            if plan.places.len() > 1 { format!("{}: ", planned.label) } else { String::new() };
        counts.push(format!("{label}{count}"));
    }
    let mut tail = missed.clone();
    tail.extend(said::note(session));
    tail.extend(said::line(session));
    let thrown = seen.thrown.as_ref().map(|it| format!(" · {it}")).unwrap_or_default();
    let last = format!("{}{}{thrown}", counts.join(" · "), why(&seen.end));
    let text = within(&rows, tail, &last, budget);
    let data = json!({
        "reached": !is_nothing,
        "hits": hits_json(plan, &seen.hits, budget),
        "hits_total": seen.hits.len(),
        "passes": passes_json,
        "missed": missed,
        "exception": seen.thrown,
        "exit": match &seen.end { End::Exit(exit) => Some(report::exit_json(*exit)), _ => None },
        "ended": last,
        "session_id": session.id,
    });
    Ok(Answer::new(text, &data)?.into())
}

/// ` · the program was ended`, `: the program ended with exit code 1`
fn why(end: &End) -> String {
    match end {
        End::Done => " · the program was ended".to_owned(),
        End::Exit(exit) => format!(" · the program ended with {exit}"),
        End::Late(patience) => format!(
            " · it still ran after {} s and was ended; `timeout_s` gives it longer",
            patience.as_secs_f64()
        ),
    }
}

/// As many lines as fit; what does not is counted in the last one.
fn within(rows: &[Row], tail: Vec<String>, last: &str, budget: Budget) -> String {
    let rest: usize = tail.iter().map(|it| it.len() + 1).sum::<usize>() + last.len() + 90;
    let mut room = budget.bytes().saturating_sub(rest);
    let mut lines: Vec<String> = Vec::new();
    let mut left: Vec<&Row> = Vec::new();
    for row in rows {
        let line = row.line();
        if left.is_empty() && (lines.is_empty() || line.len() < room) {
            room = room.saturating_sub(line.len() + 1);
            lines.push(line);
        } else {
            left.push(row);
        }
    }
    lines.extend(tail);
    let hits: u64 =
        left.iter().filter_map(|it| it.hits).map(|(first, last)| last - first + 1).sum();
    let groups = left.iter().filter(|it| it.counts && it.hits.is_none()).count();
    let whole: usize = rows.iter().map(|it| it.line().len() + 1).sum::<usize>() + rest;
    let needed = whole * 2 / 7 + 50;
    let cut = match (hits, groups, left.len()) {
        (_, _, 0) => String::new(),
        (0, 0, lines) => format!(" · {lines} lines left out: `budget_tokens: {needed}` shows them"),
        (0, groups, _) => {
            format!(" · {groups} groups left out: `budget_tokens: {needed}` shows them")
        }
        (hits, ..) => format!(" · {hits} hits left out here: `budget_tokens: {needed}` shows them"),
    };
    let is_cut = lines.iter().any(|it| it.contains(CUT));
    let wider = format!(" · long values are cut: `budget_tokens: {}` shows more", needed * 4);
    lines.push(format!("{last}{cut}{}", if is_cut { &wider } else { "" }));
    lines.join("\n")
}

/// All stops, in their order; hits of one place in a row that say the same are one line.
fn hits(plan: &Plan, hits: &[Hit], budget: Budget) -> Vec<Row> {
    let has_who = differ(hits.iter().map(|it| it.who.as_deref()));
    let mut rows = Vec::new();
    let mut before: BTreeMap<usize, &Hit> = BTreeMap::new();
    let mut run: Vec<Row> = Vec::new();
    for hit in hits {
        let label = match plan.places.get(hit.at) {
            Some(planned) if plan.places.len() > 1 => Some(planned.label.clone()),
            _ => None,
        };
        match before.insert(hit.at, hit) {
            None => {
                rows.extend(fold(std::mem::take(&mut run)));
                rows.extend(full(plan, hit, budget.bytes() / FULL_PART));
            }
            Some(last) => {
                let who = has_who.then(|| hit.who.as_deref().unwrap_or("main").to_owned());
                let parts = label.into_iter().chain(who).chain(short(hit, last));
                run.push(Row::hit(hit.number, parts.collect::<Vec<_>>().join(" · ")));
            }
        }
    }
    rows.extend(fold(run));
    rows
}

/// A later hit: its values, or which locals changed.
fn short(hit: &Hit, last: &Hit) -> Vec<String> {
    let text = |it: &Result<Shown, String>| it.clone().map(|it| it.text);
    let told = |(name, value): &(String, Result<Shown, String>)| {
        pair(name, text(value).as_deref().map_err(String::as_str))
    };
    if !hit.is_locals {
        return hit.values.iter().map(told).collect();
    }
    let changed = |(name, value): &&(String, Result<Shown, String>)| {
        let before = last.values.iter().find(|(it, _)| it == name);
        before.is_none_or(|(_, before)| text(before) != text(value))
    };
    let changed: Vec<String> = hit.values.iter().filter(changed).map(told).collect();
    if changed.is_empty() { vec!["no local changed".to_owned()] } else { changed }
}

/// The first hit of a place, its values in so many bytes each.
fn full(plan: &Plan, hit: &Hit, bytes: usize) -> Vec<Row> {
    let note = plan.places.get(hit.at).and_then(|it| it.note.as_deref());
    let asked = plan.places.get(hit.at).and_then(|it| match &it.place {
        holdpoint_engine::breakpoints::Place::Line { line, .. } => Some(*line),
        holdpoint_engine::breakpoints::Place::Function { .. } => None,
    });
    let moved = asked.filter(|it| *it != hit.line).map(|it| format!(" (line {it} has no code)"));
    let note = note.map(|it| format!(" ({it})")).or(moved).unwrap_or_default();
    let who = hit.who.as_deref().map(|it| format!(" · {it}")).unwrap_or_default();
    let source = hit.source.as_deref().map(|it| format!(": {}", budget::cut(it, 120)));
    let Hit { spot, function, .. } = hit;
    let head = format!("{spot} in {function}{who}{note}{}", source.unwrap_or_default());
    let mut rows = vec![Row::hit(hit.number, head)];
    rows.extend(callers(hit).into_iter().map(Row::head));
    let values = hit.values.iter().map(|(name, value)| match value {
        Ok(value) => format!("  {}", holdpoint_engine::inspect::one_line(name, value, bytes)),
        Err(error) => format!("  {name} → {}", budget::cut(error, bytes)),
    });
    if !hit.is_locals {
        rows.extend(values.map(Row::head));
        return rows;
    }
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

/// One line for each frame of the user's; those of libraries between them are counted.
fn callers(hit: &Hit) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut own, mut libraries) = (0, 0);
    let told = |count: usize| {
        format!("  ← … {count} frame{} of libraries", if count == 1 { "" } else { "s" })
    };
    for (at, caller) in hit.callers.iter().enumerate() {
        if own >= CALLERS {
            let more = hit.callers.len() - at + hit.more_callers;
            lines.push(format!("  ← … {more} more frames; `NAME: expression` looks into one"));
            return lines;
        }
        if !caller.is_user {
            libraries += 1;
            continue;
        }
        if libraries > 0 {
            lines.push(told(std::mem::take(&mut libraries)));
        }
        own += 1;
        lines.push(format!("  ← {}", caller.text));
    }
    if libraries > 0 {
        lines.push(told(libraries));
    }
    if hit.more_callers > 0 {
        lines.push(format!("  ← … {} more frames", hit.more_callers));
    }
    lines
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
    let values = hit.values.iter().map(|(name, value)| match value {
        Ok(value) => (name.clone(), json!(budget::cut(&value.text, SHORT))),
        Err(error) => (name.clone(), json!({ "error": budget::cut(error, SHORT) })),
    });
    json!({
        "place": plan.places.get(hit.at).map(|it| it.label.as_str()),
        "hit": hit.number,
        "thread": hit.who,
        "line": hit.line,
        "function": hit.function,
        "values": values.collect::<serde_json::Map<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn rows(count: u64, text: impl Fn(u64) -> String) -> Vec<Row> {
        fold((1..=count).map(|it| Row::hit(it, text(it))).collect())
    }

    #[track_caller]
    fn check(rows: &[Row], tokens: usize, expected: Expect) {
        let text = within(rows, Vec::new(), "6 of 6 hits asked for", Budget::tokens(tokens));
        expected.assert_eq(&text);
    }

    #[test]
    fn identical_hits_are_one_line() {
        let rows = rows(6, |it| if it < 5 { "x = 1".to_owned() } else { format!("x = {it}") });
        check(
            &rows,
            100,
            expect![[r#"
                hits 1–4 · x = 1 (4 identical)
                hit 5 · x = 5
                hit 6 · x = 6
                6 of 6 hits asked for"#]],
        );
    }

    #[test]
    fn what_does_not_fit_is_counted_with_the_budget_that_shows_it() {
        let rows = rows(6, |it| format!("x = {it}"));
        check(
            &rows,
            40,
            expect![[r#"
                hit 1 · x = 1
                6 of 6 hits asked for · 5 hits left out here: `budget_tokens: 107` shows them"#]],
        );
        check(
            &rows,
            107,
            expect![[r#"
                hit 1 · x = 1
                hit 2 · x = 2
                hit 3 · x = 3
                hit 4 · x = 4
                hit 5 · x = 5
                hit 6 · x = 6
                6 of 6 hits asked for"#]],
        );
    }
}
