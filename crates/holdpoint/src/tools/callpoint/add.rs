//! `breakpoint_add`: intercept a function.

use holdpoint_engine::{callpoints::behavior::Behavior, failure::Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{no_behavior, refuse, unregistered};
use crate::{
    app::App,
    tool::{Call, Effect, Reply, Tool},
};

pub(crate) struct Add;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    function_name: String,
    /// `yield`: as the default says.
    #[schemars(extend("enum" = ["stop", "go", "yield"]))]
    behavior: Option<String>,
}

impl Tool for Add {
    const NAME: &'static str = "breakpoint_add";
    const ABOUT: &'static str = "Pause a function's calls in an app under `holdpoint run`, before \
        and after.";
    const EFFECT: Effect = Effect::Sets;
    const SPEAKS_JSON: bool = true;
    const TITLE: &'static str = "Intercept a function";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        let Params { function_name, behavior } = params;
        if function_name.is_empty() {
            return Ok(refuse("missing_parameter", json!({ "parameter": "function_name" })));
        }
        let before = match &behavior {
            None => None,
            Some(word) => match Behavior::before(word) {
                Some(before) => Some(before),
                None => return Ok(no_behavior(word, "stop, go or yield")),
            },
        };
        let callpoints = app.engine.callpoints().await;
        match callpoints.add(&function_name, before).await {
            Ok(()) => {
                let mut answer = json!({ "status": "ok", "function_name": function_name });
                let note = unregistered(&function_name, &callpoints.functions());
                if let (Some(answer), Some(note)) = (answer.as_object_mut(), note) {
                    answer.insert("note".to_owned(), json!(note));
                }
                Ok(Reply::Json(answer))
            }
            Err(_full) => Ok(refuse("too_many_breakpoints", json!({}))),
        }
    }
}
