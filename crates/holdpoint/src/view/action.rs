//! What an app is told to do, in its own format.

use holdpoint_engine::{
    callpoints::decision::{Action, Fake, Handed},
    calls::value::encode,
};
use serde_json::{Map, Value, json};

pub(crate) fn action(action: &Action) -> Value {
    let mut json = Map::new();
    let mut put = |name: &str, value: Value| drop(json.insert(name.to_owned(), value));
    put("action", json!(action.word()));
    match action {
        Action::Continue => {}
        Action::Modify { args, kwargs } => {
            put("modified_args", args.iter().map(handed).collect());
            let named = kwargs.iter().map(|(name, it)| (name.clone(), handed(it)));
            put("modified_kwargs", named.collect());
        }
        Action::Skip(Fake { value, data, format }) => {
            if let Some(data) = data {
                put("fake_result_data", json!(data));
            }
            if let Some(value) = value {
                put("fake_result", value.clone());
                if data.is_none() {
                    let encoded = encode(value, *format);
                    put("fake_result_cid", json!(encoded.cid));
                    put("fake_result_data", json!(encoded.data));
                    put("fake_result_serialization_format", json!(encoded.format.as_str()));
                }
            }
        }
        Action::Raise { exception, exception_type, message } => {
            for (name, value) in [
                ("exception", exception.clone()),
                ("exception_type", exception_type.clone().map(Value::from)),
                ("exception_message", message.clone().map(Value::from)),
            ] {
                if let Some(value) = value {
                    put(name, value);
                }
            }
        }
        Action::Replace { function } => put("function_name", json!(function)),
    }
    Value::Object(json)
}

fn handed(handed: &Handed) -> Value {
    match handed {
        Handed::Own { item, data } => {
            let mut json = json!(item);
            if let (Some(json), Some(data)) = (json.as_object_mut(), data) {
                json.insert("data".to_owned(), json!(data));
            }
            json
        }
        Handed::New { value, format } => {
            let encoded = encode(value, *format);
            json!({
                "cid": encoded.cid,
                "data": encoded.data,
                "serialization_format": encoded.format.as_str(),
            })
        }
        Handed::Named(reference) => reference.clone(),
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::calls::{call::Reference, value::Format};

    use super::*;

    #[track_caller]
    fn check(given: &Action, expected: &str) {
        // The hashes are not what this is about.
        let text = action(given).to_string();
        let five = |format| encode(&json!(5), format).cid;
        let text = text.replace(&five(Format::Dill), "FIVE").replace(&five(Format::Json), "FIVE");
        assert_eq!(text, expected);
    }

    #[test]
    fn a_result_is_in_the_format_of_the_app() {
        let skip = |format| Action::Skip(Fake { value: Some(json!(5)), data: None, format });
        check(
            &skip(Format::Dill),
            r#"{"action":"skip","fake_result":5,"fake_result_cid":"FIVE","fake_result_data":"gARLBS4=","fake_result_serialization_format":"dill"}"#,
        );
        check(
            &skip(Format::Json),
            r#"{"action":"skip","fake_result":5,"fake_result_cid":"FIVE","fake_result_data":"5","fake_result_serialization_format":"json"}"#,
        );
        let own = Fake { value: None, data: Some("x".into()), format: Format::Dill };
        check(&Action::Skip(own), r#"{"action":"skip","fake_result_data":"x"}"#);
    }

    #[test]
    fn arguments_are_references_or_data() {
        let new = Handed::New { value: json!(5), format: Format::Dill };
        let cid = Some("TWO".to_owned());
        let item = Reference { cid, serialization_format: Format::Json, client_ref: None };
        let own = Handed::Own { item, data: Some("2".to_owned()) };
        let named = Handed::Named(json!({ "cid": "mine" }));
        check(
            &Action::Modify { args: vec![new, named], kwargs: vec![("k".to_owned(), own)] },
            r#"{"action":"modify","modified_args":[{"cid":"FIVE","data":"gARLBS4=","serialization_format":"dill"},{"cid":"mine"}],"modified_kwargs":{"k":{"cid":"TWO","serialization_format":"json","data":"2"}}}"#,
        );
    }

    #[test]
    fn the_rest_is_what_it_says() {
        check(&Action::Continue, r#"{"action":"continue"}"#);
        let replace = Action::Replace { function: "other".into() };
        check(&replace, r#"{"action":"replace","function_name":"other"}"#);
        let raise = Action::Raise {
            exception: None,
            exception_type: Some("ValueError".into()),
            message: Some("no".into()),
        };
        check(
            &raise,
            r#"{"action":"raise","exception_type":"ValueError","exception_message":"no"}"#,
        );
    }
}
