//! Parameters, checked so that the next try succeeds: the failure names the parameter,
//! what was expected, and the nearest valid name.

use holdpoint_engine::failure::{Code, Failure};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Names: nothing unknown, nothing missing. Types are [`parse`]'s.
pub(super) fn check(
    tool: &str,
    schema: &JsonObject,
    arguments: &JsonObject,
) -> Result<(), Failure> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| properties.is_some_and(|it| it.contains_key(name));
    if let Some(unknown) = arguments.keys().find(|name| !is_known(name)) {
        let known: Vec<&str> =
            properties.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect();
        return Err(unknown_parameter(tool, unknown, &known));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(missing(tool, name, schema));
        }
    }
    Ok(())
}

pub(super) fn parse<P: DeserializeOwned>(tool: &str, arguments: JsonObject) -> Result<P, Failure> {
    let arguments = Value::Object(arguments);
    // Right arguments are the rule; only for wrong ones is it worth knowing where.
    if let Ok(params) = P::deserialize(&arguments) {
        return Ok(params);
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let problem = plain(&error.into_inner().to_string());
        if path == "." {
            return Failure::new(Code::InvalidParams, format!("{tool}: {problem}"));
        }
        Failure::new(Code::InvalidParams, format!("parameter `{path}` of `{tool}`: {problem}"))
            .details(json!({ "parameter": path, "problem": problem }))
    })
}

/// serde's words without Rust's: `expected u64` says nothing to a caller in another language.
fn plain(problem: &str) -> String {
    let Some((what, expected)) = problem.rsplit_once("expected ") else {
        return problem.to_owned();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            "an integer"
        }
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        other => other,
    };
    format!("{what}expected {expected}")
}

/// A wrong type gets the hint that [`parse`] cannot give: what the schema says of the parameter.
pub(super) fn explain(schema: &JsonObject, mut failure: Failure) -> Failure {
    let path = failure.details.as_ref().and_then(|it| it.get("parameter")).and_then(Value::as_str);
    if failure.code == Code::InvalidParams
        && failure.hint.is_none()
        && let Some(path) = path
        && let Some(kind) = property(schema, path).and_then(kind)
    {
        failure.hint = Some(format!("`{path}` is {kind}").into());
    }
    failure
}

/// The schema at `who.age` or `kinds[0]`.
fn property<'s>(schema: &'s JsonObject, path: &str) -> Option<&'s JsonObject> {
    let mut at = schema;
    for step in path.split('.') {
        let (name, index) = step.split_once('[').map_or((step, false), |(name, _)| (name, true));
        at = at.get("properties")?.get(name)?.as_object()?;
        if index {
            at = at.get("items")?.as_object()?;
        }
    }
    Some(at)
}

/// `an integer from 0 to 255`, `one of "a", "b"`.
fn kind(property: &JsonObject) -> Option<String> {
    if let Some(Value::Array(values)) = property.get("enum") {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return Some(format!("one of {}", values.join(", ")));
    }
    let name = property.get("type")?.as_str()?;
    let article = if name.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    let (min, max) = (property.get("minimum"), property.get("maximum"));
    let bounds = match (min, max) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(", {min} or more"),
        _ => String::new(),
    };
    Some(format!("{article} {name}{bounds}"))
}

/// The candidate most like `name`, if any is like it at all.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

fn unknown_parameter(tool: &str, name: &str, known: &[&str]) -> Failure {
    let list = match known {
        [] => format!("`{tool}` takes no parameters of its own"),
        names => format!("`{tool}` takes {}", quoted(names)),
    };
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    };
    Failure::new(Code::InvalidParams, format!("unknown parameter `{name}`"))
        .hint(hint)
        .details(json!({ "parameter": name, "expected": known }))
}

fn missing(tool: &str, name: &str, schema: &JsonObject) -> Failure {
    let property = schema.get("properties").and_then(|it| it.get(name));
    let text = |key| property.and_then(|it| it.get(key)).and_then(Value::as_str);
    let kind = text("type").unwrap_or("value");
    let about = text("description").map(|it| format!(": {it}")).unwrap_or_default();
    Failure::new(Code::InvalidParams, format!("missing parameter `{name}` of `{tool}`"))
        .hint(format!("pass `{name}` ({kind}){about}"))
        .details(json!({ "parameter": name, "expected": kind }))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
