//! The `Debugger` domain: scripts, breakpoints, stops, steps.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    BreakpointId, CallFrameId, ContextId, Done, ObjectId, ScriptId, commands,
    optional_place_number, place_number,
    runtime::{CallArgument, Evaluated, RemoteObject, StackTrace},
};

commands! {
    Enable => "Debugger.enable", Enabled;
    SetPauseOnExceptions => "Debugger.setPauseOnExceptions", Done;
    SetAsyncCallStackDepth => "Debugger.setAsyncCallStackDepth", Done;
    SetBlackboxPatterns => "Debugger.setBlackboxPatterns", Done;
    SetBlackboxedRanges => "Debugger.setBlackboxedRanges", Done;
    SetBreakpointByUrl => "Debugger.setBreakpointByUrl", BreakpointByUrl;
    SetBreakpoint => "Debugger.setBreakpoint", BreakpointAt;
    SetInstrumentationBreakpoint => "Debugger.setInstrumentationBreakpoint", BreakpointSet;
    SetBreakpointOnFunctionCall => "Debugger.setBreakpointOnFunctionCall", BreakpointSet;
    RemoveBreakpoint => "Debugger.removeBreakpoint", Done;
    SetBreakpointsActive => "Debugger.setBreakpointsActive", Done;
    GetPossibleBreakpoints => "Debugger.getPossibleBreakpoints", PossibleBreakpoints;
    EvaluateOnCallFrame => "Debugger.evaluateOnCallFrame", Evaluated;
    SetVariableValue => "Debugger.setVariableValue", Done;
    GetScriptSource => "Debugger.getScriptSource", ScriptSource;
    SetSkipAllPauses => "Debugger.setSkipAllPauses", Done;
    StepOver => "Debugger.stepOver", Done;
    StepInto => "Debugger.stepInto", Done;
    StepOut => "Debugger.stepOut", Done;
    Resume => "Debugger.resume", Done;
    Pause => "Debugger.pause", Done;
    RestartFrame => "Debugger.restartFrame", Restarted;
}

/// A place in a script, counted from zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    pub script_id: ScriptId,
    #[serde(deserialize_with = "place_number")]
    pub line_number: u32,
    #[serde(
        default,
        deserialize_with = "optional_place_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub column_number: Option<u32>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_scripts_cache_size: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enabled {
    pub debugger_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetPauseOnExceptions {
    pub state: PauseOn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PauseOn {
    None,
    Caught,
    Uncaught,
    All,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAsyncCallStackDepth {
    pub max_depth: u32,
}

/// Scripts whose URL matches are stepped over and never stop for exceptions.
#[derive(Clone, Debug, Serialize)]
pub struct SetBlackboxPatterns {
    pub patterns: Vec<String>,
}

/// The same for functions inside of parts of one script: where such parts begin and end, in turns.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBlackboxedRanges {
    pub script_id: ScriptId,
    pub positions: Vec<ScriptPosition>,
}

/// Zero-based.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptPosition {
    pub line_number: u32,
    pub column_number: u32,
}

/// Binds in every script whose URL matches, loaded or yet to come.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBreakpointByUrl {
    pub line_number: u32,
    pub url_regex: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointByUrl {
    pub breakpoint_id: BreakpointId,
    /// Where it is bound by now; empty while no script matches.
    #[serde(default)]
    pub locations: Vec<Location>,
}

