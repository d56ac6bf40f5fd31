//! `breakpoint_remove`: by id, or by file and line.

use std::path::PathBuf;

use holdpoint_engine::{
    failure::{Code, Failure},
    ids::BreakpointId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::bind;
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool},
};

pub(crate) struct Remove;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The breakpoint's id.
    id: Option<i64>,
    /// Instead of `id`: its file, with `line`.
    file: Option<PathBuf>,
    line: Option<u32>,
}

impl Tool for Remove {
    const NAME: &'static str = "breakpoint_remove";
    const ABOUT: &'static str = "Remove a breakpoint: `{id}` or `{file, line}`.";
    const EFFECT: Effect = Effect::Destroys;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        let breakpoints = &app.engine.sessions.breakpoints;
        let id = match (params.id, params.file, params.line) {
            (Some(id), None, None) => BreakpointId(id),
            (None, Some(file), Some(line)) => {
                let all = breakpoints.all();
                let found = all.iter().find(|it| it.line == line && it.file.ends_with(&file));
                found.map(|it| it.id).ok_or_else(|| {
                    let place = format!("{}:{line}", file.display());
                    Failure::new(Code::NotFound, format!("no breakpoint at `{place}`"))
                        .hint("`breakpoint_list` lists them")
                })?
            }
            _ => {
                return Err(Failure::new(Code::InvalidParams, "pass `id`, or `file` and `line`"));
            }
        };
        let removed = breakpoints.remove(id)?;
        app.engine.memory().await.forget(id).await;
        bind::sync(&app, &removed).await?;
        let text =
            format!("Breakpoint {id} at {}:{} removed", removed.file.display(), removed.line);
        Ok(Answer::new(text, &json!({ "breakpoint_id": id, "removed": true }))?.into())
    }
}
