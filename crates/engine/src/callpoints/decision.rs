//! What becomes of a paused call: the wish of an agent or a person, and the action its app is sent.
//!
//! Pure. The action is in the app's own format (B4), says nothing that an app raises on after a call
//! (B10), and a change of half the arguments keeps the other half (B19).

use serde_json::{Map, Value, json};

use super::{
    behavior::Moment,
    call::{Call, Given, Values},
    value::{Format, encode},
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// `continue` when not given.
    pub action: Option<String>,
    pub modified_args: Option<Vec<Value>>,
    pub modified_kwargs: Option<Map<String, Value>>,
    pub fake_result: Option<Value>,
    pub fake_result_data: Option<String>,
    pub exception: Option<Value>,
    pub exception_type: Option<String>,
    pub exception_message: Option<String>,
    /// Wins over `action`.
    pub replacement_function: Option<String>,
}

/// What an app can be told to do.
const ACTIONS: &[&str] = &["continue", "modify", "skip", "raise", "replace"];

impl Decision {
    /// The action's word, or none if there is no such.
    fn word(&self) -> Option<&'static str> {
        if self.replacement_function.is_some() {
            return Some("replace");
        }
        let modified = self.modified_args.is_some() || self.modified_kwargs.is_some();
        match self.action.as_deref() {
            // To an app, "continue" is with the arguments it has.
            None | Some("continue" | "") if modified => Some("modify"),
            None | Some("") => Some("continue"),
            // Without a function there is nothing to replace with.
            Some("replace") => None,
            Some(word) => ACTIONS.iter().copied().find(|known| *known == word),
        }
    }

    /// Whether it asks for more than to go on.
    pub(super) fn changes(&self) -> bool {
        self.word().is_some_and(|word| word != "continue")
    }

    /// The action for an app, or none if it asks for something that there is not.
    pub(super) fn action(&self, call: &Call, moment: Moment, values: &Values) -> Option<Value> {
        let word = self.word()?;
        if moment != Moment::Before {
            // The call is over: all an app can do now is go on.
            return Some(json!({ "action": "continue" }));
        }
        let mut action = Map::new();
        let mut put = |name: &str, value: Value| drop(action.insert(name.to_owned(), value));
        put("action", json!(word));
        if let Some(function) = &self.replacement_function {
            put("function_name", json!(function));
        }
        if word == "modify" || self.modified_args.is_some() || self.modified_kwargs.is_some() {
            put("modified_args", json!(self.args(call, values)));
            put("modified_kwargs", Value::Object(self.kwargs(call, values)));
        }
        if let Some(data) = &self.fake_result_data {
            put("fake_result_data", json!(data));
        }
        if let Some(result) = &self.fake_result {
            put("fake_result", result.clone());
            if self.fake_result_data.is_none() {
                let encoded = encode(result, call.format);
                put("fake_result_cid", json!(encoded.cid));
                put("fake_result_data", json!(encoded.data));
                put("fake_result_serialization_format", json!(encoded.format.as_str()));
            }
        }
        for (name, value) in [
            ("exception", self.exception.clone()),
            ("exception_type", self.exception_type.clone().map(Value::from)),
            ("exception_message", self.exception_message.clone().map(Value::from)),
        ] {
            if let Some(value) = value {
                put(name, value);
            }
        }
        Some(Value::Object(action))
    }

    fn args(&self, call: &Call, values: &Values) -> Vec<Value> {
        match &self.modified_args {
            Some(args) => args.iter().map(|value| item(value, call.format)).collect(),
            None => call.args.iter().map(|given| own(call, given, values)).collect(),
        }
    }

    fn kwargs(&self, call: &Call, values: &Values) -> Map<String, Value> {
        match &self.modified_kwargs {
            Some(named) => {
                named.iter().map(|(name, value)| (name.clone(), item(value, call.format))).collect()
            }
            None => {
                let named = call.kwargs.iter();
                named.map(|(name, given)| (name.clone(), own(call, given, values))).collect()
            }
        }
    }

    /// Whether the call's own values are needed to make the action.
    pub(super) fn needs_values(&self, call: &Call) -> bool {
        call.format == Format::Json && self.word() == Some("modify")
    }
}

/// A value of the caller's in the app's format; what has a `cid` already is passed on as it is.
fn item(value: &Value, format: Format) -> Value {
    if value.get("cid").is_some() {
        return value.clone();
    }
    encode(value, format).to_json()
}

