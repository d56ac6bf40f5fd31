//! Breakpoints by a function's name, for Python.
//!
//! pydevd stops at the call of any function of a name, on the line of its decorator, and calls every name
//! verified. Ours also know what the function is in, tell which functions there are, and stop at the first
//! line of the body: a thread that stopped at the call is stepped there before anybody is told.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use holdpoint_dap::{request::SetFunctionBreakpoints, types as t};
use serde::Deserialize;
use serde_json::json;

use super::{Talk, literal};
use crate::{
    backend::{Binding, Bound, Site, Step, Tracing, WantedFunction},
    breakpoints::hits::HitTest,
    failure::Failure,
    ids::BreakpointId,
    limits,
    template::Template,
};

/// What the program's own memory and sources know of one name.
#[derive(Deserialize)]
struct Located {
    places: Vec<(PathBuf, u32)>,
    /// In libraries, where nothing stops.
    others: Vec<(PathBuf, u32)>,
    /// Defined in a file that has not run yet.
    sources: Vec<(PathBuf, u32)>,
    near: Vec<String>,
}

impl Talk<'_> {
    pub(super) async fn set_functions(
        self,
        wanted: &[WantedFunction],
    ) -> Result<Vec<Bound>, Failure> {
        let mut groups: BTreeMap<&str, Vec<serde_json::Value>> = BTreeMap::new();
        for one in wanted {
            let trace = one.trace.as_deref().filter(|_| self.own.is_in_process());
            let (condition, hits) = (one.condition.as_deref(), one.hit_condition.as_deref());
            let mut point = entry(one.id, condition, hits, trace)?;
            if let Some(point) = point.as_object_mut() {
                point.insert("name".to_owned(), json!(one.name));
                point.insert("file".to_owned(), json!(one.file));
            }
            groups.entry(one.last()).or_default().push(point);
        }
        let told = json!(groups).to_string();
        let bad = self.helper(&format!("functions({})", literal(&told))).await?;
        let bad: BTreeMap<BreakpointId, String> = serde_json::from_str(&bad).unwrap_or_default();
        let breakpoints = groups.keys().map(|name| t::FunctionBreakpoint {
            name: (*name).to_owned(),
            condition: Some(format!("__import__('_holdpoint').called({})", literal(name))),
            hit_condition: None,
        });
        let arguments = t::SetFunctionBreakpointsArguments { breakpoints: breakpoints.collect() };
        self.dap.ask::<SetFunctionBreakpoints>(arguments).await?;
        let mut bound = self.find(wanted).await?;
        for bound in &mut bound {
            if let Some(problem) = bad.get(&bound.id) {
                let why = format!("its condition does not parse: {problem}");
                bound.state = Binding::Not { why };
            }
        }
        // What a hit condition leaves out, the helper does.
        self.dap.known.traces().at_functions(wanted, &bound, |_| None);
        Ok(bound)
    }

    /// Which of them there are.
    async fn find(self, wanted: &[WantedFunction]) -> Result<Vec<Bound>, Failure> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let functions: Vec<serde_json::Value> =
            wanted.iter().map(|it| json!({ "name": it.name, "file": it.file })).collect();
        let asked =
            json!({ "functions": functions, "folders": self.own.about.folders }).to_string();
        let answer = self.helper(&format!("find({})", literal(&asked))).await?;
        let found: Vec<Located> = serde_json::from_str(&answer).map_err(|error| {
            Failure::internal(format!("what the program said of its functions: {error}"))
        })?;
        let bound = wanted.iter().zip(found);
        Ok(bound.map(|(it, found)| Bound { id: it.id, state: binding(it, found) }).collect())
    }

    /// The breakpoints that a stop is for, of those that share a place.
    pub(super) async fn hit(self) -> Result<Vec<BreakpointId>, Failure> {
        let hits = self.helper("entered()").await?;
        Ok(serde_json::from_str(&hits).unwrap_or_default())
    }

    /// A thread stands at a function's head: what for, and on to its body.
    pub(super) async fn enter(self, thread: i64) -> Result<(), Failure> {
        let hits = self.hit().await?;
        self.own.entering().insert(thread, hits);
        self.dap.take_step(thread, Step::Over).await
    }
}

/// A point as the helper takes it.
pub(super) fn entry(
    id: BreakpointId,
    condition: Option<&str>,
    hit_condition: Option<&str>,
    trace: Option<&Tracing>,
) -> Result<serde_json::Value, Failure> {
    // A tracepoint counts what a hit condition leaves out, as it does what its multiple does.
    let hits = hit_condition.map(HitTest::parse).transpose()?;
    let trace = trace.map(|it| {
        let expressions: Vec<&str> = it.template.iter().flat_map(Template::expressions).collect();
        json!({
            "generation": it.generation,
            "multiple": it.multiple,
            "max": it.max,
            "expressions": expressions,
            "literal": it.is_literal,
            "mark": it.is_mark,
        })
    });
    Ok(json!({
        "id": id,
        "condition": condition,
        "hits": hits.map(|it| (it.how.as_str(), it.number)),
        "trace": trace,
    }))
}

fn binding(wanted: &WantedFunction, found: Located) -> Binding {
    let name = &wanted.name;
    let Located { places, others, sources, near } = found;
    let total = places.len();
    if total > 0 {
        let site = |(file, line)| Site { file, line };
        let places = places.into_iter().take(limits::PLACES).map(site).collect();
        return Binding::Functions { places, total };
    }
    let why = match (others.first(), sources.first(), near.as_slice()) {
        (_, Some((file, line)), _) => {
            format!("{} defines it and has not run yet", at(file, *line))
        }
        (Some((file, line)), ..) => format!(
            "`{name}` is a library's ({}), where nothing stops; launch with `just_my_code: false`",
            at(file, *line)
        ),
        (None, None, []) => format!("no function `{name}` is loaded or in the program's folder"),
        (None, None, near) => format!(
            "no function `{name}` is loaded or in the program's folder; near: {}",
            near.join(", ")
        ),
    };
    Binding::Not { why }
}

fn at(file: &Path, line: u32) -> String {
    format!("{}:{line}", file.display())
}
