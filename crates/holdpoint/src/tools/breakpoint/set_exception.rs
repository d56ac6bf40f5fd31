//! `breakpoint_set_exception`: which exceptions stop the program.

use holdpoint_engine::{backend::Exceptions, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool},
};

pub(crate) struct SetException;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Stop where nothing catches the exception (default true).
    uncaught: Option<bool>,
    /// Stop where any exception is raised, caught or not (default false).
    #[serde(default)]
    caught: bool,
}

impl Tool for SetException {
    const NAME: &'static str = "breakpoint_set_exception";
    const ABOUT: &'static str = "Choose which exceptions stop the program: uncaught ones (the \
        default), caught ones too, or none. Holds for running sessions and later launches.";
    const EFFECT: Effect = Effect::Sets;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        let uncaught = params.uncaught.unwrap_or(true);
        let exceptions = Exceptions { uncaught, caught: params.caught };
        let sessions = &app.engine.sessions;
        sessions.breakpoints.set_exceptions(exceptions.clone());
        let mut told = 0;
        for session in sessions.all() {
            session.set_exceptions(&exceptions).await?;
            told += 1;
        }
        let what = match (uncaught, params.caught) {
            (true, false) => "uncaught exceptions stop",
            (true, true) => "every raised exception stops",
            (false, true) => "raised exceptions stop where they are raised",
            (false, false) => "no exception stops",
        };
        let text = format!("{what}, in {told} sessions and later launches");
        Ok(Answer::new(text, &json!({ "uncaught": uncaught, "caught": params.caught }))?.into())
    }
}
