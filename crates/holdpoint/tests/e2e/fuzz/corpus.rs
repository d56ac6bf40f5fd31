//! What is sound: made of the server's own lists of tools and routes, so that a new one is in it by itself.

use std::path::Path;

use serde_json::{Value, json};

/// Tools that reach beyond the server by what is in their parameters: a number of a mutation is some process.
const LEFT_OUT: &[&str] = &["debug_attach"];

/// A call of each tool, with every parameter; nothing in them names a file that exists.
pub(super) fn calls(tools: &Value) -> Vec<Value> {
    let tools = tools["tools"].as_array().expect("a list");
    let kept = tools.iter().filter(|it| !LEFT_OUT.contains(&it["name"].as_str().unwrap()));
    let calls = kept.flat_map(|tool| {
        let schema = &tool["inputSchema"];
        let call = |arguments: Value| json!({ "name": tool["name"], "arguments": arguments });
        [call(sample(schema, schema)), call(json!({}))]
    });
    calls.collect()
}

/// A value that the schema allows.
pub(super) fn sample(schema: &Value, whole: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let path = name.trim_start_matches('#');
        return sample(whole.pointer(path).unwrap_or(&Value::Null), whole);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[choice].get(0) {
            return sample(first, whole);
        }
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str());
    match kind {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, it)| (name.clone(), sample(it, whole))).collect()
        }
        Some("array") => json!([sample(&schema["items"], whole)]),
        Some("integer") => json!(1),
        Some("number") => json!(0.01),
        Some("boolean") => json!(true),
        _ => json!("nowhere.py"),
    }
}

/// What was recorded of a debugger, line by line.
pub(super) fn recorded(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("a recording");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
