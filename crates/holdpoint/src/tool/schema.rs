//! A tool's input schema, as small as it can be: every client pays for it in tokens, at every start.

pub(super) mod admits;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use super::Size;

/// The schema of `P`, always an object with `properties`.
pub(super) fn of<P: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<P>().to_value();
    let mut schema = match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    // The type's own doc comment is for us; the tool's `ABOUT` is for the client.
    schema.remove("description");
    slim(&mut schema);
    schema
}

/// A schema as clients list it, within what every one of them takes: one `type` each, `properties`,
/// `required`, `items`, `description`, an `enum` of strings. One tool beyond that makes some model's backend
/// refuse all tools. Bounds and defaults are in the descriptions; a call is checked against the schema
/// this is made from.
pub(super) fn published(schema: &JsonObject, size: Size) -> JsonObject {
    let mut listed = JsonObject::new();
    // Whatever its type, JSON allows text in its place; models without a type to obey refuse the tool.
    let kind = schema.get("type").cloned().unwrap_or_else(|| json!("string"));
    let is_array = kind == "array";
    listed.insert("type".to_owned(), kind);
    for (name, value) in schema {
        match (name.as_str(), value) {
            ("description", Value::String(about)) if size == Size::Whole && !about.is_empty() => {
                // Rust's line breaks are none of theirs.
                listed.insert(name.clone(), about.replace('\n', " ").into());
            }
            // The last is the protocol's: a parameter that also travels as a header.
            ("enum" | "required" | "x-mcp-header", value) => {
                listed.insert(name.clone(), value.clone());
            }
            ("properties", Value::Object(properties)) => {
                let each = properties.iter().map(|(name, it)| (name.clone(), nested(it, size)));
                listed.insert("properties".to_owned(), Value::Object(each.collect()));
            }
            _ => {}
        }
    }
    if is_array {
        let mut items = nested(schema.get("items").unwrap_or(&Value::Null), size);
        // Of a type its doc comment is for us.
        if let Some(items) = items.as_object_mut() {
            items.shift_remove("description");
        }
        listed.insert("items".to_owned(), items);
    }
    listed
}

/// The same for a tool that a file describes.
pub(crate) fn published_whole(schema: &JsonObject) -> JsonObject {
    published(schema, Size::Whole)
}

fn nested(schema: &Value, size: Size) -> Value {
    let empty = JsonObject::new();
    Value::Object(published(schema.as_object().unwrap_or(&empty), size))
}

/// The schema of a list whose parts are described elsewhere: their names and types, without some of them.
pub(crate) fn bare<P: JsonSchema>(generator: &mut SchemaGenerator, without: &[&str]) -> Schema {
    let mut schema = P::json_schema(generator).to_value();
    let properties = schema.pointer_mut("/items/properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        properties.retain(|name, _| !without.contains(&name.as_str()));
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.remove("description");
        }
    }
    Schema::try_from(schema).unwrap_or_default()
}

/// Drops what no model needs: Rust's number formats, type names, "or null" of optional parameters,
/// and the ban on further properties (we check those ourselves, with a better message).
fn slim(schema: &mut JsonObject) {
    for noise in ["title", "format", "additionalProperties"] {
        if schema.get(noise).is_some_and(|value| !value.is_object()) {
            schema.remove(noise);
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    // An optional choice: its schema allows null, which is how one says "not given".
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    for value in schema.values_mut() {
        walk(value);
    }
}

fn walk(value: &mut Value) {
    match value {
        Value::Object(object) => slim(object),
        Value::Array(items) => items.iter_mut().for_each(walk),
        _ => {}
    }
}