/// The call's own value. A Python app has the object itself and finds it by its CID; JavaScript needs
/// the data.
fn own(call: &Call, given: &Given, values: &Values) -> Value {
    let mut item = call.item(given);
    let cid = given.place.and_then(|at| call.cids.get(at));
    if call.format == Format::Json
        && let Some(data) = cid.and_then(|cid| values.get(cid)).and_then(|it| it.data.as_ref())
        && let Some(item) = item.as_object_mut()
    {
        item.insert("data".to_owned(), json!(String::from_utf8_lossy(data)));
    }
    item
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::callpoints::value::cid_of;

    fn call(format: Format) -> Call {
        let given = |at| Given { place: Some(at), format, ..Given::default() };
        Call {
            cids: vec![cid_of(b"one"), cid_of(b"two")],
            args: vec![given(0)],
            kwargs: vec![("k".to_owned(), given(1))],
            format,
            ..Call::default()
        }
    }

    #[track_caller]
    fn check(format: Format, moment: Moment, wish: Decision, expected: Expect) {
        let action = wish.action(&call(format), moment, &Values::new());
        let text = action.map_or("refused".to_owned(), |it| it.to_string());
        // The hashes are not what this is about.
        let text = text.replace(&cid_of(b"one").to_string(), "ONE");
        let text = text.replace(&cid_of(b"two").to_string(), "TWO");
        let text = text.replace(&encode(&json!(5), format).cid, "FIVE");
        expected.assert_eq(&text);
    }

    fn wish(action: &str) -> Decision {
        Decision { action: Some(action.to_owned()), ..Decision::default() }
    }

    #[test]
    fn plain_words() {
        let go = expect![[r#"{"action":"continue"}"#]];
        check(Format::Dill, Moment::Before, Decision::default(), go);
        check(Format::Dill, Moment::Before, wish("explode"), expect!["refused"]);
        check(Format::Dill, Moment::Before, wish("replace"), expect!["refused"]);
    }

    #[test]
    fn a_result_is_in_the_format_of_the_app() {
        let skip = Decision { fake_result: Some(json!(5)), ..wish("skip") };
        check(
            Format::Dill,
            Moment::Before,
            skip.clone(),
            expect![[
                r#"{"action":"skip","fake_result":5,"fake_result_cid":"FIVE","fake_result_data":"gARLBS4=","fake_result_serialization_format":"dill"}"#
            ]],
        );
        check(
            Format::Json,
            Moment::Before,
            skip,
            expect![[
                r#"{"action":"skip","fake_result":5,"fake_result_cid":"FIVE","fake_result_data":"5","fake_result_serialization_format":"json"}"#
            ]],
        );
    }

    #[test]
    fn half_a_change_keeps_the_other_half() {
        let args = Decision { modified_args: Some(vec![json!(5)]), ..wish("continue") };
        check(
            Format::Dill,
            Moment::Before,
            args,
            expect![[
                r#"{"action":"modify","modified_args":[{"cid":"FIVE","data":"gARLBS4=","serialization_format":"dill"}],"modified_kwargs":{"k":{"cid":"TWO","serialization_format":"dill"}}}"#
            ]],
        );
        let named = Map::from_iter([("k".to_owned(), json!({ "cid": "mine" }))]);
        let kwargs = Decision { modified_kwargs: Some(named), ..wish("modify") };
        check(
            Format::Dill,
            Moment::Before,
            kwargs,
            expect![[
                r#"{"action":"modify","modified_args":[{"cid":"ONE","serialization_format":"dill"}],"modified_kwargs":{"k":{"cid":"mine"}}}"#
            ]],
        );
    }

    #[test]
    fn a_function_wins_over_the_action() {
        let replace = Decision { replacement_function: Some("other".into()), ..wish("skip") };
        check(
            Format::Dill,
            Moment::Before,
            replace,
            expect![[r#"{"action":"replace","function_name":"other"}"#]],
        );
    }

    #[test]
    fn after_a_call_an_app_can_only_go_on() {
        for action in ["skip", "modify", "raise"] {
            let go = expect![[r#"{"action":"continue"}"#]];
            check(Format::Dill, Moment::AfterSuccess, wish(action), go);
        }
        let replace = Decision { replacement_function: Some("other".into()), ..wish("skip") };
        let go = expect![[r#"{"action":"continue"}"#]];
        check(Format::Dill, Moment::AfterException, replace, go);
    }
}
