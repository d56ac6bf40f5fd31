//! The beginning and the end of a debug session, and cancelling what is under way.

use serde_json::Value;

use crate::lenient::loose;

loose! {
    /// Lines and columns count from 1 unless it says otherwise; absent means 1 in the protocol.
    pub struct InitializeArguments {
        #[serde(rename = "clientID")]
        pub client_id: Option<String>,
        pub client_name: Option<String>,
        #[serde(rename = "adapterID")]
        pub adapter_id: String,
        pub locale: Option<String>,
        pub lines_start_at1: Option<bool>,
        pub columns_start_at1: Option<bool>,
        pub path_format: Option<String>,
        pub supports_variable_type: Option<bool>,
        pub supports_variable_paging: Option<bool>,
        pub supports_run_in_terminal_request: Option<bool>,
        pub supports_memory_references: Option<bool>,
        pub supports_progress_reporting: Option<bool>,
        pub supports_invalidated_event: Option<bool>,
        pub supports_memory_event: Option<bool>,
        pub supports_args_can_be_interpreted_by_shell: Option<bool>,
        pub supports_start_debugging_request: Option<bool>,
        #[serde(rename = "supportsANSIStyling")]
        pub supports_ansi_styling: Option<bool>,
    }

    pub struct RestartArguments {
        /// The launch or attach arguments, when they changed.
        pub arguments: Option<Value>,
    }

    pub struct DisconnectArguments {
        pub restart: Option<bool>,
        /// Only for adapters that claim it; absent, a launched program ends and an attached one lives.
        pub terminate_debuggee: Option<bool>,
        pub suspend_debuggee: Option<bool>,
    }

    pub struct TerminateArguments {
        pub restart: Option<bool>,
    }

    pub struct CancelArguments {
        pub request_id: Option<i64>,
        pub progress_id: Option<String>,
    }
}
