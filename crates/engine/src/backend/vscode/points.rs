//! Breakpoints in the editor, beside the person's own: theirs are left as they are, and put back where one of ours took
//! their place. Tracepoints are logpoints whose lines begin with a mark, by which they are known in the output.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::{
    Vscode,
    translate::{number, text, with},
};
use crate::{
    backend::{Binding, Bound, Passed, Tracing, Wanted},
    failure::{Code, Failure},
    ids::BreakpointId,
};

/// Between what a logpoint of ours writes.
const BETWEEN: char = '\u{1f}';
/// How such a line begins.
const MARK: &str = "\u{1f}hp:";

const UNKNOWN: &str = "the public VSC-Bridge extension does not tell whether it is bound; that is known once it is hit";
const NO_SESSION_YET: &str = "no debugger has said yet where it lies";
const NO_TRACES: &str = "the public VSC-Bridge extension does not tell what a logpoint writes; \
    Holdpoint's own extension does";
const SHARED: &str = "the editor has one breakpoint on a line, and another of ours is there";

/// What of ours is in the editor.
#[derive(Default)]
pub(super) struct Points {
    placed: BTreeMap<(PathBuf, u32), Placed>,
}

struct Placed {
    ids: Vec<BreakpointId>,
    spec: Spec,
    /// The editor's own name for it.
    editor_id: Option<String>,
    /// The person's, which was there before and does the same: it stays when ours goes.
    is_persons: bool,
    /// The person's, which ours took the place of.
    before: Option<Spec>,
    tracing: Option<Arc<Tracing>>,
    /// How often a tracepoint was passed.
    passes: u64,
}

/// A breakpoint as the editor has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Spec {
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
}

impl Spec {
    fn read(point: &Json) -> Spec {
        let field = |name: &str| text(point, name).filter(|it| !it.is_empty()).map(str::to_owned);
        Spec {
            condition: field("condition"),
            hit_condition: field("hitCondition"),
            log_message: field("logMessage"),
        }
    }

    fn of(wanted: &Wanted) -> Spec {
        Spec {
            condition: wanted.condition.clone(),
            hit_condition: wanted.hit_condition.clone(),
            log_message: wanted.trace.as_deref().map(|it| log_message(wanted.id, it)),
        }
    }
}

/// `␟hp:3:1␟{a}␟{b}`: the values alone; the words between them are ours to put.
fn log_message(id: BreakpointId, tracing: &Tracing) -> String {
    let mut message = format!("{MARK}{}:{}", id.0, tracing.generation);
    for expression in tracing.template.iter().flat_map(|it| it.expressions()) {
        message.extend([BETWEEN, '{']);
        message.push_str(expression);
        message.push('}');
    }
    message
}

/// Makes a file's breakpoints what is wanted, and leaves the person's.
pub(super) async fn replace(
    vscode: &Vscode,
    file: &Path,
    wanted: &[Wanted],
) -> Result<Vec<Bound>, Failure> {
    let there = vscode.known.sides.there(&file.display().to_string());
    let listed = listed(vscode, file).await?;
    let mut lines: BTreeMap<u32, Vec<&Wanted>> = BTreeMap::new();
    wanted.iter().for_each(|it| lines.entry(it.line).or_default().push(it));
    let old: Vec<u32> = vscode.known.points().lines_of(file);
    for line in old.into_iter().filter(|it| !lines.contains_key(it)) {
        take_out_one(vscode, file, line).await?;
    }
    let mut bound = Vec::new();
    for (line, group) in lines {
        bound.extend(place(vscode, file, &there, line, &group, listed.get(&line)).await?);
    }
    Ok(bound)
}

/// What the editor has in a file, by line.
async fn listed(vscode: &Vscode, file: &Path) -> Result<BTreeMap<u32, Json>, Failure> {
    let answer = vscode.ask("breakpoint.list", json!({})).await?;
    let all = answer.get("breakpoints").and_then(Json::as_array).cloned().unwrap_or_default();
    let here = |it: &Json| text(it, "path").map(|it| PathBuf::from(vscode.known.sides.here(it)));
    let of_file = all.into_iter().filter(|it| here(it).is_some_and(|it| is_same(&it, file)));
    Ok(of_file.filter_map(|it| Some((u32::try_from(number(&it, "line")?).ok()?, it))).collect())
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|it| it == other)
}

