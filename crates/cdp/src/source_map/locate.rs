//! Where the files lie that a map names, and the map itself.
//!
//! Names are URLs by the spec and plain paths by habit: a name is tried as it stands first, and
//! decoded when that does not exist.

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::{
    limits,
    scripts::{path_of_url, real_path},
};

/// The file of a source, symbolic links followed. `None` for names that mean no file here.
pub(super) fn source(name: &str, root: Option<&str>, folder: Option<&Path>) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    let rooted;
    let name = match root.map(|root| root.trim_end_matches('/')) {
        Some(root) if !is_absolute(name) && !root.is_empty() => {
            rooted = format!("{root}/{name}");
            &rooted
        }
        // A root of only slashes is the file system's.
        Some("") if !is_absolute(name) && root.is_some_and(|root| root.starts_with('/')) => {
            rooted = format!("/{name}");
            &rooted
        }
        _ => name,
    };
    let path = match scheme(name) {
        None => existing(name, |name| join(folder, name))?,
        Some("file") => path_of_url(name)?,
        Some("http" | "https" | "data" | "node") => return None,
        Some(_) => bundled(name, folder?)?,
    };
    Some(real_path(&path))
}

/// The file of a map that a script in `folder` names.
pub(super) fn map(url: &str, folder: Option<&Path>) -> Option<PathBuf> {
    match scheme(url) {
        None => existing(without_query(url), |name| join(folder, name)),
        Some("file") => path_of_url(url),
        Some(_) => None,
    }
}

fn join(folder: Option<&Path>, name: &str) -> Option<PathBuf> {
    if name.starts_with('/') {
        return Some(PathBuf::from(name));
    }
    folder.map(|folder| folder.join(name))
}

fn existing(name: &str, place: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let plain = place(name)?;
    if plain.exists() || !name.contains('%') {
        return Some(plain);
    }
    let decoded = percent_decode_str(name).decode_utf8().ok().and_then(|name| place(&name));
    decoded.filter(|path| path.exists()).or(Some(plain))
}

/// `webpack://package/./src/a.ts`: a path from the project's folder, which is some folder above.
fn bundled(name: &str, folder: &Path) -> Option<PathBuf> {
    let (_, rest) = name.split_once("://")?;
    let (_, path) = rest.split_once('/')?;
    let path = without_query(path).trim_start_matches("./").trim_start_matches('/');
    if path.is_empty() {
        return None;
    }
    let above = folder.ancestors().take(limits::MAP_ANCESTORS);
    above.map(|folder| folder.join(path)).find(|path| path.is_file())
}

fn is_absolute(name: &str) -> bool {
    name.starts_with('/') || scheme(name).is_some()
}

/// Two letters at least, so that a drive is not one.
fn scheme(name: &str) -> Option<&str> {
    let (scheme, _) = name.split_once(':')?;
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(valid))
    .then_some(scheme)
}

fn without_query(name: &str) -> &str {
    name.split('?').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, root: Option<&str>, path: Option<&str>) {
        let found = source(name, root, Some(Path::new("/nowhere/dist")));
        assert_eq!(found.as_deref(), path.map(Path::new), "{name} {root:?}");
    }

    #[test]
    fn names_are_resolved_against_root_and_folder() {
        check("../src/a.ts", None, Some("/nowhere/src/a.ts"));
        check("a.ts", Some("../src"), Some("/nowhere/src/a.ts"));
        check("a.ts", Some("../src/"), Some("/nowhere/src/a.ts"));
        check("a.ts", Some(""), Some("/nowhere/dist/a.ts"));
        check("a.ts", Some("/"), Some("/a.ts"));
        check("a.ts", Some("/abs"), Some("/abs/a.ts"));
        check("/abs/a.ts", Some("src"), Some("/abs/a.ts"));
        check("a%20b.ts", Some("file:///abs"), Some("/abs/a b.ts"));
        check("file:///abs/a%20b.ts", Some("src"), Some("/abs/a b.ts"));
        check("https://example.com/a.ts", None, None);
        check("a.ts", Some("https://example.com"), None);
        check("webpack://app/./src/a.ts", None, None);
        check("", None, None);
    }

    #[test]
    fn a_bundlers_name_is_found_above_the_map_and_an_escaped_one_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::create_dir_all(project.join("dist/js")).unwrap();
        std::fs::write(project.join("src/a b.ts"), "").unwrap();
        let dist = project.join("dist/js");
        let expected = Some(project.join("src/a b.ts"));
        assert_eq!(source("webpack://app/./src/a b.ts?1f2e", None, Some(&dist)), expected);
        assert_eq!(source("webpack:///src/a b.ts", None, Some(&dist)), expected);
        assert_eq!(source("../../src/a%20b.ts", None, Some(&dist)), expected);
    }

    proptest::proptest! {
        #[test]
        fn no_name_panics(name in ".*", root in proptest::option::of(".*")) {
            source(&name, root.as_deref(), Some(Path::new("/nowhere")));
            map(&name, None);
        }
    }
}
