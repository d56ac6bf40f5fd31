//! One call: the contract's `call_data`, and its record.

use holdpoint_engine::{
    callpoints::Flying,
    calls::{
        call::{Call, Given},
        seen::Seen,
        verdict::Verdict,
    },
    records::Recorded,
};
use serde_json::{Map, Value, json};

/// `call_data`.
pub(crate) fn data(seen: &Seen) -> Map<String, Value> {
    let call = &*seen.call;
    let mut data = Map::new();
    let mut put = |name: &str, value: Value| drop(data.insert(name.to_owned(), value));
    let item = |given: &Given| json!(call.reference(given));
    put("call_id", json!(call.id));
    put("method_name", json!(call.name));
    put("target", call.target.as_ref().map_or(Value::Null, item));
    put("pretty_target", seen.target.clone());
    put("args", call.args.iter().map(item).collect());
    put("kwargs", call.kwargs.iter().map(|(name, it)| (name.clone(), item(it))).collect());
    put("pretty_args", seen.args.clone());
    put("pretty_kwargs", seen.kwargs.clone());
    put("signature", call.signature.clone());
    put("call_site", site(seen));
    put("page_url", json!(call.page_url));
    put("preferred_format", json!(call.format.as_str()));
    put("process_pid", json!(call.pid));
    put("process_start_time", json!(call.process_start));
    put("process_key", json!(call.process));
    let origin = &call.origin;
    for (name, value) in [
        ("source", origin.source.clone().map(Value::from)),
        ("server", origin.server.clone().map(Value::from)),
        ("call_type", origin.call_type.clone().map(Value::from)),
        ("thread_id", origin.thread_id.clone()),
        ("thread_name", origin.thread_name.clone().map(Value::from)),
        ("task", origin.task.clone()),
        ("client", origin.client.clone().map(Value::from)),
    ] {
        if let Some(value) = value {
            put(name, value);
        }
    }
    if origin.source.is_some() {
        put("kind", json!(call.kind.as_str()));
    }
    data
}

fn site(seen: &Seen) -> Value {
    let own = &seen.call.site;
    let mut site = json!({ "timestamp": own.timestamp, "stack_trace": seen.frames });
    if let Some(site) = site.as_object_mut() {
        if let Some(cid) = &own.target_cid {
            site.insert("target_cid".to_owned(), json!(cid));
        }
        if let Some(url) = &own.page_url {
            site.insert("page_url".to_owned(), json!(url));
        }
    }
    site
}

/// What the end of a call adds: to a pause after it, and to its record.
pub(crate) fn outcome(seen: &Seen) -> Map<String, Value> {
    let mut data = Map::new();
    let Some(outcome) = &seen.outcome else { return data };
    data.insert("pretty_result".to_owned(), outcome.result.clone());
    if let Some(verdict) = &seen.call.verdict {
        data.insert("decision".to_owned(), decision(verdict));
    }
    if let Some(exception) = &outcome.exception {
        data.insert("exception".to_owned(), exception.clone());
    }
    data
}

/// A call that has ended, with everything that is known of it.
pub(crate) fn record(recorded: &Recorded) -> Value {
    let seen = &recorded.seen;
    let call: &Call = &seen.call;
    let mut data = data(seen);
    if let Some(end) = &call.end {
        data.extend(outcome(seen));
        let given = |it: &Option<Given>| {
            let cid = it.as_ref().and_then(|it| call.cid(it)).map(Value::from);
            (cid, it.as_ref().and_then(|it| it.client_ref.clone()))
        };
        let (result_cid, result_ref) = given(&end.result);
        let (exception_cid, exception_ref) = given(&end.exception);
        for (name, value) in [
            ("status", Some(json!(end.status))),
            ("started_at", Some(json!(call.started_at))),
            ("completed_at", Some(json!(end.completed_at))),
            ("result_cid", result_cid),
            ("result_client_ref", result_ref),
            ("exception_cid", exception_cid),
            ("exception_client_ref", exception_ref),
            ("exception_type", end.exception_type.clone().map(Value::from)),
            ("exception_message", end.exception_message.clone().map(Value::from)),
            ("exception_traceback", end.exception_traceback.clone().map(Value::from)),
            ("repl_sessions", Some(json!(end.repl_sessions))),
        ] {
            if let Some(value) = value {
                data.insert(name.to_owned(), value);
            }
        }
    }
    data.insert("line".to_owned(), json!(recorded.line));
    data.insert("kind".to_owned(), json!(call.kind.as_str()));
    Value::Object(data)
}

/// A call that has begun and not ended.
pub(crate) fn in_flight(flying: &Flying) -> Value {
    let call = &flying.call;
    json!({
        "call_id": call.id,
        "method_name": call.name,
        "process_key": call.process,
        "started_at": call.started_at,
        "running_s": flying.running.as_secs_f64(),
        "line": call.line(),
    })
}

/// What was decided about a call before it ran.
fn decision(verdict: &Verdict) -> Value {
    let mut json = Map::new();
    json.insert("action".to_owned(), json!(verdict.action));
    for (name, value) in [
        ("function_name", json!(verdict.function)),
        ("modified_args", verdict.args.clone()),
        ("modified_kwargs", verdict.kwargs.clone()),
        ("not_done", json!(verdict.undone)),
    ] {
        if !value.is_null() {
            json.insert(name.to_owned(), value);
        }
    }
    Value::Object(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_says_only_what_there_is() {
        let verdict = Verdict {
            action: "replace".to_owned(),
            function: Some("other".to_owned()),
            undone: Some("there is none".to_owned()),
            ..Verdict::default()
        };
        let expected = r#"{"action":"replace","function_name":"other","not_done":"there is none"}"#;
        assert_eq!(decision(&verdict).to_string(), expected);
        let verdict =
            Verdict { action: "modify".to_owned(), args: json!([1]), ..Verdict::default() };
        assert_eq!(decision(&verdict).to_string(), r#"{"action":"modify","modified_args":[1]}"#);
    }
}
