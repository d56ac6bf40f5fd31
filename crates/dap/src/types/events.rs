//! The bodies of events. Those of breakpoints and modules stand with their things.

use serde_json::Value;

use super::{ChangeReason, Source};
use crate::lenient::{loose, words};

loose! {
    pub struct StoppedEvent {
        pub reason: StopReason,
        pub description: Option<String>,
        /// Some adapters leave it out when they stop everything.
        pub thread_id: Option<i64>,
        pub preserve_focus_hint: Option<bool>,
        pub text: Option<String>,
        /// Absent means only the one named.
        pub all_threads_stopped: Option<bool>,
        pub hit_breakpoint_ids: Vec<i64>,
    }

    pub struct ContinuedEvent {
        pub thread_id: Option<i64>,
        /// Absent means only the one named.
        pub all_threads_continued: Option<bool>,
    }

    pub struct ExitedEvent {
        pub exit_code: i64,
    }

    pub struct TerminatedEvent {
        /// Anything but false: the adapter asks to be started again, with this.
        pub restart: Option<Value>,
    }

    pub struct ThreadEvent {
        pub reason: ThreadReason,
        pub thread_id: i64,
    }

    pub struct OutputEvent {
        /// Absent means console.
        pub category: Option<OutputCategory>,
        pub output: String,
        pub group: Option<String>,
        pub variables_reference: Option<i64>,
        pub location_reference: Option<i64>,
        pub source: Option<Source>,
        pub line: Option<i64>,
        pub column: Option<i64>,
        pub data: Option<Value>,
    }

    pub struct LoadedSourceEvent {
        pub reason: ChangeReason,
        pub source: Source,
    }

    pub struct ProcessEvent {
        pub name: String,
        pub system_process_id: Option<i64>,
        pub is_local_process: Option<bool>,
        pub start_method: Option<StartMethod>,
        pub pointer_size: Option<i64>,
    }

    pub struct InvalidatedEvent {
        /// None named means everything.
        pub areas: Vec<String>,
        pub thread_id: Option<i64>,
        pub stack_frame_id: Option<i64>,
    }

    pub struct MemoryEvent {
        pub memory_reference: String,
        pub offset: i64,
        pub count: i64,
    }
}

words! {
    pub enum StopReason {
        Step = "step",
        Breakpoint = "breakpoint",
        Exception = "exception",
        Pause = "pause",
        Entry = "entry",
        Goto = "goto",
        FunctionBreakpoint = "function breakpoint",
        DataBreakpoint = "data breakpoint",
        InstructionBreakpoint = "instruction breakpoint",
    }

    pub enum ThreadReason {
        Started = "started",
        Exited = "exited",
    }

    pub enum OutputCategory {
        Console = "console",
        Important = "important",
        Stdout = "stdout",
        Stderr = "stderr",
        Telemetry = "telemetry",
    }

    pub enum StartMethod {
        Launch = "launch",
        Attach = "attach",
        AttachForSuspendedLaunch = "attachForSuspendedLaunch",
    }
}
