//! Letting threads run, stepping and stopping them.

use super::Source;
use crate::lenient::{loose, words};

loose! {
    pub struct ContinueArguments {
        pub thread_id: i64,
        pub single_thread: Option<bool>,
    }

    pub struct ContinueBody {
        /// Absent means all.
        pub all_threads_continued: Option<bool>,
    }

    /// For `next` and `stepOut`.
    pub struct StepArguments {
        pub thread_id: i64,
        pub single_thread: Option<bool>,
        pub granularity: Option<SteppingGranularity>,
    }

    pub struct StepInArguments {
        pub thread_id: i64,
        pub single_thread: Option<bool>,
        pub target_id: Option<i64>,
        pub granularity: Option<SteppingGranularity>,
    }

    pub struct StepInTargetsArguments {
        pub frame_id: i64,
    }

    pub struct StepInTargetsBody {
        pub targets: Vec<StepInTarget>,
    }

    pub struct StepInTarget {
        pub id: i64,
        pub label: String,
        pub line: Option<i64>,
        pub column: Option<i64>,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
    }

    pub struct PauseArguments {
        pub thread_id: i64,
    }

    pub struct GotoTargetsArguments {
        pub source: Source,
        pub line: i64,
        pub column: Option<i64>,
    }

    pub struct GotoTargetsBody {
        pub targets: Vec<GotoTarget>,
    }

    pub struct GotoTarget {
        pub id: i64,
        pub label: String,
        pub line: i64,
        pub column: Option<i64>,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
        pub instruction_pointer_reference: Option<String>,
    }

    pub struct GotoArguments {
        pub thread_id: i64,
        pub target_id: i64,
    }
}

words! {
    pub enum SteppingGranularity {
        Statement = "statement",
        Line = "line",
        Instruction = "instruction",
    }
}
