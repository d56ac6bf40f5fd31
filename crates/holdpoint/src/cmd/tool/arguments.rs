//! A tool's parameters as a shell gives them: JSON for agents, `name=value` for people.

use std::{io::Read as _, path::Path};

use anyhow::{Context as _, bail};
use holdpoint_engine::calls;
use rmcp::model::JsonObject;
use serde_json::Value;

const HINT: &str = "hint: quote them, as in '{\"limit\": 5}', or write limit=5";

/// Parameters that name a file or a folder.
const PATHS: &[&str] = &["file", "program", "cwd"];

/// What the words of the command line mean, by the tool's schema where it is known.
pub(super) fn read(words: &[String], schema: Option<&JsonObject>) -> anyhow::Result<JsonObject> {
    match words {
        [] => Ok(JsonObject::new()),
        [word] if word == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read stdin")?;
            from_json(&text)
        }
        [word] if word.trim_start().starts_with('{') => from_json(word),
        words => from_pairs(words, schema),
    }
}

fn from_json(text: &str) -> anyhow::Result<JsonObject> {
    // Integers of any size, as `breakpoint_continue` takes them.
    serde_json::from_str(&calls::lenient::exact(text))
        .map_err(|error| anyhow::anyhow!("the parameters are not a JSON object: {error}\n{HINT}"))
}

fn from_pairs(words: &[String], schema: Option<&JsonObject>) -> anyhow::Result<JsonObject> {
    let mut arguments = JsonObject::new();
    for word in words {
        let pair = word.split_once('=').filter(|(name, _)| is_name(name));
        let Some((name, text)) = pair else {
            bail!("the parameters are not a JSON object, and `{word}` is not name=value\n{HINT}");
        };
        let value = value(text, type_of(schema, name));
        match arguments.get_mut(name) {
            None => drop(arguments.insert(name.to_owned(), value)),
            // A name that comes again makes a list, whatever it was before.
            Some(Value::Array(before)) => match value {
                Value::Array(more) => before.extend(more),
                one => before.push(one),
            },
            Some(before) => *before = Value::Array(vec![before.take(), value]),
        }
    }
    Ok(arguments)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn type_of<'a>(schema: Option<&'a JsonObject>, name: &str) -> Option<&'a str> {
    schema?.get("properties")?.get(name)?.get("type")?.as_str()
}

fn value(text: &str, wanted: Option<&str>) -> Value {
    let plain = || Value::String(text.to_owned());
    let json = serde_json::from_str(text);
    match (wanted, json) {
        // `expression=1` is an expression, not a number.
        (Some("string"), _) => plain(),
        (Some("array"), Ok(list @ Value::Array(_))) => list,
        (Some("array"), _) => Value::Array(vec![plain()]),
        (_, Ok(json)) => json,
        (_, Err(_)) => plain(),
    }
}

/// Makes relative paths mean the same to a server that runs in another folder: a program starts here,
/// and a file that is here is named whole.
pub(super) fn place(arguments: &mut JsonObject, schema: Option<&JsonObject>, here: &Path) {
    let takes_cwd = type_of(schema, "cwd").is_some();
    if takes_cwd && arguments.get("cwd").is_none_or(Value::is_null) {
        arguments.insert("cwd".to_owned(), here.to_string_lossy().into());
    }
    place_all(arguments, here);
}

fn place_all(arguments: &mut JsonObject, here: &Path) {
    for (name, value) in arguments {
        match value {
            Value::String(text) if PATHS.contains(&name.as_str()) => {
                let whole = here.join(&*text);
                if whole.exists() {
                    *text = whole.to_string_lossy().into_owned();
                }
            }
            Value::Object(inner) => place_all(inner, here),
            Value::Array(items) => {
                let objects = items.iter_mut().filter_map(Value::as_object_mut);
                objects.for_each(|inner| place_all(inner, here));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> JsonObject {
        let schema = json!({ "properties": {
            "expression": { "type": "string" },
            "expressions": { "type": "array" },
            "line": { "type": "integer" },
            "cwd": { "type": "string" },
        }});
        schema.as_object().cloned().unwrap()
    }

    #[track_caller]
    fn check(words: &[&str], expected: Value) {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let read = read(&words, Some(&schema()));
        assert_eq!(Value::Object(read.unwrap()), expected, "{words:?}");
    }

    #[test]
    fn json_and_pairs_say_the_same() {
        check(&[], json!({}));
        check(&[r#" {"line": 3}"#], json!({ "line": 3 }));
        check(&["line=3", "expression=1"], json!({ "line": 3, "expression": "1" }));
        check(&["expression=a == b"], json!({ "expression": "a == b" }));
    }

    #[test]
    fn lists_are_json_or_a_name_that_comes_again() {
        check(&["expressions=n"], json!({ "expressions": ["n"] }));
        check(&["expressions=n", "expressions=1"], json!({ "expressions": ["n", "1"] }));
        check(&[r#"expressions=["a, b", "c"]"#], json!({ "expressions": ["a, b", "c"] }));
        check(&["other=1", "other=x"], json!({ "other": [1, "x"] }));
    }

    #[test]
    fn what_is_neither_is_refused_with_both_forms() {
        for words in [["not json"], ["{\"a\": }"], ["=3"], ["a b=3"], ["[1]"]] {
            let words = words.map(str::to_owned);
            let error = read(&words, None).unwrap_err().to_string();
            assert!(error.starts_with("the parameters are not a JSON object"), "{error}");
            assert!(error.ends_with(HINT), "{error}");
        }
    }

    #[test]
    fn paths_of_another_folder_are_named_whole() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        std::fs::write(here.join("app.py"), "").unwrap();
        let mut arguments = json!({
            "file": "app.py", "condition": "app.py", "program": "gone.py",
            "at": [{ "file": "app.py", "line": 3 }],
        });
        place(arguments.as_object_mut().unwrap(), Some(&schema()), here);
        let whole = here.join("app.py").to_string_lossy().into_owned();
        assert_eq!(arguments["file"], whole);
        assert_eq!(arguments["at"][0]["file"], whole);
        assert_eq!(arguments["condition"], "app.py");
        assert_eq!(arguments["program"], "gone.py", "the server says what is not there");
        assert_eq!(arguments["cwd"], here.to_string_lossy().into_owned());
    }
}