/// Binds in one loaded script.
#[derive(Clone, Debug, Serialize)]
pub struct SetBreakpoint {
    pub location: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointAt {
    pub breakpoint_id: BreakpointId,
    pub actual_location: Location,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetInstrumentationBreakpoint {
    pub instrumentation: Instrumentation,
}

/// Stops before a script's first statement. ES modules only: V8 does not stop in the functions
/// that CommonJS modules are compiled to. [`crate::Hold`] does both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Instrumentation {
    BeforeScriptExecution,
    BeforeScriptWithSourceMapExecution,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointSet {
    pub breakpoint_id: BreakpointId,
}

/// Stops whenever this very function is called, wherever it is from: also inside Node, where
/// breakpoints by line do not bind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBreakpointOnFunctionCall {
    pub object_id: ObjectId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveBreakpoint {
    pub breakpoint_id: BreakpointId,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetBreakpointsActive {
    pub active: bool,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetPossibleBreakpoints {
    pub start: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Location>,
    pub restrict_to_function: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PossibleBreakpoints {
    #[serde(default)]
    pub locations: Vec<BreakLocation>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakLocation {
    pub script_id: ScriptId,
    #[serde(deserialize_with = "place_number")]
    pub line_number: u32,
    #[serde(default, deserialize_with = "optional_place_number")]
    pub column_number: Option<u32>,
    /// `debuggerStatement`, `call` or `return`; nothing for a statement.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluateOnCallFrame {
    pub call_frame_id: CallFrameId,
    pub expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    #[serde(rename = "includeCommandLineAPI")]
    pub include_command_line_api: bool,
    /// Exceptions of the expression do not stop the program.
    pub silent: bool,
    pub return_by_value: bool,
    pub generate_preview: bool,
    pub throw_on_side_effect: bool,
    /// Milliseconds after which V8 itself ends the evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
}

impl EvaluateOnCallFrame {
    /// Quiet and by reference, without a limit: change the fields that should differ.
    pub fn new(call_frame_id: CallFrameId, expression: impl Into<String>) -> EvaluateOnCallFrame {
        EvaluateOnCallFrame {
            call_frame_id,
            expression: expression.into(),
            object_group: None,
            include_command_line_api: false,
            silent: true,
            return_by_value: false,
            generate_preview: false,
            throw_on_side_effect: false,
            timeout: None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetVariableValue {
    /// Index in the frame's scope chain; only local, closure and catch scopes can be written.
    pub scope_number: u32,
    pub variable_name: String,
    pub new_value: CallArgument,
    pub call_frame_id: CallFrameId,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetScriptSource {
    pub script_id: ScriptId,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptSource {
    #[serde(default)]
    pub script_source: String,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetSkipAllPauses {
    pub skip: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepOver {}

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepInto {
    /// Also into a task that the statement schedules.
    pub break_on_async_call: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepOut {}

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// Ends the running JavaScript instead of going on.
    pub terminate_on_resume: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Pause {}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestartFrame {
    pub call_frame_id: CallFrameId,
    /// V8 knows only `StepInto`, and asks for it.
    pub mode: &'static str,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restarted {
    #[serde(default)]
    pub call_frames: Vec<CallFrame>,
}

/// A thread stopped.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    #[serde(default)]
    pub call_frames: Vec<CallFrame>,
    /// `other` for breakpoints and steps alike: look at `hit_breakpoints`. Else `exception`,
    /// `promiseRejection`, `debugCommand`, `instrumentation`, `Break on start`, …
    #[serde(default)]
    pub reason: String,
    /// For an exception the thrown value, as a remote object with `uncaught`.
    pub data: Option<Value>,
    #[serde(default)]
    pub hit_breakpoints: Vec<BreakpointId>,
    pub async_stack_trace: Option<StackTrace>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFrame {
    pub call_frame_id: CallFrameId,
    #[serde(default)]
    pub function_name: String,
    pub function_location: Option<Location>,
    /// V8 no longer fills a frame's URL: look its script up in [`crate::Sources`].
    pub location: Location,
    /// Innermost first. Blocks, catches and closures are scopes of their own.
    #[serde(default)]
    pub scope_chain: Vec<Scope>,
    pub this: Option<RemoteObject>,
    /// Set when the frame is about to return.
    pub return_value: Option<RemoteObject>,
    pub can_be_restarted: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// `global`, `local`, `with`, `closure`, `catch`, `block`, `script`, `eval`, `module`, …
    #[serde(rename = "type", default)]
    pub kind: String,
    pub object: RemoteObject,
    pub name: Option<String>,
    pub start_location: Option<Location>,
    pub end_location: Option<Location>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptParsed {
    pub script_id: ScriptId,
    #[serde(default)]
    pub url: String,
    #[serde(default, deserialize_with = "place_number")]
    pub start_line: u32,
    #[serde(default, deserialize_with = "place_number")]
    pub start_column: u32,
    #[serde(default, deserialize_with = "place_number")]
    pub end_line: u32,
    #[serde(default, deserialize_with = "place_number")]
    pub end_column: u32,
    pub execution_context_id: Option<ContextId>,
    #[serde(default)]
    pub hash: String,
    #[serde(default, rename = "sourceMapURL")]
    pub source_map_url: String,
    #[serde(default, rename = "hasSourceURL")]
    pub has_source_url: bool,
    #[serde(default)]
    pub is_module: bool,
    pub length: Option<u64>,
    pub script_language: Option<String>,
    pub embedder_name: Option<String>,
    pub stack_trace: Option<StackTrace>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointResolved {
    pub breakpoint_id: BreakpointId,
    pub location: Location,
}

impl Scope {
    /// What [`super::runtime::GetProperties`] needs to list the variables.
    pub fn object_id(&self) -> Option<&ObjectId> {
        self.object.object_id.as_ref()
    }
}
