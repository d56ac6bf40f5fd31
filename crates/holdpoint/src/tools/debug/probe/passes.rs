//! Every pass of a place, told: one by one where they are few; else what became of each value, the first passes, the
//! last, those that stand out, and the groups.

use std::path::Path;

use holdpoint_engine::{
    breakpoints::passes::{Group, Numbers, Pass, Passes, Spread},
    budget, inspect,
    session::Session,
};
use serde_json::{Value, json};

use super::{
    plan::{Plan, Planned},
    tell::{Row, differ, fold, pair},
};

/// Up to so many lines every pass has one.
const FEW: usize = 40;
/// Of more, so many of the first and of the last are told.
const ENDS: usize = 3;
/// Different values that are listed one by one.
const VALUES: usize = 8;
/// Bytes of one value.
const VALUE: usize = 60;

/// The lines about one place, its last words, and its data.
pub(super) fn told(
    session: &Session,
    plan: &Plan,
    planned: &Planned,
    passes: &Passes,
) -> (Vec<Row>, String, Value) {
    let mut rows = vec![Row::head(site(session, planned, passes))];
    let (many, shown) = match &plan.by {
        Some(by) => (grouped(by, planned, passes), 0),
        None => each(planned, passes),
    };
    rows.extend(many);
    let count = |it: u64| if it == 1 { "1 pass".to_owned() } else { format!("{it} passes") };
    let total = passes.total;
    let last = match &plan.by {
        Some(_) => format!("{} in {}", count(total), groups(passes)),
        None if shown == total => format!("{}, all shown", count(total)),
        None => format!("{shown} of {} shown, all counted above", count(total)),
    };
    let data = json!({
        "place": planned.label,
        "total": total,
        "expressions": columns_json(planned, passes),
        "groups": passes.groups.all.iter().take(50).map(|it| group_json(planned, it)).collect::<Vec<_>>(),
    });
    (rows, last, data)
}

fn groups(passes: &Passes) -> String {
    let count = passes.groups.all.len();
    let others = match passes.groups.others {
        0 => String::new(),
        others => format!(" ({others} passes of further groups are only counted)"),
    };
    if count == 1 { format!("1 group{others}") } else { format!("{count} groups{others}") }
}

/// `shop.py:7 in line_total (first line of its body): total = order["price"]`
fn site(session: &Session, planned: &Planned, passes: &Passes) -> String {
    let Some((file, line, function)) = &passes.site else { return planned.label.clone() };
    let file = Path::new(file);
    let note = planned.note.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
    let function = function.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
    let all = || passes.first.iter().chain(&passes.last).map(|it| it.who.as_deref());
    let who = all().next().flatten().filter(|_| !differ(all()));
    let who = who.map(|it| format!(" · {it}")).unwrap_or_default();
    let source = inspect::snippet(file, *line, *line, None);
    let source =
        source.and_then(|it| it.text.split_once(" | ").map(|(_, it)| it.trim().to_owned()));
    let source = source.map(|it| format!(": {}", budget::cut(&it, 100))).unwrap_or_default();
    format!("{}:{line}{function}{who}{note}{source}", inspect::place(file, session.cwd()))
}

/// The passes one by one, or what stands for them, and how many are shown.
fn each(planned: &Planned, passes: &Passes) -> (Vec<Row>, u64) {
    let has_who = differ(passes.first.iter().chain(&passes.last).map(|it| it.who.as_deref()));
    let line = |pass: &Pass| Row::hit(pass.number, values(planned, pass, has_who));
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

fn values(planned: &Planned, pass: &Pass, has_who: bool) -> String {
    let who = has_who.then(|| pass.who.as_deref().unwrap_or("main"));
    // Not all of them: a condition may fail now and then.
    let failed = pass.values.first().and_then(|it| it.as_ref().err());
    if let Some(failed) = failed.filter(|it| it.ends_with("in the condition")) {
        return failed.clone();
    }
    let pairs = planned.expressions.iter().zip(&pass.values).map(|(expression, value)| {
        pair(&expression.text, value.as_deref().map_err(String::as_str))
    });
    who.map(str::to_owned).into_iter().chain(pairs).collect::<Vec<_>>().join(" · ")
}

/// `  n: 5000 values, 10 distinct, sum 22500, min 0 (hit 1), max 9 (hit 10)`
fn spread(name: &str, column: &Spread) -> String {
    let mut text = format!("  {name}: {} values", column.count - column.errors);
    let cut = |it: &str| budget::cut(it, VALUE);
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

/// `kind = 'a': 20 passes · n sum 90, min 0, max 9`
fn grouped(by: &str, planned: &Planned, passes: &Passes) -> Vec<Row> {
    let one = |group: &Group| {
        let key = match by.strip_prefix("pass of ") {
            Some(place) => format!("after pass {} of {place}", group.key),
            None => format!("{by} = {}", budget::cut(&group.key, VALUE)),
        };
        let columns = planned.expressions.iter().zip(&group.columns);
        let told = columns.filter(|(_, it)| it.count > 0).map(|(expression, column)| {
            format!(" · {}{}", expression.text, numbers(column, false).trim_start_matches(','))
        });
        let word = if group.count == 1 { "pass" } else { "passes" };
        Row::group(format!("{key}: {} {word}{}", group.count, told.collect::<String>()))
    };
    passes.groups.all.iter().map(one).collect()
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

fn group_json(planned: &Planned, group: &Group) -> Value {
    let columns = planned.expressions.iter().zip(&group.columns);
    let columns = columns.map(|(it, column)| (it.text.clone(), numbers_json(column)));
    json!({
        "key": group.key,
        "count": group.count,
        "expressions": columns.collect::<serde_json::Map<_, _>>(),
    })
}
