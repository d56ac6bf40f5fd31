//! How a field is read when adapters do not keep to the protocol's types.
//!
//! The rule: an absent or null field has its default; a number may come as text, a text as a number.
//! What still makes no sense is as if absent where the field is optional (and traced), and a named
//! problem where it is not, because a debugger that guesses a thread or a line tells lies.
//! Unknown fields are ignored, unknown words are kept.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Number, Value};

/// A type that can be read from what adapters send in its place.
pub(crate) trait Loose: Sized {
    fn loose(value: Value) -> Result<Self, String>;

    /// Absent fields are not sent at all: some adapters refuse `null`.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Every field of our types is read through this.
pub(crate) fn read<'de, D: Deserializer<'de>, T: Loose>(deserializer: D) -> Result<T, D::Error> {
    T::loose(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Defines structs that are read leniently and sent without their absent fields. Names are written
/// in camel case on the wire.
macro_rules! loose {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* pub $field:ident: $type:ty, )*
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        pub struct $name {
            $(
                $(#[$field_meta])*
                #[serde(
                    deserialize_with = "crate::lenient::read",
                    skip_serializing_if = "crate::lenient::Loose::is_absent"
                )]
                pub $field: $type,
            )*
        }

        impl crate::lenient::Loose for $name {
            fn loose(value: serde_json::Value) -> Result<Self, String> {
                match value {
                    serde_json::Value::Null => Ok(Self::default()),
                    serde_json::Value::Object(_) => {
                        serde_json::from_value(value).map_err(|problem| problem.to_string())
                    }
                    other => Err(crate::lenient::unlike("an object", &other)),
                }
            }
        }
    )+};
}

/// Defines enums of the protocol's words. The set is open: a word that we do not know is kept.
macro_rules! words {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident { $( $variant:ident = $word:literal, )+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $variant, )+
            /// Any other word, as the adapter wrote it; empty when it gave none.
            Other(String),
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$variant, )+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl crate::lenient::Loose for $name {
            fn loose(value: serde_json::Value) -> Result<Self, String> {
                String::loose(value).map(|word| Self::from(word.as_str()))
            }
        }
    )+};
}

pub(crate) use {loose, words};

impl Loose for i64 {
    fn loose(value: Value) -> Result<Self, String> {
        let number = match &value {
            Value::Null => Some(0),
            Value::Number(number) => whole(number),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number.ok_or_else(|| unlike("a whole number", &value))
    }
}

impl Loose for bool {
    fn loose(value: Value) -> Result<Self, String> {
        let truth = match &value {
            Value::Null => Some(false),
            Value::Bool(truth) => Some(*truth),
            Value::Number(number) => number.as_f64().map(|number| number != 0.0),
            Value::String(text) => text.trim().to_ascii_lowercase().parse().ok(),
            Value::Array(_) | Value::Object(_) => None,
        };
        truth.ok_or_else(|| unlike("true or false", &value))
    }
}

impl Loose for String {
    /// Anything can be shown, so anything is text.
    fn loose(value: Value) -> Result<Self, String> {
        Ok(match value {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        })
    }
}

impl Loose for Value {
    fn loose(value: Value) -> Result<Self, String> {
        Ok(value)
    }
}

impl<T: Loose> Loose for Option<T> {
    fn loose(value: Value) -> Result<Self, String> {
        if value.is_null() {
            return Ok(None);
        }
        Ok(T::loose(value)
            .inspect_err(|problem| tracing::debug!(%problem, "ignored a field of the adapter"))
            .ok())
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Loose> Loose for Vec<T> {
    fn loose(value: Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Vec::new()),
            // Languages with one kind of table write an empty list as an empty object.
            Value::Object(fields) if fields.is_empty() => Ok(Vec::new()),
            Value::Array(items) => items.into_iter().map(T::loose).collect(),
            other => Err(unlike("a list", &other)),
        }
    }
}

/// Every whole number up to here is exact in a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn whole(number: &Number) -> Option<i64> {
    let exact = |float: &f64| float.fract() == 0.0 && float.abs() <= EXACT;
    number.as_i64().or_else(|| number.as_f64().filter(exact).map(|float| float as i64))
}

pub(crate) fn unlike(wanted: &str, value: &Value) -> String {
    let text = value.to_string();
    let cut = text.char_indices().nth(60).and_then(|(at, _)| text.get(..at));
    match cut {
        Some(start) => format!("expected {wanted}, got `{start}…`"),
        None => format!("expected {wanted}, got `{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::types::{SourceBreakpoint, StackFrame, StoppedEvent, VariablesBody};

    #[track_caller]
    fn check<T: DeserializeOwned + serde::Serialize>(value: serde_json::Value, expected: Expect) {
        let read = serde_json::from_value::<T>(value).map_err(|problem| problem.to_string());
        let shown = read.map_or_else(|problem| format!("! {problem}"), |it| json!(it).to_string());
        expected.assert_eq(&shown);
    }

    #[test]
    fn numbers_come_as_floats_and_text() {
        check::<StackFrame>(
            json!({"id": 1.0, "line": " 12 ", "column": null, "name": 7, "moduleId": 3}),
            expect![[r#"{"id":1,"name":"7","line":12,"column":0,"moduleId":"3"}"#]],
        );
    }

    #[test]
    fn nonsense_in_an_optional_field_is_as_if_absent() {
        check::<StackFrame>(
            json!({"id": 1, "line": 2, "source": "a.py", "endLine": [], "canRestart": "maybe"}),
            expect![[r#"{"id":1,"name":"","line":2,"column":0}"#]],
        );
    }

    #[test]
    fn nonsense_in_a_required_field_is_a_problem() {
        check::<StackFrame>(
            json!({"id": "first"}),
            expect![[r#"! expected a whole number, got `"first"`"#]],
        );
        check::<StackFrame>(json!({"id": 1.5}), expect!["! expected a whole number, got `1.5`"]);
        check::<StackFrame>(
            json!({"id": 18_446_744_073_709_551_615_u64}),
            expect!["! expected a whole number, got `18446744073709551615`"],
        );
        check::<VariablesBody>(
            json!({"variables": "x".repeat(100)}),
            expect![[
                r#"! expected a list, got `"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`"#
            ]],
        );
        check::<VariablesBody>(json!({"variables": [7]}), expect!["! expected an object, got `7`"]);
    }

    #[test]
    fn lists_may_be_null_or_an_empty_table() {
        check::<VariablesBody>(json!({"variables": {}}), expect![[r#"{"variables":[]}"#]]);
        check::<VariablesBody>(json!({"variables": null}), expect![[r#"{"variables":[]}"#]]);
        check::<VariablesBody>(json!({}), expect![[r#"{"variables":[]}"#]]);
    }

    #[test]
    fn unknown_words_are_kept() {
        check::<StoppedEvent>(
            json!({"reason": "full moon", "allThreadsStopped": "true", "threadId": "5"}),
            expect![[
                r#"{"reason":"full moon","threadId":5,"allThreadsStopped":true,"hitBreakpointIds":[]}"#
            ]],
        );
    }

    #[test]
    fn absent_fields_are_not_sent() {
        check::<SourceBreakpoint>(json!({"line": 3}), expect![[r#"{"line":3}"#]]);
    }
}
