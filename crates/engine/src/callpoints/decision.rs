//! What becomes of a paused call: the wish of an agent or a person, and the action that it becomes.
//!
//! Pure. An action is in the app's own format, says nothing that an app raises on after a call, and
//! a change of half the arguments keeps the other half.

use serde_json::{Map, Value};

use super::behavior::Moment;
use crate::calls::{
    call::{Call, Given, Reference, Values},
    value::Format,
    verdict::{Verdict, bounded},
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

/// What whoever asked is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Run as it is written.
    Continue,
    /// Run with these, and with nothing else.
    Modify { args: Vec<Handed>, kwargs: Vec<(String, Handed)> },
    /// Return this instead of running.
    Skip(Fake),
    /// Raise instead of running.
    Raise { exception: Option<Value>, exception_type: Option<String>, message: Option<String> },
    /// Run this function instead.
    Replace { function: String },
}

/// An argument that is handed to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Handed {
    /// The call's own. Its data only where the app needs it again.
    Own { item: Reference, data: Option<String> },
    /// Another one, in the app's format.
    New { value: Value, format: Format },
    /// Named by whoever decided: something that the app has.
    Named(Value),
}

/// What a call is to have returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Fake {
    pub value: Option<Value>,
    /// Already in the app's format.
    pub data: Option<String>,
    pub format: Format,
}

/// What there is to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Continue,
    Modify,
    Skip,
    Raise,
    Replace,
}

impl Action {
    pub const fn word(&self) -> &'static str {
        match self {
            Action::Continue => "continue",
            Action::Modify { .. } => "modify",
            Action::Skip(_) => "skip",
            Action::Raise { .. } => "raise",
            Action::Replace { .. } => "replace",
        }
    }
}

impl Decision {
    /// None if there is no such action.
    fn word(&self) -> Option<Word> {
        if self.replacement_function.is_some() {
            return Some(Word::Replace);
        }
        let modified = self.modified_args.is_some() || self.modified_kwargs.is_some();
        match self.action.as_deref() {
            // To an app, "continue" is with the arguments it has.
            None | Some("continue" | "") if modified => Some(Word::Modify),
            None | Some("" | "continue") => Some(Word::Continue),
            Some("modify") => Some(Word::Modify),
            Some("skip") => Some(Word::Skip),
            Some("raise") => Some(Word::Raise),
            // Without a function there is nothing to replace with.
            Some(_) => None,
        }
    }

    /// Whether it asks for more than to go on.
    pub(super) fn changes(&self) -> bool {
        self.word().is_some_and(|word| word != Word::Continue)
    }

    /// The action, or none if it asks for something that there is not.
    pub(super) fn action(&self, call: &Call, moment: Moment, values: &Values) -> Option<Action> {
        let word = self.word()?;
        if moment != Moment::Before {
            // The call is over: all an app can do now is go on.
            return Some(Action::Continue);
        }
        Some(match word {
            Word::Continue => Action::Continue,
            Word::Modify => {
                let (args, kwargs) = (self.args(call, values), self.kwargs(call, values));
                Action::Modify { args, kwargs }
            }
            Word::Skip => Action::Skip(Fake {
                value: self.fake_result.clone(),
                data: self.fake_result_data.clone(),
                format: told_in(call),
            }),
            Word::Raise => Action::Raise {
                exception: self.exception.clone(),
                exception_type: self.exception_type.clone(),
                message: self.exception_message.clone(),
            },
            Word::Replace => {
                Action::Replace { function: self.replacement_function.clone().unwrap_or_default() }
            }
        })
    }

    /// What the call's record says of it; only what became part of the action counts.
    pub(super) fn verdict(&self, action: &Action) -> Verdict {
        let modifies = matches!(action, Action::Modify { .. });
        let args = self.modified_args.as_ref().filter(|_| modifies);
        let kwargs = self.modified_kwargs.as_ref().filter(|_| modifies);
        Verdict {
            action: action.word().to_owned(),
            function: match action {
                Action::Replace { function } => Some(function.clone()),
                _ => None,
            },
            args: args.map_or(Value::Null, |it| bounded(Value::Array(it.clone()))),
            kwargs: kwargs.map_or(Value::Null, |it| bounded(Value::Object(it.clone()))),
            undone: None,
        }
    }

