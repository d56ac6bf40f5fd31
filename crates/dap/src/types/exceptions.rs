//! The exception at which a thread stopped.

use super::BreakMode;
use crate::lenient::loose;

loose! {
    pub struct ExceptionInfoArguments {
        pub thread_id: i64,
    }

    pub struct ExceptionInfoBody {
        pub exception_id: String,
        pub description: Option<String>,
        pub break_mode: BreakMode,
        pub details: Option<ExceptionDetails>,
    }

    pub struct ExceptionDetails {
        pub message: Option<String>,
        pub type_name: Option<String>,
        pub full_type_name: Option<String>,
        pub evaluate_name: Option<String>,
        pub stack_trace: Option<String>,
        pub inner_exception: Option<Vec<ExceptionDetails>>,
        /// debugpy: the file of the frame that raised.
        pub source: Option<String>,
    }
}
