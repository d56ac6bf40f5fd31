//! Whether a schema admits a value: for tools whose parameters no type of ours checks.
//!
//! Pure. Of JSON Schema it knows what schemas of tools are made of: types, names, bounds, choices, and
//! `allOf`, `anyOf`, `oneOf`. What it does not know (`$ref`, `pattern`, `if`) it leaves to the tool itself:
//! nothing is refused that the schema might admit.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::tool::echo;

/// Where a value is not as its schema has it, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Misfit {
    /// `who.age`, `kinds[0]`
    pub(crate) path: String,
    pub(crate) problem: String,
}

/// The values of a call's arguments; which of them must be there is checked before, by name.
pub(crate) fn arguments(schema: &JsonObject, arguments: &JsonObject) -> Result<(), Misfit> {
    members(schema, arguments, "")?;
    combined(schema, &Value::Object(arguments.clone()), "")
}

/// Whether `null` is a value of this parameter.
pub(crate) fn null(schema: &JsonObject, name: &str) -> bool {
    let property = schema.get("properties").and_then(|it| it.get(name));
    property.is_some_and(|property| value(property, &Value::Null, name).is_ok())
}

fn value(schema: &Value, given: &Value, path: &str) -> Result<(), Misfit> {
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => return Err(refuse(path, "there is no such parameter")),
        _ => return Ok(()),
    };
    kind(schema, given, path)?;
    choices(schema, given, path)?;
    bounds(schema, given, path)?;
    match given {
        Value::Object(given) => {
            required(schema, given, path)?;
            closed(schema, given, path)?;
            members(schema, given, path)?;
        }
        Value::Array(given) => items(schema, given, path)?,
        _ => {}
    }
    combined(schema, given, path)
}

fn kind(schema: &JsonObject, given: &Value, path: &str) -> Result<(), Misfit> {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if names.iter().any(|name| is_a(name, given)) {
        return Ok(());
    }
    let expected: Vec<&str> = names.iter().map(|name| article(name)).collect();
    let problem = format!("{} is not {}", shown(given), expected.join(" or "));
    Err(refuse(path, &problem))
}

fn is_a(name: &str, given: &Value) -> bool {
    match name {
        "string" => given.is_string(),
        "number" => given.is_number(),
        // JSON Schema: a number without a fraction is an integer however it is written.
        "integer" => {
            given.is_i64() || given.is_u64() || given.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        "boolean" => given.is_boolean(),
        "object" => given.is_object(),
        "array" => given.is_array(),
        "null" => given.is_null(),
        // A type of a later JSON Schema.
        _ => true,
    }
}

fn article(name: &str) -> &str {
    match name {
        "string" => "a string",
        "number" => "a number",
        "integer" => "an integer",
        "boolean" => "a boolean",
        "object" => "an object",
        "array" => "an array",
        other => other,
    }
}

fn choices(schema: &JsonObject, given: &Value, path: &str) -> Result<(), Misfit> {
    let one = schema.get("const").map(std::slice::from_ref);
    let some = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    match one.or(some) {
        Some(choices) if !choices.contains(given) => {
            let named: Vec<String> = choices.iter().map(Value::to_string).collect();
            Err(refuse(path, &format!("{} is none of {}", shown(given), named.join(", "))))
        }
        _ => Ok(()),
    }
}

fn bounds(schema: &JsonObject, given: &Value, path: &str) -> Result<(), Misfit> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    #[expect(clippy::cast_precision_loss, reason = "no call has so many")]
    let size = match given {
        Value::Number(number) => number.as_f64().map(|it| (it, "minimum", "maximum", "")),
        Value::String(text) => {
            Some((text.chars().count() as f64, "minLength", "maxLength", " characters"))
        }
        Value::Array(items) => Some((items.len() as f64, "minItems", "maxItems", " items")),
        _ => None,
    };
    let Some((size, least, most, unit)) = size else { return Ok(()) };
    match (bound(least), bound(most)) {
        (Some(least), _) if size < least => {
            Err(refuse(path, &format!("{} is less than {least}{unit}", shown(given))))
        }
        (_, Some(most)) if size > most => {
            Err(refuse(path, &format!("{} is more than {most}{unit}", shown(given))))
        }
        _ => Ok(()),
    }
}

fn required(schema: &JsonObject, given: &JsonObject, path: &str) -> Result<(), Misfit> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    match names.filter_map(Value::as_str).find(|name| !given.contains_key(*name)) {
        Some(name) => Err(refuse(path, &format!("`{name}` is missing"))),
        None => Ok(()),
    }
}

/// Of parts only: the arguments themselves are checked by name, with the nearest one.
fn closed(schema: &JsonObject, given: &JsonObject, path: &str) -> Result<(), Misfit> {
    let known = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
    let patterns = schema.contains_key("patternProperties");
    if schema.get("additionalProperties") != Some(&json!(false)) || patterns {
        return Ok(());
    }
    match given.keys().find(|name| !is_known(name)) {
        Some(name) => Err(refuse(path, &format!("`{}` is not known there", echo(name)))),
        None => Ok(()),
    }
}