async fn place(
    vscode: &Vscode,
    file: &Path,
    there: &str,
    line: u32,
    group: &[&Wanted],
    listed: Option<&Json>,
) -> Result<Vec<Bound>, Failure> {
    // Of several on a line those that stop come first; a tracepoint beside them has no place.
    let stops: Vec<&Wanted> = group.iter().filter(|it| it.trace.is_none()).copied().collect();
    let chosen: Vec<&Wanted> = match (stops.as_slice(), group) {
        ([], [first, ..]) => vec![first],
        _ => stops,
    };
    let spec = match chosen.as_slice() {
        [only] => Spec::of(only),
        // Each has conditions of its own: it stops whenever one of them might.
        _ => Spec::default(),
    };
    let left = group.iter().filter(|it| !chosen.iter().any(|chosen| chosen.id == it.id));
    let mut bound: Vec<Bound> = left.map(|it| not(it.id, SHARED)).collect();
    let ids: Vec<BreakpointId> = chosen.iter().map(|it| it.id).collect();
    let tracing = chosen.first().and_then(|it| it.trace.clone());
    if tracing.is_some() && !vscode.known.has("events") {
        bound.extend(ids.iter().map(|id| not(*id, NO_TRACES)));
        return Ok(bound);
    }
    let found = listed.map(Spec::read);
    let is_placed = vscode.known.points().keeps(file, line, &ids, &spec, found.as_ref());
    let answer = match (is_placed, listed) {
        (true, Some(listed)) => listed.clone(),
        _ => set(vscode, there, file, line, &spec, found).await?,
    };
    let state = binding(vscode, &answer, line);
    vscode.known.points().put(file, line, ids.clone(), spec, &answer, tracing);
    bound.extend(ids.into_iter().map(|id| Bound { id, state: state.clone() }));
    Ok(bound)
}

/// Puts one into the editor, unless the person has the same there.
async fn set(
    vscode: &Vscode,
    there: &str,
    file: &Path,
    line: u32,
    spec: &Spec,
    found: Option<Spec>,
) -> Result<Json, Failure> {
    let is_ours = vscode.known.points().has(file, line);
    if !is_ours && found.as_ref() == Some(spec) {
        return Ok(json!({ "isPersons": true, "line": line }));
    }
    // The public one would have two there.
    if found.is_some() && !vscode.is_ours() {
        remove(vscode, there, line).await?;
    }
    let answer = vscode.ask("breakpoint.set", params(there, line, spec)).await?;
    let point = answer.get("breakpoint").cloned().unwrap_or_default();
    if let (false, Some(before)) = (is_ours, found) {
        vscode.known.points().replaced(file, line, before);
    }
    Ok(with(point, "isPersons", false))
}

fn params(there: &str, line: u32, spec: &Spec) -> Json {
    let mut params = json!({ "path": there, "line": line });
    let fields = [
        ("condition", &spec.condition),
        ("hitCondition", &spec.hit_condition),
        ("logMessage", &spec.log_message),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            params = with(params, name, value.as_str());
        }
    }
    params
}

/// What the other end knows of it, and no more than that.
fn binding(vscode: &Vscode, point: &Json, line: u32) -> Binding {
    if !vscode.known.has("breakpoint-truth") {
        return Binding::Not { why: UNKNOWN.to_owned() };
    }
    told(point, line)
}

/// By what an event or an answer of our own extension says.
fn told(point: &Json, line: u32) -> Binding {
    let at = number(point, "boundLine").and_then(|it| u32::try_from(it).ok()).unwrap_or(line);
    let message = text(point, "message");
    match point.get("verified").and_then(Json::as_bool) {
        Some(true) => Binding::At { line: at, column: None },
        Some(false) => Binding::Not { why: message.unwrap_or(NO_SESSION_YET).to_owned() },
        None => Binding::Not { why: NO_SESSION_YET.to_owned() },
    }
}

fn not(id: BreakpointId, why: &str) -> Bound {
    Bound { id, state: Binding::Not { why: why.to_owned() } }
}

async fn remove(vscode: &Vscode, there: &str, line: u32) -> Result<(), Failure> {
    match vscode.ask("breakpoint.remove", json!({ "path": there, "line": line })).await {
        // The person took it out.
        Err(failure) if failure.code == Code::NotFound => Ok(()),
        answer => answer.map(drop),
    }
}

