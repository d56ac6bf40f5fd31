//! A call of another server's tool: asked about like every call, carried out as was decided, recorded.

use std::sync::Arc;

use holdpoint_engine::{
    callpoints::{
        Callpoints,
        ask::{Asking, Ending},
        decision::{Action, Fake, Handed},
    },
    calls::call::CallKind,
};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, JsonObject, ReadResourceRequest,
    ReadResourceRequestParams,
};
use serde_json::{Map, Value, json};

use super::{
    failure::Unserved,
    manager::{Manager, connection},
    server::{Connection, ExternalTool},
};
use crate::tool::check_described;

/// Who makes these calls, as records say it.
const SOURCE: &str = "mcp_client";

/// What came of a call.
pub(crate) struct Done {
    /// As the server gave it: `{content, isError?, structuredContent?, …}`.
    pub(crate) result: Value,
    /// By which it is found again, whole.
    pub(crate) cid: Option<String>,
}

/// Shows whoever waits what it waits for.
pub(crate) type Tells<'t> = &'t (dyn Fn(String) + Send + Sync);

impl Done {
    pub(crate) fn is_error(&self) -> bool {
        self.result.get("isError").and_then(Value::as_bool) == Some(true)
    }
}

/// Calls `server/tool`.
pub(crate) async fn call(
    manager: &Manager,
    callpoints: &Arc<Callpoints>,
    name: &str,
    arguments: JsonObject,
    told: Tells<'_>,
) -> Result<Done, Unserved> {
    let (server, tool, connection) = manager.tool(name)?;
    check(&tool, &arguments)?;
    let asking = Asking {
        name: tool.name.clone(),
        kind: CallKind::Tool,
        source: SOURCE.to_owned(),
        server: Some(server.name.clone()),
        signature: Value::Null,
        args: Vec::new(),
        kwargs: arguments.clone(),
    };
    told(format!("`{name}` waits at its callpoint"));
    let answered = callpoints.ask(asking).await;
    told(format!("`{name}` runs"));
    let came = match &answered.action {
        Action::Continue => send(&connection, &tool, arguments, told).await,
        Action::Modify { args, kwargs } => {
            let arguments = handed(args, kwargs);
            match check(&tool, &arguments) {
                Ok(()) => send(&connection, &tool, arguments, told).await,
                Err(refused) => Err(refused),
            }
        }
        Action::Skip(fake) => Ok(faked(fake)),
        Action::Raise { exception, exception_type, message } => {
            Ok(raised(exception.as_ref(), exception_type.as_deref(), message.as_deref()))
        }
        Action::Replace { function } => match manager.tool(function) {
            Ok((_, other, connection)) => send(&connection, &other, arguments, told).await,
            Err(refused) => Err(refused),
        },
    };
    let came = came.map(Arc::new);
    let ending = ending(&came);
    let cid = answered.complete(ending).await.map(|cid| cid.to_string());
    came.map(|result| Done { result: Arc::unwrap_or_clone(result), cid })
}

fn check(tool: &ExternalTool, arguments: &JsonObject) -> Result<(), Unserved> {
    let Some(schema) = tool.given_schema() else { return Ok(()) };
    check_described(&tool.name, schema, arguments)
        .map_err(|failure| Unserved::Arguments(Box::new(failure)))
}

async fn send(
    connection: &Connection,
    tool: &ExternalTool,
    arguments: JsonObject,
    told: Tells<'_>,
) -> Result<Value, Unserved> {
    let params = CallToolRequestParams::new(tool.original.clone()).with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let result = connection.ask(request, told).await?;
    match result.get("content").or_else(|| result.get("structuredContent")) {
        Some(_) => Ok(result),
        None if result.get("inputRequests").is_some() => {
            Err(Unserved::failed("the tool asks for input, and there is nobody here to give it"))
        }
        None if result.get("taskId").or_else(|| result.get("task")).is_some() => {
            Err(Unserved::failed("the tool runs as a task, which is not followed here"))
        }
        None => Err(Unserved::failed("the answer is no result of a tool")),
    }
}

/// The arguments that were decided. A tool has none without a name: one object in their place stands for all.
pub(crate) fn handed(args: &[Handed], kwargs: &[(String, Handed)]) -> JsonObject {
    let value = |handed: &Handed| match handed {
        Handed::New { value, .. } | Handed::Named(value) => value.clone(),
        Handed::Own { .. } => Value::Null,
    };
    match args {
        [only] if value(only).is_object() => match value(only) {
            Value::Object(all) => all,
            _ => Map::new(),
        },
        _ => kwargs.iter().map(|(name, it)| (name.clone(), value(it))).collect(),
    }
}

/// A result that was decided: as it is if it is one, else as the text of one.
pub(crate) fn faked(fake: &Fake) -> Value {
    match (&fake.value, &fake.data) {
        (Some(value), _) if value.get("content").is_some_and(Value::is_array) => value.clone(),
        (Some(Value::String(text)), _) | (None, Some(text)) => texts(text, false),
        (Some(value), _) => texts(&value.to_string(), false),
        (None, None) => json!({ "content": [] }),
    }
}

