//! `debug_status`: every session, its state, why and where it stopped.

use holdpoint_engine::{
    failure::Failure,
    session::{Session, Status as State},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::report;
use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Status;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for Status {
    const NAME: &'static str = "debug_status";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Every debug session: running, stopped where, ended how.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Sessions";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, _: Params, _: Call) -> Result<Reply, Failure> {
        let sessions = app.engine.sessions.all();
        if sessions.is_empty() {
            let none = "no sessions\nhint: start one with `debug_launch`";
            return Ok(Answer::new(none, &json!({ "sessions": [] }))?.into());
        }
        let rows: Vec<(String, Value)> = sessions.iter().map(|session| row(session)).collect();
        let text: Vec<&str> = rows.iter().map(|(text, _)| text.as_str()).collect();
        let data: Vec<&Value> = rows.iter().map(|(_, data)| data).collect();
        Ok(Answer::new(text.join("\n"), &json!({ "sessions": data }))?.into())
    }
}

/// One session as text and as data.
pub(crate) fn row(session: &Session) -> (String, Value) {
    let view = session.view();
    let (state, detail) = match (&view.status, &view.stop) {
        (State::Stopped, Some(shown)) => {
            let place = shown
                .stack
                .frames
                .first()
                .map(|top| format!(" at {} in {}", report::spot(top, session), top.function));
            ("stopped", format!(" ({}){}", shown.stop.reason.as_str(), place.unwrap_or_default()))
        }
        (State::Ended, _) => {
            let exit = view.exit.map(|exit| format!(" with {exit}")).unwrap_or_default();
            ("ended", exit)
        }
        (State::Starting, _) => ("starting", String::new()),
        _ => ("running", String::new()),
    };
    let attached =
        session.attach().map(|it| format!(", attached to {}", it.at)).unwrap_or_default();
    let text = format!(
        "{} {} ({}{attached}): {state}{detail}",
        session.id, session.name, session.language
    );
    let data = json!({
        "session_id": session.id, "name": session.name, "language": session.language,
        "state": state, "attached": session.attach().is_some(), "exit": view.exit.map(report::exit_json),
    });
    (text, data)
}
