//! The tools that the workspace brings along.

use super::{Finding, FindingKind, Machine};
use crate::{
    config,
    metadata::{
        trust::Trust,
        workspace::{self, FileState, TRUST, ToolFile},
    },
};

/// Each file that is there; nothing where there is none.
pub(super) fn tool_files(_: &Machine) -> Vec<Finding> {
    let Some(folder) = config::workspace() else { return Vec::new() };
    workspace::look(&folder, &Trust::load()).iter().map(finding).collect()
}

fn finding(file: &ToolFile) -> Finding {
    let what = format!("tool file {}", file.path.display());
    let told = |kind| Finding::new(kind, what.clone(), file.state.to_string());
    match &file.state {
        FileState::Mounted(_) => told(FindingKind::Ok),
        FileState::Disabled => told(FindingKind::Info),
        FileState::Untrusted(spec) => {
            let does = workspace::runs(&spec.run);
            let detail = format!("is not trusted, so it is not mounted; `{}` {does}", spec.name);
            let name = file.path.display();
            Finding::new(FindingKind::Warning, what, detail).with_fix(format!("{TRUST} {name}"))
        }
        FileState::Wrong(_) => told(FindingKind::Warning).with_fix("mend the file"),
    }
}