async fn take_out_one(vscode: &Vscode, file: &Path, line: u32) -> Result<(), Failure> {
    let Some(placed) = vscode.known.points().placed.remove(&(file.to_owned(), line)) else {
        return Ok(());
    };
    if placed.is_persons {
        return Ok(());
    }
    let there = vscode.known.sides.there(&file.display().to_string());
    remove(vscode, &there, line).await?;
    if let Some(before) = placed.before {
        vscode.ask("breakpoint.set", params(&there, line, &before)).await?;
    }
    Ok(())
}

/// Takes all of ours out of the editor.
pub(super) async fn take_out(vscode: &Vscode) -> Result<(), Failure> {
    let all: Vec<(PathBuf, u32)> = vscode.known.points().placed.keys().cloned().collect();
    for (file, line) in all {
        take_out_one(vscode, &file, line).await?;
    }
    Ok(())
}

impl Points {
    fn lines_of(&self, file: &Path) -> Vec<u32> {
        self.placed.keys().filter(|(of, _)| of == file).map(|(_, line)| *line).collect()
    }

    fn has(&self, file: &Path, line: u32) -> bool {
        self.placed.contains_key(&(file.to_owned(), line))
    }

    /// Whether the editor has it still as it is wanted.
    fn keeps(
        &self,
        file: &Path,
        line: u32,
        ids: &[BreakpointId],
        spec: &Spec,
        found: Option<&Spec>,
    ) -> bool {
        let placed = self.placed.get(&(file.to_owned(), line));
        found == Some(spec) && placed.is_some_and(|it| it.ids == ids && it.spec == *spec)
    }

    fn put(
        &mut self,
        file: &Path,
        line: u32,
        ids: Vec<BreakpointId>,
        spec: Spec,
        answer: &Json,
        tracing: Option<Arc<Tracing>>,
    ) {
        let old = self.placed.remove(&(file.to_owned(), line));
        let (before, was_persons, passes) =
            old.map_or((None, false, 0), |it| (it.before, it.is_persons, it.passes));
        let is_persons = answer.get("isPersons").and_then(Json::as_bool).unwrap_or(was_persons);
        let editor_id = text(answer, "id").map(str::to_owned);
        let placed = Placed { ids, spec, editor_id, is_persons, before, tracing, passes };
        self.placed.insert((file.to_owned(), line), placed);
    }

    fn replaced(&mut self, file: &Path, line: u32, before: Spec) {
        let nothing = Placed {
            ids: Vec::new(),
            spec: Spec::default(),
            editor_id: None,
            is_persons: false,
            before: Some(before),
            tracing: None,
            passes: 0,
        };
        self.placed.insert((file.to_owned(), line), nothing);
    }

    /// Those of ours at a stop: by the editor's names for them, else by its place.
    pub(super) fn hits(&self, named: &[&str], file: &Path, line: u32) -> Vec<BreakpointId> {
        let is_named = |it: &Placed| it.editor_id.as_deref().is_some_and(|it| named.contains(&it));
        let stops = |it: &Placed| it.tracing.is_none();
        let by_name = self.placed.values().filter(|it| stops(it) && is_named(it));
        let mut ids: Vec<BreakpointId> = by_name.flat_map(|it| it.ids.clone()).collect();
        if ids.is_empty() {
            let there = self.placed.get(&(file.to_owned(), line)).filter(|it| stops(it));
            ids = there.map(|it| it.ids.clone()).unwrap_or_default();
        }
        ids
    }

    /// What an event of our own extension says of one of them.
    pub(super) fn changed(&self, file: &Path, point: &Json) -> Vec<Bound> {
        let line = number(point, "line").and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
        let named = text(point, "id");
        let is_it = |at: &(PathBuf, u32), it: &Placed| {
            named.is_some() && it.editor_id.as_deref() == named
                || at.1 == line && is_same(file, &at.0)
        };
        let found = self.placed.iter().find(|(at, it)| is_it(at, it));
        let Some((at, placed)) = found else { return Vec::new() };
        let is_removed = point.get("removed").and_then(Json::as_bool) == Some(true);
        let is_disabled = point.get("enabled").and_then(Json::as_bool) == Some(false);
        let state = match (is_removed, is_disabled) {
            (true, _) => Binding::Not { why: "the person removed it in the editor".to_owned() },
            (_, true) => Binding::Not { why: "the person disabled it in the editor".to_owned() },
            _ => told(point, at.1),
        };
        placed.ids.iter().map(|id| Bound { id: *id, state: state.clone() }).collect()
    }

