//! `debug_variables`: what a frame's names hold, and what is inside of them.

use holdpoint_engine::{
    backend::{Backend, FrameId, ScopeKind, Slice, Variable},
    budget::Budget,
    failure::{Code, Failure},
    inspect, limits,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    tool::{Answer, Call, Effect, Reply, Tool},
    tools::session::Stopped,
};

pub(crate) struct Variables;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Number of a frame in `debug_stack` (default 0).
    #[serde(default)]
    frame: usize,
    /// `local` (default), `closure` or `global`.
    #[serde(default)]
    scope: Which,
    /// Look inside: `order.items[3]`, `data["key"]`.
    path: Option<String>,
    /// Skip this many (default 0).
    #[serde(default)]
    start: usize,
    /// At most this many (default 30).
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
    const ABOUT: &'static str = "Variables of a frame of the stopped program, one line each; `path` \
        looks inside a value.";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Stopped;
    type Params = Params;

    async fn run(at: Stopped, params: Params, call: Call) -> Result<Reply, Failure> {
        let frame = super::evaluate::frame(&at, params.frame).await?;
        let roots = roots(&at.backend, &frame, params.scope).await?;
        let variables = match &params.path {
            None => roots,
            Some(path) => inside(&at.backend, &roots, path).await?,
        };
        page(&variables, &params, call.budget)
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
        all.extend(backend.children(&scope.children, slice).await?);
    }
    Ok(all)
}

async fn inside(
    backend: &Backend,
    roots: &[Variable],
    path: &str,
) -> Result<Vec<Variable>, Failure> {
    let found = inspect::drill(backend, roots, path).await?;
    match &found.value.children {
        Some(children) => {
            backend.children(children, Slice { start: 0, count: limits::CHILDREN }).await
        }
        None => Ok(vec![found]),
    }
}

fn page(variables: &[Variable], params: &Params, budget: Budget) -> Result<Reply, Failure> {
    let count = params.count.unwrap_or(30);
    if count == 0 {
        return Err(Failure::new(Code::InvalidParams, "parameter `count` is 0"));
    }
    let rest = variables.get(params.start..).unwrap_or_default();
    let listed = inspect::list(
        rest.get(..count.min(rest.len())).unwrap_or(rest),
        budget,
        limits::VALUE_BYTES,
    );
    let mut text = listed.text;
    let next = params.start + listed.shown.len();
    let more = variables.len().saturating_sub(next);
    if listed.shown.is_empty() {
        text += "(no variables)";
    }
    if more > 0 {
        text += &format!("\n  … {more} more: debug_variables {{\"start\": {next}}}");
    }
    let rows: Vec<Value> = listed.shown.iter().map(row).collect();
    Ok(Answer::new(text, &json!({ "variables": rows, "more": more, "total": variables.len() }))?
        .into())
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
