//! Which lldb-dap there is, in all its versions and names.

use std::path::PathBuf;

use super::kind::NativeLanguage;
use crate::{
    adapter::{Around, debugger},
    failure::Failure,
    language::{DebuggerProgram, Install},
};

/// The newest first; a plain name may be anything, and is what somebody has chosen.
pub(super) const LLDB_DAP: DebuggerProgram = DebuggerProgram {
    name: "lldb-dap",
    programs: &[
        "lldb-dap",
        "lldb-dap-22",
        "lldb-dap-21",
        "lldb-dap-20",
        "lldb-dap-19",
        "lldb-dap-18",
        "lldb-vscode-17",
        "lldb-vscode-16",
        "lldb-vscode",
    ],
    version: &["--version"],
    install: Install::Apt(&["lldb-19"]),
};

/// `HOLDPOINT_LLDB_DAP` names another.
pub(super) fn find(kind: NativeLanguage, around: &Around) -> Result<PathBuf, Failure> {
    if let Some(chosen) = std::env::var_os("HOLDPOINT_LLDB_DAP").filter(|it| !it.is_empty()) {
        return Ok(chosen.into());
    }
    debugger::find(kind.language(), &LLDB_DAP, &around.home)
}
