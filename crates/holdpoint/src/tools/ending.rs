//! Files that are named by the end of their paths, as answers print them.

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    adapter,
    failure::{Code, Failure},
    inspect, limits,
};

/// The one file below a folder whose path ends so.
pub(crate) fn the_one(folder: &Path, file: &Path) -> Result<Option<PathBuf>, Failure> {
    let mut all = ending(folder, file);
    if all.len() < 2 {
        return Ok(all.pop());
    }
    let names = all.iter().take(5).map(|it| inspect::place(it, folder));
    let names = names.collect::<Vec<_>>().join(", ");
    let text = format!("{} files are `{}`", all.len(), file.display());
    Err(Failure::new(Code::InvalidParams, text).hint(format!("which: {names}")))
}

/// Libraries and hidden folders are not looked into.
fn ending(folder: &Path, file: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found, mut looked) = (vec![folder.to_owned()], Vec::new(), 0_usize);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            looked += 1;
            if looked > limits::PROBE_FILES {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_aside = adapter::all().iter().any(|it| it.aside().contains(&&*name));
            let is_other = name.starts_with('.') || is_aside;
            if kind.is_dir() && !is_other {
                folders.push(entry.path());
            } else if kind.is_file() && entry.path().ends_with(file) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
