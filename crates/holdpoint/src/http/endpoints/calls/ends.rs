//! A call that begins and one that ends, as existing clients send them: they come with every call of
//! an app.

use holdpoint_engine::calls::{
    call::{AppProcess, CallOrigin, CallSite, Complete, Start},
    value::Format,
};
use serde::de::MapAccess;
use serde_json::Value;

use crate::http::endpoints::wire::{
    Object,
    fields::{NamedItems, Who, any, fingerprint, format, list, number, object, origin, text},
    whole,
};

/// None when it does not say whose call it is.
pub(super) fn start(text: &str) -> serde_json::Result<Option<Start>> {
    let Begun { mut start, who, idempotency_key } = whole(text)?;
    let Some(process) = who.process() else { return Ok(None) };
    start.fingerprint = match idempotency_key {
        Some(key) => fingerprint(format!("{}{key}", process.key()).as_bytes()),
        None => fingerprint(text.as_bytes()),
    };
    Ok(Some(Start { process, ..start }))
}

pub(super) fn complete(text: &str) -> serde_json::Result<Complete> {
    let Ended { complete, who } = whole(text)?;
    Ok(Complete { process: who.process(), ..complete })
}

pub(in crate::http) struct Begun {
    start: Start,
    who: Who,
    idempotency_key: Option<String>,
}

#[derive(Default)]
pub(in crate::http) struct Ended {
    complete: Complete,
    who: Who,
}

impl Default for Begun {
    fn default() -> Self {
        let start = Start {
            method_name: String::new(),
            process: AppProcess { pid: 0, start_time: 0.0 },
            target: None,
            args: Vec::new(),
            kwargs: Vec::new(),
            site: CallSite::default(),
            signature: Value::Null,
            page_url: None,
            format: Some(Format::Dill),
            origin: CallOrigin::default(),
            fingerprint: 0,
        };
        Begun { start, who: Who::default(), idempotency_key: None }
    }
}

impl<'de> Object<'de> for Begun {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        let start = &mut self.start;
        match name {
            "method_name" => start.method_name = text(map)?.unwrap_or_default(),
            "target" => start.target = object(map)?,
            "args" => start.args = list(map)?,
            "kwargs" => {
                let NamedItems(kwargs) = object(map)?.unwrap_or_default();
                start.kwargs = kwargs;
            }
            "call_site" => start.site = object(map)?.unwrap_or_default(),
            "signature" => start.signature = any(map)?,
            "page_url" => start.page_url = text(map)?,
            "preferred_format" => start.format = format(map)?,
            "idempotency_key" => self.idempotency_key = text(map)?,
            name => {
                return Ok(self.who.take(name, map)? || origin(&mut start.origin, name, map)?);
            }
        }
        Ok(true)
    }
}

