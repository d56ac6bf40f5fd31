//! `debug_attach`: take a program that runs already under the debugger. It is let go at the end, never ended.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use holdpoint_engine::{
    attach::{At, Attach as Spec, Mapping, Mappings},
    backend::{Backend, Binding, Bound},
    breakpoints::Place,
    event::{Event, InEditor},
    failure::{Code, Failure},
    ids::{BreakpointId, Epoch, TargetId},
    session::Session,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    launch::DebuggedBy,
    report,
    wait::patience,
    what::{absolute, not_there},
};
use crate::{
    app::App,
    root,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Attach;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    pid: Option<u32>,
    host: Option<String>,
    /// As in `debugpy --listen 5678`.
    port: Option<u16>,
    /// What a compiled program left when it crashed, with its `program`.
    core: Option<PathBuf>,
    program: Option<PathBuf>,
    /// What VS Code debugs already.
    backend: Option<DebuggedBy>,
    /// Its id or name, where there are several.
    editor_session: Option<String>,
    language: Option<String>,
    /// Where its files have other names here.
    #[serde(default)]
    path_mappings: Vec<Pair>,
    /// Default true.
    just_my_code: Option<bool>,
    timeout_s: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
struct Pair {
    local: PathBuf,
    remote: PathBuf,
}

impl Tool for Attach {
    const NAME: &'static str = "debug_attach";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Debug a program that runs already, by `pid` or debugger's \
        `port`. `debug_stop` lets it go.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = Duration::from_secs(45);
    const TITLE: &'static str = "Attach";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let spec = resolve(params)?;
        call.doing(format!("attaching to {}", spec.at));
        let sessions = &app.engine.sessions;
        let (session, stands) = sessions.attach(spec, call.follow()).await?;
        tell_joined(&app, &session, &call).await;
        if stands {
            call.doing("waiting for the first stop");
            let found = session.wait(Epoch::default(), patience).await;
            return report::begun(&session, found, patience).await;
        }
        attached(&app, &session).await
    }
}

/// Whoever looks at the editor's programs on the log sees that one of them was taken.
async fn tell_joined(app: &App, session: &Session, call: &Call) {
    if !session.attach().is_some_and(|it| matches!(it.at, At::Editor { .. })) {
        return;
    }
    session.joined().await;
    let Ok(Backend::Vscode(editor)) = session.backend(TargetId::MAIN) else { return };
    let joined = InEditor {
        session: Some(session.id),
        editor_session: editor.root(),
        name: session.name.clone(),
        change: "joined",
        detail: String::new(),
        by: call.actor(),
    };
    app.engine.log.append(Event::EditorSession(Box::new(joined)));
}

/// Paths made whole; what cannot be is refused before anything is touched.
fn resolve(params: Params) -> Result<Spec, Failure> {
    let invalid = |text: &'static str| {
        Failure::new(Code::InvalidParams, text)
            .hint("pass `pid`, or `port` and for another machine `host`")
    };
    if params.backend == Some(DebuggedBy::Vscode) || params.editor_session.is_some() {
        return in_editor(params);
    }
    let cwd = root::current();
    let core = of_core(params.core.as_deref(), params.program.as_deref(), &cwd)?;
    let at = match (params.pid, params.host, params.port) {
        (None, None, None) if core.is_some() => core.ok_or_else(|| invalid("no `core`"))?,
        (_, _, _) if core.is_some() => {
            return Err(invalid("`core` and `pid`, `host` or `port` exclude each other"));
        }
        (Some(pid), None, None) => At::Process(pid),
        (None, host, Some(port)) => {
            At::Address { host: host.unwrap_or_else(|| "127.0.0.1".to_owned()), port }
        }
        (Some(_), _, _) => return Err(invalid("`pid` and `host` or `port` exclude each other")),
        (None, _, None) => return Err(invalid("neither `pid` nor `port` is given")),
    };
    let mappings: Result<Vec<Mapping>, Failure> =
        params.path_mappings.into_iter().map(|pair| mapping(pair, &cwd)).collect();
    Ok(Spec {
        at,
        language: params.language,
        mappings: Mappings(mappings?),
        just_my_code: params.just_my_code.unwrap_or(true),
        cwd,
    })
}

