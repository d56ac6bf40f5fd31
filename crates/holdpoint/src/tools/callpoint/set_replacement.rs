//! `breakpoint_set_replacement`: another function instead, for calls that do not pause.

use holdpoint_engine::{callpoints::functions::NoChange, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::refuse;
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct SetReplacement;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    function_name: String,
    /// Empty to clear.
    replacement_function: String,
}

impl Tool for SetReplacement {
    const NAME: &'static str = "breakpoint_set_replacement";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Run another registered function of the same signature instead.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Replace a function";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { function_name, replacement_function } = params;
        let names = json!({
            "function_name": function_name, "replacement_function": replacement_function,
        });
        let callpoints = app.engine.callpoints().await;
        let (other, by) = (Some(replacement_function.as_str()), call.actor());
        match callpoints.set_replacement(&function_name, other, &by).await {
            Ok(()) => Ok(Reply::Json(json!({
                "status": "ok", "function_name": function_name,
                "replacement_function": replacement_function,
            }))),
            Err(NoChange::SignatureMismatch) => Ok(refuse("signature_mismatch", names)),
            Err(NoChange::NotFound | NoChange::Full) => Ok(refuse("breakpoint_not_found", names)),
        }
    }
}