impl<'de> Object<'de> for Ended {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error> {
        let complete = &mut self.complete;
        match name {
            "call_id" => complete.call_id = text(map)?.unwrap_or_default(),
            "status" => complete.status = text(map)?,
            "timestamp" => complete.timestamp = number(map)?,
            "exception_type" => complete.exception_type = text(map)?,
            "exception_message" => complete.exception_message = text(map)?,
            "exception_traceback" => complete.exception_traceback = text(map)?,
            "action_error" => complete.action_error = text(map)?,
            name => {
                if let Some(field) = name.strip_prefix("result_") {
                    return complete.result.take(field, map);
                }
                if let Some(field) = name.strip_prefix("exception_") {
                    return complete.exception.take(field, map);
                }
                return self.who.take(name, map);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::calls::value::{Data, Item};
    use serde_json::json;

    use super::*;

    fn item(cid: &str) -> Item {
        Item { cid: Some(cid.to_owned()), ..Item::default() }
    }

    #[test]
    fn nothing_is_typed_strictly() {
        let body = r#"{"process_pid": "42", "process_start_time": 1.5, "signature": 2, "async": 1,
            "method_name": "f\u00e9", "target": 7, "page_url": ["x"], "more": {"a": [1]}, "task": "t",
            "args": [{"cid": "a"}, "x", 3, [[{}]], null], "thread_id": null, "call_site": "here",
            "kwargs": {"b": {"cid": "c", "data": 5}, "a": {}}, "preferred_format": false}"#;
        let start = start(body).unwrap().unwrap();
        assert_eq!(start.process, AppProcess { pid: 42, start_time: 1.5 });
        assert_eq!((start.method_name.as_str(), &start.signature), ("f\u{e9}", &json!(2)));
        assert_eq!((start.target, start.page_url, start.site), (None, None, CallSite::default()));
        assert_eq!(start.format, Some(Format::Dill));
        assert_eq!(start.origin, CallOrigin { task: Some(json!("t")), ..CallOrigin::default() });
        let none = Item::default();
        let args = [item("a"), none.clone(), none.clone(), none.clone(), none.clone()];
        assert_eq!(start.args, args);
        let b = Item { data: Data::Other, ..item("c") };
        assert_eq!(start.kwargs, [("b".to_owned(), b), ("a".to_owned(), none)]);
    }

    #[test]
    fn what_a_call_brings_is_read() {
        let body = r#"{"method_name": "old", "method_name": "f", "process_pid": 1,
            "process_start_time": "2", "target": {"cid": "t", "client_ref": {"x": [1]}},
            "args": [{"cid": "a", "data": "x\/y", "serialization_format": "json"}],
            "call_site": {"timestamp": 5, "stack_trace": [{"lineno": 1}], "target_cid": "t"},
            "preferred_format": "yaml", "async": true, "idempotency_key": "k"}"#;
        let start = start(body).unwrap().unwrap();
        assert_eq!(start.method_name, "f");
        assert_eq!(start.target.unwrap().client_ref, Some(json!({ "x": [1] })));
        let data = Data::Text("x/y".to_owned());
        assert_eq!(start.args, [Item { data, format: Some(Format::Json), ..item("a") }]);
        assert_eq!(start.site.stack.as_deref(), Some(r#"[{"lineno": 1}]"#));
        assert_eq!((start.site.timestamp, start.format), (Some(5.0), None));
        assert!(start.origin.is_async);
    }

    #[test]
    fn how_a_call_ended_is_read() {
        let body = r#"{"call_id": "1-1", "status": "exception", "timestamp": 3, "result_cid": "r",
            "result_data": null, "exception_cid": "e", "exception_data": "x", "exception_type": "T",
            "exception_serialization_format": "odd", "exception_client_ref": 5, "process_pid": 1}"#;
        let complete = complete(body).unwrap();
        assert_eq!(
            (complete.call_id.as_str(), complete.status.as_deref()),
            ("1-1", Some("exception"))
        );
        assert_eq!((complete.process, complete.timestamp), (None, Some(3.0)));
        assert_eq!(complete.result, item("r"));
        let data = Data::Text("x".to_owned());
        let client_ref = Some(json!(5));
        assert_eq!(complete.exception, Item { data, format: None, client_ref, ..item("e") });
        assert_eq!(complete.exception_type.as_deref(), Some("T"));
    }

    #[test]
    fn falsy_bodies_are_empty_and_others_are_refused() {
        for body in ["[]", "null", "0", " false ", "\"\"", "{}"] {
            assert_eq!(complete(body).unwrap(), Complete::default(), "{body}");
            assert!(start(body).unwrap().is_none(), "{body}");
        }
        for body in ["[1]", "5", "\"x\"", "{", "{\"a\": }", "{} x"] {
            assert!(complete(body).is_err(), "{body}");
        }
    }

    /// However deep something is that nobody asked for, the request is read.
    #[test]
    fn depth_is_no_reason_to_refuse() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for field in ["args", "signature", "call_id", "target", "other", "task"] {
            let body =
                format!(r#"{{"process_pid": 1, "process_start_time": 2, "{field}": {deep}}}"#);
            assert!(start(&body).unwrap().is_some(), "{field}");
            assert!(complete(&body).is_ok(), "{field}");
        }
    }
}
