//! The `Runtime` domain, and Node's own `NodeRuntime`: values, evaluation, console, contexts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContextId, Done, ObjectId, ScriptId, commands, place_number};

commands! {
    Enable => "Runtime.enable", Done;
    RunIfWaitingForDebugger => "Runtime.runIfWaitingForDebugger", Done;
    GetProperties => "Runtime.getProperties", Properties;
    Evaluate => "Runtime.evaluate", Evaluated;
    CallFunctionOn => "Runtime.callFunctionOn", Evaluated;
    ReleaseObjectGroup => "Runtime.releaseObjectGroup", Done;
    TerminateExecution => "Runtime.terminateExecution", Done;
    AddBinding => "Runtime.addBinding", Done;
    RemoveBinding => "Runtime.removeBinding", Done;
    NotifyWhenWaitingForDisconnect => "NodeRuntime.notifyWhenWaitingForDisconnect", Done;
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}

/// Lets a program that waits for a debugger start. Must come last: see [`crate::Client::enable`].
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RunIfWaitingForDebugger {}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetProperties {
    pub object_id: ObjectId,
    pub own_properties: bool,
    pub accessor_properties_only: bool,
    pub generate_preview: bool,
    pub non_indexed_properties_only: bool,
}

impl GetProperties {
    /// The object's own properties, without previews.
    pub fn own(object_id: ObjectId) -> GetProperties {
        GetProperties {
            object_id,
            own_properties: true,
            accessor_properties_only: false,
            generate_preview: false,
            non_indexed_properties_only: false,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Properties {
    #[serde(default)]
    pub result: Vec<Property>,
    #[serde(default)]
    pub internal_properties: Vec<InternalProperty>,
    #[serde(default)]
    pub private_properties: Vec<PrivateProperty>,
    pub exception_details: Option<ExceptionDetails>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Property {
    pub name: String,
    /// Absent for accessors, and for a `const` or `let` before its declaration ran.
    pub value: Option<RemoteObject>,
    pub writable: Option<bool>,
    pub get: Option<RemoteObject>,
    pub set: Option<RemoteObject>,
    #[serde(default)]
    pub configurable: bool,
    #[serde(default)]
    pub enumerable: bool,
    pub was_thrown: Option<bool>,
    pub is_own: Option<bool>,
    pub symbol: Option<RemoteObject>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct InternalProperty {
    pub name: String,
    pub value: Option<RemoteObject>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PrivateProperty {
    pub name: String,
    pub value: Option<RemoteObject>,
    pub get: Option<RemoteObject>,
    pub set: Option<RemoteObject>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate {
    pub expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    #[serde(rename = "includeCommandLineAPI")]
    pub include_command_line_api: bool,
    pub silent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    pub return_by_value: bool,
    pub generate_preview: bool,
    pub await_promise: bool,
    pub throw_on_side_effect: bool,
    /// Milliseconds after which V8 itself ends the evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    pub repl_mode: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFunctionOn {
    pub function_declaration: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<ObjectId>,
    pub arguments: Vec<CallArgument>,
    pub silent: bool,
    pub return_by_value: bool,
    pub generate_preview: bool,
    pub await_promise: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    pub throw_on_side_effect: bool,
}

/// One of the three, or nothing for `undefined`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallArgument {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What JSON cannot say: `NaN`, `Infinity`, `-0`, `12n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserializable_value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<ObjectId>,
}

/// The answer of every kind of evaluation. With `exception_details` the result is what was thrown.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    pub result: RemoteObject,
    pub exception_details: Option<ExceptionDetails>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObjectGroup {
    pub object_group: String,
}

/// Ends the JavaScript that runs now, evaluations included.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TerminateExecution {}

#[derive(Clone, Debug, Serialize)]
pub struct AddBinding {
    pub name: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct RemoveBinding {
    pub name: String,
}

/// Node then says when the program is over and only we keep its process alive. That, and not the
/// end of an execution context, is the end of a program.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NotifyWhenWaitingForDisconnect {
    pub enabled: bool,
}

/// A value, or a handle to one.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteObject {
    #[serde(rename = "type", default)]
    pub kind: String,
    pub subtype: Option<String>,
    pub class_name: Option<String>,
    /// Absent for `undefined`, for objects, and for `null`, whose subtype says so.
    pub value: Option<Value>,
    pub unserializable_value: Option<String>,
    pub description: Option<String>,
    pub object_id: Option<ObjectId>,
    pub preview: Option<ObjectPreview>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ObjectPreview {
    #[serde(rename = "type", default)]
    pub kind: String,
    pub subtype: Option<String>,
    pub description: Option<String>,
    /// V8 cut something off.
    #[serde(default)]
    pub overflow: bool,
    #[serde(default)]
    pub properties: Vec<PropertyPreview>,
    /// Of a Map or a Set.
    #[serde(default)]
    pub entries: Vec<EntryPreview>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyPreview {
    pub name: String,
    #[serde(rename = "type", default)]
    pub kind: String,
    pub value: Option<String>,
    pub value_preview: Option<Box<ObjectPreview>>,
    pub subtype: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EntryPreview {
    pub key: Option<ObjectPreview>,
    pub value: ObjectPreview,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionDetails {
    #[serde(default)]
    pub text: String,
    #[serde(default, deserialize_with = "place_number")]
    pub line_number: u32,
    #[serde(default, deserialize_with = "place_number")]
    pub column_number: u32,
    pub script_id: Option<ScriptId>,
    pub url: Option<String>,
    pub stack_trace: Option<StackTrace>,
    pub exception: Option<RemoteObject>,
    pub execution_context_id: Option<ContextId>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackTrace {
    /// What scheduled it: `await`, `Promise.then`, `setTimeout`, …
    pub description: Option<String>,
    #[serde(default)]
    pub call_frames: Vec<StackFrame>,
    /// The stack that scheduled this one.
    pub parent: Option<Box<StackTrace>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackFrame {
    #[serde(default)]
    pub function_name: String,
    pub script_id: ScriptId,
    #[serde(default)]
    pub url: String,
    #[serde(default, deserialize_with = "place_number")]
    pub line_number: u32,
    #[serde(default, deserialize_with = "place_number")]
    pub column_number: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleApiCalled {
    /// `log`, `error`, `warning`, `table`, `assert`, …
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub args: Vec<RemoteObject>,
    pub execution_context_id: Option<ContextId>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: f64,
    pub stack_trace: Option<StackTrace>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionThrown {
    #[serde(default)]
    pub timestamp: f64,
    pub exception_details: ExceptionDetails,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ContextCreated {
    pub context: Context,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    pub id: ContextId,
    #[serde(default)]
    pub origin: String,
    /// The main context of Node is called after its executable and process id.
    #[serde(default)]
    pub name: String,
    pub aux_data: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextDestroyed {
    pub execution_context_id: ContextId,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingCalled {
    pub name: String,
    #[serde(default)]
    pub payload: String,
    pub execution_context_id: Option<ContextId>,
}
