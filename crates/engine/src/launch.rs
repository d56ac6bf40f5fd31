//! What to debug, as a caller says it. Kept across restarts, so its serialised form is a contract.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// One of `program`, `module`, `command` and `test` says what runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    pub program: Option<PathBuf>,
    pub module: Option<String>,
    pub command: Vec<String>,
    /// One test: `tests/test_a.py::test_total`, `cart.test.js::adds up`.
    pub test: Option<String>,
    pub language: Option<String>,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    pub env: BTreeMap<String, String>,
    pub stop_on_entry: bool,
    /// Written to the program's stdin at its start, which then ends.
    pub stdin: Option<String>,
    pub interpreter: Option<PathBuf>,
    pub just_my_code: bool,
}

impl Launch {
    /// What to call the session when nobody named it.
    pub fn title(&self) -> String {
        let file =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.program
            .as_ref()
            .and_then(file)
            .or_else(|| self.module.clone())
            .or_else(|| self.command.first().cloned())
            .or_else(|| self.test.clone())
            .unwrap_or_else(|| "program".to_owned())
    }
}
