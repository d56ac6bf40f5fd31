//! Where the sources of classes are: a class names its package and a file's name, and nothing else.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::vm::lock;
use crate::limits;

/// Folders in which nobody's sources are.
const ASIDE: &[&str] = &["target", "build", "out", "bin", "node_modules", "__pycache__"];

pub(super) struct Sources {
    roots: Vec<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By the file's own name; empty until the first question.
    files: Option<HashMap<String, Vec<PathBuf>>>,
    found: HashMap<(String, String), Option<PathBuf>>,
    packages: HashMap<PathBuf, String>,
}

impl Sources {
    pub(super) fn below(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, known: Mutex::default() }
    }

    /// The file of a class of this package.
    pub(super) fn find(&self, package: &str, name: &str) -> Option<PathBuf> {
        let mut known = lock(&self.known);
        let key = (package.to_owned(), name.to_owned());
        if let Some(found) = known.found.get(&key) {
            return found.clone();
        }
        let files = known.files.get_or_insert_with(|| collect(&self.roots));
        let named = files.get(name).cloned().unwrap_or_default();
        let end = Path::new(&package.replace('.', "/")).join(name);
        let found = named
            .iter()
            .filter(|it| it.ends_with(&end))
            .chain(&named)
            .find(|it| known.package(it) == package)
            .cloned();
        known.found.insert(key, found.clone());
        found
    }

    /// A file that somebody named is one, wherever it lies.
    pub(super) fn know(&self, file: &Path) {
        let Some(name) = file.file_name().and_then(|it| it.to_str()) else { return };
        let mut known = lock(&self.known);
        let package = known.package(file);
        known.found.insert((package, name.to_owned()), Some(file.to_owned()));
    }

    /// The package that a file says it is in.
    pub(super) fn package(&self, file: &Path) -> String {
        lock(&self.known).package(file)
    }
}

impl Known {
    fn package(&mut self, file: &Path) -> String {
        if let Some(known) = self.packages.get(file) {
            return known.clone();
        }
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let package = package_of(&text);
        self.packages.insert(file.to_owned(), package.clone());
        package
    }
}

/// `package com.shop;`, the first statement there can be.
pub(super) fn package_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find_map(|it| it.strip_prefix("package "));
    line.and_then(|it| it.split(';').next()).map(str::trim).unwrap_or_default().to_owned()
}

/// `import java.util.List;` and `import static …`: the whole names of types.
pub(super) fn imports_of(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let named = lines.filter_map(|it| it.strip_prefix("import ")?.split(';').next());
    named.map(|it| it.trim().to_owned()).filter(|it| !it.starts_with("static ")).collect()
}

fn collect(roots: &[PathBuf]) -> HashMap<String, Vec<PathBuf>> {
    let mut files: HashMap<String, Vec<PathBuf>> = HashMap::new();
    let mut folders: Vec<PathBuf> = roots.to_vec();
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > limits::PROBE_FILES {
                tracing::debug!("too many files: not all sources are known");
                return files;
            }
            let path = entry.path();
            let Some(name) = path.file_name().and_then(|it| it.to_str()) else { continue };
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if is_folder && !ASIDE.contains(&name) && !name.starts_with('.') {
                folders.push(path);
            } else if !is_folder && name.ends_with(".java") {
                files.entry(name.to_owned()).or_default().push(path);
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_found_by_its_package() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let main = write("src/main/java/shop/Cart.java", "// a cart\npackage shop;\nclass Cart {}");
        let other = write("src/main/java/Cart.java", "class Cart {}");
        write("target/classes/shop/Cart.java", "package shop;");
        let sources = Sources::below(vec![root.path().to_owned()]);
        assert_eq!(sources.find("shop", "Cart.java"), Some(main));
        assert_eq!(sources.find("", "Cart.java"), Some(other));
        assert_eq!(sources.find("elsewhere", "Cart.java"), None);
    }
}
