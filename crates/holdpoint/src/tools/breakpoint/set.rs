//! `breakpoint_set`, and its short form `debug_breakpoint`.

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    actor::Actor,
    breakpoints::{Asked, Place, hits::HitTest},
    failure::Failure,
    ids::BreakpointId,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    bind,
    place::{self, GivenPlace},
};
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::{debug::probe::params::Spot, shared::params},
};

pub(crate) struct Set;
pub(crate) struct Short;

params! {
    #[derive(Deserialize, JsonSchema, Default)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct Params: place {
        column: Option<u32>,
        /// `3`, `>= 5`, `% 10`
        hit_condition: Option<String>,
        /// Change this one.
        id: Option<i64>,
    }
}

impl From<Spot> for Params {
    fn from(spot: Spot) -> Params {
        let Spot { file, line, r#match, function, .. } = spot;
        Params { file, line, r#match, function, ..Params::default() }
    }
}

impl Tool for Set {
    const NAME: &'static str = "breakpoint_set";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Stop at a line or function, or only when a condition holds.";
    const EFFECT: Effect = Effect::Arms;
    const TITLE: &'static str = "Set breakpoint";
    const RARE: &'static [&'static str] = &["column", "match", "hit_condition", "id"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        set(&app, params, call.actor()).await
    }
}

impl Tool for Short {
    const NAME: &'static str = "debug_breakpoint";
    const FAMILY: &'static Family = &crate::tools::debug::FAMILY;
    const ABOUT: &'static str = "The same as `breakpoint_set`: stop at a line or function.";
    const EFFECT: Effect = Effect::Arms;
    const TITLE: &'static str = "Set breakpoint";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        set(&app, params, call.actor()).await
    }
}

async fn set(app: &App, params: Params, by: Actor) -> Result<Reply, Failure> {
    let id = params.id.map(BreakpointId);
    let at = place::of(app, params.id)?;
    let asked = params.asked(at, |file| place::find(app, file))?;
    if let Some(condition) = &asked.condition {
        for session in app.engine.sessions.all() {
            session.check_condition(asked.place.file(), condition).await?;
        }
    }
    let breakpoints = &app.engine.sessions.breakpoints;
    let breakpoint = match id {
        Some(id) => breakpoints.change(id, asked)?,
        None => breakpoints.set(asked)?,
    };
    app.engine.breakpoint_changed(&breakpoint, "set", by);
    app.engine.memory().await.keep(&breakpoint).await;
    let fate = bind::set(app, &breakpoint).await?;
    let text = bind::text(app, &breakpoint, &fate);
    Ok(Answer::new(text, &bind::data(app, &breakpoint, &fate))?.into())
}

impl Params {
    /// What is wanted, checked as far as it can be without a program; `at` is where the one is that is to
    /// be changed.
    pub(crate) fn asked(
        self,
        at: Option<Place>,
        find: impl FnOnce(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<Asked, Failure> {
        let place = GivenPlace { column: self.column, at, ..self.given() }.place(find)?;
        if let Some(hits) = &self.hit_condition {
            HitTest::parse(hits)?;
        }
        let (condition, hit_condition) = (self.condition, self.hit_condition);
        Ok(Asked { place, condition, hit_condition, trace: None })
    }
}