    fn args(&self, call: &Call, values: &Values) -> Vec<Handed> {
        match &self.modified_args {
            Some(args) => args.iter().map(|value| handed(value, told_in(call))).collect(),
            None => call.args.iter().map(|given| own(call, given, values)).collect(),
        }
    }

    fn kwargs(&self, call: &Call, values: &Values) -> Vec<(String, Handed)> {
        match &self.modified_kwargs {
            Some(named) => {
                let named = named.iter();
                named.map(|(name, value)| (name.clone(), handed(value, told_in(call)))).collect()
            }
            None => {
                let named = call.kwargs.iter();
                named.map(|(name, given)| (name.clone(), own(call, given, values))).collect()
            }
        }
    }

    /// Whether the call's own values are needed to make the action.
    pub(super) fn needs_values(&self, call: &Call) -> bool {
        call.format == Format::Json && self.word() == Some(Word::Modify)
    }
}

/// What whoever decides wrote was JSON. A client of ours takes it as it is, whatever its own values are; others take only
/// what they asked for. So nothing that would be executed goes to an app for a value that is plain.
fn told_in(call: &Call) -> Format {
    let is_ours = call.origin.client.as_deref().is_some_and(|it| it.starts_with("holdpoint"));
    if is_ours { Format::Json } else { call.format }
}

/// A value of whoever decides; what has a `cid` already is passed on as it is.
fn handed(value: &Value, format: Format) -> Handed {
    if value.get("cid").is_some() {
        return Handed::Named(value.clone());
    }
    Handed::New { value: value.clone(), format }
}

