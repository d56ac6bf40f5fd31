//! A tool's input schema, as small as it can be: every client pays for it in tokens, at every start.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

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
