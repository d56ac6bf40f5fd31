//! Calls as an agent sees them: what it decides by, and the beginnings of CIDs to look further with. The
//! whole is there for `full: true`, and over REST.

use holdpoint_engine::{budget::Budget, limits, secrets::Secrets};
use serde_json::{Map, Value, json};

use super::points::{Functions, Points};
use crate::app::App;

/// The callpoints: `breakpoint_list_breakpoints`, `breakpoint://breakpoints`.
pub(crate) async fn breakpoints(app: &App) -> Value {
    let points = Points::of(&app.engine.callpoints().await.callpoints());
    json!({
        "breakpoints": points.names, "behaviors": points.before,
        "after_behaviors": points.after, "replacements": points.replacements,
    })
}

/// What apps have: `breakpoint_list_functions`, `breakpoint://functions`.
pub(crate) async fn functions(app: &App) -> Value {
    let all = Functions::of(app.engine.callpoints().await.functions());
    json!({
        "functions": all.listed, "signatures": all.signatures, "metadata": all.metadata,
    })
}

/// The paused calls in short: `breakpoint_list_paused`, `breakpoint://paused`.
pub(crate) async fn paused(app: &App, budget: Option<Budget>) -> Value {
    let all = app.engine.callpoints().await.paused();
    let secrets = app.engine.secrets();
    listed(all.iter().map(|it| pause(&without(secrets, super::pause(it)))), all.len(), budget)
}

/// The same with everything that is known of them.
pub(crate) async fn paused_whole(app: &App, budget: Option<Budget>) -> Value {
    let all = app.engine.callpoints().await.paused();
    let secrets = app.engine.secrets();
    listed(all.iter().map(|it| without(secrets, super::pause(it))), all.len(), budget)
}

/// A call without what its signature says is secret. While its parameters' names are there: in short they are not.
pub(crate) fn without(secrets: &Secrets, mut call: Value) -> Value {
    secrets.call(&mut call);
    call
}

fn listed(all: impl Iterator<Item = Value>, total: usize, budget: Option<Budget>) -> Value {
    let (shown, left_out) = fit(all, budget);
    let mut answer = json!({ "paused": shown });
    if left_out > 0
        && let Some(answer) = answer.as_object_mut()
    {
        let shown = total - left_out;
        answer.insert("total_count".to_owned(), json!(total));
        answer.insert("left_out".to_owned(), json!(left_out));
        let hint = format!("{shown} of {total}, the oldest; all without `budget_tokens`");
        answer.insert("hint".to_owned(), json!(hint));
    }
    answer
}

/// A pause in short: what is to be decided by.
pub(crate) fn pause(pause: &Value) -> Value {
    let mut short = Map::new();
    let data = pause.get("call_data").unwrap_or(&Value::Null);
    let mut call = values(data);
    // The contract's own fields, also where there is nothing to say.
    call.entry("pretty_kwargs").or_insert_with(|| json!({}));
    put(&mut call, "signature", data.get("signature"));
    call.insert("call_site".to_owned(), site(data.get("call_site")));
    put(&mut call, "call_id", data.get("call_id"));
    put(&mut call, "pause_reason", data.get("pause_reason"));
    put(&mut call, "process_pid", data.get("process_pid"));
    put(&mut call, "source", data.get("source"));
    put(&mut call, "kind", data.get("kind"));
    put(&mut short, "id", pause.get("id"));
    short.insert("call_data".to_owned(), call.into());
    for name in ["paused_at", "repl_sessions", "phase", "waiting"] {
        put(&mut short, name, pause.get(name));
    }
    if pause.get("waiting") == Some(&json!(false)) {
        put(&mut short, "post_mortem", pause.get("post_mortem"));
        put(&mut short, "last_seen_s", pause.get("last_seen_s"));
    }
    short.into()
}

/// A recorded call in short, about 60 tokens: the contract's fields, what raised, what was decided, and
/// CIDs of what is not shown whole.
pub(crate) fn call(data: &Value) -> Value {
    let mut short = Map::new();
    put(&mut short, "call_id", data.get("call_id"));
    short.extend(values(data));
    put(&mut short, "status", data.get("status"));
    if data.get("source").is_some() {
        put(&mut short, "source", data.get("source"));
        put(&mut short, "kind", data.get("kind"));
    }
    let plain = |it: &&Value| it.get("action") == Some(&json!("continue"));
    put(&mut short, "decision", data.get("decision").filter(|it| !plain(it)));
    for name in ["started_at", "completed_at"] {
        put(&mut short, name, data.get(name).and_then(milliseconds).as_ref());
    }
    short.into()
}

/// A time without the digits that nobody reads.
fn milliseconds(time: &Value) -> Option<Value> {
    Some(json!((time.as_f64()? * 1_000.0).round() / 1_000.0))
}

fn put(object: &mut Map<String, Value>, name: &str, value: Option<&Value>) {
    if let Some(value) = value.filter(|it| !it.is_null()) {
        object.insert(name.to_owned(), value.clone());
    }
}

/// The function and its values, each on one short line, and CIDs where that is not all of it.
fn values(data: &Value) -> Map<String, Value> {
    let mut short = Map::new();
    put(&mut short, "method_name", data.get("method_name"));
    let args = data.get("pretty_args").unwrap_or(&Value::Null);
    short.insert("pretty_args".to_owned(), each(args));
    if args.as_array().is_some_and(|args| args.iter().any(is_part)) {
        put(&mut short, "args", data.get("args").map(cids).as_ref());
    }
    let kwargs = data.get("pretty_kwargs").unwrap_or(&Value::Null);
    if let Some(named) = kwargs.as_object().filter(|named| !named.is_empty()) {
        short.insert("pretty_kwargs".to_owned(), each(kwargs));
        if named.values().any(is_part) {
            put(&mut short, "kwargs", data.get("kwargs").map(cids).as_ref());
        }
    }
    let exception = data.get("exception").filter(|it| !it.is_null());
    match (data.get("pretty_result"), exception) {
        (_, Some(exception)) => {
            short.insert("exception".to_owned(), raised(exception));
        }
        (Some(result), None) => {
            short.insert("pretty_result".to_owned(), one(result));
            if is_part(result) {
                put(&mut short, "result_cid", data.get("result_cid").map(cid).as_ref());
            }
        }
        (None, None) => {}
    }
    short
}

