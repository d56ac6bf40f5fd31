//! Of all hits of a tracepoint, what became of each expression.

use std::collections::BTreeSet;

use holdpoint_engine::{
    breakpoints::{
        Breakpoint,
        aggregate::{Aggregate, Column},
    },
    budget::{self, Lines},
    failure::Failure,
    ids::{Seq, SessionId},
    log::Log,
};
use serde_json::{Value, json};

use super::{of, words};
use crate::{
    app::App,
    tool::{Answer, Reply},
};

pub(super) fn reply(app: &App, points: &[Breakpoint], mut lines: Lines) -> Result<Reply, Failure> {
    let mut rows = Vec::new();
    for point in points {
        let seen = app.engine.sessions.breakpoints.aggregate(point.id).unwrap_or_default();
        let Aggregate { hits, expressions } = &seen;
        let head = words::head(&app.engine.sessions.all(), point, &[]);
        let together = together(&app.engine.log, point);
        if !lines.push(&format!("{head} · {}{together}", words::count(*hits, "hit"))) {
            let left = points.len() - rows.len();
            let them = words::count(left as u64, "tracepoint");
            lines.always(&format!("… {them} more: pass `id`, or a larger `budget_tokens`"));
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

/// Where several programs brought them: the sum is of all of these.
fn together(log: &Log, point: &Breakpoint) -> String {
    let kept =
        log.page(Seq::START, usize::MAX, |it| of(it).is_some_and(|it| it.breakpoint == point.id));
    let brought: BTreeSet<SessionId> =
        kept.records.iter().filter_map(of).map(|it| it.session).collect();
    let names: Vec<String> = brought.iter().map(ToString::to_string).collect();
    if names.len() < 2 { String::new() } else { format!(" of {} together", names.join(", ")) }
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
