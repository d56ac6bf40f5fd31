//! Every pass of a place, told: one by one where they are few; else what became of each value, the first passes, the
//! last, those that stand out, and the groups.

use std::{collections::BTreeMap, path::Path};

use holdpoint_engine::{
    breakpoints::passes::{Numbers, Pass, PassGroup, Passes, Spread},
    inspect,
    session::Session,
};
use serde_json::{Value, json};

use super::{
    hits::called,
    plan::{Plan, Planned},
    rows::{Row, cell, column, differ, fold, plain},
};

/// Up to so many lines every pass has one.
const FEW: usize = 40;
/// Of more, so many of the first and of the last are told.
const ENDS: usize = 3;
/// Different values that are listed one by one.
const VALUES: usize = 8;
/// Bytes of one value.
const VALUE: usize = 60;

/// Groups that are counted and nothing else stand on one line of so many bytes.
const GROUPS: usize = 600;

/// The lines about places, what the last line says of each, and the data.
#[derive(Default)]
pub(super) struct Telling {
    pub(super) rows: Vec<Row>,
    pub(super) counts: Vec<String>,
    pub(super) data: Vec<Value>,
}

/// All places, one after the other, each value in so many bytes.
pub(super) fn all(
    session: &Session,
    plan: &Plan,
    all: &BTreeMap<usize, Passes>,
    bytes: usize,
    mut missed: impl FnMut(&Planned),
) -> Telling {
    let mut told = Telling::default();
    for (at, passes) in all {
        let Some(planned) = plan.places.get(*at) else { continue };
        let (rows, count) = one(session, plan, planned, passes, bytes);
        if passes.total > 0 {
            told.rows.extend(rows);
        } else {
            missed(planned);
        }
        let is_one = plan.places.len() == 1;
        told.counts.push(if is_one { count } else { format!("{}: {count}", planned.label) });
        told.data.push(data(planned, passes));
    }
    told
}

fn one(
    session: &Session,
    plan: &Plan,
    planned: &Planned,
    passes: &Passes,
    bytes: usize,
) -> (Vec<Row>, String) {
    let names: Vec<String> = planned.expressions.iter().map(|it| column(&it.text)).collect();
    // Where nothing else was asked for, there is nothing to tell it from.
    let by = plan.by.as_deref().filter(|_| !names.is_empty());
    let by = by.map(|it| format!(" by {}", column(it))).unwrap_or_default();
    let head = format!("{}{by}", site(session, planned, passes));
    let head = [head].into_iter().chain(names.iter().cloned()).collect::<Vec<_>>().join(" · ");
    let mut rows = vec![Row::head(head)];
    let (many, shown) = match &plan.by {
        Some(by) => (grouped(by, planned, passes), 0),
        None => each(session, planned, passes, bytes),
    };
    rows.extend(many);
    let total = passes.total;
    let last = match &plan.by {
        Some(_) if names.is_empty() && passes.groups.others == 0 => count(total),
        Some(_) => format!("{} in {}", count(total), groups(passes)),
        None if names.is_empty() && total > 0 => {
            format!("{}; `expressions` shows values at each", count(total))
        }
        None if shown == total => count(total),
        None => format!("{shown} of {} shown, all counted above", count(total)),
    };
    (rows, last)
}

fn count(passes: u64) -> String {
    if passes == 1 { "1 pass".to_owned() } else { format!("{passes} passes") }
}

pub(super) fn data(planned: &Planned, passes: &Passes) -> Value {
    json!({
        "place": planned.label,
        "total": passes.total,
        "expressions": columns_json(planned, passes),
        "groups": passes.groups.all.iter().take(50).map(|it| group_json(planned, it)).collect::<Vec<_>>(),
    })
}

fn groups(passes: &Passes) -> String {
    let count = passes.groups.all.len();
    let others = match passes.groups.others {
        0 => String::new(),
        others => format!(" ({others} passes of further groups are only counted)"),
    };
    if count == 1 { format!("1 group{others}") } else { format!("{count} groups{others}") }
}

/// `shop.py:7 in line_total`
fn site(session: &Session, planned: &Planned, passes: &Passes) -> String {
    let Some((file, line, function)) = &passes.site else { return planned.label.clone() };
    let note = planned.moved_to(*line);
    let function = function.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
    let all = || passes.first.iter().chain(&passes.last).map(|it| it.who.as_deref());
    let who = all().next().flatten().filter(|_| !differ(all()));
    let who = who.map(|it| format!(" · {}", called(session, it))).unwrap_or_default();
    format!("{}:{line}{function}{note}{who}", path(session, planned, file))
}

/// Whoever named the file knows it by its name.
pub(super) fn path(session: &Session, planned: &Planned, file: &str) -> String {
    let file = Path::new(file);
    match file.file_name().filter(|_| planned.is_file_named) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => inspect::place(file, session.cwd()),
    }
}

/// The passes one by one, or what stands for them, and how many are shown.
fn each(session: &Session, planned: &Planned, passes: &Passes, bytes: usize) -> (Vec<Row>, u64) {
    let has_who = differ(passes.first.iter().chain(&passes.last).map(|it| it.who.as_deref()));
    if planned.expressions.is_empty() && !has_who {
        return (Vec::new(), passes.total);
    }
    let line = |pass: &Pass| Row::cells(pass.number, values(session, pass, has_who, bytes));
    let is_complete = passes.total == passes.first.len() as u64;
    let all = fold(passes.first.iter().map(line).collect());
    if is_complete && all.len() <= FEW {
        return (all, passes.total);
    }
    let mut rows: Vec<Row> = planned
        .expressions
        .iter()
        .zip(&passes.columns)
        .map(|(it, column)| Row::head(spread(&it.text, column)))
        .collect();
    let mut shown: Vec<&Pass> = passes.first.iter().take(ENDS).collect();
    let known: Vec<&Pass> = passes.first.iter().chain(&passes.last).collect();
    let stand_out = outstanding(passes);
    shown.extend(known.iter().filter(|it| stand_out.contains(&it.number)));
    shown.extend(known.iter().rev().take(ENDS).rev());
    shown.sort_by_key(|it| it.number);
    shown.dedup_by_key(|it| it.number);
    let count = shown.len() as u64;
    rows.extend(fold(shown.into_iter().map(line).collect()));
    (rows, count)
}