fn each(values: &Value) -> Value {
    match values {
        Value::Array(items) => items.iter().map(one).collect(),
        Value::Object(named) => named.iter().map(|(name, it)| (name.clone(), one(it))).collect(),
        other => one(other),
    }
}

/// A value as it is, or the beginning of it.
fn one(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => match object.get("summary").and_then(Value::as_str) {
            Some(summary) => summary.to_owned(),
            None => value.to_string(),
        },
        other => other.to_string(),
    };
    let is_long = text.chars().nth(limits::VALUE_SHOWN).is_some();
    match value {
        _ if is_long => json!(text.chars().take(limits::VALUE_SHOWN).collect::<String>() + "…"),
        Value::Object(object) if object.contains_key("summary") => json!(text),
        value => value.clone(),
    }
}

/// Whether its short form does not say all: it was cut, here or before, or is an object's description.
fn is_part(value: &Value) -> bool {
    match one(value) {
        Value::String(text) => text.contains('…') || text.ends_with("...") || text.starts_with('<'),
        _ => false,
    }
}

/// What was raised, in one line.
fn raised(exception: &Value) -> Value {
    let summary = exception.get("summary").unwrap_or(exception);
    json!({ "summary": one(summary) })
}

/// Of references to values, what leads to them.
fn cids(items: &Value) -> Value {
    let bare = |item: &Value| json!({ "cid": item.get("cid").map(cid) });
    match items {
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(named) => named.iter().map(|(name, it)| (name.clone(), bare(it))).collect(),
        _ => Value::Null,
    }
}

/// The beginning of a CID, which is enough to name it.
pub(crate) fn cid(cid: &Value) -> Value {
    match cid.as_str().and_then(|text| text.get(..limits::CID_SHOWN)) {
        Some(short) => json!(short),
        None => cid.clone(),
    }
}

/// Where the call was made.
fn site(site: Option<&Value>) -> Value {
    let inner = site.and_then(|site| site.pointer("/stack_trace/0"));
    let of = |name: &str| inner.and_then(|frame| frame.get(name));
    json!({ "file": of("filename"), "line": of("lineno") })
}

/// `app.py:41 in main: total = price * count`
pub(crate) fn frame(frame: &Value) -> String {
    let text = |name| frame.get(name).and_then(Value::as_str).unwrap_or_default();
    let line = frame.get("lineno").and_then(Value::as_u64).unwrap_or_default();
    let code = match text("code_context").trim() {
        "" => String::new(),
        code => format!(": {code}"),
    };
    format!("{}:{line} in {}{code}", text("filename"), text("function"))
}

/// As many as fit, the first always; and how many did not.
pub(crate) fn fit(
    items: impl Iterator<Item = Value>,
    budget: Option<Budget>,
) -> (Vec<Value>, usize) {
    let mut left = budget.map_or(usize::MAX, Budget::bytes);
    let mut shown = Vec::new();
    let mut left_out = 0;
    for item in items {
        let size = if budget.is_some() { item.to_string().len() } else { 0 };
        if left_out > 0 || (size > left && !shown.is_empty()) {
            left_out += 1;
            continue;
        }
        left = left.saturating_sub(size);
        shown.push(item);
    }
    (shown, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_short() {
        let whole = "0123456789abcdef".repeat(8);
        let long = "x".repeat(500);
        let record = json!({
            "call_id": "1794765102.342905-001", "method_name": "add", "status": "success",
            "target": { "cid": whole }, "pretty_target": long, "args": [{ "cid": whole, "client_ref": 1 }],
            "kwargs": {}, "pretty_args": ["1"], "pretty_kwargs": {}, "pretty_result": "2",
            "signature": "(a)", "call_site": { "stack_trace": [{ "filename": "a.py", "lineno": 3 }] },
            "decision": { "action": "continue" }, "result_cid": whole,
            "started_at": 1_794_765_102.342_905, "completed_at": 1_794_765_102.343_905,
        });
        let short = call(&record).to_string();
        assert_eq!(
            short,
            "{\"call_id\":\"1794765102.342905-001\",\"method_name\":\"add\",\"pretty_args\":[\"1\"],\
             \"pretty_result\":\"2\",\"status\":\"success\",\"started_at\":1794765102.343,\
             \"completed_at\":1794765102.344}"
        );
        // 3.6 bytes a token.
        assert!(short.len() < 60 * 36 / 10, "{}", short.len());
        let mut large = record;
        large["pretty_args"][0] = json!(long);
        large["pretty_result"] = json!("<Cart object>");
        let short = call(&large);
        assert_eq!(short["pretty_args"][0], json!("x".repeat(80) + "…"));
        assert_eq!(short["args"], json!([{ "cid": "0123456789abcdef" }]));
        assert_eq!(short["result_cid"], "0123456789abcdef");
    }

    #[test]
    fn nothing_is_left_out_without_a_budget() {
        let items = || (0..1_000).map(|number| json!("x".repeat(number)));
        assert_eq!(fit(items(), None).1, 0);
        let (shown, left_out) = fit(items(), Some(Budget::tokens(100)));
        assert!(!shown.is_empty() && shown.len() + left_out == 1_000);
    }
}