fn members(schema: &JsonObject, given: &JsonObject, path: &str) -> Result<(), Misfit> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let further = schema.get("additionalProperties").filter(|it| it.is_object());
    for (name, member) in given {
        let own = properties.and_then(|it| it.get(name));
        if let Some(schema) = own.or(further) {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            value(schema, member, &path)?;
        }
    }
    Ok(())
}

fn items(schema: &JsonObject, given: &[Value], path: &str) -> Result<(), Misfit> {
    let Some(schema) = schema.get("items") else { return Ok(()) };
    for (at, item) in given.iter().enumerate() {
        value(schema, item, &format!("{path}[{at}]"))?;
    }
    Ok(())
}

fn combined(schema: &JsonObject, given: &Value, path: &str) -> Result<(), Misfit> {
    for schema in branches(schema, "allOf") {
        value(schema, given, path)?;
    }
    for name in ["anyOf", "oneOf"] {
        let mut refused = None;
        for schema in branches(schema, name) {
            match value(schema, given, path) {
                Ok(()) => {
                    refused = None;
                    break;
                }
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        if let Some(refusal) = refused {
            return Err(refusal);
        }
    }
    Ok(())
}

fn branches<'s>(schema: &'s JsonObject, name: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// A value may be of any size.
fn shown(given: &Value) -> String {
    match given {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        other => format!("`{}`", echo(&other.to_string())),
    }
}

fn refuse(path: &str, problem: &str) -> Misfit {
    let path = if path.is_empty() { "." } else { path };
    Misfit { path: path.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 2 },
            "count": { "type": "integer", "minimum": 1, "maximum": 9 },
            "mood": { "enum": ["glad", "sad"] },
            "who": {
                "type": "object", "additionalProperties": false, "required": ["age"],
                "properties": { "age": { "type": ["integer", "null"] } }
            },
            "kinds": { "type": "array", "items": { "type": "string" }, "maxItems": 2 },
            "either": { "anyOf": [{ "type": "string" }, { "type": "boolean" }] },
            "far": { "$ref": "#/$defs/far" }
        },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["count"] }] }]
    }"##;

    #[track_caller]
    fn check(given: &str, refused: Option<(&str, &str)>) {
        let schema: JsonObject = serde_json::from_str(SCHEMA).unwrap();
        let given: JsonObject = serde_json::from_str(given).unwrap();
        let refusal = arguments(&schema, &given).err();
        let refusal = refusal.as_ref().map(|it| (it.path.as_str(), it.problem.as_str()));
        assert_eq!(refusal, refused, "{given:?}");
    }

    #[test]
    fn what_the_schema_has_is_admitted() {
        check(r#"{"name": "ann", "count": 3, "mood": "sad", "kinds": ["a", "b"]}"#, None);
        check(
            r#"{"count": 3.0, "who": {"age": null}, "either": true, "far": [1], "new": 1}"#,
            None,
        );
    }

    #[test]
    fn what_it_has_not_is_refused_where_it_stands() {
        check(r#"{"name": 7}"#, Some(("name", "`7` is not a string")));
        check(r#"{"name": "a"}"#, Some(("name", r#"`"a"` is less than 2 characters"#)));
        check(r#"{"count": 1.5}"#, Some(("count", "`1.5` is not an integer")));
        check(r#"{"count": 10}"#, Some(("count", "`10` is more than 9")));
        check(
            r#"{"count": 1, "mood": "calm"}"#,
            Some(("mood", r#"`"calm"` is none of "glad", "sad""#)),
        );
        check(r#"{"count": 1, "who": {}}"#, Some(("who", "`age` is missing")));
        check(
            r#"{"count": 1, "who": {"age": "x"}}"#,
            Some(("who.age", r#"`"x"` is not an integer or null"#)),
        );
        check(
            r#"{"count": 1, "who": {"age": 1, "ega": 2}}"#,
            Some(("who", "`ega` is not known there")),
        );
        check(r#"{"count": 1, "kinds": ["a", 2]}"#, Some(("kinds[1]", "`2` is not a string")));
        check(
            r#"{"count": 1, "kinds": ["a", "b", "c"]}"#,
            Some(("kinds", "an array is more than 2 items")),
        );
        check(r#"{"count": 1, "either": 1}"#, Some(("either", "`1` is not a string")));
        check(r#"{"mood": "glad"}"#, Some((".", "`name` is missing")));
    }

    #[test]
    fn null_is_a_value_where_the_schema_has_it() {
        let schema: JsonObject = serde_json::from_str(SCHEMA).unwrap();
        assert!(null(&schema, "far") && !null(&schema, "name") && !null(&schema, "new"));
    }
}
