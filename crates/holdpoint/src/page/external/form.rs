//! One tool: what it is for, a form made from its schema, and what its last call gave.

use holdpoint_engine::limits;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::{
    app::App,
    external::server::{ExternalServer, ExternalTool},
    page::{
        address::FormFields,
        pieces::{block, line, mark},
        sheet::LiveParts,
    },
};

/// Before the name of a field that is an argument.
const ARGUMENT: &str = "a-";

pub(super) async fn panel(
    app: &App,
    server: &ExternalServer,
    tool: &ExternalTool,
    result: Markup,
    parts: &mut LiveParts,
) -> Markup {
    let to = super::to(&server.name, &tool.original);
    let schema = tool.schema();
    let pretty = serde_json::to_string_pretty(&schema).unwrap_or_default();
    let held = held(app, &tool.name).await;
    html! {
        section.panel aria-labelledby="t-h" {
            header.tall {
                div.grow { h2 #t-h { code { (line(&tool.name)) } } p { (line(&cut(tool.description()))) } }
                form #hold-form method="post" action=(to) { (parts.put("hold-form", hold(held))) }
            }
            div.cols {
                div {
                    form.call-form method="post" action=(to) {
                        h3 { "Call it" }
                        @for field in fields(&schema) { (field.markup()) }
                        @if fields(&schema).is_empty() { p.quiet { "It takes no arguments." } }
                        div.go { button.btn.main-act name="do" value="call" { "Call" } }
                    }
                    details.schema {
                        summary { "As JSON" }
                        form.call-form method="post" action=(to) {
                            label.field { span { "Arguments" } textarea.in.mono name="json" rows="5" spellcheck="false" { "{}" } }
                            div.go { button.btn name="do" value="call_json" { "Call with this" } }
                        }
                    }
                }
                section aria-labelledby="res-h" {
                    div #result { (parts.put("result", result)) }
                    details.schema { summary { "Schema" } pre.out.boxed tabindex="0" aria-label="Schema" { (block(&pretty)) } }
                }
            }
        }
    }
}

fn cut(text: &str) -> String {
    holdpoint_engine::budget::cut(text, limits::EVALUATION_TEXT)
}

/// Whether its calls are held, by its own callpoint or by that of all tools of its server.
async fn held(app: &App, name: &str) -> Option<&'static str> {
    let points = app.engine.callpoints().await.callpoints();
    let all = name.split_once('/').map(|(server, _)| format!("{server}/*"));
    if points.contains_key(name) {
        return Some("own");
    }
    all.is_some_and(|all| points.contains_key(&all)).then_some("all")
}

fn hold(held: Option<&str>) -> Markup {
    html! {
        @match held {
            Some("own") => button.btn name="do" value="let" aria-pressed="true" { (mark("cp", "cp")) "Held: let them go" },
            Some(_) => span.quiet { (mark("cp", "cp")) " held by the callpoint on all tools of its server" },
            None => button.btn name="do" value="hold" aria-pressed="false" { (mark("cp", "cp")) "Hold its calls" },
        }
    }
}

/// An argument as a field.
struct ArgumentField<'a> {
    name: &'a str,
    schema: &'a Value,
    is_needed: bool,
}

fn fields(schema: &Value) -> Vec<ArgumentField<'_>> {
    let needed = schema.get("required").and_then(Value::as_array);
    let is_needed = |name: &str| needed.is_some_and(|it| it.iter().any(|it| it == name));
    let all = schema.get("properties").and_then(Value::as_object);
    let mut fields: Vec<_> = all
        .into_iter()
        .flatten()
        .map(|(name, schema)| ArgumentField { name, schema, is_needed: is_needed(name) })
        .collect();
    fields.sort_by_key(|it| !it.is_needed);
    fields.truncate(limits::PAGE_FIELDS);
    fields
}

