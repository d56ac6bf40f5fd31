//! `breakpoint_remove`: by id, by file and line, or by function.

use std::path::PathBuf;

use holdpoint_engine::{
    breakpoints::{Breakpoints, Place},
    failure::{Code, Failure},
    ids::BreakpointId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::bind;
use crate::{
    app::App,
    tool::{Answer, AnswerForm, Call, Effect, Family, Reply, Tool},
    tools::callpoint::refuse,
};

pub(crate) struct Remove;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    id: Option<i64>,
    file: Option<PathBuf>,
    line: Option<u32>,
    function: Option<String>,
    function_name: Option<String>,
}

impl Tool for Remove {
    const NAME: &'static str = "breakpoint_remove";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Remove a breakpoint, a tracepoint or, by `function_name`, an \
        intercepted function.";
    const EFFECT: Effect = Effect::Destroys;
    const FORM: AnswerForm = AnswerForm::JsonUnless(&["id", "file", "line", "function"]);
    const TITLE: &'static str = "Remove breakpoint";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        if params.names_no_line() {
            let Some(name) = params.function_name.filter(|name| !name.is_empty()) else {
                return Ok(refuse(
                    "missing_parameter",
                    json!({
                        "parameter": "function_name",
                        "message": "`function_name` names an intercepted function; a line \
                            breakpoint is removed by `id`, by `file` and `line`, or by `function`",
                    }),
                ));
            };
            // Idempotent: one that is not there is gone.
            app.engine.callpoints().await.remove(&name, &call.actor()).await;
            return Ok(Reply::Json(json!({ "status": "ok", "function_name": name })));
        }
        let breakpoints = &app.engine.sessions.breakpoints;
        let id = match params.id {
            Some(id) if params.is_only_id() => BreakpointId(id),
            _ => params.find(breakpoints)?,
        };
        let removed = breakpoints.remove(id)?;
        app.engine.breakpoint_changed(&removed, "removed", call.actor());
        app.engine.memory().await.forget(id).await;
        let kind = if removed.trace.is_some() { "Tracepoint" } else { "Breakpoint" };
        let text = format!("{kind} {id} at {} removed", removed.place);
        let data = json!({ "breakpoint_id": id, "removed": true });
        let left = bind::left_in(bind::sync(&app, &removed).await.err());
        Ok(Reply::from(Answer::new(text, &data)?).with_note(left))
    }
}

impl Params {
    fn names_no_line(&self) -> bool {
        self.id.is_none() && self.is_only_id()
    }

    fn is_only_id(&self) -> bool {
        self.file.is_none() && self.line.is_none() && self.function.is_none()
    }

    fn find(&self, breakpoints: &Breakpoints) -> Result<BreakpointId, Failure> {
        let named = match (self.id, &self.file, self.line, &self.function) {
            (None, Some(file), Some(line), None) => format!("{}:{line}", file.display()),
            (None, _, None, Some(function)) => format!("function {function}"),
            _ => {
                let text = "pass `id`, or `file` and `line`, or `function`, or `function_name`";
                return Err(Failure::new(Code::InvalidParams, text));
            }
        };
        let all = breakpoints.all();
        let found = all.iter().find(|it| self.is_it(&it.place)).map(|it| it.id);
        found.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("no breakpoint at `{named}`"))
                .hint("`breakpoint_list` lists them")
        })
    }

    fn is_it(&self, place: &Place) -> bool {
        let file = self.file.as_deref();
        let in_file = file.is_none_or(|file| place.file().is_some_and(|of| of.ends_with(file)));
        let is_here = match place {
            Place::Line { line, .. } => Some(*line) == self.line,
            Place::Function { name, .. } => Some(name) == self.function.as_ref(),
        };
        in_file && is_here
    }
}
