//! Callpoints and functions. REST and the tools name the same lists differently, as their contracts do; what
//! is in them is made once.

use std::collections::BTreeMap;

use holdpoint_engine::{
    callpoints::functions::{Callpoint, Function, Watched},
    repl::Expression,
};
use serde_json::{Map, Value, json};

/// The callpoints, each list by name.
pub(crate) struct Points {
    pub(crate) names: Vec<String>,
    pub(crate) before: Map<String, Value>,
    pub(crate) after: Map<String, Value>,
    pub(crate) replacements: Map<String, Value>,
}

impl Points {
    pub(crate) fn of(points: &BTreeMap<String, Callpoint>) -> Points {
        let words = |word: fn(&Callpoint) -> &'static str| {
            points.iter().map(|(name, point)| (name.clone(), json!(word(point)))).collect()
        };
        let replaced = points.iter().filter_map(|(name, point)| {
            point.replacement.as_ref().map(|other| (name.clone(), json!(other)))
        });
        Points {
            names: points.keys().cloned().collect(),
            before: words(|point| point.before.as_str()),
            after: words(|point| point.after.as_str()),
            replacements: replaced.collect(),
        }
    }
}

/// What apps have, each list by name.
pub(crate) struct Functions {
    pub(crate) listed: Vec<String>,
    pub(crate) signatures: Map<String, Value>,
    pub(crate) metadata: Map<String, Value>,
}

impl Functions {
    pub(crate) fn of(functions: BTreeMap<String, Function>) -> Functions {
        let mut all =
            Functions { listed: Vec::new(), signatures: Map::new(), metadata: Map::new() };
        for (name, function) in functions {
            if !function.signature.is_null() {
                all.signatures.insert(name.clone(), function.signature);
            }
            if !function.metadata.is_null() {
                all.metadata.insert(name.clone(), function.metadata);
            }
            if function.listed {
                all.listed.push(name);
            }
        }
        all
    }
}

/// How things stand, to an app that watches.
pub(crate) fn watched(watched: &Watched, server: &str) -> Value {
    let point = |(name, point): (&String, &Callpoint)| {
        let row = json!({
            "before": point.before.as_str(),
            "after": point.after.as_str(),
            "replacement": point.replacement,
        });
        (name.clone(), row)
    };
    let points: Map<String, Value> = watched.callpoints.iter().map(point).collect();
    json!({
        "version": watched.version,
        "server": server,
        "default_behavior": watched.default.as_str(),
        "callpoints": points,
    })
}

/// What an app is to evaluate, if anything.
pub(crate) fn expression(found: Option<&Expression>, pause_id: &str) -> Value {
    match found {
        Some(Expression { eval_id, session_id, text }) => json!({
            "eval_id": eval_id, "session_id": session_id, "pause_id": pause_id, "expr": text,
        }),
        None => json!({ "eval_id": null }),
    }
}
