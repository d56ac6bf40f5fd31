//! `debug_launch`: start a program under the debugger, stopped at its entry.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use holdpoint_engine::{
    breakpoints::Asked,
    failure::{Code, Failure},
    ids::Epoch,
    launch::Launch as Spec,
    limits,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::report;
use crate::{
    app::App,
    root,
    tool::{Call, Effect, Reply, Tool},
    tools::breakpoint::set,
};

pub(crate) struct Launch;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The file to run. Exactly one of `program`, `module` and `command`.
    pub(crate) program: Option<PathBuf>,
    /// As `python -m` runs it.
    pub(crate) module: Option<String>,
    /// `pytest tests/test_a.py -k total`
    pub(crate) command: Option<String>,
    #[schemars(extend("enum" = ["python", "node"]))]
    pub(crate) language: Option<String>,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Default: the program's folder.
    pub(crate) cwd: Option<PathBuf>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Default true; else it runs to the first breakpoint.
    pub(crate) stop_on_entry: Option<bool>,
    /// As `breakpoint_set` takes them.
    #[serde(default)]
    pub(crate) breakpoints: Vec<Point>,
    pub(crate) stdin: Option<String>,
    /// Default: the project's venv, then PATH.
    pub(crate) interpreter: Option<PathBuf>,
    /// Leave libraries out (default true).
    pub(crate) just_my_code: Option<bool>,
    /// Seconds to wait.
    pub(crate) timeout_s: Option<f64>,
}

/// As `breakpoint_set` takes it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    file: Option<PathBuf>,
    line: Option<u32>,
    column: Option<u32>,
    function: Option<String>,
    condition: Option<String>,
    hit_condition: Option<String>,
}

impl Tool for Launch {
    const NAME: &'static str = "debug_launch";
    const ABOUT: &'static str = "Debug a program, script or test (Python, Node): start it, \
        stopped at its first line.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, however short the wait for its first stop.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Launch";
    const RARE: &'static [&'static str] = &["language", "stdin", "just_my_code", "breakpoints"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = super::wait::patience(params.timeout_s, Self::TIMEOUT);
        let spec = resolve(&params)?;
        let sessions = &app.engine.sessions;
        let points = params.breakpoints.into_iter().map(|point| point.asked(&spec.cwd));
        // All are right before one is set.
        for asked in points.collect::<Result<Vec<_>, Failure>>()? {
            let breakpoint = sessions.breakpoints.set(asked)?;
            app.engine.memory().await.keep(&breakpoint).await;
        }
        call.doing(format!("starting {}", spec.title()));
        let session = sessions.launch(spec, call.follow()).await?;
        if let Some(text) = session.launch().and_then(|it| it.stdin.as_ref()) {
            session.input(text, true).await?;
        }
        call.doing("waiting for the first stop");
        let found = session.wait(Epoch::default(), patience).await;
        report::begun(&session, found, patience).await
    }
}

/// Paths made whole; what cannot run is refused before anything is started.
pub(crate) fn resolve(params: &Params) -> Result<Spec, Failure> {
    let here = root::current();
    let base = params.cwd.as_deref().map(|cwd| here.join(cwd));
    if let Some(folder) = base.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(not_there(folder, "a folder", &here));
    }
    let from = base.clone().unwrap_or_else(|| here.clone());
    let program = params.program.as_ref().map(|program| absolute(&from, program));
    if let Some(file) = program.as_deref().filter(|file| !file.is_file()) {
        return Err(not_there(file, "a file", &from));
    }
    let own = program.as_deref().and_then(Path::parent).map(Path::to_owned);
    let cwd = base.or(own).unwrap_or(here);
    let command = match &params.command {
        None => Vec::new(),
        Some(line) => shlex::split(line).ok_or_else(|| {
            Failure::new(Code::InvalidParams, format!("`{line}` has an open quote"))
        })?,
    };
    Ok(Spec {
        program,
        module: params.module.clone(),
        command,
        language: params.language.clone(),
        args: params.args.clone(),
        cwd,
        env: params.env.clone(),
        stop_on_entry: params.stop_on_entry.unwrap_or(true),
        stdin: params.stdin.clone(),
        interpreter: params.interpreter.clone(),
        just_my_code: params.just_my_code.unwrap_or(true),
    })
}

impl Point {
    fn asked(self, cwd: &Path) -> Result<Asked, Failure> {
        let Point { file, line, column, function, condition, hit_condition } = self;
        let id = None;
        let params = set::Params { file, line, column, function, condition, hit_condition, id };
        params.asked(None, |file| {
            let whole = absolute(cwd, file);
            if whole.is_file() { Ok(whole) } else { Err(not_there(&whole, "a file", cwd)) }
        })
    }
}

/// A path as the runtime will report it: whole, links followed where they lead somewhere.
pub(crate) fn absolute(base: &Path, path: &Path) -> PathBuf {
    let whole = base.join(path);
    whole.canonicalize().unwrap_or(whole)
}

fn not_there(path: &Path, what: &str, base: &Path) -> Failure {
    Failure::new(Code::NotFound, format!("`{}` is not {what}", path.display()))
        .hint(format!("paths may be absolute, or relative to {}", base.display()))
}
