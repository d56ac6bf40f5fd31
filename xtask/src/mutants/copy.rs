//! A copy of the sources that is brought up to date: what is the same is not touched, so that cargo builds
//! only what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that hold no sources.
const LEFT_OUT: &[&str] = &["target", ".git", "node_modules", "__pycache__", ".pytest_cache"];

/// Makes `to` what `from` is, but for the files that are given changed.
pub(super) fn refresh(from: &Path, to: &Path, changed: &BTreeMap<PathBuf, String>) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let wanted = files(from)?;
    for file in &wanted {
        let path = from.join(file);
        let bytes = match changed.get(file) {
            Some(text) => text.clone().into_bytes(),
            None => std::fs::read(&path).with_context(|| path.display().to_string())?,
        };
        write(&to.join(file), &bytes)?;
    }
    for file in files(to)?.difference(&wanted) {
        std::fs::remove_file(to.join(file))?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if std::fs::read(path).is_ok_and(|kept| kept == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// Every file below a folder, by its path from there.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut left = vec![PathBuf::new()];
    while let Some(inside) = left.pop() {
        let path = folder.join(&inside);
        for entry in std::fs::read_dir(&path).with_context(|| path.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name();
            let file_type = entry.file_type()?;
            if file_type.is_dir() && !LEFT_OUT.iter().any(|it| name == *it) {
                left.push(inside.join(&name));
            } else if file_type.is_file() && name != ".git" {
                found.insert(inside.join(&name));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_changed_where_it_differs_and_only_there() {
        let place = std::env::temp_dir().join(format!("xtask-copy-{}", std::process::id()));
        let (from, to) = (place.join("from"), place.join("to"));
        std::fs::create_dir_all(from.join("a/target")).unwrap();
        let write = |file: &str, text: &str| std::fs::write(from.join(file), text).unwrap();
        let copied = |file: &str| std::fs::read_to_string(to.join(file)).ok();
        write("a/one", "1");
        write("two", "2");
        write("a/target/built", "no source");
        let changed = BTreeMap::from([(PathBuf::from("two"), "two".to_owned())]);
        refresh(&from, &to, &changed).unwrap();
        assert_eq!(copied("a/one").as_deref(), Some("1"));
        assert_eq!(copied("two").as_deref(), Some("two"));
        assert_eq!(copied("a/target/built"), None);

        let written = || std::fs::metadata(to.join("two")).unwrap().modified().unwrap();
        let before = written();
        std::fs::remove_file(from.join("a/one")).unwrap();
        write("three", "3");
        refresh(&from, &to, &changed).unwrap();
        assert_eq!(written(), before);
        assert_eq!((copied("a/one"), copied("three").as_deref()), (None, Some("3")));
        assert_eq!(std::fs::read_to_string(from.join("two")).unwrap(), "2");
        std::fs::remove_dir_all(&place).unwrap();
    }
}