pub(crate) fn raised(
    exception: Option<&Value>,
    kind: Option<&str>,
    message: Option<&str>,
) -> Value {
    let text = match (kind, message, exception) {
        (Some(kind), Some(message), _) => format!("{kind}: {message}"),
        (Some(text), None, _) | (None, Some(text), _) => text.to_owned(),
        (None, None, Some(exception)) => exception.to_string(),
        (None, None, None) => "the call was made to fail".to_owned(),
    };
    texts(&text, true)
}

fn texts(text: &str, is_error: bool) -> Value {
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    if let (Some(result), true) = (result.as_object_mut(), is_error) {
        result.insert("isError".to_owned(), true.into());
    }
    result
}

/// The texts of a result, or what it is.
pub(crate) fn texts_of(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|it| it.get("text").and_then(Value::as_str)).collect();
    if texts.is_empty() { result.to_string() } else { texts.join("\n") }
}

/// How its record says that it ended.
pub(crate) fn ending(came: &Result<Arc<Value>, Unserved>) -> Ending {
    match came {
        Ok(result) if result.get("isError").and_then(Value::as_bool) == Some(true) => {
            let message = result.pointer("/content/0/text").and_then(Value::as_str);
            Ending::Failed {
                value: Arc::clone(result),
                exception_type: "ToolError".to_owned(),
                message: holdpoint_engine::budget::cut(message.unwrap_or_default(), 2_000),
            }
        }
        Ok(result) => Ending::Returned(Arc::clone(result)),
        Err(refused) => {
            Ending::Raised { exception_type: refused.code().to_owned(), message: refused.message() }
        }
    }
}

/// What a resource holds.
pub(crate) struct Contents {
    pub(crate) content: Value,
    pub(crate) mime_type: Value,
    /// All of it, where it has several parts.
    pub(crate) contents: Vec<Value>,
}

/// Reads a resource of a server.
pub(crate) async fn read(
    manager: &Manager,
    callpoints: &Arc<Callpoints>,
    server: &str,
    uri: &str,
    told: Tells<'_>,
) -> Result<Contents, Unserved> {
    let found = manager.server(server)?;
    let connection = connection(server, &found.state())?;
    let answered = callpoints
        .ask(Asking {
            name: format!("{server}/resources/read"),
            kind: CallKind::Resource,
            source: SOURCE.to_owned(),
            server: Some(server.to_owned()),
            kwargs: Map::from_iter([("uri".to_owned(), uri.into())]),
            ..Asking::default()
        })
        .await;
    let params = ReadResourceRequestParams::new(uri);
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    let came =
        connection.ask(request, told).await.map_err(|refused| not_found(refused, server, uri));
    let came = came.map(Arc::new);
    answered.complete(ending(&came)).await;
    let result = Arc::unwrap_or_clone(came?);
    let contents: Vec<Value> =
        result.get("contents").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(first) = contents.first() else {
        return Err(Unserved::NoResource { server: server.to_owned(), uri: uri.to_owned() });
    };
    let content = first.get("text").or_else(|| first.get("blob")).cloned().unwrap_or_default();
    let mime_type = first.get("mimeType").cloned().unwrap_or_default();
    Ok(Contents { content, mime_type, contents })
}

/// Servers say it with the protocol's own code, or with that of wrong parameters.
fn not_found(refused: Unserved, server: &str, uri: &str) -> Unserved {
    match &refused {
        Unserved::Failed { code: Some(-32002), .. } => {}
        Unserved::Failed { code: Some(-32602 | -32603 | 0), message, .. } => {
            let text = message.to_lowercase();
            if !["not found", "unknown resource", "no such", "no resource"]
                .iter()
                .any(|it| text.contains(it))
            {
                return refused;
            }
        }
        _ => return refused,
    }
    Unserved::NoResource { server: server.to_owned(), uri: uri.to_owned() }
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::calls::value::Format;

    use super::*;

    #[test]
    fn a_decided_result_is_one() {
        let fake = |value: Value| Fake { value: Some(value), data: None, format: Format::Json };
        let whole = json!({ "content": [], "structuredContent": { "a": 1 } });
        assert_eq!(faked(&fake(whole.clone())), whole);
        assert_eq!(faked(&fake(json!("x")))["content"][0]["text"], "x");
        assert_eq!(faked(&fake(json!({ "a": 1 })))["content"][0]["text"], r#"{"a":1}"#);
        let raised = raised(None, Some("ValueError"), Some("no"));
        assert_eq!(
            (&raised["isError"], &raised["content"][0]["text"]),
            (&json!(true), &json!("ValueError: no"))
        );
    }

    #[test]
    fn decided_arguments_are_by_name_or_all_at_once() {
        let new = |value: Value| Handed::New { value, format: Format::Json };
        let named = handed(&[], &[("a".to_owned(), new(json!(1)))]);
        assert_eq!(named, *json!({ "a": 1 }).as_object().unwrap());
        let all = handed(&[new(json!({ "b": 2 }))], &[("a".to_owned(), new(json!(1)))]);
        assert_eq!(all, *json!({ "b": 2 }).as_object().unwrap());
    }
}
