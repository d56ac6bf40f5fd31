//! A described tool as clients see it, and what its calls are checked against.

use std::collections::BTreeMap;

use holdpoint_metadata::{Literal, Param, ParamKind, Prerequisite, Rule, ToolSpec};
use rmcp::model::{JsonObject, MetaObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments;
use crate::tool::published;

/// Examples that a parameter's description shows: more say nothing more.
const SHOWN: usize = 2;

/// The tool in the list: what it does, when, after what, as in which call. Guidance stands in the description, because
/// that is what clients show a model.
pub(super) fn listed(spec: &ToolSpec, checked: &JsonObject) -> McpTool {
    let mut about = format!("{} {}", stopped(&spec.description), stopped(&spec.when_to_use));
    for prerequisite in &spec.requires {
        about += &format!(" First: {}.", step(prerequisite));
    }
    if !spec.recommended.is_empty() {
        let steps: Vec<String> = spec.recommended.iter().map(step).collect();
        about += &format!(" Best after {}.", steps.join(", "));
    }
    for rule in &spec.rules {
        about += &match rule {
            Rule::OneOf(_) => format!(" Takes {rule}."),
            Rule::Needs { .. } => format!(" {rule}."),
        };
    }
    if let Some(example) = spec.examples.first() {
        about += &format!(" As in {}", arguments::json(example));
    }
    let annotations = ToolAnnotations::new()
        .read_only(spec.safety.read_only)
        .destructive(spec.safety.destructive)
        .idempotent(spec.safety.idempotent)
        .open_world(spec.run.is_open());
    let mut tool = McpTool::new(spec.name.clone(), about, published(checked))
        .with_annotations(annotations)
        .with_title(spec.title.clone());
    let mut meta = JsonObject::new();
    let category = spec.name.split('_').next().unwrap_or_default();
    meta.insert("holdpoint/category".to_owned(), category.into());
    tool.meta = Some(MetaObject(meta));
    tool
}

fn step(prerequisite: &Prerequisite) -> String {
    match &prerequisite.note {
        Some(note) => format!("`{}` ({note})", prerequisite.tool),
        None => format!("`{}`", prerequisite.tool),
    }
}

fn stopped(text: &str) -> String {
    match text.ends_with(['.', '?', '!']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// The whole schema, with bounds, defaults and patterns.
pub(super) fn checked(spec: &ToolSpec) -> JsonObject {
    object(&spec.params)
}

fn object(params: &[Param]) -> JsonObject {
    let properties: JsonObject =
        params.iter().map(|it| (it.name.clone(), Value::Object(property(it)))).collect();
    let required: Vec<&str> =
        params.iter().filter(|it| it.required).map(|it| it.name.as_str()).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn property(param: &Param) -> JsonObject {
    let mut schema = kind(&param.kind);
    let about = about(param);
    if !about.is_empty() {
        schema.insert("description".to_owned(), about.into());
    }
    if let Some(default) = &param.default {
        schema.insert("default".to_owned(), arguments::json(default));
    }
    schema
}

fn kind(kind: &ParamKind) -> JsonObject {
    let mut schema = match kind {
        ParamKind::Object(parts) => return object(parts),
        _ => JsonObject::new(),
    };
    schema.insert("type".to_owned(), kind.type_name().into());
    match kind {
        ParamKind::Text { pattern: Some(pattern), .. } => {
            schema.insert("pattern".to_owned(), format!("^(?:{})$", pattern.as_str()).into());
        }
        ParamKind::Integer { min, max } | ParamKind::Number { min, max } => {
            for (name, bound) in [("minimum", min), ("maximum", max)] {
                if let Some(bound) = bound {
                    schema.insert(name.to_owned(), number(*bound));
                }
            }
        }
        ParamKind::Choice(values) => {
            schema.insert("enum".to_owned(), json!(values));
        }
        ParamKind::List(items) => {
            schema.insert("items".to_owned(), Value::Object(self::kind(items)));
        }
        ParamKind::Text { .. } | ParamKind::Boolean | ParamKind::Object(_) => {}
    }
    schema
}

/// Whole where it is.
fn number(bound: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "a bound without a fraction")]
    match bound.fract() == 0.0 && bound.abs() < 1e15 {
        true => (bound as i64).into(),
        false => bound.into(),
    }
}

/// What it is, its bounds and its default: clients list nothing else of a schema. Examples where a type does not say
/// it all.
fn about(param: &Param) -> String {
    let mut more = Vec::new();
    match &param.kind {
        ParamKind::Integer { min, max } | ParamKind::Number { min, max } => match (min, max) {
            (Some(min), Some(max)) => more.push(format!("{min} to {max}")),
            (Some(min), None) if *min != 1.0 && *min != 0.0 => more.push(format!("from {min}")),
            (None, Some(max)) => more.push(format!("up to {max}")),
            _ => {}
        },
        ParamKind::Text { is_path: true, .. } => {}
        ParamKind::Text { .. } | ParamKind::List(_) | ParamKind::Object(_) => {
            let shown = param.examples.iter().filter(|it| **it != Literal::Text(String::new()));
            let shown: Vec<String> =
                shown.take(SHOWN).map(|it| arguments::json(it).to_string()).collect();
            if !shown.is_empty() {
                more.push(format!("as {}", shown.join(" or ")));
            }
        }
        ParamKind::Boolean | ParamKind::Choice(_) => {}
    }
    match &param.default {
        Some(Literal::Text(text)) if text.is_empty() => {}
        Some(default) => more.push(format!("default {}", arguments::plain(default))),
        None => {}
    }
    let mut about = param.about.clone();
    if !more.is_empty() {
        about += &format!(" ({})", more.join("; "));
    }
    if let Some(note) = &param.note {
        about += &format!(" {note}");
    }
    about.trim_start().to_owned()
}

/// The tools that a file speaks of as coming before it.
pub(super) fn mentioned(spec: &ToolSpec) -> BTreeMap<&str, &Prerequisite> {
    let all = spec.requires.iter().chain(&spec.recommended);
    all.map(|it| (it.tool.as_str(), it)).collect()
}