    /// Takes what our logpoints wrote out of an output.
    pub(super) fn passes(&mut self, output: &str, thread: i64) -> (String, Vec<Passed>) {
        let (mut rest, mut hits) = (String::new(), Vec::new());
        for line in output.split_inclusive('\n') {
            match self.pass(line.trim_end_matches(['\n', '\r']), thread) {
                Some(hit) => hits.extend(hit),
                None => rest.push_str(line),
            }
        }
        (rest, hits)
    }

    /// `None` for a line of the program's; nothing for a hit that is not to be told.
    fn pass(&mut self, line: &str, thread: i64) -> Option<Option<Passed>> {
        let mut parts = line.strip_prefix(MARK)?.split(BETWEEN);
        let (id, generation) = parts.next()?.split_once(':')?;
        let (id, generation): (i64, u64) = (id.parse().ok()?, generation.parse().ok()?);
        let is_it = |it: &Placed| {
            let is_now = it.tracing.as_ref().is_some_and(|it| it.generation == generation);
            is_now && it.ids.first().is_some_and(|it| it.0 == id)
        };
        let found = self.placed.iter_mut().find(|(_, it)| is_it(it));
        let Some(((file, at), placed)) = found else { return Some(None) };
        placed.passes += 1;
        let tracing = placed.tracing.clone()?;
        let is_due = tracing.multiple == 0 || placed.passes.is_multiple_of(tracing.multiple);
        if !is_due {
            return Some(None);
        }
        Some(Some(Passed {
            id: *placed.ids.first()?,
            tracing,
            hit_count: placed.passes,
            at: Timestamp::now(),
            thread,
            thread_name: None,
            file: Arc::from(file.display().to_string()),
            line: *at,
            column: None,
            function: None,
            values: parts.map(|it| Ok(it.to_owned())).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    fn traced(multiple: u64) -> Arc<Tracing> {
        Arc::new(Tracing {
            generation: 2,
            template: Some(Template::parse("a is {a}, b is {b}").unwrap()),
            multiple,
            max: 0,
            is_literal: false,
            is_mark: false,
        })
    }

    fn with_trace(multiple: u64) -> Points {
        let mut points = Points::default();
        let tracing = traced(multiple);
        let spec = Spec::default();
        let ids = vec![BreakpointId(3)];
        points.put(Path::new("/a.py"), 7, ids, spec, &json!({}), Some(tracing));
        points
    }

    #[test]
    fn what_a_logpoint_writes_is_a_hit_and_no_output() {
        let mut points = with_trace(0);
        assert_eq!(log_message(BreakpointId(3), &traced(0)), "\u{1f}hp:3:2\u{1f}{a}\u{1f}{b}");
        let output = "before\n\u{1f}hp:3:2\u{1f}1\u{1f}two\nafter\n";
        let (rest, hits) = points.passes(output, 1);
        assert_eq!(rest, "before\nafter\n");
        let [hit] = hits.as_slice() else { panic!("{hits:?}") };
        assert_eq!((hit.line, hit.hit_count), (7, 1));
        assert_eq!(hit.values, [Ok("1".to_owned()), Ok("two".to_owned())]);
        let (rest, hits) = points.passes("\u{1f}hp:3:1\u{1f}1\n", 1);
        assert!(rest.is_empty() && hits.is_empty(), "that is of an earlier one");
    }

    #[test]
    fn every_second_hit_is_told_where_that_was_asked_for() {
        let mut points = with_trace(2);
        let counts: Vec<u64> = (0..4)
            .flat_map(|_| points.passes("\u{1f}hp:3:2\u{1f}1\u{1f}2\n", 1).1)
            .map(|it| it.hit_count)
            .collect();
        assert_eq!(counts, [2, 4]);
    }

    #[test]
    fn only_what_a_debugger_said_is_called_bound() {
        let at = |line| Binding::At { line, column: None };
        assert_eq!(told(&json!({"verified": true, "boundLine": 9}), 7), at(9));
        assert_eq!(told(&json!({"verified": true}), 7), at(7));
        for point in [json!({"verified": null}), json!({}), json!({"verified": false})] {
            assert!(matches!(told(&point, 7), Binding::Not { .. }), "{point}");
        }
    }
}
