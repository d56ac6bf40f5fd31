//! `debug_variables`: what a frame's names hold, and what is inside of them.

use holdpoint_engine::{
    adapter,
    backend::{Backend, FrameId, ScopeKind, Slice, Variable},
    budget::{Budget, Lines},
    failure::{Code, Failure},
    inspect, limits,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::StoppedSession,
};

pub(crate) struct Variables;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// 0 is the innermost.
    #[serde(default)]
    frame: usize,
    #[serde(default)]
    scope: Which,
    /// `order.items[3]`, `data["key"]`
    path: Option<String>,
    #[serde(default)]
    start: usize,
    count: Option<usize>,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Which {
    #[default]
    Local,
    Closure,
    Global,
}

impl Tool for Variables {
    const NAME: &'static str = "debug_variables";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Why is this variable wrong: the variables of a frame, or inside \
        one by `path`.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Variables";
    const LONG: bool = true;
    type Scope = StoppedSession;
    type Params = Params;

    async fn run(at: StoppedSession, params: Params, call: Call) -> Result<Reply, Failure> {
        let count = params.count.unwrap_or(30);
        if count == 0 {
            return Err(Failure::new(Code::InvalidParams, "parameter `count` is 0"));
        }
        let slice = Slice { start: params.start, count };
        let frame = super::evaluate::frame(&at, params.frame).await?;
        let roots = at.of_this_stop(roots(&at.backend, &frame, params.scope).await)?;
        let found = match &params.path {
            None => Part::of(roots, slice),
            Some(path) => {
                at.of_this_stop(inside(&at.backend, &frame, &roots, path, slice).await)?
            }
        };
        page(&found, params.start, call.budget)
    }
}

/// The part that was asked for, of so many.
struct Part {
    variables: Vec<Variable>,
    total: usize,
}

impl Part {
    fn of(all: Vec<Variable>, slice: Slice) -> Part {
        let total = all.len();
        let variables = all.into_iter().skip(slice.start).take(slice.count).collect();
        Part { variables, total }
    }
}

async fn roots(backend: &Backend, frame: &FrameId, which: Which) -> Result<Vec<Variable>, Failure> {
    if which == Which::Local {
        return inspect::locals(backend, frame).await;
    }
    let kind = if which == Which::Closure { ScopeKind::Closure } else { ScopeKind::Global };
    let mut all = Vec::new();
    for scope in backend.scopes(frame).await?.iter().filter(|scope| scope.kind == kind) {
        let slice = Slice { start: 0, count: limits::LOCALS };
        let variables = backend.children(&scope.children, slice).await?;
        all.extend(variables.into_iter().filter(|it| !inspect::is_noise(it)));
    }
    Ok(all)
}

async fn inside(
    backend: &Backend,
    frame: &FrameId,
    roots: &[Variable],
    path: &str,
    slice: Slice,
) -> Result<Part, Failure> {
    let found = find(backend, frame, roots, path).await?;
    let Some(children) = &found.value.children else { return Ok(Part::of(vec![found], slice)) };
    // A backend that counts the parts also cuts out those that are wanted.
    if let Some(total) = found.value.indexed {
        return Ok(Part { variables: backend.children(children, slice).await?, total });
    }
    let all = backend.children(children, Slice { start: 0, count: limits::CHILDREN }).await?;
    let counted = counted(&all);
    let parts: Vec<Variable> = all.into_iter().filter(|it| !is_extra(it)).collect();
    match counted {
        // Its debugger shows only the first ones.
        Some((length, Some(cut)))
            if length > parts.len() && slice.start + slice.count > parts.len() =>
        {
            let expression = found.expression.as_deref().unwrap_or(path);
            let further = further(backend, frame, expression, cut, slice).await?;
            Ok(Part { variables: further, total: length })
        }
        Some((length, _)) if length > parts.len() => {
            Ok(Part { total: length, ..Part::of(parts, slice) })
        }
        _ => Ok(Part::of(parts, slice)),
    }
}

/// By the names that the debugger lists, else as the program itself would read it.
async fn find(
    backend: &Backend,
    frame: &FrameId,
    roots: &[Variable],
    path: &str,
) -> Result<Variable, Failure> {
    match inspect::drill(backend, roots, path).await {
        // A call is no path: looking must change nothing.
        Err(failure) if failure.code == Code::NotFound && !path.contains(['(', '=', ';']) => {
            let value = backend.evaluate(Some(frame), path, limits::VALUES).await;
            let name = path.to_owned();
            let found = |value| Variable { name: name.clone(), value, expression: Some(name) };
            match value {
                // JavaScript has a value for what is not there.
                Ok(value) if value.text != "undefined" => Ok(found(value)),
                Ok(_) | Err(_) => Err(failure),
            }
        }
        found => found,
    }
}

/// An expression for some of the parts of another.
type Cut = fn(&str, usize, usize) -> String;

/// How many parts a value has, where its debugger says so, and how others than those that it shows are had.
fn counted(all: &[Variable]) -> Option<(usize, Option<Cut>)> {
    adapter::all().iter().map(|it| it.listing()).find_map(|listing| {
        let length = all.iter().find(|it| listing.length == Some(it.name.as_str()))?;
        Some((length.value.text.parse().ok()?, listing.cut))
    })
}

/// A part of a long collection, cut out by the program's own language.
async fn further(
    backend: &Backend,
    frame: &FrameId,
    expression: &str,
    cut: Cut,
    slice: Slice,
) -> Result<Vec<Variable>, Failure> {
    let (start, end) = (slice.start, slice.start.saturating_add(slice.count.min(100)));
    let cut = cut(expression, start, end);
    let part = backend.evaluate(Some(frame), &cut, limits::VALUES).await?;
    let Some(children) = part.children else { return Ok(Vec::new()) };
    let all = backend.children(&children, Slice { start: 0, count: limits::CHILDREN }).await?;
    let mut parts: Vec<Variable> = all.into_iter().filter(|it| !is_extra(it)).collect();
    if part.kind.as_deref() == Some("list") {
        for (number, part) in (start..).zip(&mut parts) {
            part.name = number.to_string();
        }
    }
    Ok(parts)
}

/// What a debugger adds to the parts of a value.
pub(crate) fn is_extra(part: &Variable) -> bool {
    inspect::is_noise(part) || adapter::all().iter().any(|it| it.listing().adds(&part.name))
}

fn page(found: &Part, start: usize, budget: Budget) -> Result<Reply, Failure> {
    let mut lines = Lines::within(budget);
    let mut rows = Vec::new();
    let mut bytes = 0;
    for variable in &found.variables {
        let row = row(variable);
        // Short values cost more as data than as text.
        bytes += row.to_string().len();
        let line = inspect::one_line(&variable.name, &variable.value, limits::VALUE_BYTES);
        if bytes > 2 * budget.bytes() || !lines.push(&format!("  {line}")) {
            break;
        }
        rows.push(row);
    }
    if rows.is_empty() {
        lines.always("(no variables)");
    }
    let next = start + rows.len();
    let more = found.total.saturating_sub(next);
    if more > 0 {
        lines.always(&format!("  … {more} more: debug_variables {{\"start\": {next}}}"));
    }
    let data = json!({ "variables": rows, "more": more, "total": found.total });
    Ok(Answer::new(lines.into_text(), &data)?.into())
}

fn row(variable: &Variable) -> Value {
    let text = holdpoint_engine::budget::cut(&variable.value.text, limits::VALUE_BYTES);
    json!({
        "name": variable.name,
        "type": variable.value.kind,
        "value": text,
        "has_children": variable.value.children.is_some(),
    })
}
