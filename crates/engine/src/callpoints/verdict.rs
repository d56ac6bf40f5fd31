//! What was decided about a call before it ran, as its record keeps it.
//!
//! Without it a record would show the arguments that the caller gave beside the result of others.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{decision::Decision, lenient};
use crate::{budget, limits};

/// Its serialised form is part of a column of the store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    #[serde(rename = "w")]
    pub action: String,
    /// What ran instead.
    #[serde(rename = "fn", default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    #[serde(rename = "a", default, skip_serializing_if = "Value::is_null")]
    pub args: Value,
    #[serde(rename = "k", default, skip_serializing_if = "Value::is_null")]
    pub kwargs: Value,
    /// Why the app could not do it; the call then ran as it was written.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
}

impl Verdict {
    /// `action` is the word that the app was sent.
    pub(super) fn of(decision: &Decision, action: &str) -> Verdict {
        let modifies = action == "modify";
        let args = decision.modified_args.as_ref().filter(|_| modifies);
        let kwargs = decision.modified_kwargs.as_ref().filter(|_| modifies);
        Verdict {
            action: action.to_owned(),
            function: decision.replacement_function.clone().filter(|_| action == "replace"),
            args: args.map_or(Value::Null, |it| bounded(json!(it))),
            kwargs: kwargs.map_or(Value::Null, |it| bounded(json!(it))),
            undone: None,
        }
    }

    /// A replacement that was set beforehand.
    pub(super) fn replaced(function: &str) -> Verdict {
        let (action, function) = ("replace".to_owned(), Some(function.to_owned()));
        Verdict { action, function, ..Verdict::default() }
    }

    pub(super) fn undone(mut self, why: Option<&str>) -> Verdict {
        self.undone = why.map(|why| budget::cut(why, limits::VERDICT_BYTES));
        self
    }

    /// For a call's line: nothing when it ran as it was written.
    pub(super) fn mark(&self) -> String {
        match (self.action.as_str(), &self.undone) {
            ("continue", _) | (_, Some(_)) => String::new(),
            (action, None) => format!(" [{action}]"),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut json = Map::new();
        json.insert("action".to_owned(), json!(self.action));
        for (name, value) in [
            ("function_name", json!(self.function)),
            ("modified_args", self.args.clone()),
            ("modified_kwargs", self.kwargs.clone()),
            ("not_done", json!(self.undone)),
        ] {
            if !value.is_null() {
                json.insert(name.to_owned(), value);
            }
        }
        Value::Object(json)
    }
}

/// The values as they were given, or their text if that is long.
fn bounded(values: Value) -> Value {
    let values = lenient::unmarked(values);
    let text = values.to_string();
    if text.len() <= limits::VERDICT_BYTES {
        return values;
    }
    json!(budget::cut(&text, limits::VERDICT_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_app_was_sent_counts() {
        let wish = Decision {
            modified_args: Some(vec![json!(1)]),
            replacement_function: Some("other".to_owned()),
            ..Decision::default()
        };
        let shown = |action| Verdict::of(&wish, action).to_json().to_string();
        assert_eq!(shown("modify"), r#"{"action":"modify","modified_args":[1]}"#);
        assert_eq!(shown("replace"), r#"{"action":"replace","function_name":"other"}"#);
        assert_eq!(shown("continue"), r#"{"action":"continue"}"#);
    }

    #[test]
    fn long_values_are_cut() {
        let long = vec![json!("x".repeat(limits::VERDICT_BYTES * 2))];
        let wish = Decision { modified_args: Some(long), ..Decision::default() };
        let verdict = Verdict::of(&wish, "modify");
        assert!(verdict.to_json().to_string().len() < limits::VERDICT_BYTES + 200);
    }

    #[test]
    fn what_was_not_done_is_no_mark() {
        let verdict = Verdict::replaced("other");
        assert_eq!(verdict.mark(), " [replace]");
        let undone = verdict.undone(Some("there is none"));
        assert_eq!(undone.mark(), "");
        let expected = r#"{"action":"replace","function_name":"other","not_done":"there is none"}"#;
        assert_eq!(undone.to_json().to_string(), expected);
    }
}
