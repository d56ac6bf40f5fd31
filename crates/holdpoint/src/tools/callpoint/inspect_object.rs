//! `breakpoint_inspect_object`: a captured value, looked into.

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
    records::Inspected,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{refuse, refuse_as};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::{self, refused, short},
};

pub(crate) struct InspectObject;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// 8 digits of it or more.
    cid: String,
    /// `.items[0]['price']`
    path: Option<String>,
    #[serde(default)]
    full: bool,
}

impl Tool for InspectObject {
    const NAME: &'static str = "breakpoint_inspect_object";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Look inside a recorded value, by its CID; `path` goes further in.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Inspect a value";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let Params { cid, path, full } = params;
        let records = &app.engine.callpoints().await.records;
        let looked = records.inspect(&cid, path.as_deref().unwrap_or_default()).await;
        let looked = looked.map_err(|error| Failure::new(Code::StoreFailed, error.to_string()))?;
        match looked {
            Inspected::Found(looked) => {
                let found = view::object(&looked);
                let found = if full { found } else { named(found, &cid) };
                Ok(Reply::Json(within(found, call.budget.bytes())))
            }
            Inspected::Undecodable { cid: whole, why } => {
                let found = view::undecodable(&whole, &why);
                Ok(Reply::Refused(if full { found } else { named(found, &cid) }))
            }
            Inspected::NoSuchValue(no) => Ok(refuse_as(refused::value(&no), json!({}))),
            Inspected::NoSuchPath { why } => {
                Ok(refuse("path_not_found", json!({ "cid": cid, "message": why })))
            }
        }
    }
}

/// With the CID as it was given, or the beginning of it that the other tools show.
fn named(mut found: Value, given: &str) -> Value {
    let short = found.get("cid").map(short::cid);
    if let (Some(found), Some(short)) = (found.as_object_mut(), short) {
        let is_shorter = short.as_str().is_some_and(|short| given.len() < short.len());
        found.insert("cid".to_owned(), if is_shorter { short } else { json!(given) });
    }
    found
}

/// As many of the attributes as fit; how many did not.
fn within(mut found: Value, bytes: usize) -> Value {
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
    let hint = match found.get("children_total") {
        Some(total) if left_out == 0 => {
            Some(format!("{} of {total} are shown; a `path` leads to each", limits::ATTRIBUTES))
        }
        _ if left_out > 0 => {
            Some("pass a `path` to one of them, or a larger `budget_tokens`".to_owned())
        }
        _ => None,
    };
    if let (Some(found), Some(hint)) = (found.as_object_mut(), hint) {
        if left_out > 0 {
            found.insert("attributes_left_out".to_owned(), json!(left_out));
        }
        found.insert("hint".to_owned(), json!(hint));
    }
    found
}