/// The passes of the least and the greatest number, of the first change and of rare values.
fn outstanding(passes: &Passes) -> Vec<u64> {
    let of = |column: &Spread| {
        let ends = [&column.numbers.min, &column.numbers.max];
        let ends = ends.into_iter().flatten().filter(|_| column.is_numeric()).map(|it| it.number);
        let rare = column.values().into_iter().flatten().filter(|(_, count, _)| *count <= 2);
        let rare = rare.take(ENDS).map(|(_, _, first)| first);
        let error = column.last_error.as_ref().map(|(_, number)| *number);
        ends.chain(rare).chain(error).collect::<Vec<_>>()
    };
    passes.columns.iter().flat_map(of).collect()
}

pub(super) fn values(session: &Session, pass: &Pass, has_who: bool, bytes: usize) -> String {
    let who =
        has_who.then(|| pass.who.as_deref().map_or("main".to_owned(), |it| called(session, it)));
    // Not all of them: a condition may fail now and then.
    let failed = pass.values.first().and_then(|it| it.as_ref().err());
    if let Some(failed) = failed.filter(|it| it.ends_with("in the condition")) {
        return failed.clone();
    }
    let cells = pass.values.iter().map(|it| cell(it.as_deref().map_err(String::as_str), bytes));
    who.into_iter().chain(cells).collect::<Vec<_>>().join(" · ")
}

/// `  n: 5000 values, 10 distinct, sum 22500, min 0 (hit 1), max 9 (hit 10)`
fn spread(name: &str, column: &Spread) -> String {
    let mut text = format!("  {name}: {} values", column.count - column.errors);
    let cut = |it: &str| plain(it, VALUE);
    match column.values() {
        Some(values) if values.len() <= VALUES => {
            let one = |(value, count, first): &(&str, u64, u64)| match count {
                1 => format!("{} (hit {first})", cut(value)),
                _ => format!("{} ×{count} (from hit {first})", cut(value)),
            };
            let list: Vec<String> = values.iter().map(one).collect();
            text += &format!(": {}", list.join(", "));
        }
        Some(values) => text += &format!(", {} distinct", values.len()),
        None => text += ", many distinct",
    }
    if column.is_numeric() {
        text += &numbers(&column.numbers, true);
    }
    if let Some((hit, before, after)) = &column.turned {
        text += &format!(", first turns at hit {hit} ({} → {})", cut(before), cut(after));
    }
    if let Some((error, hit)) = &column.last_error {
        text += &format!(", {} errors (the last at hit {hit}: {error})", column.errors);
    }
    text
}

fn numbers(numbers: &Numbers, says_where: bool) -> String {
    let (Some(min), Some(max)) = (&numbers.min, &numbers.max) else { return String::new() };
    let at = |number: u64| if says_where { format!(" (hit {number})") } else { String::new() };
    format!(
        ", sum {}, min {}{}, max {}{}",
        numbers.sum(),
        min.text,
        at(min.number),
        max.text,
        at(max.number)
    )
}

/// `'a' ×20 · sum 90, min 0, max 9`; counts alone on one line.
fn grouped(by: &str, planned: &Planned, passes: &Passes) -> Vec<Row> {
    let is_place = by.starts_with("pass of ");
    let one = |group: &PassGroup| {
        let key = match is_place {
            true => format!("pass {}", group.key),
            false => plain(&group.key, VALUE),
        };
        let told =
            planned.expressions.iter().zip(&group.columns).map(|(_, column)| match column.count {
                0 => " · no numbers".to_owned(),
                _ => format!(" · {}", numbers(column, false).trim_start_matches(", ")),
            });
        format!("{key} ×{}{}", group.count, told.collect::<String>())
    };
    let all: Vec<String> = passes.groups.all.iter().map(one).collect();
    let line = all.join(" · ");
    if planned.expressions.is_empty() && line.len() <= GROUPS {
        return vec![Row::group(line)];
    }
    all.into_iter().map(Row::group).collect()
}

fn columns_json(planned: &Planned, passes: &Passes) -> Value {
    let one = |(expression, column): (&super::plan::Expression, &Spread)| {
        json!({
            "expression": expression.text,
            "count": column.count,
            "errors": column.errors,
            "numbers": numbers_json(&column.numbers),
            "turned_at": column.turned.as_ref().map(|(hit, ..)| hit),
        })
    };
    planned.expressions.iter().zip(&passes.columns).map(one).collect()
}

fn numbers_json(numbers: &Numbers) -> Value {
    let (Some(min), Some(max)) = (&numbers.min, &numbers.max) else { return Value::Null };
    json!({
        "count": numbers.count,
        "sum": numbers.sum().to_string(),
        "min": min.text,
        "max": max.text,
        "min_hit": min.number,
        "max_hit": max.number,
    })
}

fn group_json(planned: &Planned, group: &PassGroup) -> Value {
    let columns = planned.expressions.iter().zip(&group.columns);
    let columns = columns.map(|(it, column)| (it.text.clone(), numbers_json(column)));
    json!({
        "key": group.key,
        "count": group.count,
        "expressions": columns.collect::<serde_json::Map<_, _>>(),
    })
}
