//! Which of V8's breakpoints stand for which of ours, and the condition each carries. Pure.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use holdpoint_cdp::{Hold, types};

use crate::{
    backend::{Binding, Wanted},
    ids::BreakpointId,
};

#[derive(Default)]
pub(super) struct Points {
    pub(super) files: BTreeMap<PathBuf, Vec<Point>>,
    /// The stops before scripts with source maps, once there are any.
    pub(super) hold: Option<Hold>,
    /// Whether the program has come so far that a hold can be set.
    pub(super) has_loader: bool,
    /// Where the program is to stop first, when V8 does not do it by itself.
    pub(super) entry: Option<types::BreakpointId>,
}

/// One breakpoint of ours.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) wanted: Wanted,
    pub(super) binding: Binding,
    pub(super) parts: Vec<Part>,
}

/// One of V8's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) id: types::BreakpointId,
    /// The script it was set in through a source map; `None` when it was set by the file's own name.
    pub(super) through: Option<PathBuf>,
}

impl Points {
    /// Ours, for what V8 says was hit.
    pub(super) fn hits(&self, hit: &[types::BreakpointId]) -> Vec<BreakpointId> {
        let all = self.files.values().flatten();
        let is_hit = |point: &&Point| point.parts.iter().any(|part| hit.contains(&part.id));
        all.filter(is_hit).map(|point| point.wanted.id).collect()
    }

    /// Those without any condition that are bound to a line.
    pub(super) fn plain_on(&self, file: &Path, line: u32) -> Vec<BreakpointId> {
        let here = self.files.get(file).into_iter().flatten();
        let is_plain = |point: &&Point| {
            point.wanted.condition.is_none() && point.wanted.hit_condition.is_none()
        };
        let is_there =
            |point: &&Point| matches!(point.binding, Binding::At { line: at, .. } if at == line);
        here.filter(is_plain).filter(is_there).map(|point| point.wanted.id).collect()
    }

    pub(super) fn has_condition(&self, hits: &[BreakpointId]) -> bool {
        let all = self.files.values().flatten();
        let mut hit = all.filter(|point| hits.contains(&point.wanted.id));
        hit.any(|point| point.wanted.condition.is_some())
    }

    pub(super) fn by_part(&mut self, id: &types::BreakpointId) -> Option<&mut Point> {
        let mut all = self.files.values_mut().flatten();
        all.find(|point| point.parts.iter().any(|part| part.id == *id))
    }

    pub(super) fn all_bound(&self) -> bool {
        let mut all = self.files.values().flatten();
        all.all(|point| matches!(point.binding, Binding::At { .. }))
    }

    /// Takes out what is no longer wanted as it was; what stays keeps its hit counts.
    pub(super) fn take_stale(&mut self, file: &Path, wanted: &[Wanted]) -> Vec<Point> {
        let Some(points) = self.files.get_mut(file) else { return Vec::new() };
        points.extract_if(.., |point| !wanted.contains(&point.wanted)).collect()
    }
}

/// Where the counts of hits are kept in the program: under a name that no program uses by accident.
const STORE: &str = "(globalThis[Symbol.for('holdpoint')] ??= {hits: {}, error: undefined})";

/// The expression that gives and clears what went wrong in a condition.
pub(super) const CONDITION_ERROR: &str = "(() => { const kept = globalThis[Symbol.for('holdpoint')]; \
     const error = kept?.error; if (kept) kept.error = undefined; return error; })()";

/// The condition V8 is to have: ours, and the counting of hits. A condition that throws stops the program,
/// for nobody would ever learn of it otherwise.
pub(super) fn condition(wanted: &Wanted) -> Result<Option<String>, String> {
    let hits = wanted.hit_condition.as_deref().map(hit_condition).transpose()?;
    let count = hits.map(|test| {
        let id = wanted.id;
        format!("(n => {test})({STORE}.hits[{id}] = ({STORE}.hits[{id}] ?? 0) + 1)")
    });
    Ok(match (&wanted.condition, count) {
        (None, None) => None,
        (None, Some(count)) => Some(count),
        (Some(condition), count) => {
            let count = count.unwrap_or_else(|| "true".to_owned());
            Some(format!(
                "try {{ (({condition}\n) && {count}) }} \
                 catch (error) {{ {STORE}.error = String(error); true }}"
            ))
        }
    })
}

/// `3`, `== 3`, `>= 5`, `% 10`, as a test of `n`.
fn hit_condition(text: &str) -> Result<String, String> {
    let text = text.trim();
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let operator = text.strip_suffix(digits).unwrap_or_default().trim();
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("hit condition `{text}` is not one of `3`, `>= 5`, `% 10`"))?;
    match operator {
        "" | "=" | "==" | "===" => Ok(format!("n === {number}")),
        ">=" | ">" | "<=" | "<" => Ok(format!("n {operator} {number}")),
        "%" if number > 0 => Ok(format!("n % {number} === 0")),
        _ => Err(format!("hit condition `{text}` is not one of `3`, `>= 5`, `% 10`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_conditions_become_tests() {
        assert_eq!(hit_condition("3").unwrap(), "n === 3");
        assert_eq!(hit_condition(">= 5").unwrap(), "n >= 5");
        assert_eq!(hit_condition("%10").unwrap(), "n % 10 === 0");
        for bad in ["", "x", "% 0", "3 x", "-1", "!= 3"] {
            assert!(hit_condition(bad).is_err(), "{bad}");
        }
    }
}
