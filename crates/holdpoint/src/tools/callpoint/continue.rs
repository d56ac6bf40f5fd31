//! `breakpoint_continue`: decide about a paused call.

use holdpoint_engine::{
    callpoints::{decision::Decision, resume::Resumed},
    failure::Failure,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::{no_function, refuse, refuse_as};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    view::refused,
};

pub(crate) struct Continue;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    pause_id: String,
    #[schemars(extend("enum" = ["continue", "skip", "raise"]))]
    action: Option<String>,
    /// Any JSON values.
    modified_args: Option<Vec<Value>>,
    modified_kwargs: Option<Map<String, Value>>,
    /// Any JSON value, for `skip`.
    #[serde(default, deserialize_with = "given")]
    fake_result: Option<Value>,
    exception_type: Option<String>,
    exception_message: Option<String>,
    replacement_function: Option<String>,
}

/// Given is given, even as `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Tool for Continue {
    const NAME: &'static str = "breakpoint_continue";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Let a paused call go on: as it is, changed, replaced, skipped \
        with a result, or raising.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "Decide a paused call";
    // A result of `null` is one.
    const NULLS: &'static [&'static str] = &["fake_result"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let callpoints = app.engine.callpoints().await;
        let Params { pause_id, replacement_function, .. } = params;
        let decision = Decision {
            action: params.action,
            modified_args: params.modified_args,
            modified_kwargs: params.modified_kwargs,
            fake_result: params.fake_result,
            exception_type: params.exception_type,
            exception_message: params.exception_message,
            replacement_function: replacement_function.filter(|it| !it.is_empty()),
            ..Decision::default()
        };
        let about = json!({ "pause_id": pause_id });
        match callpoints.resume(&pause_id, &decision, &call.actor()).await {
            Resumed::Done { action, warning } => {
                let mut answer = json!({ "status": "ok", "pause_id": pause_id, "action": action });
                if let (Some(answer), Some(warning)) = (answer.as_object_mut(), warning) {
                    answer.insert("warning".to_owned(), json!(warning));
                }
                Ok(Reply::Json(answer))
            }
            Resumed::NoSuchValue(no) => Ok(refuse_as(refused::value(&no), json!({}))),
            Resumed::NoSuchFunction { known } => {
                Ok(no_function(decision.replacement_function.as_deref(), &known))
            }
            Resumed::NotFound => Ok(refuse("pause_not_found", about)),
            Resumed::Already => Ok(refuse("pause_already_resumed", about)),
            Resumed::NoSuchAction => Ok(refuse_as(refused::action(), about)),
        }
    }
}