/// A core file and the program that left it.
fn of_core(core: Option<&Path>, program: Option<&Path>, cwd: &Path) -> Result<Option<At>, Failure> {
    let (core, program) = match (core, program) {
        (None, None) => return Ok(None),
        (Some(core), Some(program)) => (absolute(cwd, core), absolute(cwd, program)),
        (Some(_), None) | (None, Some(_)) => {
            return Err(Failure::new(Code::InvalidParams, "`core` and `program` go together")
                .hint("`program` is the file that ran when the core was written"));
        }
    };
    let missing = [&core, &program].into_iter().find(|it| !it.is_file()).cloned();
    match missing {
        Some(missing) => Err(not_there(&missing, "a file", cwd)),
        None => Ok(Some(At::Core { file: core, program })),
    }
}

/// A session of the editor that has the project open.
fn in_editor(params: Params) -> Result<Spec, Failure> {
    if params.pid.is_some() || params.host.is_some() || params.port.is_some() {
        let text = "`backend` and `pid`, `host` or `port` exclude each other";
        return Err(Failure::new(Code::InvalidParams, text)
            .hint("the editor's sessions have names: pass `editor_session`"));
    }
    Ok(Spec {
        at: At::Editor { session: params.editor_session },
        language: None,
        mappings: Mappings::default(),
        just_my_code: true,
        cwd: root::current(),
    })
}

/// A mapping that cannot be right would only show as a breakpoint that is never hit.
fn mapping(pair: Pair, cwd: &Path) -> Result<Mapping, Failure> {
    let local = absolute(cwd, &pair.local);
    if !local.exists() {
        let text = format!("`path_mappings`: `{}` does not exist", local.display());
        return Err(Failure::new(Code::NotFound, text).hint(
            "`local` is a folder or file of this machine, `remote` the program's name for it",
        ));
    }
    if !pair.remote.is_absolute() {
        let text = format!("`path_mappings`: `{}` is not a whole path", pair.remote.display());
        return Err(Failure::new(Code::InvalidParams, text)
            .hint("`remote` is the path from the root, as the program has it"));
    }
    Ok(Mapping { local, remote: pair.remote })
}

/// The program runs: which one, and what became of the breakpoints that were there.
async fn attached(app: &App, session: &Session) -> Result<Reply, Failure> {
    session.joined().await;
    let fates = fates(app, session).await?;
    let bound = fates.values().filter(|is_bound| **is_bound).count();
    let pending = fates.len() - bound;
    let points = match (bound, pending) {
        (0, 0) => "no breakpoints are set".to_owned(),
        (bound, 0) => format!("breakpoints: {bound} bound"),
        (bound, pending) => format!("breakpoints: {bound} bound, {pending} pending"),
    };
    let (name, language) = (&session.name, session.language);
    let at = session.attach().map(|it| it.at.to_string()).unwrap_or_default();
    let text = format!(
        "Attached to {at} ({name}, {language}) · {} · running\n{points}\n\
         hint: `breakpoint_set` and `debug_wait`, or `debug_pause`; `debug_stop` lets it go",
        session.id
    );
    let data = json!({
        "session_id": session.id, "state": "running", "name": name, "language": language,
        "bound": bound, "pending": pending,
    });
    Ok(Answer::new(text, &data)?.into())
}

/// Whether each breakpoint is bound, in one process at least. A file's, and all by function, come together.
async fn fates(app: &App, session: &Session) -> Result<BTreeMap<BreakpointId, bool>, Failure> {
    let breakpoints = &app.engine.sessions.breakpoints;
    let (mut fates, mut asked) = (BTreeMap::new(), BTreeSet::new());
    for breakpoint in breakpoints.all().into_iter().filter(|it| it.enabled) {
        let group = match &breakpoint.place {
            Place::Line { file, .. } => Some(file.clone()),
            Place::Function { .. } => None,
        };
        if !asked.insert(group) {
            continue;
        }
        for answer in session.sync_breakpoints(breakpoints, &breakpoint.place).await {
            for Bound { id, state } in answer? {
                *fates.entry(id).or_default() |= matches!(state, Binding::At { .. });
            }
        }
    }
    Ok(fates)
}
