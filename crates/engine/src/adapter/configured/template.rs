//! The arguments of a request with places in them: `"{program}"` becomes what the call says, of whichever type it
//! is; inside of a longer text it becomes text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// What there is to put in, by name.
pub(super) type Places = BTreeMap<&'static str, Value>;

/// The arguments as they are sent. A place that the call says nothing about is left out with its key.
pub(super) fn filled(template: &Value, places: &Places) -> Value {
    match template {
        Value::String(text) => string(text, places),
        Value::Array(all) => {
            all.iter().map(|it| filled(it, places)).filter(|it| !it.is_null()).collect()
        }
        Value::Object(all) => {
            let each = all.iter().map(|(name, it)| (name.clone(), filled(it, places)));
            Value::Object(each.filter(|(_, it)| !it.is_null()).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    }
}

fn string(text: &str, places: &Places) -> Value {
    let whole = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    if let Some(value) = whole.and_then(|name| places.get(name)) {
        return value.clone();
    }
    let mut text = text.to_owned();
    for (name, value) in places {
        let said = match value {
            Value::String(said) => said.clone(),
            other => other.to_string(),
        };
        text = text.replace(&format!("{{{name}}}"), &said);
    }
    Value::String(text)
}

/// The words of a command, with their places filled in.
pub(super) fn words(words: &[String], places: &Places) -> Vec<String> {
    let one = |word: &String| match string(word, places) {
        Value::String(text) => text,
        other => other.to_string(),
    };
    words.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_takes_what_the_call_says_and_is_left_out_where_it_says_nothing() {
        let places: Places = [
            ("program", json!("/a/b.pl")),
            ("args", json!(["x", "y"])),
            ("stop_on_entry", json!(true)),
            ("pid", Value::Null),
        ]
        .into();
        let template = json!({
            "program": "{program}", "args": "{args}", "stopOnEntry": "{stop_on_entry}", "pid": "{pid}",
            "name": "of {program}", "fixed": 3, "inner": { "list": ["{program}", "{unknown}"] },
        });
        let expected = json!({
            "program": "/a/b.pl", "args": ["x", "y"], "stopOnEntry": true, "name": "of /a/b.pl", "fixed": 3,
            "inner": { "list": ["/a/b.pl", "{unknown}"] },
        });
        assert_eq!(filled(&template, &places), expected);
    }

    #[test]
    fn words_of_a_command_are_words() {
        let places: Places = [("port", json!(4711))].into();
        let command = ["--port".to_owned(), "{port}".to_owned(), "a:{port}".to_owned()];
        assert_eq!(words(&command, &places), ["--port", "4711", "a:4711"]);
    }
}
