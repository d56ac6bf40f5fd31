//! `debug_launch`: start a program under the debugger, stopped at its entry.

use std::{path::Path, time::Duration};

use holdpoint_engine::{
    breakpoints::Asked,
    failure::{Code, Failure},
    ids::Epoch,
    launch::Launch as Spec,
    limits,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{
    probe::params::spot,
    report,
    what::{absolute, not_there},
};
use crate::{
    app::App,
    root,
    tool::{Call, Effect, Family, Reply, Tool, bare},
    tools::{breakpoint::set, shared::params},
};

pub(crate) struct Launch;

params! {
    #[derive(Deserialize, JsonSchema)]
    pub(crate) struct Params: launch {
        /// VS Code's, by name.
        configuration: Option<String>,
        backend: Option<DebuggedBy>,
        /// Default true.
        stop_on_entry: Option<bool>,
        /// As `breakpoint_set`.
        #[serde(default)]
        #[schemars(schema_with = "points")]
        breakpoints: Vec<Point>,
        /// Default true.
        just_my_code: Option<bool>,
        /// Stops show the frame so far.
        record: Option<bool>,
        /// Seconds to wait.
        timeout_s: Option<f64>,
    }
}

// Who debugs, where it is not one of our own debuggers; no doc comment, which a model would read with each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DebuggedBy {
    Vscode,
}

/// A breakpoint's parameters, or as models write it too: `a.py:12`.
struct Point(set::Params);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Point, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Point;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("`file:line` or an object with `file` and `line`")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Point, E> {
        spot(text.into()).map(|it| Point(it.into())).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Point, A::Error> {
        set::Params::deserialize(MapAccessDeserializer::new(map)).map(Point)
    }
}

/// What each parameter is, `breakpoint_set` says.
fn points(generator: &mut SchemaGenerator) -> Schema {
    bare::<Vec<set::Params>>(generator, &["id"])
}

impl Tool for Launch {
    const NAME: &'static str = "debug_launch";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Debug a program or test ({languages}); stops at entry.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, however short the wait for its first stop.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Launch";
    const RARE: &'static [&'static str] =
        &["language", "stdin", "just_my_code", "record", "breakpoints", "configuration", "backend"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = super::wait::patience(params.timeout_s, Self::TIMEOUT);
        let just_my_code = params.just_my_code.unwrap_or(true);
        let record = params.record.unwrap_or(false);
        let spec = Spec { just_my_code, record, ..params.spec()? };
        let sessions = &app.engine.sessions;
        // Whoever sets a point and then launches for the first time knows of it.
        let is_first = sessions.all().is_empty();
        let before = sessions.breakpoints.all().iter().filter(|it| it.enabled && !is_first).count();
        let points = params.breakpoints.into_iter().map(|point| asked(point.0, &spec.cwd));
        // All are right before one is set.
        for asked in points.collect::<Result<Vec<_>, Failure>>()? {
            let breakpoint = sessions.breakpoints.set(asked)?;
            app.engine.breakpoint_changed(&breakpoint, "set", call.actor());
            app.engine.memory().await.keep(&breakpoint).await;
        }
        let reply = begin(&app, spec, patience, &call, Self::NAME).await?;
        Ok(reply.with_note(earlier(before)))
    }
}

/// What was set before holds in every program; who does not remember it would wonder at a stop.
fn earlier(points: usize) -> Option<String> {
    match points {
        0 => None,
        1 => Some("1 point set earlier is active: breakpoint_list".to_owned()),
        many => Some(format!("{many} points set earlier are active: breakpoint_list")),
    }
}

/// Starts it, and tells where it stands first.
pub(super) async fn begin(
    app: &App,
    spec: Spec,
    patience: Duration,
    call: &Call,
    tool: &'static str,
) -> Result<Reply, Failure> {
    call.doing(format!("starting {}", spec.title()));
    let session = app.engine.sessions.launch(spec, call.follow()).await?;
    session.moves(&call.actor(), tool)?;
    if let Some(text) = session.launch().and_then(|it| it.stdin.as_ref()) {
        session.input(text, true).await?;
    }
    call.doing("waiting for the first stop");
    let found = session.wait(Epoch::default(), patience).await;
    report::begun(&session, found, patience).await
}

/// A configuration of the editor that has this folder open; it says itself whether to stop at its entry.
pub(super) fn in_editor(configuration: &str, cwd: Option<&Path>, stop_on_entry: bool) -> Spec {
    let here = root::current();
    let cwd = cwd.map_or_else(|| here.clone(), |cwd| absolute(&here, cwd));
    Spec { configuration: Some(configuration.to_owned()), cwd, stop_on_entry, ..Spec::default() }
}

impl Params {
    /// What to run, and where it first stops.
    fn spec(&self) -> Result<Spec, Failure> {
        let is_editors = self.configuration.is_some() || self.backend == Some(DebuggedBy::Vscode);
        if !is_editors {
            let stop_on_entry = self.stop_on_entry.unwrap_or(true);
            return Ok(Spec { stop_on_entry, ..self.what().resolve()? });
        }
        let is_said = self.program.is_some() || self.module.is_some();
        if is_said || self.command.is_some() || self.test.is_some() {
            return Err(Failure::new(Code::InvalidParams, "a configuration says itself what runs")
                .hint("pass `configuration` alone, or leave out `configuration` and `backend`"));
        }
        let stop_on_entry = self.stop_on_entry.unwrap_or(false);
        let name = self.configuration.as_deref().unwrap_or_default();
        Ok(in_editor(name, self.cwd.as_deref(), stop_on_entry))
    }
}

fn asked(point: set::Params, cwd: &Path) -> Result<Asked, Failure> {
    point.asked(None, |file| {
        let whole = absolute(cwd, file);
        if whole.is_file() { Ok(whole) } else { Err(not_there(&whole, "a file", cwd)) }
    })
}
