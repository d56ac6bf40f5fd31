//! `debug_stop`: end the program and everything it started, or let go of one that we did not start.

use holdpoint_engine::{failure::Failure, process::Exit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::report::exit_json;
use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::{Chosen, Steered},
};

pub(crate) struct Stop;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for Stop {
    const NAME: &'static str = "debug_stop";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "End the program; an attached one is let go. Breakpoints stay.";
    const EFFECT: Effect = Effect::Destroys;
    const TITLE: &'static str = "Stop";
    type Scope = Steered<Chosen>;
    type Params = Params;

    async fn run(
        Steered(Chosen(session)): Steered<Chosen>,
        _: Params,
        _: Call,
    ) -> Result<Reply, Failure> {
        let was_over = session.view().exit;
        let exit = session.stop().await;
        let text = match was_over {
            Some(exit) => format!("Debug session {} had ended with {exit}.", session.id),
            None if session.is_core() => {
                format!("Debug session {} ended; the core file stays as it is.", session.id)
            }
            None if exit == Exit::Left => format!(
                "Debug session {} ended: detached, its breakpoints are gone and it runs on.",
                session.id
            ),
            None => format!("Debug session {} ended.", session.id),
        };
        let data = json!({ "session_id": session.id, "state": "ended", "exit": exit_json(exit) });
        Ok(Answer::new(text, &data)?.into())
    }
}
