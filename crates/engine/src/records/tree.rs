//! Which call was made inside which: by time, and by the stack where no thread is known.
//!
//! A call is inside another when it began and ended within it, on the same thread. Apps that do not
//! name their threads are told apart by their stacks: the outer frames of the inner call are those of
//! the outer one. Both in one pass over the calls in the order they began.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use holdpoint_store::{CallRow, Cid};
use serde::Serialize;
use serde_json::Value;

use crate::calls::call::Values;

/// One call and those inside it, by their places in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallNode {
    pub call_id: String,
    pub name: String,
    pub kind: String,
    pub status: String,
    pub thread: Option<String>,
    pub started_at: f64,
    pub completed_at: f64,
    pub line: String,
    pub parent: Option<usize>,
    pub depth: usize,
}

/// Hashes of a stack's outer frames: the first of one frame, the second of two, …
type Prefixes = Vec<u64>;

/// A call that has begun and not yet ended where the pass stands.
struct Open {
    node: usize,
    depth: usize,
    ends: f64,
    stack: Option<Cid>,
}

/// The rows must be in the order they began.
pub(crate) fn build(rows: &[CallRow], values: &Values) -> Vec<CallNode> {
    let mut stacks: HashMap<Cid, Prefixes> = HashMap::new();
    let mut open: HashMap<Option<&str>, Vec<Open>> = HashMap::new();
    let mut nodes = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let thread = row.thread.as_deref();
        let stack = row.cids.first().copied().filter(|cid| is_stack(cid, values));
        if let Some(cid) = stack {
            stacks.entry(cid).or_insert_with(|| prefixes(&cid, values));
        }
        let opened = open.entry(thread).or_default();
        opened.retain(|outer| outer.ends >= row.started_at);
        let holds = |outer: &&Open| {
            outer.ends >= row.completed_at
                && (thread.is_some() || is_inside(outer.stack, stack, &stacks))
        };
        let parent = opened.iter().rev().find(holds);
        let depth = parent.map_or(0, |outer| outer.depth + 1);
        let parent = parent.map(|outer| outer.node);
        nodes.push(CallNode {
            call_id: row.call_id.clone(),
            name: row.name.clone(),
            kind: row.kind.clone(),
            status: row.status.clone(),
            thread: row.thread.clone(),
            started_at: row.started_at,
            completed_at: row.completed_at,
            line: row.line.clone(),
            parent,
            depth,
        });
        if row.kind != "event" {
            opened.push(Open { node: at, depth, ends: row.completed_at, stack });
        }
    }
    nodes
}

fn is_stack(cid: &Cid, values: &Values) -> bool {
    values.get(cid).is_some_and(|value| value.format == "stack")
}

/// Whether a call from `inner` was made below one from `outer`. Without stacks, time alone tells.
fn is_inside(outer: Option<Cid>, inner: Option<Cid>, stacks: &HashMap<Cid, Prefixes>) -> bool {
    let of = |cid: Option<Cid>| cid.and_then(|cid| stacks.get(&cid)).filter(|it| !it.is_empty());
    let (Some(outer), Some(inner)) = (of(outer), of(inner)) else { return true };
    outer.len() < inner.len() && outer.last() == inner.get(outer.len() - 1)
}

/// Frames come innermost first. Their lines are left out: a function goes on while it calls.
fn prefixes(cid: &Cid, values: &Values) -> Prefixes {
    let data = values.get(cid).and_then(|value| value.data.as_deref()).unwrap_or_default();
    let frames: Vec<Value> = serde_json::from_slice(data).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    let outer_first = frames.iter().rev();
    outer_first
        .map(|frame| {
            let part = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
            part("filename").hash(&mut hasher);
            part("function").hash(&mut hasher);
            hasher.finish()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use holdpoint_store as store;

    use super::*;
    use crate::calls::value::cid_of;

    /// `name thread start end frames`, a line each; frames innermost first, `-` for none.
    #[track_caller]
    fn check(calls: &str, expected: Expect) {
        let mut values = Values::new();
        let mut rows: Vec<CallRow> = Vec::new();
        for line in calls.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let [name, thread, start, end, frames] =
                line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let frames: Vec<Value> = frames
                .split('<')
                .filter(|it| *it != "-")
                .map(|it| serde_json::json!({ "filename": "app.py", "function": it }))
                .collect();
            let data = serde_json::to_vec(&frames).unwrap();
            let cid = cid_of(&data);
            let (format, size) = ("stack".to_owned(), 1);
            values
                .insert(cid, store::ValueRow { cid, format, size, pretty: None, data: Some(data) });
            rows.push(CallRow {
                id: 0,
                call_id: String::new(),
                process: String::new(),
                name: name.to_owned(),
                kind: "call".to_owned(),
                status: String::new(),
                thread: (thread != "-").then(|| thread.to_owned()),
                started_at: start.parse().unwrap(),
                completed_at: end.parse().unwrap(),
                line: String::new(),
                cids: vec![cid, cid_of(b"result")],
                body: String::new(),
            });
        }
        rows.sort_by(|a, b| a.started_at.total_cmp(&b.started_at));
        let nodes = build(&rows, &values);
        let line = |node: &CallNode| {
            let under = node.parent.map(|at| format!(" in {}", nodes[at].name)).unwrap_or_default();
            format!("{}{}{under}\n", "  ".repeat(node.depth), node.name)
        };
        expected.assert_eq(&nodes.iter().map(line).collect::<String>());
    }

    #[test]
    fn repeated_calls_from_one_line_have_each_their_own_parent() {
        check(
            "outer1 - 1 2 main
             inner1 - 1.1 1.9 outer<main
             outer2 - 3 4 main
             inner2 - 3.1 3.9 outer<main
             outer3 - 5 6 main",
            expect![[r#"
                outer1
                  inner1 in outer1
                outer2
                  inner2 in outer2
                outer3
            "#]],
        );
    }

    #[test]
    fn threads_are_told_apart_by_name_or_by_stack() {
        check(
            "a 1 1 9 -
             b 2 2 3 -
             c 1 4 5 -",
            expect![[r#"
                a
                b
                  c in a
            "#]],
        );
        check(
            "a - 1 9 work<one
             b - 2 3 work<two
             c - 4 5 a<work<one",
            expect![[r#"
                a
                b
                  c in a
            "#]],
        );
    }

    #[test]
    fn a_call_that_outlasts_another_is_not_inside_it() {
        check(
            "a 1 1 4 -
             b 1 2 6 -",
            expect![[r#"
                a
                b
            "#]],
        );
    }

    #[test]
    fn deep_nesting() {
        check(
            "a 1 1 9 -
             b 1 2 8 -
             c 1 3 4 -
             d 1 5 6 -",
            expect![[r#"
                a
                  b in a
                    c in b
                    d in b
            "#]],
        );
    }
}
