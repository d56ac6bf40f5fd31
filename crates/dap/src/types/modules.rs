//! Modules: libraries, assemblies, executables.

use super::ChangeReason;
use crate::lenient::loose;

loose! {
    pub struct ModulesArguments {
        pub start_module: Option<i64>,
        pub module_count: Option<i64>,
    }

    pub struct ModulesBody {
        pub modules: Vec<Module>,
        pub total_modules: Option<i64>,
    }

    pub struct Module {
        /// A number or a text on the wire; never sent back, so a text here.
        pub id: String,
        pub name: String,
        pub path: Option<String>,
        pub is_optimized: Option<bool>,
        pub is_user_code: Option<bool>,
        pub version: Option<String>,
        pub symbol_status: Option<String>,
        pub symbol_file_path: Option<String>,
        pub date_time_stamp: Option<String>,
        pub address_range: Option<String>,
    }

    pub struct ModuleEvent {
        pub reason: ChangeReason,
        pub module: Module,
    }
}
