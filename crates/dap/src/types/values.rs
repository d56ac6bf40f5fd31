//! Values: reading, evaluating, changing them.

use super::Source;
use crate::lenient::{loose, words};

loose! {
    pub struct VariablesArguments {
        pub variables_reference: i64,
        pub filter: Option<VariablesFilter>,
        pub start: Option<i64>,
        /// Absent or 0: all.
        pub count: Option<i64>,
        pub format: Option<ValueFormat>,
    }

    pub struct VariablesBody {
        pub variables: Vec<Variable>,
    }

    pub struct Variable {
        pub name: String,
        pub value: String,
        #[serde(rename = "type")]
        pub type_name: Option<String>,
        pub presentation_hint: Option<VariableHint>,
        /// The expression that gives this value again.
        pub evaluate_name: Option<String>,
        /// 0: it has no children.
        pub variables_reference: i64,
        pub named_variables: Option<i64>,
        pub indexed_variables: Option<i64>,
        pub memory_reference: Option<String>,
        pub declaration_location_reference: Option<i64>,
        pub value_location_reference: Option<i64>,
    }

    /// The words are left as they are: adapters invent them freely.
    pub struct VariableHint {
        pub kind: Option<String>,
        pub attributes: Option<Vec<String>>,
        pub visibility: Option<String>,
        pub lazy: Option<bool>,
    }

    pub struct ValueFormat {
        pub hex: Option<bool>,
    }

    pub struct EvaluateArguments {
        pub expression: String,
        /// Absent: global.
        pub frame_id: Option<i64>,
        pub context: Option<EvaluateContext>,
        pub format: Option<ValueFormat>,
        pub line: Option<i64>,
        pub column: Option<i64>,
        pub source: Option<Source>,
    }

    pub struct EvaluateBody {
        pub result: String,
        #[serde(rename = "type")]
        pub type_name: Option<String>,
        pub presentation_hint: Option<VariableHint>,
        pub variables_reference: i64,
        pub named_variables: Option<i64>,
        pub indexed_variables: Option<i64>,
        pub memory_reference: Option<String>,
        pub value_location_reference: Option<i64>,
    }

    pub struct SetVariableArguments {
        /// The container: a scope or a value with children.
        pub variables_reference: i64,
        pub name: String,
        pub value: String,
        pub format: Option<ValueFormat>,
    }

    pub struct SetExpressionArguments {
        pub expression: String,
        pub value: String,
        pub frame_id: Option<i64>,
        pub format: Option<ValueFormat>,
    }

    /// The answer to both ways of changing a value.
    pub struct SetValueBody {
        // As lldb-dap 19 calls it.
        #[serde(alias = "result")]
        pub value: String,
        #[serde(rename = "type")]
        pub type_name: Option<String>,
        pub variables_reference: Option<i64>,
        pub named_variables: Option<i64>,
        pub indexed_variables: Option<i64>,
        pub memory_reference: Option<String>,
        pub value_location_reference: Option<i64>,
    }

    pub struct CompletionsArguments {
        pub frame_id: Option<i64>,
        pub text: String,
        pub column: i64,
        pub line: Option<i64>,
    }

    pub struct CompletionsBody {
        pub targets: Vec<CompletionItem>,
    }

    pub struct CompletionItem {
        pub label: String,
        pub text: Option<String>,
        pub sort_text: Option<String>,
        pub detail: Option<String>,
        #[serde(rename = "type")]
        pub kind: Option<String>,
        pub start: Option<i64>,
        pub length: Option<i64>,
    }
}

words! {
    pub enum VariablesFilter {
        Indexed = "indexed",
        Named = "named",
    }

    /// What the expression is for. It matters: in `repl` some adapters take a command of their own
    /// debugger, not an expression.
    pub enum EvaluateContext {
        Watch = "watch",
        Repl = "repl",
        Hover = "hover",
        Clipboard = "clipboard",
        Variables = "variables",
    }
}
