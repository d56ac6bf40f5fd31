//! `debug_status`: every session, its state, why and where it stopped.

use std::sync::Arc;

use holdpoint_engine::{
    backend::{Backend, vscode},
    failure::Failure,
    ids::TargetId,
    session::{Session, Status as State},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::report;
use crate::{
    app::App,
    root,
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
        let seen = in_editor(&sessions).await;
        if !seen.is_empty() {
            app.engine.follow_editor(&root::current());
        }
        if sessions.is_empty() {
            return match seen.as_slice() {
                [] => {
                    let none = "no sessions\nhint: start one with `debug_launch`";
                    Ok(Answer::new(none, &json!({ "sessions": [] }))?.into())
                }
                seen => {
                    let data = json!({ "sessions": [], "in_editor": seen });
                    Ok(Answer::new(format!("no sessions\n{}", told(seen)), &data)?.into())
                }
            };
        }
        let rows: Vec<(String, Value)> = sessions.iter().map(|session| row(session)).collect();
        let mut text: Vec<String> = rows.iter().map(|(text, _)| text.clone()).collect();
        let data: Vec<&Value> = rows.iter().map(|(_, data)| data).collect();
        if seen.is_empty() {
            return Ok(Answer::new(text.join("\n"), &json!({ "sessions": data }))?.into());
        }
        text.push(told(&seen));
        let data = json!({ "sessions": data, "in_editor": seen });
        Ok(Answer::new(text.join("\n"), &data)?.into())
    }
}

/// What is debugged in the editor that has the project open, and is no session of ours.
async fn in_editor(sessions: &[Arc<Session>]) -> Vec<String> {
    let ours = sessions.iter().filter_map(|it| it.backend(TargetId::MAIN).ok());
    let ours = ours.filter_map(|it| match it {
        Backend::Vscode(vscode) => Some(vscode.root()),
        Backend::Dap(_) | Backend::Cdp(_) => None,
    });
    vscode::seen(&root::current(), &ours.collect::<Vec<_>>()).await
}

fn told(seen: &[String]) -> String {
    let which = if seen.len() > 1 { " and one's `editor_session`" } else { "" };
    format!(
        "in VS Code: {}\nhint: `debug_attach` with `backend`: `vscode`{which} joins it",
        seen.join(", ")
    )
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
        _ if view.is_ending => ("ending", ": what it reported last is still read".to_owned()),
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
