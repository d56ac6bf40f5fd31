//! `breakpoint_inspect_object`: a captured value, looked into.

use holdpoint_engine::{
    callpoints::Inspected,
    failure::{Code, Failure},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::refuse;
use crate::{
    app::App,
    tool::{Call, Effect, Reply, Tool},
};

pub(crate) struct InspectObject;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    cid: String,
    /// `.items[0]['price']`
    path: Option<String>,
}

impl Tool for InspectObject {
    const NAME: &'static str = "breakpoint_inspect_object";
    const ABOUT: &'static str = "Look inside a recorded value, by its CID; `path` goes further in.";
    const EFFECT: Effect = Effect::Reads;
    const SPEAKS_JSON: bool = true;
    const TITLE: &'static str = "Inspect a value";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { cid, path } = params;
        let callpoints = app.engine.callpoints().await;
        let looked = callpoints.inspect(&cid, path.as_deref().unwrap_or_default()).await;
        let looked = looked.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        match looked {
            Inspected::Found(found) if found.get("error").is_some() => Ok(Reply::Refused(found)),
            Inspected::Found(found) => Ok(Reply::Json(within(found, call.budget.bytes()))),
            Inspected::NoSuchValue => Ok(refuse("cid_not_found", json!({ "cid": cid }))),
            Inspected::NoSuchPath { why } => {
                Ok(refuse("path_not_found", json!({ "cid": cid, "message": why })))
            }
        }
    }
}

/// As many of the attributes as fit; how many did not.
fn within(mut found: serde_json::Value, bytes: usize) -> serde_json::Value {
    let mut left = bytes;
    let mut left_out = 0;
    if let Some(attributes) = found.get_mut("attributes").and_then(|it| it.as_object_mut()) {
        attributes.retain(|name, value| {
            let size = name.len() + value.to_string().len() + 4;
            let fits = size <= left;
            left = left.saturating_sub(size);
            left_out += usize::from(!fits);
            fits
        });
    }
    if left_out > 0
        && let Some(found) = found.as_object_mut()
    {
        found.insert("attributes_left_out".to_owned(), json!(left_out));
        let hint = "pass a `path` to one of them, or a larger `budget_tokens`";
        found.insert("hint".to_owned(), json!(hint));
    }
    found
}
