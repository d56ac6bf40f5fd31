//! JSON as text that can be cut at the ends of its lines: a line for each member, and for each item of a list that
//! stands there.

use holdpoint_engine::budget;
use serde_json::{Map, Value};

/// Characters of one line; who wants the rest asks for the data.
const LINE: usize = 2_000;

pub(super) fn text(data: &Value) -> String {
    let mut lines = Vec::new();
    match data {
        Value::Object(members) => {
            // When it was said is known to whoever reads it.
            for (name, member) in members.iter().filter(|(name, _)| *name != "timestamp") {
                match member {
                    Value::Array(items) if items.is_empty() => lines.push(format!("{name}: none")),
                    Value::Array(items) if items.iter().any(Value::is_object) => {
                        lines.push(format!("{name}: {}", items.len()));
                        lines.extend(items.iter().map(|item| format!("  {}", line(item))));
                    }
                    other => lines.push(format!("{name}: {}", line(other))),
                }
            }
        }
        Value::Array(items) => lines.extend(items.iter().map(line)),
        other => lines.push(line(other)),
    }
    match lines.is_empty() {
        true => "done".to_owned(),
        false => lines.join("\n"),
    }
}

fn line(value: &Value) -> String {
    match value {
        Value::Object(members) => budget::cut(&parts(members).join(" · "), LINE),
        other => budget::cut(&plain(other), LINE),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A place and what is said about it first, as compilers write it; then the rest by name.
fn parts(members: &Map<String, Value>) -> Vec<String> {
    let has = |name: &str| members.get(name).filter(|it| !it.is_null());
    let mut said: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    if let (Some(Value::String(file)), Some(line)) = (has("file"), has("line")) {
        let column = has("column").or_else(|| has("character"));
        let column = column.map(|it| format!(":{}", plain(it))).unwrap_or_default();
        parts.push(format!("{file}:{}{column}", plain(line)));
        said.extend(["file", "line", "column", "character"]);
    }
    if let (Some(name), Some(value)) = (has("name"), has("value")) {
        parts.push(format!("{} = {}", plain(name), plain(value)));
        said.extend(["name", "value"]);
    }
    if let (Some(severity), Some(message)) = (has("severity"), has("message")) {
        parts.push(format!("{}: {}", plain(severity), plain(message)));
        said.extend(["severity", "message"]);
    }
    let rest = members.iter().filter(|(name, it)| !it.is_null() && !said.contains(&name.as_str()));
    parts.extend(rest.map(|(name, member)| format!("{name} {}", plain(member))));
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_has_a_line_for_each() {
        let data =
            json!({"action": "references", "locations": [{"line": 1}, {"line": 2}], "ids": [1, 2]});
        let expected = "action: references\nlocations: 2\n  line 1\n  line 2\nids: [1,2]";
        assert_eq!(text(&data), expected);
        assert_eq!(text(&json!({})), "done");
    }

    #[test]
    fn a_place_is_written_as_compilers_do() {
        let data = json!({"diagnostics": [
            {"file": "/ws/a.ts", "line": 3, "column": 5, "message": "no such name", "severity": "error",
             "code": 2304, "source": "ts"},
        ], "system": {"vscodeVersion": "1.117.0", "code": null}, "timestamp": "2026"});
        let expected = "diagnostics: 1\n  /ws/a.ts:3:5 · error: no such name · code 2304 · source ts\n\
            system: vscodeVersion 1.117.0";
        assert_eq!(text(&data), expected);
        assert_eq!(text(&json!({"diagnostics": []})), "diagnostics: none");
        let data = json!({"children": [{"value": "3", "type": "int", "name": "i"}]});
        assert_eq!(text(&data), "children: 1\n  i = 3 · type int");
    }
}
