//! The requests a debugger makes: one small type each, with its arguments and its answer.
//!
//! A request that is not here goes by [`Requester::raw`](crate::Client::raw), or a caller defines its own
//! [`Request`]: adapters have private ones.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::types as t;

/// A command, what it takes and what it gives.
pub trait Request {
    const COMMAND: &'static str;
    type Arguments: Serialize;
    type Body: DeserializeOwned;
}

macro_rules! requests {
    ($( $(#[$meta:meta])* $name:ident = $command:literal: $arguments:ty => $body:ty; )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Request for $name {
            const COMMAND: &'static str = $command;
            type Arguments = $arguments;
            type Body = $body;
        }
    )+};
}

requests! {
    Initialize = "initialize": t::InitializeArguments => t::Capabilities;
    /// The arguments are the adapter's own. Some answer only after `configurationDone`.
    Launch = "launch": Value => t::Empty;
    /// As [`Launch`].
    Attach = "attach": Value => t::Empty;
    ConfigurationDone = "configurationDone": t::Empty => t::Empty;
    Restart = "restart": t::RestartArguments => t::Empty;
    Disconnect = "disconnect": t::DisconnectArguments => t::Empty;
    Terminate = "terminate": t::TerminateArguments => t::Empty;
    /// Dropping a request's future sends it by itself where the adapter can; see [`Requester`](crate::Client).
    Cancel = "cancel": t::CancelArguments => t::Empty;

    BreakpointLocations = "breakpointLocations":
        t::BreakpointLocationsArguments => t::BreakpointLocationsBody;
    SetBreakpoints = "setBreakpoints": t::SetBreakpointsArguments => t::SetBreakpointsBody;
    SetFunctionBreakpoints = "setFunctionBreakpoints":
        t::SetFunctionBreakpointsArguments => t::SetBreakpointsBody;
    SetExceptionBreakpoints = "setExceptionBreakpoints":
        t::SetExceptionBreakpointsArguments => t::SetBreakpointsBody;

    Continue = "continue": t::ContinueArguments => t::ContinueBody;
    Next = "next": t::StepArguments => t::Empty;
    StepIn = "stepIn": t::StepInArguments => t::Empty;
    StepOut = "stepOut": t::StepArguments => t::Empty;
    StepInTargets = "stepInTargets": t::StepInTargetsArguments => t::StepInTargetsBody;
    Pause = "pause": t::PauseArguments => t::Empty;
    GotoTargets = "gotoTargets": t::GotoTargetsArguments => t::GotoTargetsBody;
    Goto = "goto": t::GotoArguments => t::Empty;

    Threads = "threads": t::Empty => t::ThreadsBody;
    StackTrace = "stackTrace": t::StackTraceArguments => t::StackTraceBody;
    Scopes = "scopes": t::ScopesArguments => t::ScopesBody;
    Variables = "variables": t::VariablesArguments => t::VariablesBody;
    SetVariable = "setVariable": t::SetVariableArguments => t::SetValueBody;
    Evaluate = "evaluate": t::EvaluateArguments => t::EvaluateBody;
    SetExpression = "setExpression": t::SetExpressionArguments => t::SetValueBody;
    Completions = "completions": t::CompletionsArguments => t::CompletionsBody;
    ExceptionInfo = "exceptionInfo": t::ExceptionInfoArguments => t::ExceptionInfoBody;

    Source = "source": t::SourceArguments => t::SourceBody;
    LoadedSources = "loadedSources": t::Empty => t::LoadedSourcesBody;
    Modules = "modules": t::ModulesArguments => t::ModulesBody;
}
