//! What was decided about a call before it ran, as its record keeps it.
//!
//! Without it a record would show the arguments that the caller gave beside the result of others.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lenient;
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
    /// A replacement that was set beforehand.
    pub(crate) fn replaced(function: &str) -> Verdict {
        let (action, function) = ("replace".to_owned(), Some(function.to_owned()));
        Verdict { action, function, ..Verdict::default() }
    }

    pub(crate) fn undone(mut self, why: Option<&str>) -> Verdict {
        self.undone = why.map(|why| budget::cut(why, limits::VERDICT_BYTES));
        self
    }

    /// For a call's line: nothing when it ran as it was written.
    pub(crate) fn mark(&self) -> String {
        match (self.action.as_str(), &self.undone) {
            ("continue", _) | (_, Some(_)) => String::new(),
            (action, None) => format!(" [{action}]"),
        }
    }
}

/// The values as they were given, or their text if that is long.
pub(crate) fn bounded(values: Value) -> Value {
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
    fn long_values_are_cut() {
        let long = json!(["x".repeat(limits::VERDICT_BYTES * 2)]);
        assert!(bounded(long).to_string().len() < limits::VERDICT_BYTES + 200);
        assert_eq!(bounded(json!([1])), json!([1]));
    }

    #[test]
    fn what_was_not_done_is_no_mark() {
        let verdict = Verdict::replaced("other");
        assert_eq!(verdict.mark(), " [replace]");
        let undone = verdict.undone(Some("there is none"));
        assert_eq!(undone.mark(), "");
        assert_eq!(undone.undone.as_deref(), Some("there is none"));
    }
}
