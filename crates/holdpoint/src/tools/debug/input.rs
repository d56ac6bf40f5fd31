//! `debug_input`: write to the program's stdin.

use holdpoint_engine::failure::Failure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::{Chosen, Steered},
};

pub(crate) struct Input;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    text: String,
    /// End stdin after it.
    #[serde(default)]
    close: bool,
}

impl Tool for Input {
    const NAME: &'static str = "debug_input";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Answer a program that asks: write text to its stdin.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Input";
    type Scope = Steered<Chosen>;
    type Params = Params;

    async fn run(
        Steered(Chosen(session)): Steered<Chosen>,
        params: Params,
        _: Call,
    ) -> Result<Reply, Failure> {
        session.input(&params.text, params.close).await?;
        let closed = if params.close { ", stdin closed" } else { "" };
        let text = format!("wrote {} bytes{closed}", params.text.len());
        let data = json!({ "bytes": params.text.len(), "closed": params.close });
        Ok(Answer::new(text, &data)?.into())
    }
}
