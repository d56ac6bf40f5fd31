//! `debug_attach`: take a program that runs already under the debugger. It is let go at the end, never ended.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use holdpoint_engine::{
    attach::{At, Attach as Spec, Mapping, Mappings},
    backend::{Binding, Bound},
    breakpoints::Place,
    failure::{Code, Failure},
    ids::{BreakpointId, Epoch},
    session::Session,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{report, wait::patience, what::absolute};
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
    #[schemars(extend("enum" = holdpoint_engine::adapter::languages()))]
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
        if stands {
            call.doing("waiting for the first stop");
            let found = session.wait(Epoch::default(), patience).await;
            return report::begun(&session, found, patience).await;
        }
        attached(&app, &session).await
    }
}

/// Paths made whole; what cannot be is refused before anything is touched.
fn resolve(params: Params) -> Result<Spec, Failure> {
    let invalid = |text: &'static str| {
        Failure::new(Code::InvalidParams, text)
            .hint("pass `pid`, or `port` and for another machine `host`")
    };
    let at = match (params.pid, params.host, params.port) {
        (Some(pid), None, None) => At::Process(pid),
        (None, host, Some(port)) => {
            At::Address { host: host.unwrap_or_else(|| "127.0.0.1".to_owned()), port }
        }
        (Some(_), _, _) => return Err(invalid("`pid` and `host` or `port` exclude each other")),
        (None, _, None) => return Err(invalid("neither `pid` nor `port` is given")),
    };
    let cwd = root::current();
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
