//! `breakpoint_set`, and its short form `debug_breakpoint` (seed 003).

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    breakpoints::{Asked, Place, hits::HitTest},
    failure::{Code, Failure},
    inspect,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::bind;
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool},
    tools::debug::launch::absolute,
};

pub(crate) struct Set;
pub(crate) struct Short;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The source file, absolute or relative to the program's folder.
    pub(crate) file: Option<PathBuf>,
    #[schemars(range(min = 1))]
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    /// Instead of `line`: wherever a function of this name begins, `total` or `Cart.total`; only in
    /// `file`, if that is given.
    pub(crate) function: Option<String>,
    /// Stop only when this is true, in the program's language.
    pub(crate) condition: Option<String>,
    /// Stop only at some hits: `3`, `>= 5`, `% 10`.
    pub(crate) hit_condition: Option<String>,
}

impl Tool for Set {
    const NAME: &'static str = "breakpoint_set";
    const ABOUT: &'static str = "Set a breakpoint at `{file, line}` or `{function}`, before or while \
        a program runs. Says the line it was bound to, whether it moved, or why it is pending.";
    const EFFECT: Effect = Effect::Sets;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        set(&app, params).await
    }
}

impl Tool for Short {
    const NAME: &'static str = "debug_breakpoint";
    const ABOUT: &'static str = "The same as `breakpoint_set`.";
    const EFFECT: Effect = Effect::Sets;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        set(&app, params).await
    }
}

async fn set(app: &App, params: Params) -> Result<Reply, Failure> {
    let asked = params.asked(|file| find(app, file))?;
    if let Some(condition) = &asked.condition {
        for session in app.engine.sessions.all() {
            session.check_condition(asked.place.file(), condition).await?;
        }
    }
    let breakpoint = app.engine.sessions.breakpoints.set(asked)?;
    app.engine.memory().await.keep(&breakpoint).await;
    let fate = bind::sync(app, &breakpoint).await?;
    let text = bind::text(&breakpoint, &fate);
    Ok(Answer::new(text, &bind::data(&breakpoint, &fate))?.into())
}

impl Params {
    /// What is wanted, checked as far as it can be without a program.
    pub(crate) fn asked(
        self,
        find: impl FnOnce(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<Asked, Failure> {
        let place = self.place(find)?;
        if let Some(hits) = &self.hit_condition {
            HitTest::parse(hits)?;
        }
        Ok(Asked { place, condition: self.condition, hit_condition: self.hit_condition })
    }

    fn place(
        &self,
        find: impl FnOnce(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<Place, Failure> {
        let file = self.file.as_deref().map(find).transpose()?;
        match (file, self.line, &self.function) {
            (Some(file), Some(line), None) => {
                check_line(&file, line)?;
                Ok(Place::Line { file, line, column: self.column })
            }
            (file, None, Some(name)) if !name.trim().is_empty() => {
                Ok(Place::Function { name: name.trim().trim_end_matches("()").to_owned(), file })
            }
            (Some(_), None, None) => {
                Err(Failure::new(Code::InvalidParams, "missing parameter `line`")
                    .hint("or `function` instead of it"))
            }
            _ => Err(Failure::new(Code::InvalidParams, "pass `file` and `line`, or `function`")
                .hint(
                    "`breakpoint_set {\"function\": \"Cart.total\"}` stops wherever it is called",
                )),
        }
    }
}

/// Relative to the folder of a session, else to ours.
fn find(app: &App, file: &Path) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let folders = app.engine.sessions.all().into_iter().rev().map(|it| it.launch.cwd.clone());
    let places: Vec<PathBuf> =
        folders.chain([here]).map(|folder| absolute(&folder, file)).collect();
    let found = places.iter().find(|place| place.is_file()).cloned();
    found.ok_or_else(|| {
        let tried: Vec<String> = places.iter().map(|it| it.display().to_string()).collect();
        Failure::new(Code::NotFound, format!("no file `{}`", file.display()))
            .hint(format!("pass an absolute path; looked at {}", tried.join(", ")))
    })
}

pub(crate) fn check_line(file: &Path, line: u32) -> Result<(), Failure> {
    if line == 0 {
        return Err(Failure::new(Code::InvalidParams, "lines begin at 1"));
    }
    match inspect::snippet(file, line, line, None) {
        None => Err(Failure::new(
            Code::InvalidParams,
            format!("`{}` is not a source file", file.display()),
        )),
        Some(view) if u64::from(line) > view.lines as u64 => Err(Failure::new(
            Code::InvalidParams,
            format!("`{}` has {} lines, not {line}", file.display(), view.lines),
        )
        .hint("`debug_source` shows the file")),
        Some(_) => Ok(()),
    }
}