impl ArgumentField<'_> {
    /// `string`, `number`, …; empty where it may be anything.
    fn kind(&self) -> &str {
        let kind = self.schema.get("type");
        let of_several = || kind?.as_array()?.iter().find(|it| *it != "null")?.as_str();
        kind.and_then(Value::as_str).or_else(of_several).unwrap_or_default()
    }

    fn choices(&self) -> Vec<String> {
        let given = self.schema.get("enum").and_then(Value::as_array);
        let word = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        match (given, self.kind()) {
            (Some(given), _) => given.iter().map(word).collect(),
            (None, "boolean") => vec!["true".to_owned(), "false".to_owned()],
            (None, _) => Vec::new(),
        }
    }

    fn markup(&self) -> Markup {
        let name = format!("{ARGUMENT}{}", self.name);
        let (kind, choices) = (self.kind(), self.choices());
        let about = self.schema.get("description").and_then(Value::as_str);
        let usual = self
            .schema
            .get("default")
            .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        let hint = usual.map_or_else(|| "left out".to_owned(), |it| format!("{it}, if left out"));
        html! {
            label.field {
                span { code { (line(self.name)) } " " i { (kind) } @if self.is_needed { " " b { "needed" } } }
                @if !choices.is_empty() {
                    select.in name=(name) required[self.is_needed] {
                        @if !self.is_needed { option value="" { (hint) } }
                        @for choice in &choices { option value=(choice) { (choice) } }
                    }
                } @else if matches!(kind, "object" | "array" | "") {
                    textarea.in.mono name=(name) rows="2" placeholder={ "JSON" @if !self.is_needed { ", " (hint) } } required[self.is_needed] spellcheck="false" {}
                } @else {
                    input.in.mono name=(name) inputmode=[matches!(kind, "number" | "integer").then_some("decimal")]
                        placeholder=[(!self.is_needed).then_some(&hint)] required[self.is_needed] autocomplete="off" spellcheck="false";
                }
                @if let Some(about) = about { small { (line(&cut(about))) } }
            }
        }
    }

    /// What was typed, as the schema means it; what is no number or no JSON goes as text, and its server says so.
    fn value(&self, typed: &str) -> Option<Value> {
        if typed.is_empty() {
            return (self.is_needed && self.kind() == "string").then(|| Value::from(""));
        }
        let as_json = || serde_json::from_str(typed).unwrap_or_else(|_| Value::from(typed));
        let is_text = match self.schema.get("enum").and_then(Value::as_array) {
            Some(choices) => choices.iter().any(|it| it == typed),
            None => self.kind() == "string",
        };
        Some(if is_text { Value::from(typed) } else { as_json() })
    }
}

/// The arguments that a form sent.
pub(super) fn arguments(tool: &ExternalTool, form: &FormFields) -> Map<String, Value> {
    let schema = tool.schema();
    let fields = fields(&schema);
    let given = fields.iter().filter_map(|it| {
        let typed = form.get(&format!("{ARGUMENT}{}", it.name));
        Some((it.name.to_owned(), it.value(typed)?))
    });
    given.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn given(schema: Value, typed: &[(&str, &str)]) -> Value {
        let said = json!({ "inputSchema": schema });
        let tool = ExternalTool { name: "s/t".into(), original: "t".into(), said };
        let pairs = typed.iter().map(|(name, text)| (format!("a-{name}"), (*text).to_owned()));
        Value::Object(arguments(&tool, &FormFields::of(pairs.collect::<BTreeMap<_, _>>())))
    }

    #[test]
    fn what_is_typed_is_what_the_schema_means() {
        let schema = json!({ "properties": {
            "path": { "type": "string" }, "head": { "type": "number" }, "deep": { "type": "boolean" },
            "tags": { "type": "array" }, "level": { "enum": ["1", 2] }, "any": {},
        }, "required": ["path"] });
        let typed =
            [("path", "12"), ("head", "6"), ("deep", "true"), ("tags", "[1]"), ("level", "1")];
        let expected = json!({ "path": "12", "head": 6, "deep": true, "tags": [1], "level": "1" });
        assert_eq!(given(schema.clone(), &typed), expected);
        // Left out is left out, and an empty text that is needed is one.
        assert_eq!(given(schema.clone(), &[]), json!({ "path": "" }));
        let odd = [("path", "x"), ("head", "six"), ("level", "2")];
        assert_eq!(given(schema, &odd), json!({ "path": "x", "head": "six", "level": 2 }));
    }
}
