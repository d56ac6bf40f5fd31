//! Which bridge is meant: the workspace's own, or that of a folder around it.

use std::path::{Path, PathBuf};

use crate::{BridgeError, Flavour, host, limits};

/// A bridge folder that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub folder: PathBuf,
    pub flavour: Flavour,
    /// Why it does not live; `None` where it does.
    pub dead: Option<String>,
    /// How many folders above the workspace; those right below it count as its own.
    level: usize,
    is_below: bool,
}

/// All bridges of a workspace and of the folders around it, the nearest first; where none of them lives, also
/// those of the folders right below it, since one that was opened on several roots has one in each.
pub fn candidates(workspace: &Path) -> Result<Vec<Candidate>, BridgeError> {
    let missing = |_| BridgeError::NoWorkspace(workspace.to_owned());
    let workspace = workspace.canonicalize().map_err(missing)?;
    if !workspace.is_dir() {
        return Err(BridgeError::NoWorkspace(workspace));
    }
    if !host::is_ours(&workspace).map_err(BridgeError::io("the workspace cannot be looked at"))? {
        return Err(BridgeError::OtherUser(workspace));
    }
    let mut all = Vec::new();
    for (level, folder) in workspace.ancestors().take(limits::LEVELS).enumerate() {
        all.extend(Flavour::ALL.iter().filter_map(|it| look(folder, *it, level, false)));
    }
    if all.iter().all(|it| it.dead.is_some()) {
        all.extend(below(&workspace));
    }
    Ok(all)
}

fn below(workspace: &Path) -> Vec<Candidate> {
    let Ok(entries) = std::fs::read_dir(workspace) else { return Vec::new() };
    let folders = entries.flatten().map(|it| it.path()).filter(|it| it.is_dir());
    let mut all: Vec<Candidate> = folders
        .flat_map(|folder| Flavour::ALL.map(|it| look(&folder, it, 0, true)))
        .flatten()
        .collect();
    all.sort_by(|one, other| one.folder.cmp(&other.folder));
    all
}

fn look(folder: &Path, flavour: Flavour, level: usize, is_below: bool) -> Option<Candidate> {
    let folder = folder.join(flavour.folder());
    if !folder.join("host.json").is_file() {
        return None;
    }
    let dead = match host::is_ours(&folder) {
        Ok(true) => host::status(&folder, flavour).dead,
        Ok(false) => Some("it belongs to another user".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    Some(Candidate { folder, flavour, dead, level, is_below })
}

/// The nearest that lives, ours before the public one.
pub(crate) fn choose(
    workspace: &Path,
    candidates: Vec<Candidate>,
) -> Result<Candidate, BridgeError> {
    let (live, dead): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|it| it.dead.is_none());
    let Some(nearest) = live.first() else {
        let workspace = workspace.to_owned();
        return Err(BridgeError::NotFound { workspace, dead });
    };
    let (level, is_below) = (nearest.level, nearest.is_below);
    let near = live.into_iter().filter(|it| it.level == level && it.is_below == is_below);
    let (ours, public): (Vec<_>, Vec<_>) = near.partition(|it| it.flavour == Flavour::Ours);
    // A folder that has both is one window with two extensions.
    let has_ours = |it: &Candidate| {
        let workspace = it.flavour.workspace_of(&it.folder).to_owned();
        ours.iter().any(|it| it.flavour.workspace_of(&it.folder) == workspace)
    };
    let rest: Vec<Candidate> = public.into_iter().filter(|it| !has_ours(it)).collect();
    let mut all: Vec<Candidate> = ours.iter().cloned().chain(rest).collect();
    match all.pop() {
        Some(only) if all.is_empty() => Ok(only),
        Some(last) => {
            all.push(last);
            Err(BridgeError::Several(all))
        }
        None => Err(BridgeError::NotFound { workspace: workspace.to_owned(), dead }),
    }
}
