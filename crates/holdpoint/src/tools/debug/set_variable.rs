//! `debug_set_variable`: give a variable of the stopped program another value.

use holdpoint_engine::{
    backend::ScopeKind,
    failure::{Code, Failure},
    inspect, limits,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::{Steered, StoppedSession},
};

pub(crate) struct SetVariable;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    name: String,
    /// An expression.
    value: String,
    /// 0 is the innermost.
    #[serde(default)]
    frame: usize,
}

impl Tool for SetVariable {
    const NAME: &'static str = "debug_set_variable";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Try a fix in place: give a local variable another value.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Set variable";
    type Scope = Steered<StoppedSession>;
    type Params = Params;

    async fn run(
        Steered(at): Steered<StoppedSession>,
        params: Params,
        call: Call,
    ) -> Result<Reply, Failure> {
        let frame = super::evaluate::frame(&at, params.frame).await?;
        let locals = inspect::locals(&at.backend, &frame).await?;
        if !locals.iter().any(|it| it.name == params.name) {
            let names: Vec<&str> = locals.iter().map(|it| it.name.as_str()).collect();
            let text = format!("no local variable `{}`", params.name);
            return Err(Failure::new(Code::NotFound, text)
                .hint(format!("locals: {}; `debug_evaluate` makes new ones", names.join(", "))));
        }
        let scopes = at.backend.scopes(&frame).await?;
        let mut last = Failure::new(Code::NotFound, "the frame has no scope of its own");
        for scope in scopes.iter().filter(|scope| scope.kind == ScopeKind::Local) {
            let assigned =
                at.backend.assign(&frame, &scope.children, &params.name, &params.value).await;
            let told = format!("{} = {}", params.name, params.value);
            at.session.evaluated(&told, &assigned, call.actor());
            match assigned {
                Ok(value) => {
                    let text = inspect::one_line(&params.name, &value, limits::VALUE_BYTES);
                    let data =
                        json!({ "name": params.name, "value": value.text, "type": value.kind });
                    return Ok(Answer::new(text, &data)?.into());
                }
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }
}