/// The call's own value. A Python app has the object itself and finds it by its CID; JavaScript needs
/// the data.
fn own(call: &Call, given: &Given, values: &Values) -> Handed {
    let cid = given.place.and_then(|at| call.cids.get(at));
    let kept = cid.and_then(|cid| values.get(cid)).and_then(|it| it.data.as_ref());
    let data = kept.filter(|_| call.format == Format::Json);
    Handed::Own {
        item: call.reference(given),
        data: data.map(|data| String::from_utf8_lossy(data).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::calls::value::cid_of;

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
    fn check(moment: Moment, wish: &Decision, expected: Option<Action>) {
        assert_eq!(wish.action(&call(Format::Dill), moment, &Values::new()), expected);
    }

    fn wish(action: &str) -> Decision {
        Decision { action: Some(action.to_owned()), ..Decision::default() }
    }

    fn own_value(bytes: &[u8]) -> Handed {
        let cid = Some(cid_of(bytes).to_string());
        let item = Reference { cid, serialization_format: Format::Dill, client_ref: None };
        Handed::Own { item, data: None }
    }

    #[test]
    fn plain_words() {
        check(Moment::Before, &Decision::default(), Some(Action::Continue));
        check(Moment::Before, &wish("explode"), None);
        check(Moment::Before, &wish("replace"), None);
    }

    #[test]
    fn a_result_is_in_the_format_of_the_app() {
        let skip = Decision { fake_result: Some(json!(5)), ..wish("skip") };
        for format in [Format::Dill, Format::Json] {
            let action = skip.action(&call(format), Moment::Before, &Values::new());
            let fake = Fake { value: Some(json!(5)), data: None, format };
            assert_eq!(action, Some(Action::Skip(fake)));
        }
    }

    #[test]
    fn half_a_change_keeps_the_other_half() {
        let args = Decision { modified_args: Some(vec![json!(5)]), ..wish("continue") };
        let new = Handed::New { value: json!(5), format: Format::Dill };
        let kwargs = vec![("k".to_owned(), own_value(b"two"))];
        check(Moment::Before, &args, Some(Action::Modify { args: vec![new], kwargs }));
        let mine = json!({ "cid": "mine" });
        let named = Map::from_iter([("k".to_owned(), mine.clone())]);
        let kwargs = Decision { modified_kwargs: Some(named), ..wish("modify") };
        let handed = vec![("k".to_owned(), Handed::Named(mine))];
        let action = Action::Modify { args: vec![own_value(b"one")], kwargs: handed };
        check(Moment::Before, &kwargs, Some(action));
    }

    /// A change of named arguments alone is one too, whether or not an action is named.
    #[test]
    fn a_change_is_one_without_the_word() {
        let named = Map::from_iter([("k".to_owned(), json!(5))]);
        for action in [None, Some(String::new()), Some("continue".to_owned())] {
            let modified_kwargs = Some(named.clone());
            let wish = Decision { action, modified_kwargs, ..Decision::default() };
            let new = Handed::New { value: json!(5), format: Format::Dill };
            let kwargs = vec![("k".to_owned(), new)];
            let action = Action::Modify { args: vec![own_value(b"one")], kwargs };
            check(Moment::Before, &wish, Some(action));
            assert!(wish.changes());
        }
    }

    #[test]
    fn whether_it_asks_for_more_than_to_go_on() {
        assert!(!Decision::default().changes() && !wish("continue").changes());
        assert!(!wish("explode").changes());
        for action in ["modify", "skip", "raise"] {
            assert!(wish(action).changes(), "{action}");
        }
        let replace = Decision { replacement_function: Some("f".into()), ..Decision::default() };
        assert!(replace.changes());
    }

    /// A Python app finds its object by the CID; one of JavaScript gets the data back.
    #[test]
    fn own_values_go_back_to_javascript_alone() {
        let kept = holdpoint_store::ValueRow {
            cid: cid_of(b"two"),
            format: "json".to_owned(),
            size: 3,
            pretty: None,
            data: Some(b"two".to_vec()),
        };
        let values = Values::from_iter([(kept.cid, kept)]);
        let change = Decision { modified_args: Some(Vec::new()), ..wish("modify") };
        for (format, expected) in [(Format::Json, Some("two".to_owned())), (Format::Dill, None)] {
            let call = call(format);
            assert_eq!(change.needs_values(&call), format == Format::Json);
            assert!(!wish("skip").needs_values(&call));
            let action = change.action(&call, Moment::Before, &values);
            let Some(Action::Modify { kwargs, .. }) = action else { panic!("{action:?}") };
            let [(_, Handed::Own { data, .. })] = &kwargs[..] else { panic!("{kwargs:?}") };
            assert_eq!(*data, expected);
        }
    }

    #[test]
    fn a_function_wins_over_the_action() {
        let replace = Decision { replacement_function: Some("other".into()), ..wish("skip") };
        check(Moment::Before, &replace, Some(Action::Replace { function: "other".into() }));
    }

    #[test]
    fn after_a_call_an_app_can_only_go_on() {
        for action in ["skip", "modify", "raise"] {
            check(Moment::AfterSuccess, &wish(action), Some(Action::Continue));
        }
        let replace = Decision { replacement_function: Some("other".into()), ..wish("skip") };
        check(Moment::AfterException, &replace, Some(Action::Continue));
    }

    #[test]
    fn only_what_became_of_it_is_recorded() {
        let wish = Decision {
            modified_args: Some(vec![json!(1)]),
            replacement_function: Some("other".to_owned()),
            ..Decision::default()
        };
        let modify = Action::Modify { args: Vec::new(), kwargs: Vec::new() };
        let verdict = wish.verdict(&modify);
        assert_eq!((verdict.args, verdict.function), (json!([1]), None));
        let verdict = wish.verdict(&Action::Replace { function: "other".into() });
        assert_eq!((verdict.args, verdict.function.as_deref()), (Value::Null, Some("other")));
        assert_eq!(wish.verdict(&Action::Continue).action, "continue");
    }
}
