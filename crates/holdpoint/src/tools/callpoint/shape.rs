//! Calls as an agent sees them: what it decides by, and CIDs to look further with. The whole is over REST.

use holdpoint_engine::budget::Budget;
use serde_json::{Map, Value, json};

use crate::app::App;

/// Frames of a stack that an agent is shown.
const FRAMES: usize = 5;

/// The callpoints: `breakpoint_list_breakpoints`, `breakpoint://breakpoints`.
pub(crate) async fn breakpoints(app: &App) -> Value {
    let points = app.engine.callpoints().await.callpoints();
    let mut behaviors = Map::new();
    let mut after_behaviors = Map::new();
    let mut replacements = Map::new();
    for (name, point) in &points {
        behaviors.insert(name.clone(), json!(point.before.as_str()));
        after_behaviors.insert(name.clone(), json!(point.after.as_str()));
        if let Some(replacement) = &point.replacement {
            replacements.insert(name.clone(), json!(replacement));
        }
    }
    let names: Vec<&String> = points.keys().collect();
    json!({
        "breakpoints": names, "behaviors": behaviors, "after_behaviors": after_behaviors,
        "replacements": replacements,
    })
}

/// What apps have: `breakpoint_list_functions`, `breakpoint://functions`.
pub(crate) async fn functions(app: &App) -> Value {
    let functions = app.engine.callpoints().await.functions();
    let mut listed = Vec::new();
    let mut signatures = Map::new();
    let mut metadata = Map::new();
    for (name, function) in functions {
        if !function.signature.is_null() {
            signatures.insert(name.clone(), function.signature);
        }
        if !function.metadata.is_null() {
            metadata.insert(name.clone(), function.metadata);
        }
        if function.listed {
            listed.push(name);
        }
    }
    json!({ "functions": listed, "signatures": signatures, "metadata": metadata })
}

/// The paused calls: `breakpoint_list_paused`, `breakpoint://paused`.
pub(crate) async fn paused(app: &App, budget: Budget) -> Value {
    let all = app.engine.callpoints().await.paused();
    let total = all.len();
    let (shown, left_out) = fit(all.iter().map(pause), budget);
    let mut answer = json!({ "paused": shown });
    if left_out > 0
        && let Some(answer) = answer.as_object_mut()
    {
        answer.insert("total_count".to_owned(), json!(total));
        answer.insert("left_out".to_owned(), json!(left_out));
        answer.insert("hint".to_owned(), json!("pass a larger budget_tokens to see the others"));
    }
    answer
}

/// A pause with its call in short.
pub(crate) fn pause(pause: &Value) -> Value {
    let mut pause = pause.clone();
    if let Some(data) = pause.get_mut("call_data") {
        *data = call(data);
    }
    pause
}

/// A call in short: its values as they are shown, and by CID.
pub(crate) fn call(data: &Value) -> Value {
    let Some(fields) = data.as_object() else { return data.clone() };
    let mut short = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "args" => value.as_array().map(|items| items.iter().map(bare).collect()),
            "kwargs" => value.as_object().map(|items| {
                items.iter().map(|(name, item)| (name.clone(), bare(item))).collect::<Value>()
            }),
            "call_site" => Some(site(value)),
            "exception" => Some(exception(value)),
            // Said by other fields, or of no use to whoever decides.
            "target"
            | "pretty_target"
            | "preferred_format"
            | "process_start_time"
            | "line"
            | "kind"
            | "exception_traceback"
            | "exception_client_ref"
            | "result_client_ref" => None,
            _ if value.is_null() && name != "pretty_result" => None,
            _ => Some(value.clone()),
        };
        if let Some(value) = value {
            short.insert(name.clone(), value);
        }
    }
    Value::Object(short)
}

/// Of a reference to a value, what leads to it.
fn bare(item: &Value) -> Value {
    let mut bare = json!({ "cid": item.get("cid") });
    if let (Some(bare), Some(client_ref)) = (bare.as_object_mut(), item.get("client_ref")) {
        bare.insert("client_ref".to_owned(), client_ref.clone());
    }
    bare
}

/// The innermost frames; how many there are.
fn site(site: &Value) -> Value {
    let frames = site.get("stack_trace").and_then(Value::as_array).cloned().unwrap_or_default();
    let inner = frames.first();
    let shown: Vec<Value> = frames.iter().take(FRAMES).map(frame).collect();
    json!({
        "file": inner.and_then(|frame| frame.get("filename")),
        "line": inner.and_then(|frame| frame.get("lineno")),
        "stack_trace": shown,
        "frames": frames.len(),
    })
}

/// `app.py:41 in main: total = price * count`
fn frame(frame: &Value) -> Value {
    let text = |name| frame.get(name).and_then(Value::as_str).unwrap_or_default();
    let line = frame.get("lineno").and_then(Value::as_u64).unwrap_or_default();
    let code = match text("code_context").trim() {
        "" => String::new(),
        code => format!(": {code}"),
    };
    json!(format!("{}:{line} in {}{code}", text("filename"), text("function")))
}

/// What was raised, without its whole traceback.
fn exception(exception: &Value) -> Value {
    let mut exception = exception.clone();
    if let Some(object) = exception.as_object_mut() {
        for name in ["traceback", "failed_attributes", "repr_text", "__cideldill_exception__"] {
            object.remove(name);
        }
        object.retain(|_, value| !value.is_null() && *value != json!({}));
    }
    exception
}

/// As many as fit, the first always; and how many did not.
pub(crate) fn fit(items: impl Iterator<Item = Value>, budget: Budget) -> (Vec<Value>, usize) {
    let mut left = budget.bytes();
    let mut shown = Vec::new();
    let mut left_out = 0;
    for item in items {
        let size = item.to_string().len();
        if left_out > 0 || (size > left && !shown.is_empty()) {
            left_out += 1;
            continue;
        }
        left = left.saturating_sub(size);
        shown.push(item);
    }
    (shown, left_out)
}
