//! `breakpoint_add`: intercept a function.

use holdpoint_engine::{
    callpoints::{Callpoints, behavior::Behavior, functions::NoChange},
    failure::Failure,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AFTER, no_behavior, refuse, unregistered};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Add;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// As `breakpoint_list_functions` names it.
    function_name: String,
    /// `yield`: as the default says.
    #[schemars(extend("enum" = ["stop", "go", "yield"]))]
    behavior: Option<String>,
    #[schemars(extend("enum" = ["stop", "go", "exception", "stop_exception", "yield"]))]
    after: Option<String>,
    /// Runs instead.
    replacement: Option<String>,
}

impl Tool for Add {
    const NAME: &'static str = "breakpoint_add";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Pause a function's calls in an app under `holdpoint run`, before \
        and after.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Intercept a function";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { function_name, behavior, after, replacement } = params;
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
        let after = match &after {
            None => None,
            Some(word) => match Behavior::after(word) {
                Some(after) => Some(after),
                None => return Ok(no_behavior(word, AFTER)),
            },
        };
        let callpoints = app.engine.callpoints().await;
        // Nothing is set where not all of it can be.
        if let Some(other) = replacement.as_ref().filter(|it| !callpoints.fits(&function_name, it))
        {
            let names = json!({ "function_name": function_name, "replacement_function": other });
            return Ok(refuse("signature_mismatch", names));
        }
        let by = call.actor();
        let mut added = callpoints.add(&function_name, before, &by).await;
        if let (Ok(()), Some(after)) = (&added, after) {
            added = callpoints.set_after(&function_name, after, &by).await;
        }
        if let (Ok(()), Some(other)) = (&added, &replacement) {
            added = callpoints.set_replacement(&function_name, Some(other), &by).await;
        }
        match added {
            Ok(()) => Ok(Reply::Json(said(&app, callpoints, &function_name))),
            Err(NoChange::Full) => Ok(refuse("too_many_breakpoints", json!({}))),
            // Somebody removed it meanwhile, or its signature changed.
            Err(_other) => Ok(refuse("breakpoint_not_found", json!({}))),
        }
    }
}

/// What was added, and when its calls pause as things stand.
fn said(app: &App, callpoints: &Callpoints, name: &str) -> Value {
    let mut answer = json!({
        "status": "ok", "function_name": name, "pauses": callpoints.pauses_in_words(name),
    });
    let is_tool = app.external.get().is_some_and(|it| it.names(name));
    let note = if is_tool { None } else { unregistered(name, &callpoints.functions()) };
    if let (Some(answer), Some(note)) = (answer.as_object_mut(), note) {
        answer.insert("note".to_owned(), json!(note));
    }
    answer
}
