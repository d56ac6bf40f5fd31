//! Breakpoints: what is asked for, and what came of it.

use serde_json::Value;

use super::Source;
use crate::lenient::{loose, words};

loose! {
    /// Replaces all breakpoints of one source.
    pub struct SetBreakpointsArguments {
        pub source: Source,
        pub breakpoints: Vec<SourceBreakpoint>,
        pub source_modified: Option<bool>,
    }

    pub struct SourceBreakpoint {
        pub line: i64,
        pub column: Option<i64>,
        pub condition: Option<String>,
        pub hit_condition: Option<String>,
        pub log_message: Option<String>,
        pub mode: Option<String>,
    }

    /// Replaces all function breakpoints.
    pub struct SetFunctionBreakpointsArguments {
        pub breakpoints: Vec<FunctionBreakpoint>,
    }

    pub struct FunctionBreakpoint {
        pub name: String,
        pub condition: Option<String>,
        pub hit_condition: Option<String>,
    }

    /// Replaces all exception breakpoints.
    pub struct SetExceptionBreakpointsArguments {
        pub filters: Vec<String>,
        pub filter_options: Option<Vec<ExceptionFilterOptions>>,
        pub exception_options: Option<Vec<ExceptionOptions>>,
    }

    pub struct ExceptionFilterOptions {
        pub filter_id: String,
        pub condition: Option<String>,
        pub mode: Option<String>,
    }

    pub struct ExceptionOptions {
        pub path: Option<Vec<ExceptionPathSegment>>,
        pub break_mode: BreakMode,
    }

    pub struct ExceptionPathSegment {
        pub negate: Option<bool>,
        pub names: Vec<String>,
    }

    /// One breakpoint for each one asked for, in that order. For exception breakpoints many adapters
    /// send none.
    pub struct SetBreakpointsBody {
        pub breakpoints: Vec<Breakpoint>,
    }

    /// What became of a breakpoint. Not verified often only means not yet: follow `breakpoint` events.
    pub struct Breakpoint {
        pub id: Option<i64>,
        pub verified: bool,
        pub message: Option<String>,
        pub source: Option<Source>,
        pub line: Option<i64>,
        pub column: Option<i64>,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
        pub instruction_reference: Option<String>,
        pub offset: Option<i64>,
        pub reason: Option<UnverifiedReason>,
    }

    pub struct BreakpointLocationsArguments {
        pub source: Source,
        pub line: i64,
        pub column: Option<i64>,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
    }

    pub struct BreakpointLocationsBody {
        pub breakpoints: Vec<BreakpointLocation>,
    }

    pub struct BreakpointLocation {
        pub line: i64,
        pub column: Option<i64>,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
    }

    pub struct BreakpointEvent {
        pub reason: ChangeReason,
        pub breakpoint: Breakpoint,
        /// Kept raw: adapters add what they know about the cause.
        pub data: Option<Value>,
    }
}

words! {
    pub enum BreakMode {
        Never = "never",
        Always = "always",
        Unhandled = "unhandled",
        UserUnhandled = "userUnhandled",
    }

    pub enum UnverifiedReason {
        Pending = "pending",
        Failed = "failed",
    }

    /// What happened to a breakpoint, a module or a source.
    pub enum ChangeReason {
        New = "new",
        Changed = "changed",
        Removed = "removed",
    }
}
