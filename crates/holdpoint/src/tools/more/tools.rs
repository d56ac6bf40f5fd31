//! `more_tools`: every tool that the chosen toolset does not list, called by its name.
//!
//! A call with a `name` never comes here: the catalogue sends it to the tool it names. What is left is to
//! say which there are.

use holdpoint_engine::{
    budget::Lines,
    failure::{Code, Failure},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool, first_sentence},
};

pub(crate) struct Tools;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Without it: lists them.
    name: Option<String>,
    #[expect(dead_code, reason = "taken by the catalogue, with `name`")]
    arguments: Option<Map<String, Value>>,
}

impl Tool for Tools {
    const NAME: &'static str = "more_tools";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Any other tool: attach, pause, restart, stdin, threads, source, \
        exceptions, set a variable, snapshot and diff, paused calls.";
    const EFFECT: Effect = Effect::Runs;
    const TITLE: &'static str = "More tools";
    const LONG: bool = true;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        if let Some(name) = params.name {
            return Err(Failure::new(Code::UnknownTool, format!("no tool `{name}`")));
        }
        let mut lines = Lines::within(call.budget);
        let mut rows = Vec::new();
        let all = app.catalogue.further().count();
        for tool in app.catalogue.further() {
            let schema = tool.schema();
            let properties = schema.get("properties").and_then(Value::as_object);
            let names: Vec<&str> =
                properties.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect();
            let about = tool.entry.about();
            let about = first_sentence(&about);
            let line = format!("{} {{{}}}: {about}", tool.entry.name(), names.join(", "));
            if !lines.push(&line) {
                break;
            }
            rows.push(json!({ "name": tool.entry.name(), "about": about, "parameters": names }));
        }
        lines.always(&match all.saturating_sub(rows.len()) {
            _ if all == 0 => "every tool is in the list here; call it by its own name".to_owned(),
            0 => format!("all {all}; call one with `name` and `arguments`"),
            left => format!("… {left} more: more_tools {{\"budget_tokens\": 4000}}"),
        });
        let data = json!({ "tools": rows, "total": all });
        Ok(Answer::new(lines.into_text(), &data)?.into())
    }
}
