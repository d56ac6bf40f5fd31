//! What an adapter can do.

use serde_json::{Map, Value};

use crate::lenient::{Loose, loose, unlike};

loose! {
    /// The answer to `initialize`. What an adapter does not claim must not be asked of it: many accept
    /// a hit condition or a log message and then ignore it.
    pub struct Capabilities {
        pub supports_configuration_done_request: bool,
        pub supports_function_breakpoints: bool,
        pub supports_conditional_breakpoints: bool,
        pub supports_hit_conditional_breakpoints: bool,
        pub supports_evaluate_for_hovers: bool,
        pub exception_breakpoint_filters: Vec<ExceptionBreakpointsFilter>,
        pub supports_step_back: bool,
        pub supports_set_variable: bool,
        pub supports_restart_frame: bool,
        pub supports_goto_targets_request: bool,
        pub supports_step_in_targets_request: bool,
        pub supports_completions_request: bool,
        pub completion_trigger_characters: Vec<String>,
        pub supports_modules_request: bool,
        pub supports_restart_request: bool,
        pub supports_exception_options: bool,
        pub supports_value_formatting_options: bool,
        pub supports_exception_info_request: bool,
        pub support_terminate_debuggee: bool,
        /// debugpy's spelling of the one above. Ask [`Capabilities::can_terminate_debuggee`].
        pub supports_terminate_debuggee: bool,
        pub support_suspend_debuggee: bool,
        pub supports_delayed_stack_trace_loading: bool,
        pub supports_loaded_sources_request: bool,
        pub supports_log_points: bool,
        pub supports_terminate_threads_request: bool,
        pub supports_set_expression: bool,
        pub supports_terminate_request: bool,
        pub supports_data_breakpoints: bool,
        pub supports_data_breakpoint_bytes: bool,
        pub supports_read_memory_request: bool,
        pub supports_write_memory_request: bool,
        pub supports_disassemble_request: bool,
        pub supports_cancel_request: bool,
        pub supports_breakpoint_locations_request: bool,
        pub supports_clipboard_context: bool,
        pub supports_stepping_granularity: bool,
        pub supports_instruction_breakpoints: bool,
        pub supports_exception_filter_options: bool,
        pub supports_single_thread_execution_requests: bool,
        #[serde(rename = "supportsANSIStyling")]
        pub supports_ansi_styling: bool,
        pub breakpoint_modes: Vec<BreakpointMode>,
    }

    pub struct ExceptionBreakpointsFilter {
        pub filter: String,
        pub label: String,
        pub description: Option<String>,
        pub default: bool,
        pub supports_condition: bool,
        pub condition_description: Option<String>,
    }

    pub struct BreakpointMode {
        pub mode: String,
        pub label: String,
        pub description: Option<String>,
        pub applies_to: Vec<String>,
    }
}

impl Capabilities {
    /// Whether `disconnect` can be told to end the program or to let it live.
    pub fn can_terminate_debuggee(&self) -> bool {
        self.support_terminate_debuggee || self.supports_terminate_debuggee
    }
}

/// The body of a `capabilities` event: only what changed, so it means nothing by itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CapabilitiesChange(Map<String, Value>);

impl CapabilitiesChange {
    /// These are not there, whatever was announced.
    pub fn without(names: &[&str]) -> Self {
        CapabilitiesChange(names.iter().map(|it| ((*it).to_owned(), Value::Bool(false))).collect())
    }

    pub(crate) fn read(body: &Value) -> Result<Self, String> {
        match body.get("capabilities") {
            None | Some(Value::Null) => Ok(CapabilitiesChange::default()),
            Some(Value::Object(fields)) => Ok(CapabilitiesChange(fields.clone())),
            Some(other) => Err(unlike("an object", other)),
        }
    }

    /// What the adapter can do from now on. A change that cannot be read changes nothing.
    pub fn apply_to(&self, before: &Capabilities) -> Capabilities {
        let Ok(Value::Object(mut all)) = serde_json::to_value(before) else {
            return before.clone();
        };
        let given = self.0.iter().filter(|(_, value)| !value.is_null());
        all.extend(given.map(|(name, value)| (name.clone(), value.clone())));
        Capabilities::loose(Value::Object(all)).unwrap_or_else(|problem| {
            tracing::warn!(%problem, "ignored a change of the adapter's capabilities");
            before.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_leaves_the_rest() {
        let before = Capabilities { supports_log_points: true, ..Capabilities::default() };
        let body =
            json!({"capabilities": {"supportsRestartRequest": true, "breakpointModes": null}});
        let after = CapabilitiesChange::read(&body).unwrap().apply_to(&before);
        assert_eq!(after, Capabilities { supports_restart_request: true, ..before });
    }

    #[test]
    fn a_change_that_makes_no_sense_changes_nothing() {
        let before = Capabilities { supports_log_points: true, ..Capabilities::default() };
        let body = json!({"capabilities": {"supportsLogPoints": []}});
        assert_eq!(CapabilitiesChange::read(&body).unwrap().apply_to(&before), before);
        assert!(CapabilitiesChange::read(&json!({"capabilities": 7})).is_err());
        assert!(CapabilitiesChange::read(&json!({})).is_ok());
    }

    #[test]
    fn both_spellings_of_terminate_debuggee_count() {
        for name in ["supportTerminateDebuggee", "supportsTerminateDebuggee"] {
            let read = Capabilities::loose(json!({ name: true })).unwrap();
            assert!(read.can_terminate_debuggee(), "{name}");
        }
    }
}
