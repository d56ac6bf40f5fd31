//! Threads, frames and scopes.

use super::Source;
use crate::lenient::{loose, words};

loose! {
    pub struct ThreadsBody {
        pub threads: Vec<Thread>,
    }

    pub struct Thread {
        pub id: i64,
        pub name: String,
    }

    pub struct StackTraceArguments {
        pub thread_id: i64,
        pub start_frame: Option<i64>,
        /// Absent or 0: all.
        pub levels: Option<i64>,
    }

    pub struct StackTraceBody {
        pub stack_frames: Vec<StackFrame>,
        /// May be more than there are: an adapter that loads late guesses.
        pub total_frames: Option<i64>,
    }

    pub struct StackFrame {
        pub id: i64,
        pub name: String,
        pub source: Option<Source>,
        /// 0 when the frame has no source.
        pub line: i64,
        pub column: i64,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
        pub can_restart: Option<bool>,
        pub instruction_pointer_reference: Option<String>,
        pub module_id: Option<String>,
        pub presentation_hint: Option<FrameHint>,
    }

    pub struct ScopesArguments {
        pub frame_id: i64,
    }

    pub struct ScopesBody {
        pub scopes: Vec<Scope>,
    }

    pub struct Scope {
        pub name: String,
        pub presentation_hint: Option<ScopeHint>,
        pub variables_reference: i64,
        pub named_variables: Option<i64>,
        pub indexed_variables: Option<i64>,
        pub expensive: bool,
        pub source: Option<Source>,
        pub line: Option<i64>,
        pub column: Option<i64>,
        pub end_line: Option<i64>,
        pub end_column: Option<i64>,
    }
}

words! {
    pub enum FrameHint {
        Normal = "normal",
        Label = "label",
        Subtle = "subtle",
    }

    pub enum ScopeHint {
        Arguments = "arguments",
        Locals = "locals",
        Registers = "registers",
        ReturnValue = "returnValue",
    }
}
